"""`penstock run --serve`, as a user runs it."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading

import pytest
import trustme

pytestmark = pytest.mark.heavy

#: A source at a steady pace, without an end or with one.
CALCULATORS = """
import threading
import penstock

@penstock.register_calculator
class Ticks(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.input_side_packets["COUNT"].set(int)
        cc.outputs["OUT"].set(int)

    def open(self, cc):
        self.number, self.pause = 0, threading.Event()

    def process(self, cc):
        if self.number == cc.input_side_packets["COUNT"].payload:
            return penstock.STOP
        self.pause.wait(0.01)
        cc.outputs["OUT"].add(self.number, self.number)
        self.number += 1

@penstock.register_calculator
@penstock.calculator
def fails(number: int) -> int:
    if number == 5:
        raise ValueError("five is too much")
    return number
"""
GRAPH = """
output_stream: "tick"
node {{ calculator: "Ticks" output_stream: "OUT:tick" input_side_packet: "COUNT:count" }}
{more}
"""
PATIENCE_S = 60.0


class Command:
    """A command under way, and what it prints."""

    def __init__(self, directory, *words):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "penstock_cli", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=directory,
            text=True,
            # Ctrl-C is sent to this command alone, also where the tests ignore it
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
        )
        self.lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.printed = []
        self.readers = [
            threading.Thread(target=self._read, args=(self.process.stderr,)),
            threading.Thread(target=self._read, args=(self.process.stdout,)),
        ]
        for reader in self.readers:
            reader.start()

    def _read(self, file):
        with file:
            for line in file:
                self.printed.append(line)
                self.lines.put(line)
        self.lines.put(None)

    def until(self, part):
        """Return the next line with these words."""
        while (line := self.lines.get(timeout=PATIENCE_S)) is not None:
            if part in line:
                return line
        raise AssertionError(f"{part!r} is not in {self.printed}")

    def url(self):
        return self.until("the run is shown at ").split()[-1]

    def interrupt(self):
        os.kill(self.process.pid, signal.SIGINT)

    def ended(self):
        """Return the exit code."""
        code = self.process.wait(PATIENCE_S)
        for reader in self.readers:
            reader.join(PATIENCE_S)
        return code

    def close(self):
        self.process.kill()
        self.ended()


def last_reading(hand, client):
    """Return the first reading after the end of the run."""
    connection, answer = client.open("/events")
    with connection:
        readings = (json.loads(data) for kind, data in hand.events(answer) if kind == "message")
        return next(reading for reading in readings if reading["state"] == "over")


@pytest.fixture
def run(tmp_path, stack):
    """Return a function that runs `penstock run`."""
    (tmp_path / "calculators.py").write_text(CALCULATORS)
    (tmp_path / "graph.pbtxt").write_text(GRAPH.format(more=""))
    (tmp_path / "failing.pbtxt").write_text(
        GRAPH.format(
            more='node { calculator: "Fails" input_stream: "NUMBER:tick" output_stream: "OUT:checked" }'
        )
    )

    def run(*words, graph="graph.pbtxt", count=-1):
        command = Command(
            tmp_path,
            "run",
            *words,
            graph,
            "--import",
            "calculators",
            "--side",
            f"count={count}",
            "--no-progress",
        )
        stack.callback(command.close)
        return command

    return run


def test_the_page_names_the_graph_by_its_type_and_its_file(hand, run, tmp_path):
    (tmp_path / "door.pbtxt").write_text('type: "DoorWatch"' + GRAPH.format(more=""))
    for graph, title in (("door.pbtxt", "DoorWatch (door.pbtxt)"), ("graph.pbtxt", "graph.pbtxt")):
        command = run("--serve", graph=graph)
        body = hand.Client(command.url()).request("/")[2].decode()
        assert f"<title>{title}</title>" in body
        command.interrupt()


def test_the_address_is_printed_and_shows_the_run(hand, run):
    command = run("--serve")
    client = hand.Client(command.url())
    connection, answer = client.open("/events")
    with connection:
        for kind, data in hand.events(answer):
            if kind == "journal":
                continue
            reading = json.loads(data)
            ticks = reading["streams"][0]
            if ticks["packets"] > 10:
                break
        assert reading["state"] == "running"
        assert ticks["name"] == "tick"
        assert reading["nodes"][0]["busy"] is not None  # the run is timed
        command.interrupt()
        # the page gets the last reading, and learns that the server is closed
        *_, (_, last), end = (event for event in hand.events(answer) if event[0] != "journal")
    assert json.loads(last)["state"] == "over"
    assert end == ("end", "the server is closed")
    assert command.ended() == 130


def test_a_graph_after_serve_is_no_port(hand, run):
    command = run("--serve", count=20)
    assert re.match(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}$", command.url())
    assert command.ended() == 0
    said = "".join(command.printed)
    assert "nobody opened the page; --serve-until-closed keeps it after the run, until Ctrl-C" in said


@pytest.mark.parametrize("form", ["--serve {}", "--serve={}"])
def test_a_port_can_be_chosen(hand, run, form):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = run(*form.format(port).split())
    assert f":{port}/?token=" in command.url()
    command.interrupt()
    assert command.ended() == 130


def test_a_taken_port_ends_the_command_before_anything_starts(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = run("--serve", str(port), graph="missing.pbtxt")
        assert command.ended() == 1
    assert re.search(
        rf"port {port} of '127\.0\.0\.1' is not possible: .*; take another port", "".join(command.printed)
    )
    assert "missing.pbtxt" not in "".join(command.printed)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--serve-until-closed"],
            "--serve-until-closed means nothing without --serve, the live page; add --serve",
        ),
        (
            ["--serve-on", "0.0.0.0"],  # noqa: S104
            "--serve-on means nothing without --serve, the live page; add --serve",
        ),
        (["--serve", "--serve-on", "0.0.0.0"], "--serve-on '0.0.0.0' lets other machines see"),  # noqa: S104
        (
            ["--serve", "--serve-cert", "c.pem"],
            "--serve-key is missing for --serve: TLS needs",
        ),
        (
            ["--serve", "--serve-key", "k.pem"],
            "--serve-cert is missing for --serve: TLS needs",
        ),
        (
            ["--serve", "--serve-cert", "c.pem", "--serve-key", "k.pem"],
            "listening by TLS: certificate file 'c.pem' cannot be read: No such file or directory; name",
        ),
        (["--serve", "70000"], "70000 is not in the range 0<=x<=65535"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(run, words, said):
    command = run(*words)
    assert command.ended() == 2
    assert said in "".join(command.printed)


def test_an_invalid_graph_ends_the_command_as_without_serve(run, tmp_path):
    (tmp_path / "wrong.pbtxt").write_text('node { calculator: "NoSuchCalculator" }')
    command = run("--serve", graph="wrong.pbtxt")
    assert command.ended() == 3
    assert "token=" not in "".join(command.printed)


def test_the_page_stays_until_ctrl_c_if_asked_to(hand, run):
    command = run("--serve", "--serve-until-closed", count=5)
    client = hand.Client(command.url())
    assert "its page stays at http://127.0.0.1:" in command.until("the run is over")
    reading = last_reading(hand, client)
    assert reading["streams"][0]["packets"] == 5
    command.interrupt()
    assert command.ended() == 0
    assert command.printed[-1] == "the page is closed\n"


def test_the_page_of_a_failed_run_stays_too_and_the_exit_code_is_that_of_the_run(hand, run):
    command = run("--serve", "--serve-until-closed", graph="failing.pbtxt", count=10)
    client = hand.Client(command.url())
    said = command.until("the run has failed: ")
    assert "five is too much" in said
    assert "five is too much" in last_reading(hand, client)["errors"][0]
    command.interrupt()
    assert command.ended() == 1


def test_ctrl_c_during_the_run_closes_the_page_too(hand, run):
    command = run("--serve", "--serve-until-closed")
    client = hand.Client(command.url())
    assert client.request("/")[0] == 200
    command.interrupt()
    assert command.ended() == 130
    assert "stays" not in "".join(command.printed)


def test_with_tls_files_others_may_come(run, tmp_path):
    issued = trustme.CA().issue_cert("localhost")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "c.pem")
    issued.private_key_pem.write_to_path(tmp_path / "k.pem")
    command = run("--serve", "--serve-on", "0.0.0.0", "--serve-cert", "c.pem", "--serve-key", "k.pem")  # noqa: S104
    assert command.url().startswith(f"https://{socket.gethostname()}:")
    command.interrupt()
    assert command.ended() == 130


def test_without_serve_nothing_of_the_server_is_imported(tmp_path):
    (tmp_path / "calculators.py").write_text(CALCULATORS)
    (tmp_path / "graph.pbtxt").write_text(GRAPH.format(more=""))
    code = (
        "import sys\n"
        "from penstock_cli.main import penstock_command\n"
        "try:\n"
        "    penstock_command('run graph.pbtxt --quiet --import calculators --side count=3'.split())\n"
        "except SystemExit as end:\n"
        "    assert not end.code, end.code\n"
        "heavy = {'uvicorn', 'starlette', 'msgspec', 'ssl', 'penstock_live.server'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
