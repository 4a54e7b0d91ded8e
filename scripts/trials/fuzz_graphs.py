"""Load graphs with mistakes, and look for errors that are not Penstock's, and for graphs that cost too much.

    uv run python scripts/trials/fuzz_graphs.py --seconds 60
    uv run python scripts/trials/fuzz_graphs.py --seed 7 --inputs 1000000 --jobs 2   the long form
    uv run python scripts/trials/fuzz_graphs.py --seed 7 --show 4711    one input, and its error

Each input is a graph of the project that was changed at random (`graph_mutations`). Worker processes load it
as `CalculatorGraph` does: they read, expand, check and plan it, and do not run it. A finding is an input that
raises anything but a PenstockError, whose error cannot be printed, that takes more than 2 s of processor time
(on a slower machine more, in proportion) or 256 MB of memory, or that ends its process. Findings are saved in
a folder, and told at the end; the exit status is then 1. A seed makes the same inputs as long as the
project's graphs stay as they are. Linux only.
"""

from __future__ import annotations

import logging
import multiprocessing
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
from graph_mutations import Corpus, Mutant, mutant, read_corpus
from processor_limit import limit_processor

from penstock.config import build_plan
from penstock.errors import GraphConfigError, PenstockError
from penstock.plugins.default_registry import default_registry
from penstock.registry_entries import KINDS
from penstock_templates import GraphTemplate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnContext, SpawnProcess

    from penstock.registry import Registry

ROOT: Final = Path(__file__).resolve().parents[2]
#: Further graphs, where they are: recorded runs of the reference, for one.
SHARED: Final = (ROOT.parent / "shared/cases", ROOT.parent / "shared/data")
FOLDERS: Final = ("benchmarks", "contrib", "core", "docs", "examples", "plugins", "subgraphs", "tests")

MOST_SECONDS: Final = 2.0
MOST_BYTES: Final = 256 << 20
#: A process that is beyond `MOST_SECONDS` by so much is ended: the kernel counts whole seconds.
_GRACE_SECONDS: Final = 3
#: How often an input that took too long is loaded again.
_AGAIN: Final = 2
#: A graph, and the seconds of processor time that it takes where `MOST_SECONDS` is meant. A slower machine,
#: or one whose cores are shared, may take more for each input, in proportion.
YARDSTICK: Final = 'input_stream: "s0"\n' + "".join(
    f'node {{ calculator: "PassThroughCalculator" input_stream: "s{i}" output_stream: "s{i + 1}" }}\n'
    for i in range(1000)
)
_YARDSTICK_SECONDS: Final = 0.12
#: How long a worker may take for one input without using the processor.
_LONGEST_WAIT: Final = 120.0
_PROGRESS: Final = 10.0


class Finding(NamedTuple):
    """An input that did what none may do."""

    #: The number of the input.
    number: int
    #: The form of its mutant; "" where the process ended before it was sent.
    form: str
    #: What happened, and where: the same for all findings of one cause.
    kind: str
    #: What the error says, in a line.
    words: str = ""
    #: A traceback, or "".
    details: str = ""


class Task(NamedTuple):
    """What a worker is to do: every `step`-th input of a seed from `first` on, until `end` or a time."""

    seed: int
    first: int
    step: int
    end: int | None
    deadline: float | None
    folders: tuple[Path, ...]


# --- one input ----------------------------------------------------------------------------------------


def load(one: Mutant, registry: Registry, folder: Path) -> None:
    """Load a mutant as an application does; a file is written to a folder before."""
    source = one.source
    if one.suffix:
        source = folder / f"mutant{one.suffix}"
        source.write_bytes(one.source)
    if one.arguments is not None:
        source = GraphTemplate.from_text(source, registry).with_arguments(**one.arguments)
    if one.is_inner:
        outer = 'node { calculator: "Mutant" input_stream: "in" output_stream: "out" } input_stream: "in"'
        build_plan(outer, registry, subgraphs={"Mutant": source})
    else:
        build_plan(source, registry, subgraphs=one.subgraphs)


def attempt(one: Mutant, number: int, registry: Registry, folder: Path) -> Finding | str:
    """Load a mutant under the limits; return what is wrong with that, else the name of what it raised."""
    error, seconds = _timed(one, registry, folder)
    kind = _wrong(error)
    most = MOST_SECONDS
    for _ in range(_AGAIN):  # on a busy machine any input may be charged for what others do
        if kind or seconds <= most:
            break
        most = max(most, MOST_SECONDS * slowness(registry))
        error, again = _timed(one, registry, folder)
        kind, seconds = _wrong(error), min(seconds, again)
    if not kind and seconds > most:
        kind = f"it took more than {MOST_SECONDS:g} s of processor time"
    if not kind:
        return type(error).__name__ if error is not None else "loaded"
    if error is None:
        return Finding(number, one.form, kind)
    words = ascii(str(error))[1:-1][:150]
    return Finding(number, one.form, kind, words, "".join(traceback.format_exception(error)))


