"""The operators' pages against the program: no code, event or metric is missing there, none is told that does not exist."""
import re

from conftest import ROOT

TROUBLE = (ROOT / "docs/operate/troubleshooting.md").read_text()


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / "src" / folder).rglob("*.cc")):
            if not path.name.endswith("_test.cc"):
                yield path.read_text()


def codes_in_source():
    """Halts and rejects: the words in capitals of the folders that make them; names of the environment look alike."""
    text = "\n".join(sources("format/json", "decoders", "sources", "sinks", "engine"))
    decisions = {"REWIND"}  # recorded as answers to halts are; nobody is asked
    return {code for code in re.findall(r'"([A-Z][A-Z0-9_]{3,})"', text) if not code.endswith("_")} - decisions


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TROUBLE, re.M | re.S).group(1)


def first_cells(text):
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| ")]
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


def codes_of(text):
    return {word for word in first_cells(text) if word.isupper()}


def test_every_halt_and_every_reject_is_explained():
    told = first_cells(section("Halts")) | first_cells(section("Records that are no rows")) | codes_of(section("The log"))
    codes = codes_in_source()
    assert len(codes) > 30
    assert codes - told == set(), "codes that docs/operate/troubleshooting.md does not explain"
    assert told - codes == set(), "codes that it explains and the source does not have"


def test_halts_are_in_both_pages():
    halts = re.findall(r"^\| `([A-Z_]+)`", (ROOT / "docs/halts.md").read_text(), re.M)
    assert set(halts) == first_cells(section("Halts"))


def test_every_kind_of_error_is_explained():
    kinds = set(re.findall(r'case Code::k\w+: return "(\w+)";', (ROOT / "src/base/result.cc").read_text()))
    assert len(kinds) > 10 and kinds == first_cells(section("Errors by kind"))


def test_every_event_of_level_warn_is_explained():
    text = "\n".join(sources("app", "base", "clients", "decoders", "engine", "iceberg", "io", "net", "sinks", "sources"))
    events = set(re.findall(r'log_(?:warn|error)\(\s*"([^"]+)"', text)) | set(re.findall(r'log_thinned\([^";{]*"([^"]+)"', text))
    events |= set(re.findall(r'base::log\(level, "([^"]+)"', text))   # a warning at times
    told = first_cells(section("The log")) - codes_of(section("The log"))
    assert len(events) > 15 and events == told, sorted(events ^ told)


def test_links_lead_somewhere():
    pages = sorted((ROOT / "docs/operate").glob("*.md"))
    assert len(pages) >= 4
    for page in pages:
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", page.read_text()):
            other = (page.parent / target).resolve() if target else page
            assert other.exists(), f"{page.name}: {target}"
            if anchor:
                titles = re.findall(r"^#+ (.+)$", other.read_text(), re.M)
                assert anchor in {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles}, f"{page.name}: #{anchor}"
