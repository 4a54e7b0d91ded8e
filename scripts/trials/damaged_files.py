"""Damage files at random, and read them by the packs that read them, under limits of time and memory.

    uv run python scripts/trials/damaged_files.py --seconds 60
    uv run python scripts/trials/damaged_files.py --count 100000 --seed 7    the long form
    uv run python scripts/trials/damaged_files.py --kind video               only kinds with this word
    uv run python scripts/trials/damaged_files.py --one 4711 --keep FILE     one file, and what it raises

Recordings, bags, pictures, videos, sounds and models (.tflite and .onnx, where their libraries are installed)
are cut, or get wrong bits, hostile sizes, and missing, doubled or foreign parts. A forked process reads each
as a graph does. A finding is an error that is no PenstockError and no OSError of the file, a process that is
ended by a signal, a read of more than 20 s of processor time, one that does not end, memory beyond the limit,
or a ledger that does not add up. Findings are printed, their files kept in --out; the exit status is then 1.
Where a model ends the process inside of LiteRT's own code, which reads the file, that is counted. Linux only.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import itertools
import json
import logging
import os
import random
import re
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from damaged_samples import Sample, samples
from processor_limit import limit_processor

from penstock.errors import GraphRunError, PenstockError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What one file may cost: processor time, and memory above that of the process before.
CPU_S: Final = 20
MOST_MIB: Final = 2048
#: How long a file may be read without an end.
PATIENCE_S: Final = 100.0
#: So many files are read by one forked process.
_BATCH: Final = 40
_PROGRESS_S: Final = 10.0
#: What a process says that ends inside of LiteRT.
_LITERT: Final = re.compile(r"Fatal Python error: .*\n\n(?:Current t|T)hread .*\n  File .*ai_edge_litert/")
_EXTREMES: Final = (
    b"\x00\x00\x00\x00", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x80\x00\x00\x00",
    b"\x00\x00\x00\x80", b"\x00\x00\xff\xff", b"\xff\xff\x00\x00", b"\x00\x00\x00\x01", b"\x01\x00\x00\x00",
    b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\x00" * 8, b"\x00", b"\xff", b"\x00\x10\x00\x00",
)  # fmt: skip


class Damaged(NamedTuple):
    """A damaged file."""

    sample: Sample
    data: bytes
    #: What was done to it.
    how: str


def damaged(seed: int, number: int, whole: list[Sample]) -> Damaged:
    """Return the file with a number."""
    rng = random.Random(f"damaged {seed} {number}")  # noqa: S311  # for chance, not for secrets
    kinds = sorted({one.kind for one in whole})
    kind = kinds[number % len(kinds)]
    sample = rng.choice([one for one in whole if one.kind == kind])
    data = bytearray(sample.data)
    deeds = []
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        deed = rng.choice(_DEEDS)
        deeds.append(deed.__name__.strip("_"))
        deed(rng, data, whole)
    return Damaged(sample, bytes(data), ", ".join(deeds))


def _at(rng: random.Random, data: bytearray) -> int:
    """Return a place: often one of the first or last 200 bytes, where files say what they are."""
    size = max(1, len(data))
    place = rng.choice(
        (rng.randrange(size), rng.randrange(min(size, 200)), -1 - rng.randrange(min(size, 200)))
    )
    return place % size


def _cut(rng: random.Random, data: bytearray, _whole: list[Sample]) -> None:
    del data[_at(rng, data) :]


def _flip(rng: random.Random, data: bytearray, _whole: list[Sample]) -> None:
    for _ in range(rng.choice((1, 1, 4, 30))):
        if data:
            data[_at(rng, data)] ^= 1 << rng.randrange(8)


def _extreme(rng: random.Random, data: bytearray, _whole: list[Sample]) -> None:
    value, at = rng.choice(_EXTREMES), _at(rng, data)
    if rng.random() < 0.5:  # noqa: PLR2004  # sizes are often at such places
        at -= at % 4
    data[at : at + len(value)] = value


def _missing(rng: random.Random, data: bytearray, _whole: list[Sample]) -> None:
    at = _at(rng, data)
    del data[at : at + rng.choice((1, 4, 30, 300))]


def _doubled(rng: random.Random, data: bytearray, _whole: list[Sample]) -> None:
    at = _at(rng, data)
    data[at:at] = data[at : at + rng.choice((1, 8, 64, 1000))] * rng.choice((1, 1, 2, 50))


def _foreign(rng: random.Random, data: bytearray, whole: list[Sample]) -> None:
    other = rng.choice(whole).data
    begin, at = rng.randrange(len(other)), _at(rng, data)
    data[at : at + rng.choice((0, 20))] = other[begin : begin + rng.choice((4, 60, 2000))]


def _moved(rng: random.Random, data: bytearray, _whole: list[Sample]) -> None:
    size = rng.choice((4, 16, 100))
    source, target = _at(rng, data), _at(rng, data)
    data[target : target + size] = data[source : source + size]


def _random(rng: random.Random, data: bytearray, _whole: list[Sample]) -> None:
    at = _at(rng, data)
    data[at : at + rng.choice((1, 4, 50))] = rng.randbytes(rng.choice((1, 4, 50)))


_DEEDS: Final = (_cut, _flip, _flip, _extreme, _extreme, _missing, _doubled, _foreign, _moved, _random)


# --- reading ------------------------------------------------------------------------------------------


def attempt(one: Damaged, folder: Path) -> tuple[str, str]:
    """Read a damaged file here; return the outcome in a word, and what is wrong, if anything is."""
    path = folder / one.sample.name
    path.write_bytes(one.data)
    _limit()
    error: BaseException | None = None
    try:
        one.sample.read(path)
    except BaseException as raised:  # noqa: BLE001  # any other than ours is what is looked for
        error = raised
    finally:
        _unlimit()
    for left in folder.iterdir():
        left.unlink()
    if error is None:
        return "read", ""
    return type(error).__name__, wrong(error)


def wrong(error: BaseException) -> str:
    """Return what is wrong with an error; "" where nothing is."""
    told = "".join(traceback.format_exception(error))[-4000:]
    inner = error.errors if isinstance(error, GraphRunError) else (error,)
    for one in inner:
        if isinstance(one, OSError | PenstockError) and "untyped" not in str(one):
            if _has_bare_cause(one):
                return f"an error of a call that is none of ours: {one}\n{told}"
            continue
        return f"untyped {type(one).__name__}\n{told}"
    return ""


def _has_bare_cause(error: BaseException) -> bool:
    """Return whether a node's call failed with an error that the calculator's author did not raise."""
    cause = error.__cause__
    return (
        cause is not None
        and type(error).__name__ == "CalculatorError"
        and not isinstance(cause, OSError | PenstockError)
    )


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_bytes().split()[0])
    most = pages * resource.getpagesize() + (MOST_MIB << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    limit_processor(CPU_S)


def _unlimit() -> None:
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


class Batch:
    """A forked process that reads some files, one after the other.

    Args:
        seed: of the files.
        numbers: of the files.
        whole: samples.
    """

    def __init__(self, seed: int, numbers: list[int], whole: list[Sample]) -> None:
        self._numbers = numbers
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `results`
        self._end, theirs = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            os.close(self._end)
            self._work(seed, whole, theirs)
        os.close(theirs)

    def _work(self, seed: int, whole: list[Sample], theirs: int) -> None:
        code = 1
        try:
            for stream in (1, 2):
                os.dup2(self._noise.fileno(), stream)
            faulthandler.enable(self._noise)
            faulthandler.register(signal.SIGUSR1, self._noise, all_threads=True)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            with tempfile.TemporaryDirectory() as folder, os.fdopen(theirs, "w") as answers:
                for number in self._numbers:
                    said = attempt(damaged(seed, number, whole), Path(folder))
                    answers.write(json.dumps([number, *said]) + "\n")
                    answers.flush()
            code = 0
        finally:
            os._exit(code)

    def results(self) -> Iterator[tuple[int, str, str]]:
        """Yield number, outcome and fault of each file; the last one may have ended the process."""
        rest, left = b"", list(self._numbers)
        is_late = False
        while True:
            ready, _, _ = select.select([self._end], [], [], PATIENCE_S)
            got = os.read(self._end, 1 << 16) if ready else b""
            if not got:
                is_late = not ready
                break
            rest += got
            *lines, rest = rest.split(b"\n")
            for line in lines:
                number, outcome, fault = json.loads(line)
                left.remove(number)
                yield number, outcome, fault
        if is_late:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGUSR1)  # it tells where its threads are
                time.sleep(0.5)
                os.kill(self._pid, signal.SIGKILL)
        _, status = os.waitpid(self._pid, 0)
        os.close(self._end)
        self._noise.seek(0)
        noise = self._noise.read().decode(errors="replace")[-4000:]
        self._noise.close()
        if left:
            fault = f"{_why(status, is_late=is_late)}\n{noise}"
            if os.WIFSIGNALED(status) and _LITERT.search(noise):
                yield left[0], f"LiteRT itself is {_why(status, is_late=is_late)}", ""
            else:
                yield left[0], "ended the process", fault


def _why(status: int, *, is_late: bool) -> str:
    if is_late:
        return f"no end after {PATIENCE_S:g} s"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU:
            return f"more than {CPU_S} s of processor time"
        return f"ended by {signal.Signals(number).name}"
    return f"exit status {os.WEXITSTATUS(status)}"


# --- the script ---------------------------------------------------------------------------------------


def _parse(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=0, metavar="N", help="how many files; 0 for no limit")
    parser.add_argument("--seconds", type=float, default=0, metavar="S", help="end after this time")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all files (default: 0)")
    parser.add_argument("--kind", default="", metavar="WORD", help="only kinds whose name has this word")
    parser.add_argument("--one", type=int, metavar="N", help="one file, and what it raises")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="with --one: where the file is kept")
    parser.add_argument(
        "--out", type=Path, default=None, metavar="DIR", help="where files of findings are kept"
    )
    return parser.parse_args(words)


def _numbers(given: argparse.Namespace) -> Iterator[list[int]]:
    if given.one is not None:
        yield [given.one]
        return
    began = time.monotonic()
    for first in itertools.count(0, _BATCH):
        if given.seconds and time.monotonic() - began > given.seconds:
            return
        end = min(first + _BATCH, given.count) if given.count else first + _BATCH
        if first >= end:
            return
        yield list(range(first, end))


def main(words: list[str] | None = None) -> int:  # noqa: C901  # the script from top to bottom
    """Read the files of a command line; return the exit status."""
    given = _parse(words)
    logging.disable()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        whole, missing = samples(Path(folder), given.kind)
    for name in missing:
        print(f"left out: {name}")
    if not whole:
        print(f"no kind of file has {given.kind!r} in its name, or all are left out", file=sys.stderr)
        return 2
    check(whole)
    counted: Counter[str] = Counter()
    found: dict[str, list[int]] = {}
    began = told = time.monotonic()
    for numbers in _numbers(given):
        left = numbers
        while left:
            for number, outcome, fault in Batch(given.seed, left, whole).results():
                left = [one for one in left if one > number]
                one = damaged(given.seed, number, whole)
                counted[f"{one.sample.kind}: {outcome}"] += 1
                if fault:
                    _tell(given, number, one, fault, found)
                if given.one is not None:
                    _show(given, one, outcome)
        if time.monotonic() - told > _PROGRESS_S:
            told = time.monotonic()
            print(f"{counted.total():,} files, {len(found)} findings", file=sys.stderr, flush=True)
    for name, amount in sorted(counted.items()):
        print(f"{amount:8,} {name}")
    for kind, all_numbers in found.items():
        print(f"{len(all_numbers)} times: {kind} (--one {all_numbers[0]})")
    took = time.monotonic() - began
    total = sum(map(len, found.values()))
    print(f"damaged_files: seed {given.seed}: {counted.total():,} files in {took:.0f} s, {total} findings")
    return 1 if found else 0


def check(whole: list[Sample]) -> None:
    """Read all whole files, in a forked process: libraries start threads, which no later fork would have.

    Raises:
        SystemExit: one of them cannot be read; then the damaged ones tell nothing.
    """
    pid = os.fork()
    if not pid:
        unread = ["nothing"]
        try:
            with tempfile.TemporaryDirectory() as folder:
                tried = [(one.name, attempt(Damaged(one, one.data, ""), Path(folder))) for one in whole]
            unread = [f"{name} is not read: {said}" for name, said in tried if said[0] != "read"]
            print(*unread, sep="\n", file=sys.stderr, flush=True)
        finally:
            os._exit(bool(unread))
    if os.waitpid(pid, 0)[1]:
        raise SystemExit("a whole file cannot be read")


def _tell(
    given: argparse.Namespace, number: int, one: Damaged, fault: str, found: dict[str, list[int]]
) -> None:
    """Print a finding, if it is the first of its cause, and keep its file."""
    first = fault.partition("\n")[0]
    places = [line.strip() for line in fault.splitlines() if line.strip().startswith("File ")]
    cause = f"{one.sample.kind}: {first[:100]} {places[-1] if places else ''}"
    found.setdefault(cause, []).append(number)
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / f"{given.seed}-{number}-{one.sample.name}").write_bytes(one.data)
    if len(found[cause]) == 1:
        said = f"FINDING --seed {given.seed} --one {number} ({one.sample.name}: {one.how}): {fault}"
        print(said.encode(errors="backslashreplace").decode(), file=sys.stderr, flush=True)


def _show(given: argparse.Namespace, one: Damaged, outcome: Any) -> None:
    print(f"{one.sample.name} of {len(one.data)} bytes ({one.how}): {outcome}")
    if given.keep is not None:
        given.keep.write_bytes(one.data)


if __name__ == "__main__":
    sys.exit(main())
