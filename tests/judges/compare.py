"""What tests call: read a table by one judge, or hold all judges against the rows that must be there.

A judge that cannot start or cannot read the table is a failure. So is a comparison of no rows, unless
the caller says that an empty table is what it expects.
"""
from judges.canonical import canonical_rows, columns_of, sort_key
from judges.readers import FILTERING, READERS

JUDGES = tuple(READERS)
SHOWN_DIFFERENCES = 5


def read_all(metadata_location, judge, columns=None):
    """All rows of the current snapshot, canonical, in the judge's order; of some columns, if named.

    A row is a Python dict: for 100,000 rows and more, name the columns that matter.
    """
    return READERS[judge](metadata_location, _columns(metadata_location, columns))


def _columns(metadata_location, names):
    every = columns_of(metadata_location)
    if names is None:
        return every
    unknown = set(names) - {column.name for column in every}
    if unknown:
        raise AssertionError(f"no such columns: {sorted(unknown)}")
    return [column for column in every if column.name in names]


def read_where(metadata_location, column, op, value, judge):
    """The rows for which the judge finds `column op value` true."""
    if judge not in FILTERING:
        raise ValueError(f"{judge} reads without predicates")
    return READERS[judge](metadata_location, columns_of(metadata_location), (column, op, value))


def compare_judges(metadata_location, expected_rows, judges=JUDGES, may_be_empty=False, columns=None):
    """Every judge must read exactly expected_rows (dicts of Python values), in any order.

    Returns how many rows each judge compared.
    """
    expected = canonical_rows(_columns(metadata_location, columns), expected_rows)
    return _compare(metadata_location, expected, judges, may_be_empty, lambda judge: read_all(metadata_location, judge, columns))


def compare_where(metadata_location, column, op, value, expected_rows, judges=FILTERING, may_be_empty=False):
    """As compare_judges, through a predicate that each judge evaluates itself."""
    expected = canonical_rows(columns_of(metadata_location), expected_rows)
    return _compare(metadata_location, expected, judges, may_be_empty,
                    lambda judge: read_where(metadata_location, column, op, value, judge))


def _compare(metadata_location, expected, judges, may_be_empty, read):
    if not judges:
        raise AssertionError("no judge was asked")
    if not expected and not may_be_empty:
        raise AssertionError(f"nothing to compare: no expected rows for {metadata_location}")
    wanted = sorted(map(sort_key, expected))
    compared = {}
    for judge in judges:
        found = sorted(map(sort_key, read(judge)))
        if found != wanted:
            raise AssertionError(f"{judge} reads {len(found)} rows, expected {len(wanted)}:\n" + _difference(wanted, found))
        compared[judge] = len(found)
    print("compared rows: " + ", ".join(f"{judge} {n}" for judge, n in compared.items()))
    return compared


def _difference(wanted, found):
    from collections import Counter

    missing = list((Counter(wanted) - Counter(found)).elements())
    excess = list((Counter(found) - Counter(wanted)).elements())
    lines = [f"missing: {row}" for row in missing[:SHOWN_DIFFERENCES]]
    lines += [f"not expected: {row}" for row in excess[:SHOWN_DIFFERENCES]]
    return "\n".join(lines + [f"in all {len(missing)} missing, {len(excess)} not expected"])
