"""One halted pipeline beside others of its process: it disturbs nobody, and `frazil accept` answers it while they run."""
import getpass
import json
import os
import pathlib
import signal
import socket
import stat
import tempfile

import pytest

from pipeline import Pipeline, Running, frazil, ids, produce, topic_of, wait_until, write_file
from test_halts import bytes_of, expect_same_bytes, recreate


@pytest.fixture
def runtime():
    """A folder with a short name: the paths of sockets are bounded."""
    with tempfile.TemporaryDirectory(prefix="frazil-") as folder:
        yield pathlib.Path(folder)


class Both:
    """Pipelines `orders` and `sound` in one file and one process, and the socket that they are reached by."""

    def __init__(self, kafka, lake, topic, runtime, **process):
        self.kafka, self.lake, self.topic = kafka, lake, topic
        self.socket = runtime / "control.sock"
        topic_of(kafka, topic, ids(0, 10))
        topic_of(kafka, f"{topic}_sound", ids(0, 10))
        self.orders = Pipeline(lake, kafka, "orders", [topic], source={"kafka": {"discovery_interval": "1s"}})
        self.sound = Pipeline(lake, kafka, "sound", [f"{topic}_sound"])
        self.file = lake.folder / "both.yaml"
        write_file(self.file, {"pipelines": [self.orders.content, self.sound.content], "http": {"listen": "127.0.0.1:0"},
                               "control": {"socket": str(self.socket)}, **process})

    def start(self, env=None):
        folder = self.lake.folder / "run"
        folder.mkdir()
        return Running(["run", self.file, "--json"], folder, env)

    def recreate_and_wait_for_halt(self, running):
        """Both tables hold 0 to 9, then the topic of `orders` is made anew; returns the halt's event."""
        running.wait_until(lambda: len(self.lake.rows("shop.orders")) == 10 and len(self.lake.rows("shop.sound")) == 10, "the first rows")
        self.before = self.lake.location_of("shop.orders")
        # It must not look while the topic is away: that is a halt of its own.
        running.process.send_signal(signal.SIGSTOP)
        recreate(self.kafka, self.topic, ids(100, 130))
        running.process.send_signal(signal.SIGCONT)
        halt = running.wait_until(lambda: [e for e in running.complete_events() if e["event"] == "halt"], "a halt")[-1]
        assert halt["code"] == "SOURCE_RECREATED", halt
        return halt

    def accept(self, *arguments):
        return frazil("accept", *arguments, "--socket", self.socket)

    def status(self, running):
        return {p["pipeline"]: p for p in json.loads(running.get("/status")[1])["pipelines"]}


def choice_of(halt, name):
    (found,) = [c["accept"] for c in halt["choices"] if c["choice"] == name]
    return found


def expect_sound_goes_on(both, running, begin):
    produce(both.kafka, f"{both.topic}_sound", ids(begin, begin + 10))
    running.wait_until(lambda: len(both.lake.rows("shop.sound")) == begin + 10, "further rows of the other pipeline")


def test_a_halt_is_answered_while_the_other_pipeline_runs(kafka, lake, topic, runtime):
    both = Both(kafka, lake, topic, runtime)
    with both.start() as running:
        halt = both.recreate_and_wait_for_halt(running)
        running.wait_for_log(f"frazil accept orders SOURCE_RECREATED=restart@{halt['token']} --socket {both.socket}")
        assert stat.S_IMODE(both.socket.stat().st_mode) == 0o600
        view = both.status(running)
        assert view["orders"]["state"] == "halted" and view["orders"]["halt"] == "SOURCE_RECREATED" and view["sound"]["state"] == "running"
        expect_sound_goes_on(both, running, 10)
        running.wait_until(lambda: both.status(running)["sound"]["memory"]["used"] == 0, "all memory to be given back")

        listed = json.loads(both.accept("--list", "--json").expect().stdout)
        (process,) = listed
        states = {p["pipeline"]: p for p in process["pipelines"]}
        assert states["orders"]["halt"]["token"] == halt["token"] and "halt" not in states["sound"]
        assert choice_of(halt, "restart") in both.accept("--list").expect().stdout

        answer = choice_of(halt, "restart")
        for arguments, code, words in [(("nobody", answer), 2, "orders, sound"), (("sound", answer), 1, "waits for no answer"),
                                       (("orders", "SOURCE_RECREATED=restart@000000000000"), 1, halt["token"]),
                                       (("orders", f"SOURCE_GAP=skip@{halt['token']}"), 1, "SOURCE_RECREATED"),
                                       (("orders", f"SOURCE_RECREATED=skip@{halt['token']}"), 2, "it has: restart"),
                                       (("orders", "nonsense"), 2, "CODE=choice@TOKEN")]:
            outcome = both.accept(*arguments).expect(code)
            assert words in outcome.stderr, (arguments, outcome.stderr)
        assert both.status(running)["orders"]["state"] == "halted" and lake.location_of("shop.orders") == both.before

        assert getpass.getuser() in both.accept("orders", answer).expect().stdout
        running.wait_until(lambda: len(lake.rows("shop.orders")) == 40, "the rows of the new topic")
        running.wait_until(lambda: both.status(running)["orders"]["state"] == "running", "the pipeline to run again")
        assert "waits for no answer" in both.accept("orders", answer).expect(1).stderr
        expect_sound_goes_on(both, running, 20)
        outcome = running.terminate().expect(0)
    assert {e["pipeline"]: e["state"] for e in outcome.of("summary")} == {"orders": "ended", "sound": "ended"}
    assert not both.socket.exists()
    lake.expect_ids("shop.orders", [*range(10), *range(100, 130)])
    lake.expect_ids("shop.sound", range(30))
    # The process runs as "tester" by its environment; who answered is what the kernel says of the peer.
    (decision,) = json.loads(lake.property_of("shop.orders", "frazil.orders.accepted"))
    assert (decision["code"], decision["choice"], decision["user"]) == ("SOURCE_RECREATED", "restart", getpass.getuser()), decision


