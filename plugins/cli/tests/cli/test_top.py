"""`penstock top`: the numbers of a run of its own, and of one that another process serves."""

from __future__ import annotations

import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import attrs
import pytest
from rich.console import Console

from penstock_cli.reading.top_tables import tables
from penstock_monitor import CulpritReading, LatencyReading, NodeReading, Reading, StallReading, StreamReading

pytestmark = pytest.mark.heavy

NEVER = 'node { calculator: "CliNeverReturns" name: "stuck" input_stream: "n" }'
PATIENCE_S = 30


def node(name, **more):
    return NodeReading(**{
        "name": name, "calculator": "C", "state": "opened", "steps": 12, "steps_per_s": 4.0, "busy": 0.25,
        "running": 0, "ready": 0, **more,
    })  # fmt: skip


def stream(name, **more):
    return StreamReading(**{
        "name": name, "writer": "w", "readers": ("r",), "packets": 12, "per_s": 4.0, "queued": 0,
        "limit": 100, "queued_bytes": 0, "dropped": 0, "drops": {}, "bound": "13", "age_s": 0.25, **more,
    })  # fmt: skip


def reading(**more):
    made = {
        "number": 1,
        "state": "running",
        "elapsed_s": 61.0,
        "nodes": (node("a"),),
        "streams": (stream("s"),),
    }
    return Reading(**{**made, **more})


def text_of(one, width=110, height=None):
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        console.print(tables(one, "graph.pbtxt", width, height))
    return captured.get()


# --- tables -----------------------------------------------------------------------------------


def test_the_tables_have_the_numbers_of_nodes_and_streams() -> None:
    full = stream(
        "full",
        queued=100,
        queued_bytes=2_500_000,
        dropped=1_207,
        drops={"the limiter was full": 1_200, "late": 7},
    )
    one = reading(
        nodes=(
            node("slow", running=1, running_s=2.5, place="worker 3 (pid 4711)"),
            node("idle", steps_per_s=0.0, waits_for="packets on 's' (bound 13)", busy=None, executor="own"),
            node("next", ready=2),
            node("door", running=1, lost_s=9.4),
        ),
        streams=(stream("s"), full, stream("out", readers=(), age_s=None, limit=None)),
        latencies=(LatencyReading("out", 53, 12.0, 12.5, 40.25, 1800.0),),
        throttled=("camera",),
        errors=("node 'x' failed",),
    )

    lines = [line.rstrip() for line in text_of(one).splitlines()]

    assert lines[0] == "graph.pbtxt  running  1:01  36 packets, 1,207 dropped  throttled: camera"
    assert find(lines, "slow ").split(maxsplit=5) == [
        "slow", "4.0/s", "12", "25%", "1", "runs for 2.50 s (worker 3 (pid 4711))"
    ]  # fmt: skip
    assert find(lines, "idle ").endswith("-       -   waits for packets on 's' (bound 13) (executor own)")
    assert find(lines, "next ").endswith("0+2   waits for a thread")
    assert find(lines, "door ").endswith("has lost its source for 9.40 s")
    assert find(lines, "s ").split() == ["s", "4.0/s", "12", "0/100", "250", "ms"]
    assert find(lines, "full ").split(maxsplit=7)[3:6] == ["100/100", "(2.5", "MB)"]
    assert find(lines, "full ").endswith("1,200: the limiter was full, 7: late")
    assert find(lines, "out ").split() == ["out", "4.0/s", "12", "-", "-"]
    assert "latency to 'out': median 12.5 ms, 99 of 100 below 40.2 ms, worst 1.80 s (53 samples)" in lines
    assert "error: node 'x' failed" in lines


def find(lines, beginning):
    return next(line.strip() for line in lines if line.strip().startswith(beginning))


def test_what_is_to_blame_is_told_once_and_marked() -> None:
    words = "node 'odd' has processed all up to 2"
    story = "the run is running\n  node 'join' waits for 'odds'\n    culprit: " + words
    one = reading(
        nodes=(node("odd"), node("join")),
        streams=(stream("odds"), stream("in")),
        stall=StallReading(3.25, story, (CulpritReading("odd", "odds", words),)),
    )

    text = text_of(one)
    console = Console(width=110, force_terminal=True, color_system="standard")
    with console.capture() as captured:
        console.print(tables(one, "g", 110))
    marked = [line for line in captured.get().splitlines() if "\x1b[1;31m" in line]

    assert "nothing has moved for 3.25 s\n  node 'odd' has processed all up to 2" in text
    assert text.count(words) == 1
    assert "  node 'join' waits for 'odds'" in text
    assert len(marked) == 3
    assert ["odd" in line for line in marked] == [True] * 3
    assert not any("join" in line or " in " in line for line in marked)


