"""The strict checker and the judges are tested themselves.

Tables of PyIceberg pass the checker and read alike in all judges. Then one fault at a time is put into
a copy, and the checker must name it: by its code, and by no code that the fault does not explain.
"""
import os
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from judges import compare, java_checker, sample_tables  # noqa: E402
from judges import file_faults, manifest_faults, metadata_faults  # noqa: E402,F401  importing them registers their faults
from judges.canonical import local_path  # noqa: E402
from judges.damaged_table import TableCopy  # noqa: E402
from judges.faults import ALWAYS_ALLOWED, FAULTS, TYPED_FAULTS  # noqa: E402


# --- sound tables -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return sample_tables.open_catalog(tmp_path_factory.mktemp("sound"))


@pytest.fixture(scope="module")
def sound_tables(catalog):
    makers = (sample_tables.all_types, sample_tables.partitioned, sample_tables.typed_partitions, sample_tables.uuid_partitioned,
              sample_tables.fixed_partitioned, sample_tables.identity_partitioned, sample_tables.evolved)
    return {make.__name__: make(catalog) for make in makers}


# Judges that cannot read a sound table: iceberg-java 1.12 reads (and writes) fixed partition values as
# bytes with a length, against the manifest's own schema; iceberg-rust 0.11 takes fixed[16] for text.
UNABLE = {"fixed_partitioned": "java", "uuid_partitioned": "rust"}


def test_tables_of_pyiceberg_pass_the_rules_for_foreign_writers(sound_tables):
    locations = [table.metadata_location for name, (table, _) in sound_tables.items() if UNABLE.get(name) != "java"]
    for verdict in java_checker.expect_clean(locations, strict_writer="off"):
        for kind in ("tables", "snapshots", "manifest_lists", "manifests", "entries", "files", "rows", "columns", "values", "bounds", "filters"):
            assert verdict.checked[kind] > 0, (kind, verdict.checked)


def test_tables_of_pyiceberg_break_rules_for_own_files(sound_tables):
    verdict, = java_checker.check_tables([sound_tables["all_types"][0].metadata_location])
    assert {"MANIFEST_HEADER", "AVRO_TYPE", "METRICS_MISSING"} <= verdict.codes


@pytest.mark.parametrize("name", ["all_types", "partitioned", "typed_partitions", "uuid_partitioned", "fixed_partitioned", "identity_partitioned", "evolved"])
def test_all_judges_read_the_rows_that_were_written(sound_tables, name):
    table, rows = sound_tables[name]
    judges = [judge for judge in compare.JUDGES if judge != UNABLE.get(name)]
    compared = compare.compare_judges(table.metadata_location, rows, judges)
    assert compared == dict.fromkeys(judges, len(rows))
    assert len(judges) >= 3


@pytest.mark.parametrize("name,judge", UNABLE.items())
def test_what_a_judge_is_known_not_to_read_it_refuses_aloud(sound_tables, name, judge):
    table, rows = sound_tables[name]
    with pytest.raises(Exception):
        compare.compare_judges(table.metadata_location, rows, (judge,))


def test_checker_finds_nothing_itself_in_fixed_partitions(sound_tables):
    verdict, = java_checker.check_tables([sound_tables["fixed_partitioned"][0].metadata_location], strict_writer="off")
    assert verdict.codes == {"READER_REFUSES"}
    assert verdict.checked["files"] > 0 and verdict.checked["rows"] == 5


@pytest.mark.parametrize("column,op,key", [
    ("id", "=", lambda v: v == 17), ("id", ">=", lambda v: v >= 35), ("name", "<", lambda v: v < "b"),
    ("day", ">", None), ("local_time", "<=", None), ("instant", "=", None), ("money", "<", None), ("small", "!=", lambda v: v != 42),
])
def test_judges_find_rows_by_a_predicate(sound_tables, column, op, key):
    table, rows = sound_tables["partitioned"]
    value = {"id": 17 if op == "=" else 35, "name": "b", "small": 42}.get(column, rows[20][column])
    relation = {"=": value.__eq__, ">": lambda v: v > value, "<=": lambda v: v <= value, "<": lambda v: v < value}
    holds = key or relation[op]
    expected = [row for row in rows if row[column] is not None and holds(row[column])]
    compare.compare_where(table.metadata_location, column, op, value, expected)


def test_judges_compare_the_columns_that_are_named(sound_tables):
    table, rows = sound_tables["partitioned"]
    some = [{"id": row["id"], "instant": row["instant"]} for row in rows]
    assert set(compare.compare_judges(table.metadata_location, some, columns=["id", "instant"]).values()) == {len(rows)}
    with pytest.raises(AssertionError, match="no such columns"):
        compare.compare_judges(table.metadata_location, some, columns=["id", "nothing"])


@pytest.mark.parametrize("has_snapshot", [False, True])
def test_empty_tables_are_read_as_empty_only_where_that_is_expected(catalog, has_snapshot):
    table = catalog.create_table(f"db.empty_{has_snapshot}", sample_tables.SCHEMA)
    if has_snapshot:
        table.append(sample_tables.arrow_rows([], table.schema()))
    assert set(compare.compare_judges(table.metadata_location, [], may_be_empty=True).values()) == {0}
    java_checker.expect_clean([table.metadata_location], strict_writer="off", may_be_empty=True)
    with pytest.raises(AssertionError, match="no row"):
        java_checker.expect_clean([table.metadata_location], strict_writer="off")


