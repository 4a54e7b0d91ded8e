"""Run the long forms of all trials for some hours, and keep what they have shown.

    python scripts/prove.py --hours 8             each kind gets its share of the time
    python scripts/prove.py --hours 1 --only orders    kinds whose name has this word
    python scripts/prove.py --list                the kinds, and how far they are
    python scripts/prove.py --report              what was shown so far, and each finding
    python scripts/prove.py --write               the same table into docs/what-is-proven.md

The kinds are in `scripts/proving/kinds.toml`. Each turn has its own seed. Results are kept in the file of
`--state` after each turn, so a run that was interrupted goes on where it was: no seed is tried twice, on no
machine, since the file is committed. Ctrl-C ends the script that runs, and keeps nothing of its turn. The
exit status is 1 where something was found.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from proving.ledger import (
    BROKEN,
    FOUND,
    HUNG,
    KINDS,
    PAGE,
    PASSED,
    ROOT,
    STATE,
    Kind,
    TableError,
    Turn,
    append,
    next_turn,
    read_kinds,
    read_state,
    report,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: How long a turn takes, in seconds, where the time is not short; how much longer before it counts as hung.
_TURN_S: Final = 600.0
_GRACE_S: Final = 1800.0
_LAST: Final = 20_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hours", type=float, help="for how long")
    parser.add_argument("--turn", type=float, default=_TURN_S, metavar="S", help="seconds of a turn; 600")
    parser.add_argument("--only", default="", metavar="WORD", help="only kinds whose name has this word")
    parser.add_argument("--list", action="store_true", help="print the kinds, and how far they are")
    parser.add_argument("--report", action="store_true", help="print what was shown so far")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.relative_to(ROOT)}")
    parser.add_argument(
        "--state", type=Path, default=STATE, help="where results are kept; scripts/proving/turns.jsonl"
    )
    parser.add_argument("--kinds", type=Path, default=KINDS, help="the table of kinds")
    given = parser.parse_args(arguments)
    if not (given.list or given.report or given.write) and not (given.hours and given.hours > 0):
        parser.error("say for how long: --hours 8; or --list, --report or --write")
    try:
        kinds = [one for one in read_kinds(given.kinds) if given.only.lower() in one.name.lower()]
        if not kinds:
            parser.error(f"no kind has {given.only!r} in its name; --list prints them")
        if given.hours:
            with _interruptible():
                return _prove(kinds, given.state, given.hours * 3600, given.turn)
        turns = read_state(given.state)
        if given.list:
            _print_kinds(kinds, turns)
        if given.report:
            print(report(kinds, turns))
        if given.write:
            PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), kinds, turns), encoding="utf-8")
    except TableError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C and `kill` interrupt; shells let jobs in the background ignore Ctrl-C."""
    with _handled_by(signal.default_int_handler):
        yield


@contextlib.contextmanager
def _handled_by(handler: Callable[..., object]) -> Iterator[None]:
    before = [(number, signal.signal(number, handler)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield
    finally:
        for number, former in before:
            signal.signal(number, former)


def _print_kinds(kinds: Sequence[Kind], turns: Sequence[Turn]) -> None:
    for kind in kinds:
        mine = [turn for turn in turns if turn.kind == kind.name]
        of = f" of {kind.rounds}" if kind.rounds else ""
        print(f"{kind.name}: {len(mine)}{of} turns, {sum(turn.count for turn in mine):,} {kind.unit}")
        print(f"    python {kind.command}")


def _prove(kinds: Sequence[Kind], state: Path, seconds: float, turn_s: float) -> int:
    """Give turns to the kinds until the time is over or all are complete."""
    turns = read_state(state)
    began = time.monotonic()
    spent = dict.fromkeys((kind.name for kind in kinds), 0.0)
    turn_s = min(turn_s, max(1.0, seconds / len(kinds)))
    found = 0
    while (left := began + seconds - time.monotonic()) > 0:
        open_kinds = [kind for kind in kinds if next_turn(kind, turns) is not None]
        if not open_kinds:
            print("all kinds are complete")
            break
        kind = min(open_kinds, key=lambda one: spent[one.name] / one.weight)
        number = next_turn(kind, turns) or 0
        begin = time.monotonic()
        try:
            turn = _take_turn(kind, number, min(turn_s, left))
        except KeyboardInterrupt:
            print("interrupted; the same command goes on after the last turn", file=sys.stderr)
            return 130
        spent[kind.name] += time.monotonic() - begin
        append(turn, state)
        turns.append(turn)
        print(f"{kind.name}: {turn.outcome}, {turn.count:,} {kind.unit} in {turn.seconds:.0f} s", flush=True)
        if turn.outcome != PASSED:
            found += turn.outcome != BROKEN
            print(f"    again: python {turn.command}\n{turn.told}", file=sys.stderr, flush=True)
        if turn.outcome == BROKEN:
            kinds = [one for one in kinds if one is not kind]  # it would fail each time
            found += 1
            if not kinds:
                break
    print(report(kinds, turns))
    return 1 if found else 0


def _take_turn(kind: Kind, number: int, seconds: float) -> Turn:
    arguments = kind.arguments(number, seconds)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    began = time.monotonic()
    process = _started([sys.executable, *arguments], environment)
    try:
        printed, _ = process.communicate(timeout=3 * seconds + _GRACE_S)
        status: int | None = process.returncode
    except subprocess.TimeoutExpired:
        _end(process)
        printed, status = process.communicate()[0], None
    except BaseException:
        _end(process)
        process.communicate()
        raise
    count = kind.count_in(printed)
    outcome = {0: PASSED, 1: FOUND, None: HUNG}.get(status, BROKEN)
    if not count and (outcome == PASSED or (count is None and outcome == FOUND)):
        outcome = BROKEN  # it has tried nothing; or a traceback, which has the status 1 too
    return Turn(
        kind=kind.name,
        turn=number,
        command=" ".join(arguments),
        outcome=outcome,
        count=count or 0,
        seconds=round(time.monotonic() - began, 1),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=_commit(),
        machine=_machine(),
        told="" if outcome == PASSED else _without_places(printed[-_LAST:]) or "it has printed nothing",
    )


def _without_places(printed: str) -> str:
    """Return what a script has printed without the paths of this machine: the file of turns is committed."""
    for folder in (ROOT, Path(sys.prefix), Path(sys.base_prefix)):
        printed = printed.replace(f"{folder}{os.sep}", "")
    return printed


def _started(command: Sequence[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    """Start a script. Ctrl-C counts when it is there: it would be left behind otherwise."""
    interrupts: list[object] = []
    with _handled_by(lambda *_: interrupts.append(1)):
        process = subprocess.Popen(  # noqa: S603  # our own scripts
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip
    if interrupts:
        _end(process)
        process.communicate()
        raise KeyboardInterrupt
    return process


def _end(process: subprocess.Popen[str]) -> None:
    """End a script and all that it has started."""
    for number in (signal.SIGINT, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip() or "unknown"


def _machine() -> str:
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if "model name" in line), model)
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()  # from Python 3.13 on
    python = f"Python {platform.python_version()}{'' if has_lock else ' without its lock'}"
    return f"{os.cpu_count()} x {model}, {platform.system()}, {python}"


if __name__ == "__main__":
    raise SystemExit(main())
