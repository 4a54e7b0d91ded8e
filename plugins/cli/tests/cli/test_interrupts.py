from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import av
import pytest

from penstock_cli import main
from penstock_cli.runs.interrupts import Interrupts
from penstock_testing.traces import read_trace

pytestmark = pytest.mark.heavy

#: The command, in a process that prints which threads are left at its end. Each press is counted.
CHILD = """
import signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells make background jobs ignore it
sys.path.insert(0, {tests!r})
import conftest, penstock_cli.runs.interrupts
from penstock_cli.main import main
penstock_cli.runs.interrupts._ONE_PRESS_S = 0.0
try:
    main()
except SystemExit as end:
    print("threads:", sorted(thread.name for thread in threading.enumerate()))
    sys.exit(end.code)
"""

no_signals = pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to a process there")


@pytest.fixture
def started(tmp_path):
    """Return a function that starts the command after the given code; at the end it is killed if it runs."""
    processes = []

    def start(*arguments, before=""):
        program = before + CHILD.format(tests=str(Path(__file__).parent))
        process = subprocess.Popen(
            [sys.executable, "-c", program, *map(str, arguments)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def read_until(process, pattern):
    """Return the lines of stderr up to one that matches."""
    seen = []
    for line in process.stderr:
        seen.append(line)
        if re.search(pattern, line):
            return
    pytest.fail(f"{pattern!r} was never said, but {seen}")


@no_signals
@pytest.mark.parametrize("place", ["--gpu", "--no-gpu"])
def test_ctrl_c_finishes_the_file_and_leaves_no_thread(started, tmp_path, place, request):
    if place == "--gpu":
        request.getfixturevalue("gl")
    process = started("demo", "--frames", "0", "-o", "out.mp4", place)
    read_until(process, r"^\d:\d\d  \d+ packets?  .*on '(frame|decoded)'")

    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate()

    assert process.returncode == 130
    assert "interrupted: sources are closed" in stderr
    assert re.search(r"^interrupted after \S+ m?s; written: out\.mp4 \([\d.]+ k?B\)$", stderr, re.MULTILINE)
    assert stdout.endswith("threads: ['MainThread']\n")
    with av.open(str(tmp_path / "out.mp4")) as container:
        decoded = sum(1 for _ in container.decode(video=0))
    (painted,) = re.findall(r"(?:Image|Gl)OverlayCalculator +(\d+)", stdout)
    assert decoded == int(painted) > 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.mp4"]


@no_signals
def test_a_second_ctrl_c_cancels_a_run_that_does_not_end(started, graph):
    path = graph('node { calculator: "CliNeverReturns" input_stream: "n" }')
    process = started("run", path, "--side", "count=1")

    read_until(process, r"on 'n'")
    process.send_signal(signal.SIGINT)
    read_until(process, r"^interrupted: sources are closed, .* Ctrl-C again to cancel$")
    process.send_signal(signal.SIGINT)
    read_until(process, r"^cancelled: ")
    stdout, stderr = process.communicate()

    assert process.returncode == 130
    assert re.search(r"interrupted after \S+ m?s; no file was written\n$", stderr)
    assert stdout.endswith("threads: ['MainThread']\n")


@no_signals
@pytest.mark.parametrize(
    ("presses", "count", "behind", "node"),
    [
        (1, 10**9, "", "CliNumbers"),
        (2, 1, 'node { calculator: "CliNeverReturns" input_stream: "n" }', "CliNeverReturns"),
    ],
)
def test_an_interrupted_run_has_its_trace(  # noqa: PLR0913, PLR0917  # fixtures and cases
    started, graph, tmp_path, presses, count, behind, node
):
    process = started("run", graph(behind), "--side", f"count={count}", "--trace", tmp_path / "trace.json")

    read_until(process, r"on 'n'")
    process.send_signal(signal.SIGINT)
    read_until(process, r"^interrupted: sources are closed")
    if presses == 2:
        process.send_signal(signal.SIGINT)
    process.communicate()

    assert process.returncode == 130
    assert any(one.name == node for one in read_trace(tmp_path / "trace.json").slices)


STUCK = """
import signal, sys, threading
import penstock

class CliStuck(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set(int)

    def process(self, cc):
        print("stuck", file=sys.stderr, flush=True)
        if threading.current_thread() is threading.main_thread():  # where Ctrl-C interrupts it
            for _ in range(3):
                signal.raise_signal(signal.SIGINT)
        threading.Event().wait()

penstock.register_calculator(CliStuck)
"""
ABORTED = "aborted; files that were being written may be incomplete\n"


@pytest.fixture
def stuck_graph(tmp_path):
    """Return a function that writes a graph file with a calculator that never returns."""

    def make(executor=""):
        path = tmp_path / "stuck.pbtxt"
        path.write_text(f'{executor} node {{ calculator: "CliStuck" output_stream: "n" }}')
        return path

    return make


@no_signals
def test_why_answers_for_the_moment_of_the_first_ctrl_c(started, graph):
    path = graph('max_queue_size: 2 node { calculator: "CliNeverReturns" input_stream: "n" }')
    process = started("why", path, "--side", "count=1000", "--after", "600")
    read_until(process, r"^\d:\d\d  \d+ packets?")

    process.send_signal(signal.SIGINT)
    read_until(process, r"^interrupted: sources are closed")
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate()

    assert process.returncode == 130
    assert stdout.startswith("the run is running\n"), "not that it is over, or cancelled"
    assert "node 'CliNeverReturns' is running (1 calls): process() at 1 has not come back" in stdout


@no_signals
def test_sigterm_finishes_the_file_as_ctrl_c_does(started, tmp_path):
    process = started("demo", "--frames", "0", "-o", "out.mp4", "--no-gpu")
    read_until(process, r"^\d:\d\d  \d+ packets?  .*on '(frame|decoded)'")

    process.send_signal(signal.SIGTERM)
    stdout, stderr = process.communicate()

    assert process.returncode == 143
    said = "SIGTERM: sources are closed, packets under way are processed; a second SIGTERM exits at once"
    assert said in stderr
    assert re.search(r"^ended by SIGTERM after \S+ m?s; written: out\.mp4 ", stderr, re.MULTILINE)
    assert stdout.endswith("threads: ['MainThread']\n")
    with av.open(str(tmp_path / "out.mp4")) as container:
        assert sum(1 for _ in container.decode(video=0)) > 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.mp4"]


@no_signals
def test_a_second_sigterm_exits_at_once(started, stuck_graph):
    process = started("run", stuck_graph(), before=STUCK)

    read_until(process, r"^stuck$")
    process.send_signal(signal.SIGTERM)
    read_until(process, r"^SIGTERM: sources are closed")
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate()

    assert process.returncode == 143
    assert stderr.endswith(ABORTED)


@no_signals
def test_a_third_ctrl_c_exits_despite_a_calculator_that_never_returns(started, stuck_graph):
    process = started("run", stuck_graph(), before=STUCK)

    read_until(process, r"^stuck$")
    process.send_signal(signal.SIGINT)
    read_until(process, r"^interrupted: ")
    process.send_signal(signal.SIGINT)
    read_until(process, r"^cancelled: ")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()

    assert process.returncode == 130
    assert stderr.endswith(ABORTED)


def test_a_third_ctrl_c_exits_even_if_the_waiting_thread_is_stuck(started, stuck_graph):
    process = started("run", stuck_graph('executor { type: "ApplicationThreadExecutor" }'), before=STUCK)

    _, stderr = process.communicate()

    assert process.returncode == 130
    assert stderr.endswith(ABORTED)


@no_signals
def test_a_busy_graph_on_the_waiting_thread_reacts_to_ctrl_c(started, graph):
    path = graph('executor { type: "ApplicationThreadExecutor" }')
    process = started("run", path, "--side", "count=1000000000")

    read_until(process, r"on 'n'")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()

    assert process.returncode == 130
    assert re.search(r"interrupted after \S+ m?s; no file was written\n$", stderr)


# --- the counting ---------------------------------------------------------------------------------


@pytest.fixture
def usual_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual_handler")
def test_sigterm_is_a_press_and_works_as_before_afterwards():
    before = signal.getsignal(signal.SIGTERM)
    with Interrupts(clock=iter(range(0, 100, 10)).__next__) as interrupts:
        assert interrupts.exit_code == 0
        signal.raise_signal(signal.SIGINT)
        assert (interrupts.count, interrupts.exit_code) == (1, 130)
        signal.raise_signal(signal.SIGTERM)
        assert (interrupts.count, interrupts.exit_code) == (1, 143)

    assert signal.getsignal(signal.SIGTERM) == before


def test_presses_are_counted_and_ctrl_c_works_as_before_afterwards():
    times = iter([10.0, 11.0])

    with Interrupts(lambda: next(times)) as interrupts:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    assert interrupts.count == 2
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("usual_handler")
def test_a_signal_that_a_launcher_forwards_at_once_is_the_same_press():
    times = iter([10.0, 10.01, 12.0])

    with Interrupts(lambda: next(times)) as interrupts:
        for _ in range(3):
            signal.raise_signal(signal.SIGINT)

    assert interrupts.count == 2


@pytest.mark.usefixtures("usual_handler")
def test_a_process_that_ignores_ctrl_c_goes_on_ignoring_it():
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)

    assert (interrupts.count, signal.getsignal(signal.SIGINT)) == (0, signal.SIG_IGN)


PRESS = "import os, signal; os.kill(os.getpid(), signal.SIGINT)\n"


@no_signals
def test_ctrl_c_when_the_command_is_done_prints_no_traceback(started):
    late = f"import atexit\n@atexit.register\ndef press():\n    {PRESS.replace('; ', chr(10) + '    ')}"
    process = started("--version", before=late)
    stdout, stderr = process.communicate()

    assert stdout.startswith("penstock ")
    assert stderr == ""
    assert process.returncode == -signal.SIGINT


@no_signals
def test_ctrl_c_while_the_command_is_imported_prints_no_traceback(command, tmp_path):
    (tmp_path / "click.py").write_text(PRESS)
    done = command("--version", PYTHONPATH=tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Error: interrupted\n")


def test_ctrl_c_that_click_does_not_catch_prints_no_traceback(monkeypatch):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "penstock_command", interrupted)
    monkeypatch.setattr(main, "let_ctrl_c_kill", lambda: None)  # this process goes on
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 130
