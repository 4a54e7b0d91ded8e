"""`penstock run --each`: one run for each file, of which a bad one does not stop the others."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.heavy

CALCULATORS = """
import os, signal, time
from pathlib import Path
import penstock

@penstock.register_calculator
class Lines(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.input_side_packets["FILE"].set(str)
        cc.outputs[0].set(str)

    def open(self, cc):
        self.lines = Path(cc.input_side_packets["FILE"].payload).read_text().split()
        self.count = self.time = 0

    def process(self, cc):
        if self.count == len(self.lines):
            return penstock.STOP
        line = self.lines[self.count]
        if line == "bad":
            raise ValueError("a bad line")
        if line == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        if line == "wait":
            Path("waiting").touch()
            time.sleep(0.01)
        else:
            self.count += 1
        self.time += 1
        cc.output.add(line, self.time)

@penstock.register_calculator
class Writes(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(str)
        cc.input_side_packets["FILE"].set(str)

    def open(self, cc):
        self.lines = []

    def process(self, cc):
        self.lines.append(cc.input.payload)

    def close(self, cc):
        Path(cc.input_side_packets["FILE"].payload).write_text(" ".join(self.lines))
"""
GRAPH = """
node { calculator: "Lines" input_side_packet: "FILE:source" output_stream: "line" }
"""
WRITES = GRAPH + 'node { calculator: "Writes" input_stream: "line" input_side_packet: "FILE:target" }'
PATIENCE_S = 60


@pytest.fixture
def work(tmp_path):
    """A directory with a graph file, its calculators and three files."""
    (tmp_path / "lines.py").write_text(CALCULATORS)
    (tmp_path / "graph.pbtxt").write_text(GRAPH)
    (tmp_path / "writes.pbtxt").write_text(WRITES)
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    for name, text in (("a.txt", "1 2"), ("b.txt", "1 bad"), ("c.txt", "1 2 3")):
        (tmp_path / "in" / name).write_text(text)
    return tmp_path


def test_each_file_has_a_run_and_a_bad_one_does_not_stop_the_others(work, command):
    done = command("run", "graph.pbtxt", "--each", "in/*.txt", "--jobs", 2, "--import", "./lines.py")

    assert done.returncode == 1
    rows = re.findall(r"^ +in/(\w)\.txt +(\w+) +(\S+) ", done.stdout, re.MULTILINE)
    assert sorted(rows) == [("a", "done", "2"), ("b", "failed", "-"), ("c", "done", "3")]
    assert "a bad line" in done.stdout
    assert done.stdout.endswith("3 files: 2 done, 1 failed\n")
    assert "in/a.txt: done\n" in done.stderr
    assert re.search(
        r"^in/b.txt: failed: the graph run failed: node 'Lines'.*a bad line", done.stderr, re.MULTILINE
    )


def test_parts_of_the_path_stand_in_side_packets(work, command):
    (work / "in" / "b.txt").unlink()

    done = command(
        "run", "writes.pbtxt", "--each", "in/*.txt", "--import", "./lines.py",
        "--side", "source={file}", "--side", "target=out/{stem}-of-{name}",
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "out/a-of-a.txt (3 B)" in done.stdout
    assert {path.name: path.read_text() for path in (work / "out").iterdir()} == {
        "a-of-a.txt": "1 2",
        "c-of-c.txt": "1 2 3",
    }


def test_files_of_a_folder_may_share_what_they_read_and_come_in_their_order(work, command):
    (work / "in" / "b.txt").unlink()
    (work / "in" / "a.txt").write_text(" ".join(["1"] * 3000))  # ends after the other
    (work / "in" / "shared").write_text("x")

    done = command(
        "run", "writes.pbtxt", "--each", "in/*.txt", "--jobs", 2, "--json", "--import", "./lines.py",
        "--side", "source={folder}/shared", "--side", "target={file}.out",
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [row["file"] for row in rows] == ["in/a.txt", "in/c.txt"]
    assert [row["summary"]["files"][0]["path"] for row in rows] == ["in/a.txt.out", "in/c.txt.out"]


def test_a_process_that_is_killed_costs_one_file(work, command):
    (work / "in" / "b.txt").write_text("1 crash")

    done = command("run", "graph.pbtxt", "--each", "in/*.txt", "--json", "-q", "--import", "./lines.py")

    found = {row["file"]: row for row in json.loads(done.stdout)}
    assert done.returncode == 1
    assert found["in/b.txt"]["error"] == "its process was killed by SIGKILL"
    assert found["in/b.txt"]["exit_code"] == -signal.SIGKILL
    assert [found[f"in/{name}.txt"]["result"] for name in "abc"] == ["done", "failed", "done"]
    assert found["in/c.txt"]["summary"]["packets"] == 3
    assert done.stderr == ""


@pytest.mark.parametrize("option", ["--quiet", "--no-progress"])
def test_without_progress_only_what_failed_is_said(work, command, option):
    done = command("run", "graph.pbtxt", "--each", "in/*.txt", option, "--import", "./lines.py")

    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("in/b.txt: failed: the graph run failed: node 'Lines'")
    assert (done.stdout == "") is (option == "--quiet")


def test_runs_that_write_the_same_file_are_reported(work, command):
    (work / "in" / "b.txt").unlink()

    done = command(
        "run", "writes.pbtxt", "--each", "in/*.txt", "--import", "./lines.py",
        "--side", "source={file}", "--side", "target=out.txt",
    )  # fmt: skip

    assert done.returncode == 1
    assert "error: out.txt was written by several runs" in done.stderr
    assert "--side output_video=out/{stem}.mp4" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--each", "in"), 4, "--each in: is a directory; write a pattern, such as 'in/*.mp4'"),
        (("--each", "in/*.mp4"), 4, "--each in/*.mp4: matches no file (searched in '"),
        (("--each", "in/d.txt"), 4, "--each in/d.txt: there is no such file"),
        (("--each", "in/*.txt"), 2, "such as --side source={file} (the graph has: 'source', 'target')"),
        (
            ("--each", "in/*.txt", "--side", "source={file}", "--side", "target=out/{folder}.txt"),
            2,
            "'in/a.txt' and 'in/b.txt' give the same --side target=\"out/in.txt\"",
        ),
        (
            ("--each", "in/*.txt", "--side", "source={file}", "--side", "targt=out/{stem}.txt"),
            2,
            "the graph has no side packet 'targt' (did you mean 'target'?)",
        ),
        (("--each", "in/*.txt", "--trace", "t.json"), 2, "--trace cannot go with --each"),
        (("--jobs", 2), 2, "add --each, or leave out --jobs"),
    ],
)
def test_mistakes_are_reported_before_anything_runs(work, command, arguments, code, words):
    done = command("run", "writes.pbtxt", *arguments, "--import", "./lines.py")

    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert list((work / "out").iterdir()) == []


def test_a_graph_that_is_wrong_is_reported_once(work, command):
    (work / "graph.pbtxt").write_text('node { calculator: "Nobody" }')

    done = command("run", "graph.pbtxt", "--each", "in/*.txt")

    assert done.returncode == 3
    assert done.stderr.count("the graph cannot run, 1 fault") == 1


def test_options_that_follow_one_run_are_refused_also_those_of_plugins(work, command):
    pytest.importorskip("prometheus_client", reason='no metrics: pip install "penstock-monitor[prometheus]"')

    done = command("run", "graph.pbtxt", "--each", "in/*.txt", "--import", "./lines.py", "--metrics", 0)

    assert done.returncode == 2
    assert "--metrics cannot go with --each: each file has a run of its own" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals as POSIX does")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_the_runs_under_way_with_their_files_and_starts_no_other(work, number, code):
    (work / "in" / "a.txt").write_text("1 wait")
    words = (
        "--each",
        "in/*.txt",
        "--import",
        "./lines.py",
        "--side",
        "source={file}",
        "--side",
        "target=out/{name}",
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock_cli", "run", "writes.pbtxt", *words],
        cwd=work,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        until = time.monotonic() + PATIENCE_S
        while not (work / "waiting").exists():  # its source does not end by itself
            assert time.monotonic() < until
            time.sleep(0.02)
        os.kill(process.pid, number)
        stdout, _ = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == code
    assert re.findall(r"^ +in/(\w)\.txt +(\w+(?: \w+)?) ", stdout, re.MULTILINE) == [
        ("a", "interrupted"),
        ("b", "not started"),
        ("c", "not started"),
    ]
    assert (work / "out" / "a.txt").read_text().startswith("1 wait wait")