def test_a_comparison_of_nothing_fails(sound_tables):
    table, _ = sound_tables["evolved"]
    with pytest.raises(AssertionError, match="nothing to compare"):
        compare.compare_judges(table.metadata_location, [])


@pytest.mark.parametrize("judge", compare.JUDGES)
def test_a_wrong_row_is_noticed_with_each_judge(sound_tables, judge):
    table, rows = sound_tables["evolved"]
    wrong = [dict(row, title="other") if row["id"] == 12 else row for row in rows]
    with pytest.raises(AssertionError, match="1 missing, 1 not expected"):
        compare.compare_judges(table.metadata_location, wrong, (judge,))


@pytest.mark.parametrize("judge", compare.JUDGES)
def test_a_judge_that_cannot_read_is_a_failure(sound_tables, tmp_path, judge):
    table, rows = sound_tables["evolved"]
    copy = TableCopy(table.metadata_location, tmp_path / "table")
    location = copy.save()
    for data_file in copy.data_files_of(-2):
        os.remove(local_path(data_file["file_path"]))
    with pytest.raises(Exception):
        compare.compare_judges(location, rows, (judge,))


# --- faults -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def base(sound_tables):
    return sound_tables["identity_partitioned"][0].metadata_location


def strict_copy(base, folder):
    return TableCopy(base, folder).make_strict()


@pytest.fixture(scope="module")
def verdicts(base, tmp_path_factory):
    """All damaged copies, judged in one JVM."""
    folder = tmp_path_factory.mktemp("damaged")
    locations = {}
    for name, (damage, _, _) in FAULTS.items():
        copy = strict_copy(base, folder / name)
        damage(copy)
        locations[name] = copy.save()
    found = java_checker.check_tables(locations.values())
    return dict(zip(locations, found))


def test_undamaged_copies_pass_the_rules_for_own_files(base, tmp_path):
    plain = strict_copy(base, tmp_path / "plain")
    indexed = strict_copy(base, tmp_path / "indexed")
    for index in (0, 1):
        for data_file in indexed.data_files_of(index):
            indexed.rewrite_data_file(data_file, write_page_index=True, row_group_size=4, data_page_size=8, write_batch_size=1, use_dictionary=False)
    _, with_index = java_checker.expect_clean([plain.save(), indexed.save()])
    assert with_index.checked["row_groups"] > with_index.checked["files"]
    assert with_index.checked["pages"] > with_index.checked["row_groups"]


@pytest.fixture(scope="module")
def typed_verdicts(sound_tables, tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged_types")
    locations = {"frazil": {}, "off": {}}
    for name, (damage, _, _, table, strict) in TYPED_FAULTS.items():
        copy = TableCopy(sound_tables[table][0].metadata_location, folder / name)
        damage(copy.make_strict() if strict else copy)
        locations["frazil" if strict else "off"][name] = copy.save()
    found = {}
    for writer, damaged in locations.items():
        found.update(zip(damaged, java_checker.check_tables(damaged.values(), strict_writer=writer)))
    return found


def test_nested_columns_and_page_indexes_pass_the_rules_for_own_files(sound_tables, tmp_path):
    copy = strict_copy(sound_tables["all_types"][0].metadata_location, tmp_path / "table")
    for index in (0, 1):
        for data_file in copy.data_files_of(index):
            copy.rewrite_data_file(data_file, write_page_index=True, row_group_size=16, data_page_size=8, write_batch_size=1, use_dictionary=False)
    verdict, = java_checker.expect_clean([copy.save()])
    assert verdict.checked["pages"] > 5 * verdict.checked["columns"]


@pytest.mark.parametrize("name", FAULTS)
def test_checker_names_the_fault(verdicts, name):
    _, expected, allowed = FAULTS[name]
    expect_codes(verdicts[name], expected, allowed)


@pytest.mark.parametrize("name", TYPED_FAULTS)
def test_checker_names_the_fault_of_a_type(typed_verdicts, name):
    _, expected, allowed, _, _ = TYPED_FAULTS[name]
    expect_codes(typed_verdicts[name], expected, allowed)


def expect_codes(verdict, expected, allowed):
    assert expected <= verdict.codes, str(verdict)
    assert verdict.codes <= expected | allowed | ALWAYS_ALLOWED, str(verdict)


def test_checker_refuses_what_is_no_metadata(tmp_path):
    broken = tmp_path / "x.metadata.json"
    broken.write_text('{"format-version": 2, "format-version": 2}')
    missing = tmp_path / "y.metadata.json"
    for verdict in java_checker.check_tables([broken, missing]):
        assert verdict.codes == {"TABLE_UNREADABLE"}


def test_ids_that_went_through_a_double_are_noticed(base, tmp_path):
    copy = strict_copy(base, tmp_path / "table")
    location = Path(copy.save())
    text = location.read_text()
    snapshot_id = str(copy.snapshots[-1]["snapshot-id"])
    location.write_text(re.sub(rf'("current-snapshot-id": ){snapshot_id}', rf"\g<1>{float(snapshot_id)!r}", text))
    verdict, = java_checker.check_tables([location])
    assert verdict.codes & {"METADATA_FIELD", "METADATA_REF_MAIN"}, str(verdict)