def test_a_large_graph_keeps_to_the_height_and_shows_what_moves_and_what_is_to_blame() -> None:
    nodes = tuple(node(f"n{n}", steps_per_s=float(n)) for n in range(500))
    streams = tuple(stream(f"s{n}", per_s=float(n), queued=90 if n == 7 else 0) for n in range(500))
    stall = StallReading(1.0, "the run is running", (CulpritReading("n3", "s3", "it is n3"),))

    text = text_of(reading(nodes=nodes, streams=streams, stall=stall), height=40)

    assert len(text.splitlines()) <= 40
    names = set(re.findall(r"\b[ns]\d+\b", text))
    assert {"n3", "n499", "n498", "s3", "s7", "s499"} <= names
    assert "n4" not in names
    assert re.search(r"^4\d\d more nodes$", text, re.MULTILINE)
    assert re.search(r"^4\d\d more streams$", text, re.MULTILINE)


@pytest.mark.parametrize("width", [20, 40, 60, 90, 110, 300])
def test_no_line_is_wider_than_the_terminal_and_numbers_are_whole(width) -> None:
    one = reading(nodes=(node("a" * 80, waits_for="w" * 200),), streams=(stream("s", drops={"r" * 200: 5}),))

    lines = text_of(one, width).splitlines()

    assert max(map(len, lines)) <= width
    if width >= 60:
        assert "4.0/s" in find(lines, "a" * 10)


def test_names_are_no_markup() -> None:
    assert "[red]x" in text_of(reading(nodes=(node("[red]x"),)))


# --- a run of its own -------------------------------------------------------------------------


def test_the_last_tables_and_the_summary_of_a_run_are_printed(graph, invoke) -> None:
    result = invoke("top", graph(), "--side", "count=10")

    assert result.exit_code == 0
    last = result.output[result.output.rindex("graph.pbtxt  over") :]
    assert re.search(r"^ n +\S+/s +10 +- +\S+ (ms|s) *$", last, re.MULTILINE)
    assert re.search(r"^ CliNumbers +\S+/s +11 +\d+% +- +closed *$", last, re.MULTILINE)
    assert re.search(r"^10 packets in all, 0 dropped;", result.output, re.MULTILINE)


def test_readings_as_json_are_one_a_line_and_the_last_one_tells_the_end(graph, invoke) -> None:
    result = invoke("top", graph(), "--side", "count=10", "--json", "--interval", "0.1")

    readings = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert readings[-1]["state"] == "over"
    assert [(one["name"], one["packets"]) for one in readings[-1]["streams"]] == [("n", 10)]
    assert readings[-1].keys() == attrs.asdict(reading()).keys()


def test_once_prints_one_reading_of_a_short_run_too(graph, invoke) -> None:
    result = invoke("top", graph(), "--side", "count=10", "--once", "--json")

    (line,) = result.stdout.splitlines()
    assert json.loads(line)["streams"][0]["packets"] == 10
    assert result.exit_code == 0


def test_once_ends_an_endless_run_after_a_second_with_its_rates(graph, invoke) -> None:
    result = invoke("top", graph(), "--side", "count=-1", "--once", "--json", "--timeout", PATIENCE_S)

    (line,) = result.stdout.splitlines()
    told = json.loads(line)
    assert result.exit_code == 0
    assert told["state"] == "running"
    assert told["elapsed_s"] >= 1
    assert told["streams"][0]["per_s"] > 10


def test_a_run_that_stands_still_is_told_with_its_culprit_until_its_time_is_up(graph, invoke) -> None:
    result = invoke(
        "top", graph(NEVER), "--side", "count=5", "--json", "--interval", "0.1", "--timeout", "2.5"
    )

    readings = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    stalls = [one["stall"] for one in readings if one["stall"]]
    assert result.exit_code == 1
    assert {one["node"] for stall in stalls for one in stall["culprits"]} == {"stuck"}
    assert "the run did not end within 2.5 s and was cancelled" in result.stderr
    assert readings[-1]["state"] == "over"


def test_once_cancels_a_run_that_does_not_end_and_shows_why(graph, invoke) -> None:
    result = invoke("top", graph(NEVER), "--side", "count=5", "--once")

    assert result.exit_code == 1
    assert re.search(r"^ stuck .* 1 +runs", result.stdout, re.MULTILINE)
    assert "the run does not end, although its sources are closed; it is cancelled" in result.stderr