def test_a_halt_that_nobody_answers_stays_where_it_is(kafka, lake, topic, runtime):
    """Exit 1 at the end, and not a byte of its table has changed."""
    both = Both(kafka, lake, topic, runtime)
    with both.start() as running:
        running.wait_until(lambda: len(lake.rows("shop.orders")) == 10 and len(lake.rows("shop.sound")) == 10, "the first rows")
        before = bytes_of(lake)
        both.recreate_and_wait_for_halt(running)
        expect_sound_goes_on(both, running, 10)
        # A client that says nothing holds up neither the others nor the end.
        with socket.socket(socket.AF_UNIX) as silent:
            silent.connect(str(both.socket))
            both.accept("--list").expect()
            outcome = running.terminate().expect(1)
    assert {e["pipeline"]: e["state"] for e in outcome.of("summary")} == {"orders": "halted", "sound": "ended"}
    assert lake.location_of("shop.orders") == both.before
    expect_same_bytes(lake, before, "/shop/orders/")


def test_a_process_ends_when_its_last_pipeline_halts(kafka, lake, topic, runtime):
    both = Both(kafka, lake, topic, runtime)
    with both.start() as running:
        both.recreate_and_wait_for_halt(running)
        lake.catalog().drop_table("shop.sound")
        produce(kafka, f"{topic}_sound", ids(10, 20))
        outcome = running.wait_for_end().expect(1)
    assert {e["pipeline"]: e["state"] for e in outcome.of("summary")} == {"orders": "halted", "sound": "halted"}
    assert "nobody listens" in both.accept("orders", "SOURCE_RECREATED@000000000000").expect(1).stderr


def test_processes_are_found_where_a_session_keeps_its_sockets(kafka, lake, topic, runtime):
    """Without --socket: by the runtime folder of the user, and of a service."""
    both = Both(kafka, lake, topic, runtime, control={})
    for variable in ("XDG_RUNTIME_DIR", "RUNTIME_DIRECTORY"):
        env = {"XDG_RUNTIME_DIR": str(runtime / "nobody"), variable: str(runtime)}   # without the first, processes of other tests would be found
        with Running(["run", both.file], lake.folder, env) as running:
            listed = wait_until(lambda: (o := frazil("accept", "--list", "--json", env=env)).code == 0 and json.loads(o.stdout), "the process")
            assert [p["pipeline"] for p in listed[0]["pipelines"]] == ["orders", "sound"]
            assert "waits for no answer" in frazil("accept", "sound", "SOURCE_GAP@000000000000", env=env).expect(1).stderr
            assert "no process" in frazil("accept", "nobody", "SOURCE_GAP@000000000000", env=env).expect(2).stderr
            running.terminate().expect()
        assert "no control socket" in frazil("accept", "--list", env=env).expect(1).stderr


def test_without_a_folder_of_the_session_a_process_is_found_all_the_same(kafka, lake, topic, runtime):
    both = Both(kafka, lake, topic, runtime, control={})
    env = {"XDG_RUNTIME_DIR": "", "RUNTIME_DIRECTORY": ""}
    folder = pathlib.Path(f"/tmp/frazil-{os.geteuid()}")
    with Running(["run", both.file], lake.folder, env) as running:
        own = folder / f"{running.process.pid}.sock"
        wait_until(own.is_socket, "the socket")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        listed = json.loads(frazil("accept", "--list", "--json", env=env).expect().stdout)
        assert [[p["pipeline"] for p in one["pipelines"]] for one in listed if one["socket"] == str(own)] == [["orders", "sound"]]
        running.kill()
    with Running(["run", both.file], lake.folder, env) as running:
        wait_until((folder / f"{running.process.pid}.sock").is_socket, "the socket of the next one")
        assert not own.exists(), "the socket of a process that was killed is still there"
        running.terminate().expect()


def test_a_socket_that_was_set_and_cannot_be_is_an_error(kafka, lake, topic, runtime):
    both = Both(kafka, lake, topic, runtime, control={"socket": str(runtime / "no" / "folder.sock")})
    assert "control.socket" in frazil("run", both.file, "--until-caught-up").expect(1).stderr
    both = Pipeline(lake, kafka, "relative", [topic])
    both.process_content["control"] = {"socket": "here.sock"}
    assert "absolute path" in both.run().expect(2).stderr