def slowness(registry: Registry) -> float:
    """Return how many times as long as `_YARDSTICK_SECONDS` this machine takes for `YARDSTICK` now."""
    fresh = f"# {time.monotonic_ns()}: plans of equal texts are shared\n{YARDSTICK}"
    start = time.process_time()
    build_plan(fresh, registry)
    return (time.process_time() - start) / _YARDSTICK_SECONDS


def _timed(one: Mutant, registry: Registry, folder: Path) -> tuple[BaseException | None, float]:
    """Load a mutant under the limits; return what it raised and the seconds of processor time."""
    _limit_memory()
    limit_processor(MOST_SECONDS + _GRACE_SECONDS)
    start = time.process_time()
    error: BaseException | None = None
    try:
        load(one, registry, folder)
    except BaseException as raised:  # noqa: BLE001  # any other than ours is what is looked for
        error = raised
    finally:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    return error, time.process_time() - start


def _wrong(error: BaseException | None) -> str:
    """Return what is wrong with an error; "" where nothing is."""
    if error is None:
        return ""
    if any(isinstance(one, MemoryError) for one in _chain(error)):
        return f"it took more than {MOST_BYTES >> 20} MB of memory"
    if not isinstance(error, PenstockError):
        return f"{type(error).__name__}{_place(error)}"
    try:
        str(error).encode()
    except UnicodeEncodeError as unprintable:
        return f"{type(error).__name__} cannot be printed: {unprintable.reason}{_place(error)}"
    return ""


def _chain(error: BaseException) -> Iterable[BaseException]:
    """Return an error, its causes, and the faults that it carries with theirs."""
    found: dict[int, BaseException] = {}
    work: list[BaseException | None] = [error]
    while work:
        one = work.pop()
        if one is not None and id(one) not in found:
            found[id(one)] = one
            work += [one.__cause__, one.__context__]
            work += one.faults if isinstance(one, GraphConfigError) else ()
    return found.values()


def _place(error: BaseException) -> str:
    """Return where an error was raised: the last line of this project, and the last of all."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if ".venv" not in frame.filename and "/src/penstock" in frame.filename]
    places = dict.fromkeys(f"{Path(one.filename).name}:{one.lineno}" for one in (*own[-1:], *frames[-1:]))
    return f" (at {', '.join(places)})" if places else ""


def _limit_memory() -> None:
    """Let this process have so much memory more than it has now."""
    pages = int(Path("/proc/self/statm").read_bytes().split()[0])
    most = pages * resource.getpagesize() + MOST_BYTES
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))


def warm_registry() -> Registry:
    """Return the registry with everything imported, so that no input is charged for an import."""
    registry = default_registry()
    for kind in KINDS:
        for name in registry.names(kind):
            try:
                registry.find(kind, name)
            except PenstockError as error:
                _say(f"left out: {error}")
    return registry


# --- workers ------------------------------------------------------------------------------------------


class _Shared(NamedTuple):
    """What a worker and its parent both see: whether to stop, the input that is loaded, and how many were."""

    stop: Any
    number: Any
    done: Any


def work(task: Task, shared: _Shared, results: Connection) -> None:
    """Do a task in this process. Sends findings, and at the end how many inputs had which outcome."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.disable()
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    registry, corpus = warm_registry(), read_corpus(task.folders)
    outcomes: Counter[str] = Counter()
    number = task.first
    with tempfile.TemporaryDirectory() as folder:
        while task.end is None or number < task.end:
            if shared.stop.value or (task.deadline is not None and time.monotonic() > task.deadline):
                break
            shared.number.value = number
            one = mutant(corpus, task.seed, number)
            outcome = attempt(one, number, registry, Path(folder))
            if isinstance(outcome, Finding):
                results.send(outcome)
                outcome = "a finding"
            outcomes[outcome] += 1
            shared.done.value += 1
            number += task.step
    results.send(outcomes)