def test_a_run_that_fails_shows_its_last_reading_and_exits_with_1(graph, invoke) -> None:
    path = graph('node { calculator: "CliFailsAtThree" input_stream: "n" }')

    result = invoke("top", path, "--side", "count=5")

    assert result.exit_code == 1
    assert "error: node 'CliFailsAtThree' (CliFailsAtThree): process() failed at 3" in result.stdout
    assert "Error: the graph run failed" in result.stderr


def test_quiet_shows_no_tables(graph, invoke) -> None:
    result = invoke("top", graph(), "--side", "count=5", "--quiet")

    assert (result.exit_code, result.output) == (0, "")


def test_what_is_wrong_with_the_graph_is_told_as_by_run(graph, invoke, tmp_path) -> None:
    assert invoke("top", tmp_path / "none.pbtxt").exit_code == 4
    assert invoke("top", graph("node {")).exit_code == 3
    wrong = invoke("top", graph(), "--side", "count=x")
    assert (wrong.exit_code, "side packets:" in wrong.output) == (2, True)


#: The command, with the calculators of the tests.
CHILD = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells make background jobs ignore it
sys.path.insert(0, {tests!r})
import conftest
from penstock_cli.main import main
main()
"""


@pytest.fixture
def on_a_terminal():
    """Start the command on a terminal; return the process, and a function that reads what it shows."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals")
    opened = []

    def start(*arguments):
        ours, theirs = pty.openpty()
        program = CHILD.format(tests=str(Path(__file__).parent))
        process = subprocess.Popen(
            [sys.executable, "-c", program, *map(str, arguments)],
            env={**os.environ, "TERM": "xterm", "COLUMNS": "110", "LINES": "40"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        opened.append((process, ours))
        shown = [b""]

        def until(words):
            while words is None or not re.search(words, shown[0]):
                try:
                    block = os.read(ours, 65536)
                except OSError:  # Linux: the other end is closed
                    block = b""
                if not block:
                    return shown[0]
                shown[0] += block
            return shown[0]

        return process, until

    yield start
    for process, ours in opened:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE_S)
        os.close(ours)


def test_on_a_terminal_tables_are_updated_in_place_and_ctrl_c_ends_the_run(graph, on_a_terminal) -> None:
    process, shown = on_a_terminal("top", graph(), "--side", "count=-1", "--interval", "0.1")
    shown(rb"running  0:0[1-9]")
    process.send_signal(signal.SIGINT)
    text = shown(None)
    code = process.wait(PATIENCE_S)

    assert code == 130
    assert text.count(b"graph.pbtxt") > 3
    assert b"\x1b[1A\x1b[2K" in text, "lines are erased before the next ones"
    assert b"interrupted: sources are closed" in text
    assert text.rindex(b"\x1b[?25h") > text.rindex(b"graph.pbtxt"), "the cursor is back after the last table"
    assert b"packets in all, 0 dropped" in text


# --- a run that is served ---------------------------------------------------------------------


@pytest.fixture
def server():
    """Serve readings as `penstock_live` does: `/reading` and `/events`, with a token."""
    made = []

    def start(*readings, end=b"event: end\ndata: the server is closed\n\n", body=None):
        asked = []

        class Answers(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                path, _, query = self.path.partition("?")
                if query != "token=secret":
                    self.send_response(403)
                    self.end_headers()
                    self.wfile.write(b"the token is wrong")
                    return
                self.send_response(200)
                self.end_headers()
                encoded = [json.dumps(attrs.asdict(one)).encode() for one in readings]
                if path == "/reading":
                    self.wfile.write(encoded[0] if body is None else body)
                    return
                assert path == "/events"
                self.wfile.write(b": no news\n\n")
                for one in encoded:
                    self.wfile.write(b"data: " + one + b"\n\n")
                self.wfile.write(end)

            def log_message(self, *_):
                pass

        serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        made.append((serving, thread))
        return f"http://127.0.0.1:{serving.server_port}", asked

    yield start
    for serving, thread in made:
        serving.shutdown()
        thread.join(PATIENCE_S)
        serving.server_close()


def test_one_reading_of_a_served_run_is_printed(server, invoke, monkeypatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # nothing is there
    address, asked = server(reading(number=7))

    as_json = invoke("top", f"{address}/?token=secret", "--once", "--json")
    as_text = invoke("top", f"{address}/?token=secret", "--once")

    assert json.loads(as_json.stdout) == attrs.asdict(reading(number=7), value_serializer=_as_list)
    assert as_text.stdout.startswith(f"{address}  running  1:01  12 packets, 0 dropped")
    assert "secret" not in as_text.output
    assert asked == ["/reading?token=secret"] * 2


def test_the_token_of_a_served_run_comes_from_the_environment_or_a_file(
    server, invoke, monkeypatch, tmp_path
) -> None:
    address, asked = server(reading(number=7))
    file = tmp_path / "token"
    file.write_text("secret\n")

    assert invoke("top", address, "--once").exit_code == 4
    assert invoke("top", address, "--once", "--token-file", file).exit_code == 0
    monkeypatch.setenv("PENSTOCK_TOKEN", "secret")
    assert invoke("top", address, "--once").exit_code == 0
    missing = invoke("top", address, "--once", "--token-file", tmp_path / "none")
    for_a_file = invoke("top", "graph.pbtxt", "--token-file", file)

    assert asked == ["/reading", "/reading?token=secret", "/reading?token=secret"]
    assert missing.exit_code == 4
    assert "cannot be read" in missing.output
    assert for_a_file.exit_code == 2


def _as_list(_, __, value):
    return list(value) if isinstance(value, tuple) else value


def test_readings_of_a_served_run_come_until_the_server_is_closed(server, invoke, monkeypatch) -> None:
    monkeypatch.setattr("penstock_cli.reading.top.monotonic", iter([0.0, 0.05, 0.2, 0.4]).__next__)
    address, _ = server(*(reading(number=n) for n in range(1, 5)))

    result = invoke("top", f"{address}/?token=secret", "--json", "--interval", "0.1")

    assert [json.loads(line)["number"] for line in result.stdout.splitlines()] == [1, 3, 4]
    assert result.stderr == f"the server at {address} is closed\n"
    assert result.exit_code == 0


def test_a_server_that_goes_without_a_word_has_closed_too(server, invoke) -> None:
    address, _ = server(reading(), end=b"")

    assert invoke("top", f"{address}/?token=secret", "--json").exit_code == 0


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<html>", "JSON is malformed"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"number": 1}', "missing required field `state`"),
        (b'{"number": "one"}', r"Expected `int`, got `str` - at `$.number`"),
    ],
)
def test_what_is_no_reading_is_refused(server, invoke, body, why) -> None:
    address, _ = server(reading(), body=body)

    result = invoke("top", f"{address}/?token=secret", "--once")

    assert result.exit_code == 4
    assert f"the served graph at {address} sent no reading:" in result.stderr
    assert why in result.stderr


def test_a_token_that_is_wrong_is_told(server, invoke) -> None:
    address, _ = server(reading())

    result = invoke("top", f"{address}/?token=other", "--once")

    assert result.exit_code == 4
    assert f"{address} answers 403 " in result.stderr
    assert "the token is wrong" in result.stderr
    assert "other" not in result.stderr


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/?token=x", "http://127.0.0.1:x/"])
def test_an_address_at_which_nothing_answers_is_told(invoke, address) -> None:
    result = invoke("top", address, "--once")

    assert result.exit_code == 4
    assert "no served graph answers at http://127.0.0.1:" in result.stderr
    assert "start one with penstock run GRAPH --serve" in result.stderr


@pytest.mark.parametrize(
    "option", [["--side", "a=1"], ["--trace", "t.json"], ["--timeout", "3"], ["--strict"]]
)
def test_options_of_a_run_do_not_go_with_an_address(invoke, option) -> None:
    result = invoke("top", "http://127.0.0.1:1/", *option)

    assert result.exit_code == 2
    assert f"{option[0]} is for the run of a graph file; that of a URL is under way" in result.stderr


def test_ctrl_c_ends_the_command_and_not_the_served_run(on_a_terminal) -> None:
    class Endless(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            number = 0
            try:
                while not ended.wait(0.05):
                    number += 1
                    self.wfile.write(
                        b"data: " + json.dumps(attrs.asdict(reading(number=number))).encode() + b"\n\n"
                    )
                    self.wfile.flush()
            except OSError:
                pass  # the command has gone

        def log_message(self, *_):
            pass

    ended = threading.Event()
    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    try:
        process, shown = on_a_terminal("top", f"http://127.0.0.1:{serving.server_port}/?token=x")
        shown(rb"running  1:01")
        process.send_signal(signal.SIGINT)
        text = shown(None)
        code = process.wait(PATIENCE_S)
    finally:
        ended.set()
        serving.shutdown()
        thread.join(PATIENCE_S)
        serving.server_close()

    assert code == 130
    assert b"interrupted" in text
    assert b"\x1b[?25h" in text
