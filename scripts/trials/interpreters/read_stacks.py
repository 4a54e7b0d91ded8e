"""Read what other threads run, in a Python without the interpreter's lock; Penstock is not used.

    python3.13t scripts/trials/interpreters/read_stacks.py --seconds 10

Each process reads one sort of thing while another thread runs: `frames` as `sys._current_frames` gives them,
with `locals` also their variables, with `coroutines` what a coroutine awaits. Printed is how each ended:
0 is well, -11 is SIGSEGV, 1 an error that cannot come, as of a frame whose code is a number. What does not
end well must not be read by `penstock.explain.calls` on that Python; the exit status is then 1. It takes two
idle processors.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import threading
import time
import types
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

SORTS: Final = ("frames", "locals", "coroutines")


def _small(calls: list[Callable[..., None]]) -> None:
    if calls:
        calls[0](calls[1:])


def _large(calls: list[Callable[..., None]]) -> None:
    _a, _b, _c, _d, _e, _f, _g = "abcdefg"  # a larger frame, so that the next one lies elsewhere
    if calls:
        calls[0](calls[1:])


@types.coroutine
def _pause() -> Generator[None]:
    yield


async def _down(depth: int) -> None:
    await (_down(depth - 1) if depth else _pause())


async def _endless() -> None:
    while True:
        await _down(5)


def _work(coroutine: Coroutine[Any, None, None]) -> None:
    number = 0
    while True:
        number = number * 5 + 1 & 0xFFFF  # all numbers of 16 bits in turn
        _small([_large if number >> bit & 1 else _small for bit in range(4, 16)])
        coroutine.send(None)


def _read_frames(ident: int, turn: int, *, with_locals: bool) -> None:
    frame = sys._current_frames().get(ident)  # noqa: SLF001  # it is what is tried
    until = time.perf_counter() + turn % 100 * 1e-6  # the thread, which was stopped, has to wake up
    while time.perf_counter() < until:
        pass
    stack = []
    while frame is not None:
        stack.append(frame)
        frame = frame.f_back
    for one in stack:
        one.f_globals.get(one.f_code.co_name, one.f_lineno)
        if with_locals:
            one.f_locals.get("calls")


def _trial(sort: str, seconds: float) -> None:
    coroutine = _endless()
    thread = threading.Thread(target=_work, args=(coroutine,), daemon=True)
    thread.start()
    until, turn = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        turn += 1
        at: Any = coroutine if sort == "coroutines" else None
        while at is not None:
            at = getattr(at, "cr_await", None)
        if sort != "coroutines":
            _read_frames(thread.ident or 0, turn, with_locals=sort == "locals")
        if not thread.is_alive():
            sys.exit("the thread was ended by an error")


def main() -> int:
    """Try each sort in a process of its own, and print how they ended."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="for each sort")
    seconds = parser.parse_args().seconds
    ended = {}
    for sort in SORTS:
        process = multiprocessing.get_context("spawn").Process(target=_trial, args=(sort, seconds))
        process.start()
        process.join()
        ended[sort] = process.exitcode
    print(sys.version.split("(", maxsplit=1)[0].strip(), ended)
    return int(any(ended.values()))


if __name__ == "__main__":
    sys.exit(main())
