"""The JSON Schema in an editor: the YAML language server that VS Code, Neovim and others use completes and checks by it."""
import pytest

from conftest import DEPS, ROOT
from language_server import LanguageServer

GOOD = """name: orders
source:
  kafka:
    topics: [orders]
    properties: {bootstrap.servers: localhost:9092}
decode: {json: {schema: orders.avsc}}
table:
  name: shop.orders
  catalog: {type: sqlite, uri: c.db, warehouse: w}
commit: {interval: 5s}
"""


@pytest.fixture(scope="module")
def editor(frazil, tmp_path_factory):
    """An editor in whose folder the schema lies, as `frazil options --format json-schema` writes it."""
    program = DEPS / "editor/node_modules/yaml-language-server/bin/yaml-language-server"
    assert program.exists(), f"{program} is missing: tools/setup --tests brings it"
    folder = tmp_path_factory.mktemp("editor")
    (folder / "schema.json").write_text(frazil("options", "--format", "json-schema"))
    with LanguageServer(program, folder) as server:
        yield server


def with_modeline(editor, text):
    return f"# yaml-language-server: $schema={(editor.folder / 'schema.json').as_uri()}\n{text}"


def test_right_files_have_no_complaint(editor):
    assert editor.open("good.yaml", with_modeline(editor, GOOD)) == []
    several = "pipelines:\n" + "".join(("  - " if i == 0 else "    ") + line + "\n" for i, line in enumerate(GOOD.splitlines()))
    assert editor.open("several.yaml", with_modeline(editor, several + "memory: 2GiB\n")) == []
    example = (ROOT / "packaging/examples/orders.yaml").read_text()
    installed = "file:///usr/share/frazil/pipeline.schema.json"
    assert "$schema=/usr/share/frazil/pipeline.schema.json" in example, installed
    body = example[example.index("name:"):]
    assert editor.open("example.yaml", with_modeline(editor, body)) == []


def test_an_unknown_key_is_marked_where_it_stands(editor):
    found = editor.open("bad.yaml", with_modeline(editor, GOOD.replace("interval: 5s", "intervall: 5s")))
    marked = [d for d in found if d["range"]["start"]["line"] == 10]
    assert marked and "intervall" in marked[0]["message"], found


def test_an_unknown_key_of_the_top_is_marked(editor):
    found = editor.open("top.yaml", with_modeline(editor, GOOD + "lanez: 2\n"))
    assert any("lanez" in d["message"] and d["range"]["start"]["line"] == 11 for d in found), found


def test_a_wrong_word_and_a_wrong_type_are_marked(editor):
    found = editor.open("word.yaml", with_modeline(editor, GOOD + "log: {level: infoo}\n"))
    assert any(d["range"]["start"]["line"] == 11 and '"info"' in d["message"] for d in found), found
    found = editor.open("type.yaml", with_modeline(editor, GOOD.replace("topics: [orders]", "topics: orders")))
    assert any(d["range"]["start"]["line"] == 4 for d in found), found


def test_keys_and_words_are_completed(editor):
    editor.open("keys.yaml", with_modeline(editor, GOOD + "\n"))
    assert {"history", "lanes", "memory", "dead_letters"} <= editor.completions(11, 0)
    editor.open("section.yaml", with_modeline(editor, GOOD + "history:\n  \n"))
    assert "keep" in editor.completions(12, 2)
    editor.open("words.yaml", with_modeline(editor, GOOD + "log:\n  level: \n"))
    assert {"debug", "info", "warn", "error"} <= editor.completions(12, 9)


def test_a_key_is_explained(editor):
    editor.open("hover.yaml", with_modeline(editor, GOOD))
    assert "commits" in editor.hover(10, 10).lower() or "interval" in editor.hover(10, 10).lower()