class _Worker:
    """A process that does a task, and is replaced where it ends too early."""

    _shared: _Shared
    _process: SpawnProcess
    _results: Connection
    _number: int
    _since: float

    def __init__(self, context: SpawnContext, task: Task, stop: Any) -> None:
        self._context = context
        self._task = task
        self._stop = stop
        self._done = 0
        self.outcomes: Counter[str] | None = None
        self._start(task.first)

    @property
    def done(self) -> int:
        return self._done + int(self._shared.done.value)

    @property
    def handles(self) -> list[Any]:
        return [self._results, self._process.sentinel]

    def poll(self) -> list[Finding]:
        """Return what the process found since the last call; replace it where it has ended too early."""
        found = list(self._received())
        number = int(self._shared.number.value)
        if number != self._number:
            self._number, self._since = number, time.monotonic()
        is_late = time.monotonic() - self._since > _LONGEST_WAIT
        if is_late:
            self._process.kill()
            self._process.join()
        if self.outcomes is not None or self._process.is_alive():
            return found
        found += self._received()  # what it sent before it ended
        if self.outcomes is None:
            found.append(Finding(number, "", _why_ended(self._process.exitcode, is_late=is_late)))
            if number < 0:
                raise click.ClickException(f"a worker ended before its first input: {found[-1].kind}")
            self._done += int(self._shared.done.value) + 1
            if self._stop.value:
                self.outcomes = Counter()
            else:
                self._start(number + self._task.step)
        return found

    def close(self) -> None:
        """End the process, if need be by force."""
        self._process.join(10 if self.outcomes is not None else 0)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._results.close()

    def _start(self, first: int) -> None:
        value = self._context.Value
        self._shared = _Shared(self._stop, value("q", -1, lock=False), value("q", 0, lock=False))
        self._number, self._since = -1, time.monotonic()
        self._results, sender = self._context.Pipe(duplex=False)
        task = self._task._replace(first=first)
        self._process = self._context.Process(target=work, args=(task, self._shared, sender), daemon=True)
        self._process.start()
        sender.close()

    def _received(self) -> Iterator[Finding]:
        try:
            while self.outcomes is None and self._results.poll():
                got = self._results.recv()
                if isinstance(got, Finding):
                    yield got
                else:
                    self.outcomes = got
        except EOFError:
            return  # the process has ended; its exit code says how


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _told(finding: Finding) -> str:
    said = f": {finding.words}" if finding.words else ""
    return f"input {finding.number}: {finding.kind}{said}"


def _why_ended(code: int | None, *, is_late: bool) -> str:
    if is_late:
        return f"it was loaded for {_LONGEST_WAIT:g} s, and used little processor time"
    if code == -signal.SIGXCPU:
        return f"it took more than {MOST_SECONDS + _GRACE_SECONDS:g} s of processor time, and was ended"
    name = signal.Signals(-code).name if code is not None and code < 0 else f"exit status {code}"
    return f"the process ended: {name}"


# --- all inputs ---------------------------------------------------------------------------------------


def fuzz(tasks: list[Task], out: Path, corpus: Corpus) -> tuple[int, Counter[str], dict[str, list[Finding]]]:
    """Do tasks, each in a process of its own, until they are done or the user interrupts.

    Returns:
        How many inputs were loaded; how many had which outcome, without those of processes that ended too
        early; and the findings, by what happened.
    """
    context = multiprocessing.get_context("spawn")
    stop = context.Value("b", 0, lock=False)

    def interrupt(_number: int, _frame: object) -> None:
        stop.value = 1

    before = signal.signal(signal.SIGINT, interrupt)
    _say(f"{len(corpus.texts):,} graphs, {len(corpus.templates):,} of them templates; seed {tasks[0].seed}")
    workers = [_Worker(context, task, stop) for task in tasks]
    found: dict[str, list[Finding]] = {}
    start = told = time.monotonic()
    try:
        while any(worker.outcomes is None for worker in workers):
            wait([handle for one in workers if one.outcomes is None for handle in one.handles], 1.0)
            for finding in (one for worker in workers for one in worker.poll()):
                save(finding, tasks[0].seed, out, corpus)
                if finding.kind not in found:
                    _say(_told(finding))
                found.setdefault(finding.kind, []).append(finding)
            if time.monotonic() - told > _PROGRESS:
                told = time.monotonic()
                done, count = sum(worker.done for worker in workers), sum(map(len, found.values()))
                _say(f"{done:,} inputs in {told - start:.0f} s, {count:,} findings")
    finally:
        for worker in workers:
            worker.close()
        signal.signal(signal.SIGINT, before)
    outcomes: Counter[str] = Counter()
    for worker in workers:
        outcomes.update(worker.outcomes or {})
    return sum(worker.done for worker in workers), outcomes, found


