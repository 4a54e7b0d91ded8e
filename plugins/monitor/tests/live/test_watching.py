"""`penstock show GRAPH --watch`."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from penstock_cli.main import penstock_command

pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")

GRAPH = (
    'input_stream: "a"\nnode { calculator: "PassThroughCalculator" input_stream: "a" output_stream: "b" }\n'
)
WAIT = 60


@pytest.fixture
def watched(tmp_path):
    """Start the command, and yield the file, the process and the address that it prints."""
    path = tmp_path / "graph.pbtxt"
    path.write_text(GRAPH, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock_cli", "show", str(path), "--watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    killer = threading.Timer(WAIT, process.kill)
    killer.start()
    try:
        line = process.stderr.readline()
        yield path, process, line.partition("open ")[2].partition(" in a browser")[0]
    finally:
        killer.cancel()
        process.kill()
        process.communicate()
        killer.join()


def pictures(url):
    """Yield the pictures that a page gets."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=WAIT)
    connection.request("GET", f"/events?{parts.query}")
    answer = connection.getresponse()
    try:
        for line in answer:
            if line.startswith(b'data: {"svg"'):
                yield json.loads(line.removeprefix(b"data: "))
    finally:
        answer.close()
        connection.close()


def test_the_picture_is_drawn_again_when_the_file_is_saved_and_kept_while_it_is_broken(watched):
    path, process, url = watched
    shown = pictures(url)

    first = next(one for one in shown if one["svg"])
    path.write_text(GRAPH + "node {", encoding="utf-8")
    broken = next(one for one in shown if one["notes"])
    path.write_text(GRAPH.replace("PassThrough", "Gate"), encoding="utf-8")
    mended = next(one for one in shown if 'data-node="GateCalculator"' in one["svg"])
    shown.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(WAIT) == 130

    assert 'data-node="PassThroughCalculator"' in first["svg"]
    assert first["notes"] == []
    assert broken["svg"] == first["svg"]
    assert "graph.pbtxt:3:" in broken["notes"][0]
    assert mended["notes"] == []


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["GateCalculator", "--watch"],
            2,
            "--watch is for graph files, but 'GateCalculator' is the name of a",
        ),
        (["g.pbtxt", "--watch", "--json"], 2, "--watch shows the graph in a browser; leave out --json"),
        (["g.pbtxt", "--watch", "-o", "g.svg"], 2, "leave out --out"),
        (["missing.pbtxt", "--watch"], 4, "graph file 'missing.pbtxt' does not exist"),
    ],
)
def test_what_does_not_go_together_is_refused(words, code, message):
    done = CliRunner().invoke(penstock_command, ["show", *words])

    assert (done.exit_code, message in done.output) == (code, True), done.output
