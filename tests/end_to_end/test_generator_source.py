"""Pipelines without Kafka: the generator as a source."""
from pipeline import frazil, write_file


def generator_file(lake, **generator):
    file = lake.folder / "made_up.yaml"
    write_file(file, {"name": "made-up", "source": {"generator": {"splits": 3, **generator}}, "commit": {"interval": "200ms"}, "http": {"listen": "off"},
                      "table": {"name": "shop.made_up", "catalog": lake.place.block, "create": {}}, **lake.place.settings})
    return file


def test_a_run_ends_when_its_records_do(lake):
    """Nobody has to stop a generator that has no more records."""
    file = generator_file(lake, records=2000)
    outcome = frazil("run", file, "--json").expect()
    assert outcome.summary["rows_committed"] == 2000
    ids = lake.column("shop.made_up", "id")
    assert len(ids) == 2000 and len(set(ids)) == 2000
    # Again: there is nothing left.
    assert frazil("run", file, "--json").expect().summary["rows_committed"] == 0


def test_a_run_without_an_end_is_ended_by_its_duration(lake):
    outcome = frazil("run", generator_file(lake, records=0, rate=500), "--duration", "2s", "--json").expect()
    assert outcome.summary["rows_committed"] > 0
    assert len(lake.rows("shop.made_up")) == outcome.summary["rows_committed"]
