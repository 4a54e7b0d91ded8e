"""Run random graphs here and in MediaPipe, and compare what comes out of them.

    uv run python scripts/trials/beside/beside_reference.py --reference PYTHON --seconds 60
    uv run python scripts/trials/beside/beside_reference.py --reference PYTHON --count 50000     the long form
    uv run python scripts/trials/beside/beside_reference.py --reference PYTHON --one 4711    one graph

PYTHON is an interpreter whose environment has mediapipe==0.10.21; without the option the script reads the
environment variable PENSTOCK_REFERENCE_PYTHON. `../shared/cases` has the programs that drive both.

What is compared: whether the graph loads and starts; for each call whether it fails; every packet of the
observed streams, in order, with its timestamp; where each call is followed by a wait, also at which call it
came out, and in the first run the last timestamp bound after each call but the end. Of a run that fails the
packets before the failing call are compared, and that both fail at the same call. A call that is a mistake of
the application raises here and is noted there (difference 1 of docs/mediapipe.md): the rest of such a run is
not compared, the next run is; nor are bounds of later runs (difference 25). Of a graph with a cycle MediaPipe
may lack the packets that come out here when the inputs have ended (difference 28). A graph whose results
differ is run again up to forty times, most of them with busy processes beside, and a difference is one that
comes each time: MediaPipe's own answers differ for graphs with a race. Graphs for which MediaPipe crashes or
hangs are counted. Differences are printed; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import logging
import os
import re
import select
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from beside_graphs import case_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    #: Of the reference, of Penstock, and how they differ.
    _Answers = tuple[dict[str, Any], dict[str, Any], str]

ROOT: Final = Path(__file__).resolve().parents[3]
CASES: Final = ROOT.parent / "shared" / "cases"
END: Final = Path(__file__).with_name("reference_end.py")
#: How long the reference may take to answer, and to start.
PATIENCE_S: Final = 20.0
START_S: Final = 400.0
_PROGRESS_S: Final = 10.0
#: How often a graph whose results differ is run again; a difference that comes each time is one. The first
#: times with nothing beside it; then as many processes are busy as the number of the turn says.
_QUIET_AGAIN: Final = 10
_BUSY_AGAIN: Final = 30
_BUSY: Final = (1, 2, 4)


class Reference:
    """MediaPipe in a process of its own, which is started again where it has crashed or hung.

    Args:
        python: its interpreter.
    """

    def __init__(self, python: str) -> None:
        self._python: Final = python
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def send(self, case: dict[str, Any]) -> None:
        """Hand in a case."""
        process = self._process or self._start()
        assert process.stdin is not None  # noqa: S101  # it is a pipe
        process.stdin.write(json.dumps(case).encode() + b"\n")
        process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Return the result of the case that was handed in last."""
        said = self._line(PATIENCE_S)
        if isinstance(said, str):
            self.stop()
            return {"crash": said}
        found: dict[str, Any] = json.loads(said)
        return found

    def stop(self) -> None:
        """End the process."""
        process, self._process, self._rest = self._process, None, b""
        if process is not None:
            process.kill()
            process.communicate()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [self._python, str(END), str(CASES)]
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        self._process = subprocess.Popen(  # noqa: S603  # the user's own interpreter
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        said = self._line(START_S)
        if said != b'"ready"':
            self._process.kill()
            _, errors = self._process.communicate()
            raise SystemExit(f"{self._python} does not run MediaPipe ({said!r}): {errors.decode()[-500:]}")
        return self._process

    def _line(self, seconds: float) -> bytes | str:
        """Return the next line, or in words why there is none."""
        process = self._process
        assert process is not None  # noqa: S101  # it was started
        assert process.stdout is not None  # noqa: S101  # it is a pipe
        until = time.monotonic() + seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                return "hang"
            got = os.read(process.stdout.fileno(), 1 << 16)
            if not got:
                return f"exit {process.wait(PATIENCE_S)}"
            self._rest += got
        line, _, self._rest = self._rest.partition(b"\n")
        return line


class Load:
    """Processes that only work, so that threads of other processes are interrupted at other moments."""

    def __init__(self) -> None:
        self._busy: Final[list[subprocess.Popen[bytes]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._busy:
            process = self._busy.pop()
            process.kill()
            process.wait()

    def at_least(self, count: int) -> None:
        """Let so many processes work from now on."""
        while len(self._busy) < count:
            self._busy.append(subprocess.Popen([sys.executable, "-Sc", "while True: pass"]))


# --- comparing ----------------------------------------------------------------------------------------


def is_well(status: object) -> bool:
    """Return whether a call did not fail, as `run_cases` writes it."""
    return not (isinstance(status, str) and status != "OK" and ":" in status)


def failing(result: dict[str, Any]) -> list[bool]:
    """Return for each step whether it, or the wait after it, failed."""
    return [
        not (is_well(entry[1]) and (len(entry) < 3 or is_well(entry[2]["idle"])))  # noqa: PLR2004  # with a wait
        for entry in result.get("steps", [])
    ]


def parts_of(case: dict[str, Any]) -> list[range]:
    """Return the steps of each run."""
    starts = [number for number, step in enumerate(case["steps"]) if step[0] == "start"]
    ends = [*starts, len(case["steps"])]
    begins = [0, *[number + 1 for number in starts]]
    return [range(begin, end) for begin, end in zip(begins, ends, strict=True)]


def compare(  # noqa: PLR0911  # one return for each way to differ
    case: dict[str, Any], want: dict[str, Any], have: dict[str, Any]
) -> str:
    """Return how the result of Penstock differs from that of the reference; "" where it does not."""
    if is_well(want["init"]) != is_well(have["init"]):
        return f"loading: {want['init']!r} there, {have['init']!r} here"
    if not is_well(want["init"]):
        return ""
    for key in ("observe", "start"):
        there, here = want.get(key, "OK"), have.get(key, "OK")
        if is_well(there) != is_well(here):
            return f"{key}: {there!r} there, {here!r} here"
    if not is_well(want.get("start", "OK")):
        return ""
    fails = failing(want), failing(have)
    for run in parts_of(case):
        first = run.start
        if first and fails[0][first - 1] != fails[1][first - 1]:
            return f"step {first - 1}: {want['steps'][first - 1]} there, {have['steps'][first - 1]} here"
        said = _compare_run(case, run, (want, have), fails)
        if said:
            return said
    return ""


def _compare_run(
    case: dict[str, Any],
    run: range,
    results: tuple[dict[str, Any], dict[str, Any]],
    fails: tuple[list[bool], list[bool]],
) -> str:
    end = min([number for number in case["mistakes"] if number in run], default=run.stop)
    if not case["is_serial"]:
        if any(any(one[number] for number in run) for one in fails):
            there, here = (one[run.stop - 1] for one in fails)
            return "" if there == here or end != run.stop else f"the run fails there {there}, here {here}"
        return _compare_packets(case, run.start, run.stop, results) if end == run.stop else ""
    for number in range(run.start, end):
        if fails[0][number] != fails[1][number]:
            there, here = (result["steps"][number] for result in results)
            return f"step {number}: {there} there, {here} here"
        if fails[0][number]:
            end = number
            break
    return _compare_packets(case, run.start, end, results)


def _compare_packets(
    case: dict[str, Any], begin: int, end: int, results: tuple[dict[str, Any], dict[str, Any]]
) -> str:
    """Compare what came out after the steps from `begin` up to, not including, `end`."""
    for name, _ in case["observe"]:
        there, here = (
            _seen(result, name, begin, end, is_serial=case["is_serial"] and not begin) for result in results
        )
        if there != here and not (case.get("may_lose") and _has_lost(case, name, begin, end, results)):
            return f"{name} in steps {begin} to {end}:\n  there {there}\n  here  {here}"
    return ""


def _has_lost(
    case: dict[str, Any], name: str, begin: int, end: int, results: tuple[dict[str, Any], dict[str, Any]]
) -> bool:
    """Return whether the reference only lacks packets that came out here when the inputs had ended."""
    there, here = (
        [one for one in result["out"].get(name, []) if begin <= one[2] <= end and one[1] != "EMPTY"]
        for result in results
    )
    ended = _end_of_inputs(case, begin, end)
    is_same = [one[:2] for one in here[: len(there)]] == [one[:2] for one in there]
    return is_same and ended > 0 and all(one[2] >= ended for one in here[len(there) :])


def _end_of_inputs(case: dict[str, Any], begin: int, end: int) -> int:
    """Return the step, counted from 1, after which all inputs of a graph have ended; 0 for none."""
    left = set(re.findall(r'^input_stream: "(\w+)"', case["pbtxt"], re.MULTILINE)) or {""}
    for number in range(begin, end):
        step = case["steps"][number]
        left -= {step[1]} if step[0] == "close" else set()
        if step[0] == "close_all" or not left:
            return number + 1
    return 0


def _seen(result: dict[str, Any], name: str, begin: int, end: int, *, is_serial: bool) -> list[Any]:
    # A result counts steps from 1; what comes out at a start has the number of steps before it.
    events = [one for one in result["out"].get(name, []) if begin <= one[2] <= end]
    if not is_serial:
        return [one[:2] for one in events if one[1] != "EMPTY"]
    ends = [number + 1 for number, entry in enumerate(result["steps"]) if entry[0][0] == "close_all"]
    kept = []
    for number, one in enumerate(events):
        is_last = number + 1 == len(events) or events[number + 1][2] != one[2]
        if one[1] != "EMPTY" or (is_last and one[2] not in ends):
            kept.append(one)
    return kept


# --- the script ---------------------------------------------------------------------------------------


def _parse(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--reference",
        default=os.environ.get("PENSTOCK_REFERENCE_PYTHON"),
        metavar="PYTHON",
        help="interpreter with mediapipe==0.10.21 (default: $PENSTOCK_REFERENCE_PYTHON)",
    )
    parser.add_argument("--count", type=int, default=0, metavar="N", help="how many graphs; 0 for no limit")
    parser.add_argument("--seconds", type=float, default=0, metavar="S", help="end after this time")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="number of the first graph (0)")
    parser.add_argument("--one", type=int, metavar="N", help="one graph, with both answers")
    given = parser.parse_args(words)
    if not given.reference:
        parser.error("which Python has mediapipe==0.10.21? give --reference or set PENSTOCK_REFERENCE_PYTHON")
    if not CASES.is_dir():
        parser.error(f"there is no {CASES}, which drives the reference")
    return given


def main(words: list[str] | None = None) -> int:
    """Compare the graphs of a command line; return the exit status."""
    given = _parse(words)
    logging.disable()
    sys.path[:0] = [str(CASES), str(ROOT / "tests" / "reference_cases")]
    here: Any = importlib.import_module("backend_penstock")
    here.PATIENCE_S = PATIENCE_S
    run_cases: Any = importlib.import_module("run_cases")
    counted: Counter[str] = Counter()
    began = told = time.monotonic()
    first, count = (given.seed, given.count) if given.one is None else (given.one, 1)
    with Reference(given.reference) as reference:
        for number in range(first, first + count) if count else itertools.count(first):
            now = time.monotonic()
            if given.seconds and now - began > given.seconds:
                break
            if now - told > _PROGRESS_S:
                told = now
                print(f"{counted['compared']} compared, {now - began:.0f} s", file=sys.stderr, flush=True)
            case = case_of(number)
            ask = partial(_both, case, reference, run_cases, here)
            want, have, said = ask()
            if said and (found := ask_again(ask)) is not None:
                want, have, said = found
                counted["that MediaPipe answers in both ways"] += 1
            _count(counted, case, want, is_different=bool(said))
            if said:
                print(f"DIFFERENCE --one {number}: {said}", flush=True)
            if given.one is not None:
                print(case["pbtxt"], json.dumps(case["steps"]), "there", json.dumps(want), sep="\n")
                print("here", json.dumps(have), sep="\n")
    took = time.monotonic() - began
    words_of = ", ".join(f"{amount:,} {kind}" for kind, amount in counted.items())
    print(f"beside_reference: seed {first}, {took:.0f} s: {words_of or 'nothing'}")
    return 1 if counted["different"] else 0


def ask_again(ask: Callable[[], _Answers]) -> _Answers | None:
    """Return answers that are the same, of a graph whose answers differed; None if they differ each time."""
    with Load() as load:
        for turn in range(_QUIET_AGAIN + _BUSY_AGAIN):
            if turn >= _QUIET_AGAIN:
                load.at_least(_BUSY[(turn - _QUIET_AGAIN) * len(_BUSY) // _BUSY_AGAIN])
            found = ask()
            if not found[-1] and "crash" not in found[0]:
                return found
    return None


def _both(case: dict[str, Any], reference: Reference, run_cases: Any, here: Any) -> _Answers:
    """Run a case in both; return both results, and how they differ."""
    reference.send(case)
    have = json.loads(json.dumps(run_cases.run_case(case, here)))
    want = reference.answer()
    return want, have, "" if "crash" in want else compare(case, want, have)


def _count(counted: Counter[str], case: dict[str, Any], want: dict[str, Any], *, is_different: bool) -> None:
    if "crash" in want:
        counted[f"without an answer of the reference ({want['crash']})"] += 1
        return
    counted["compared"] += 1
    counted["different"] += is_different
    counted["refused by both"] += not is_well(want["init"])
    counted["that fail"] += any(failing(want)) or not is_well(want.get("start", "OK"))
    counted["with a mistake of the application"] += bool(case["mistakes"])
    counted["of two runs"] += len(parts_of(case)) > 1
    counted["with side packets"] += bool(case["side"])
    counted["with a loop"] += "back_edge" in case["pbtxt"]
    counted["packets"] += sum(one[1] != "EMPTY" for stream in want.get("out", {}).values() for one in stream)


if __name__ == "__main__":
    sys.exit(main())