def save(finding: Finding, seed: int, out: Path, corpus: Corpus) -> None:
    """Write the input of a finding, and what happened, into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    one = mutant(corpus, seed, finding.number)
    name = f"{seed}-{finding.number}"
    data = one.source if isinstance(one.source, bytes) else shown(one).encode("utf-8", errors="surrogatepass")
    (out / f"{name}{one.suffix or '.txt'}").write_bytes(data)
    again = f"python scripts/trials/fuzz_graphs.py --seed {seed} --show {finding.number}"
    words = f"{one.form}: {finding.kind}: {finding.words}\n{again}\n\n{finding.details}"
    (out / f"{name}.why").write_text(words, "utf-8", errors="backslashreplace")


def shown(one: Mutant) -> str:
    """Return the source of a mutant as text: text as it is, else as Python would write it."""
    texts = [str(one.source) if isinstance(one.source, str) else repr(one.source)]
    return "\n".join(texts + [f"# subgraph {name}:\n{text}" for name, text in one.subgraphs.items()])


def show(seed: int, number: int, corpus: Corpus) -> bool:
    """Print one input and what loading it does. Return whether that is a finding."""
    one = mutant(corpus, seed, number)
    how = f"{one.form}{', as a subgraph' if one.is_inner else ''}"
    given = "" if one.arguments is None else f", with {one.arguments!r}"
    print(f"input {number} of seed {seed}: {how}{given}\n{ascii_lines(shown(one))}\n")
    registry = warm_registry()
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        outcome = attempt(one, number, registry, Path(folder))
        seconds = time.process_time() - start
        if isinstance(outcome, Finding):
            print(f"a finding, after {seconds:.2f} s: {outcome.kind}\n{ascii_lines(outcome.details)}")
            return True
        print(f"no finding, after {seconds:.2f} s: {outcome}")
        try:
            load(one, registry, Path(folder))
        except PenstockError as error:
            print(ascii_lines(f"{error.code}: {error}"))
        return False


def ascii_lines(text: str) -> str:
    """Return text with what cannot be printed written as escapes."""
    return text.encode("ascii", errors="backslashreplace").decode()


def _folders() -> tuple[Path, ...]:
    missing = [folder for folder in SHARED if not folder.is_dir()]
    if missing:
        _say(f"without the graphs of {', '.join(map(str, missing))}, not there")
    return tuple(folder for folder in (*(ROOT / name for name in FOLDERS), *SHARED) if folder not in missing)


_FOLDER: Final = click.Path(file_okay=False, path_type=Path)


@click.command(help=(__doc__ or "").partition("\n")[0])
@click.option("--seed", default=1, show_default=True, help="Begins the sequence of inputs.")
@click.option("--inputs", type=click.IntRange(1), help="How many inputs are loaded.")
@click.option("--seconds", type=click.FloatRange(0), help="For how long inputs are loaded.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Worker processes.")
@click.option(
    "--first", type=click.IntRange(0), default=0, show_default=True, help="Number of the first input."
)
@click.option("--show", "number", type=click.IntRange(0), help="Load one input, print it and what it raises.")
@click.option(
    "--graphs", type=_FOLDER, multiple=True, help="Change the graphs of this folder only; repeatable."
)
@click.option("--out", type=_FOLDER, default=ROOT / ".fuzz", help="Where findings are saved; else .fuzz.")
def main(  # noqa: PLR0913, PLR0917  # the options
    seed: int,
    inputs: int | None,
    seconds: float | None,
    jobs: int,
    first: int,
    number: int | None,
    graphs: tuple[Path, ...],
    out: Path,
) -> None:
    """Read the command line, fuzz, and tell the findings."""
    if number is None and inputs is None and seconds is None:
        raise click.UsageError("how long? give --inputs or --seconds")
    start = time.monotonic()
    folders = graphs or _folders()
    corpus = read_corpus(folders)
    if number is not None:
        sys.exit(int(show(seed, number, corpus)))
    deadline = None if seconds is None else start + seconds
    end = None if inputs is None else first + inputs
    tasks = [Task(seed, first + job, jobs, end, deadline, folders) for job in range(jobs)]
    done, outcomes, found = fuzz(tasks, out, corpus)
    took = time.monotonic() - start
    print(
        f"{done:,} inputs in {took:.0f} s: {', '.join(f'{n:,} {kind}' for kind, n in outcomes.most_common())}"
    )
    for findings in sorted(found.values(), key=len, reverse=True):
        print(f"{len(findings):,} x {_told(findings[0])}")
    if found:
        print(f"{sum(map(len, found.values())):,} findings; their inputs are in {out}")
        sys.exit(1)
    print("no findings")


if __name__ == "__main__":
    main()
