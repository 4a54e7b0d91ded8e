"""`penstock run --metrics`: a run that is scraped while it waits for its next line."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest

pytest.importorskip("penstock_cli", reason="penstock-cli is not installed")
from click.testing import CliRunner
from scraping import PATIENCE_S, scraped
from test_telemetry import collector, sums  # noqa: F401  # a fixture

from penstock_cli.main import penstock_command

ANY = "0.0.0.0"  # noqa: S104  # it is what is tested
LINES = """
import sys
import penstock

@penstock.register_calculator
class LineSource(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set(str)

    def open(self, cc):
        self.count = 0

    def process(self, cc):
        line = sys.stdin.readline()
        if not line:
            return penstock.STOP
        cc.outputs[0].add(line, self.count)
        self.count += 1
"""
GRAPH = """
node { calculator: "LineSource" output_stream: "lines" }
node { calculator: "PassThroughCalculator" name: "pass" input_stream: "lines" output_stream: "out" }
"""


@pytest.fixture
def start(tmp_path):
    (tmp_path / "lines.py").write_text(LINES)
    (tmp_path / "watched.pbtxt").write_text(GRAPH)
    started = []

    def run(*arguments, **environ):
        command = [sys.executable, "-m", "penstock_cli", "run", "watched.pbtxt", "--import", "./lines.py"]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
        process = subprocess.Popen(
            [*command, "--no-progress", *arguments],
            cwd=tmp_path,
            env={**clean, **environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def in_process(*arguments):
    return CliRunner().invoke(penstock_command, arguments, prog_name="penstock")


def until(process, word):
    """Return the first line on stderr with a word."""
    killer = threading.Timer(PATIENCE_S, process.kill)
    killer.start()
    try:
        return next(line for line in process.stderr if word in line)
    finally:
        killer.cancel()


def test_a_run_is_scraped_while_it_runs_and_the_server_ends_with_it(start) -> None:
    process = start("--metrics", "0")
    url = until(process, "metrics: ").split()[1]
    process.stdin.write("a\n")
    process.stdin.flush()
    seen, deadline = {}, time.monotonic() + PATIENCE_S
    while seen.get(("penstock_packets_total", "graph=watched", "stream=out")) != 1:
        assert time.monotonic() < deadline, seen
        seen = scraped(url)
    process.communicate("b\nc\n", timeout=PATIENCE_S)

    assert url.startswith("http://127.0.0.1:")
    assert seen["penstock_running", "graph=watched"] == 1
    assert seen["penstock_busy_seconds_total", "graph=watched", "node=pass"] > 0
    assert process.returncode == 0
    with pytest.raises(OSError, match="refused"):
        scraped(url)


def test_a_port_that_is_taken_is_said_before_anything_starts(tmp_path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = in_process("run", str(tmp_path / "there is no graph"), "--metrics", str(port))

    assert done.exit_code == 1
    assert done.stdout == ""
    assert (
        f"--metrics {port}: the metrics server's port {port} of '127.0.0.1' cannot be used: " in done.stderr
    )
    assert "take another port, or 0 for any that is free" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--metrics", "70000"), "70000 is not in the range"),
        (("--metrics", "0", "--metrics-on", "no such name"), "address 'no such name' cannot be used"),
        (("--metrics-on", "127.0.0.1"), "--metrics-on 127.0.0.1: nothing is served without --metrics PORT"),
    ],
)
def test_what_cannot_be_served_is_refused(arguments, message) -> None:
    done = in_process("run", "graph.pbtxt", *arguments)

    assert done.exit_code in {1, 2}
    assert message in " ".join(done.stderr.split())


def test_without_the_option_nothing_is_served_and_nothing_heavy_imported(start) -> None:
    process = start(
        PYTHONVERBOSE="1",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1",
        OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
    )
    _, err = process.communicate("a\n", timeout=PATIENCE_S)

    assert process.returncode == 0
    assert "not exported: OpenTelemetry's OTEL_EXPORTER_OTLP_PROTOCOL 'grpc': must be" in err
    assert "import 'penstock_metrics.command_line'" in err
    assert "import 'prometheus_client" not in err
    assert "import 'opentelemetry" not in err


def test_the_token_of_the_environment_is_asked_for(start) -> None:
    process = start("--metrics", "0", PENSTOCK_METRICS_TOKEN="correct horse battery")  # noqa: S106  # of the test
    line = until(process, "metrics: ")
    url = line.split()[1].rstrip(",")
    with pytest.raises(urllib.error.HTTPError, match="401") as refused:
        urllib.request.urlopen(url, timeout=PATIENCE_S)  # noqa: S310  # of the test
    refused.value.close()
    asked = urllib.request.Request(url, headers={"Authorization": "Bearer correct horse battery"})  # noqa: S310
    with urllib.request.urlopen(asked, timeout=PATIENCE_S) as answer:  # noqa: S310
        assert b"penstock_" in answer.read()
    process.communicate("", timeout=PATIENCE_S)
    assert "for requests with the token of PENSTOCK_METRICS_TOKEN" in line
    assert "correct horse" not in line


def test_the_last_numbers_are_sent_to_the_endpoint_of_the_environment(start, collector) -> None:  # noqa: F811  # the fixture
    endpoint = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]
    process = start("--metrics", "0", "--metrics-on", ANY, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint)
    line = until(process, "metrics: ")
    process.communicate("a\nb\n", timeout=PATIENCE_S)

    assert "/metrics, for all who reach this address; PENSTOCK_METRICS_TOKEN in the environment" in line
    assert line.startswith("metrics: http://0.0.0.0:")
    assert process.returncode == 0
    assert sums(collector.of("/v1/metrics")[-1])["penstock.packets", "watched", "out"] == 2
