"""Graphs with mistakes: a short form of `fuzz_graphs.py`, and how it reports findings."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "scripts" / "trials" / "fuzz_graphs.py"

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the fuzzer limits its processes as Linux does"),
    pytest.mark.heavy,
]

GRAPH = """\
% param p : "x" %
input_stream: "a"
node { calculator: "PassThroughCalculator" name: % p % input_stream: "a" output_stream: "b" }
"""

#: Does something else than it should for some inputs. Worker processes import it too, as the main module.
DEEDS = """
import os, signal, sys
sys.path.insert(0, {scripts!r})
import fuzz_graphs
from graph_mutations import Mutant
from penstock.errors import InvalidArgumentError

class Deed:
    def __init__(self, number):
        self.number = number

    def to_config(self):
        if self.number == 2:
            raise KeyError("a foreign exception")
        if self.number == 4:
            bytearray(1 << 30)
        if self.number == 6:
            os.kill(os.getpid(), signal.SIGSEGV)
        self.loads = getattr(self, "loads", 0) + 1
        fuzz_graphs.slowness = lambda registry: 4.0 if self.number == 13 else 1.0
        is_slow = self.number in (10, 13) or (self.number == 9 and self.loads == 1)
        until = sum(os.times()[:2]) + 0.6
        while self.number == 8 or (is_slow and sum(os.times()[:2]) < until):
            pass
        if self.number == 12:
            raise Unprintable
        return ""

class Unprintable(InvalidArgumentError):
    def __init__(self):
        super().__init__("x")

    def __str__(self):
        return "\\ud800"

fuzz_graphs.mutant = lambda corpus, seed, number: Mutant("object", Deed(number))
fuzz_graphs.MOST_SECONDS = 0.3
fuzz_graphs._GRACE_SECONDS = 1
if __name__ == "__main__":
    fuzz_graphs.main()
"""


def fuzz(*arguments, script=SCRIPT):
    command = [sys.executable, str(script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


def test_graphs_with_mistakes_are_loaded_or_refused_with_an_error_of_ours(tmp_path):
    done = fuzz("--seed", 16, "--inputs", 300, "--out", tmp_path)

    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "no findings"), done.stdout
    counts = re.match(r"300 inputs in \d+ s: (.*)\n", done.stdout)
    kinds = dict(reversed(one.split(" ", 1)) for one in counts.group(1).split(", "))
    # None of the ways that a graph can go is missing, else the inputs are no good.
    assert {"loaded", "GraphParseError", "GraphConfigError", "ResourceExhaustedError"} <= set(kinds)


def test_every_kind_of_finding_is_told_and_saved_and_the_other_inputs_are_loaded(tmp_path):
    graphs, out, script = tmp_path / "graphs", tmp_path / "out", tmp_path / "deeds.py"
    graphs.mkdir()
    (graphs / "graph.pbtxt").write_text(GRAPH, encoding="utf-8")
    script.write_text(DEEDS.format(scripts=str(SCRIPT.parent)), encoding="utf-8")

    done = fuzz("--seed", 3, "--inputs", 14, "--graphs", graphs, "--out", out, script=script)

    assert done.returncode == 1
    told = dict(re.findall(r"^1 x input (\d+): (.*)$", done.stdout, re.MULTILINE))
    assert re.match(r"KeyError \(at .*deeds\.py:\d+\): 'a foreign exception'", told["2"])
    assert told["4"].startswith("it took more than 256 MB of memory")
    assert told["6"] == "the process ended: SIGSEGV"
    assert told["8"] == "it took more than 1.3 s of processor time, and was ended"
    assert told["10"] == "it took more than 0.3 s of processor time"
    assert told["12"].startswith("Unprintable cannot be printed: surrogates not allowed")
    assert done.stdout.splitlines()[0].startswith("14 inputs in ")
    assert done.stdout.splitlines()[-1] == f"6 findings; their inputs are in {out}"
    assert "python scripts/trials/fuzz_graphs.py --seed 3 --show 2\n" in (out / "3-2.why").read_text()
    assert sorted(path.name for path in out.glob("*.txt")) == [f"3-{n}.txt" for n in (10, 12, 2, 4, 6, 8)]


def test_an_input_is_made_again_by_its_seed_and_number(tmp_path):
    (tmp_path / "graph.pbtxt").write_text(GRAPH, encoding="utf-8")
    one, again, other = (fuzz("--seed", 3, "--show", n, "--graphs", tmp_path).stdout for n in (5, 5, 6))

    assert one.splitlines()[0].startswith("input 5 of seed 3: ")
    assert re.sub(r"after .* s:", "", one) == re.sub(r"after .* s:", "", again) != other
    assert "no finding" in one


def test_an_interrupt_ends_it_with_the_summary(tmp_path):
    (tmp_path / "graph.pbtxt").write_text(GRAPH, encoding="utf-8")
    command = [sys.executable, str(SCRIPT), "--seconds", "100", "--graphs", str(tmp_path), "--jobs", "2"]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr.readline() == "1 graphs, 1 of them templates; seed 1\n"
        os.kill(running.pid, signal.SIGINT)
        out, _ = running.communicate(timeout=60)

    assert running.returncode == 0
    assert re.match(r"\d+ inputs in \d+ s: ", out)
    assert out.splitlines()[-1] == "no findings"
