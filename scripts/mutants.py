"""Change the engine, the runtime or a pack in small ways, and look whether a test notices each change.

    python scripts/mutants.py --kept --fresh           test the mutants of docs/mutants.md again
    python scripts/mutants.py --sample 100 --seed 2    others of engine/ and runtime/, drawn at random
    python scripts/mutants.py engine/flow --all        all mutants of one module
    python scripts/mutants.py plugins/failures/src     100 mutants of a pack
    python scripts/mutants.py --list                   print the mutants, and test none
    python scripts/mutants.py --sample 20 --seed 2 --keep   keep them, for the page too
    python scripts/mutants.py --page                   write the page again, and test none

A mutant is the code with one small change (`mutation/changes.py`). The test that killed it before runs in a
copy of the tree, then the tests of its module and of its layer (`mutation/tests_of.py`), until one
fails: the mutant is killed. It is too where the tests hang, which is ended after a time-out. Results are kept
in the file of `--state`, so a run that was interrupted goes on where it was; what was known of a function
that has changed since is tested again.

`mutation/kept.json` lists the mutants of docs/mutants.md, and `mutation/equivalent.json` says why a survivor
can make no difference. mutmut and cosmic-ray were looked at: docs/decisions/112-mutants.md says why neither
is used.
"""

from __future__ import annotations

import argparse
import json
import queue
import random
import signal
import sys
import tempfile
import threading
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mutation.bench import Bench
from mutation.mutant import ROOT, mutants_of
from mutation.report import Kept, Result, area, page, read_kept, write_kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mutation.mutant import Mutant

STATE: Final = ROOT / ".mutants.jsonl"
KEPT: Final = ROOT / "scripts/mutation/kept.json"
EQUIVALENT: Final = ROOT / "scripts/mutation/equivalent.json"
PAGE: Final = ROOT / "docs/mutants.md"
#: The folders that mutants were drawn from, as they are named on the command line; the totals count these.
DRAWN_FROM: Final = (
    "engine",
    "runtime",
    "plugins/stream-handlers/src",
    "plugins/failures/src",
    "plugins/remote/src/penstock_remote",
    "plugins/remote/src/penstock_processes",
)


def read_state(path: Path) -> dict[str, Result]:
    """Return the results that are kept, by the key of the mutant."""
    if not path.is_file():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    return {row["key"]: Result(**row) for row in rows}


def false_kills(results: Iterable[Result], timeout_s: float) -> list[Result]:
    """Return the mutants that were killed by a test that fails on the code as it is, too."""
    killed = [one for one in results if one.outcome == "killed" and "::" in one.by]
    if not killed:
        return []
    with tempfile.TemporaryDirectory(prefix="penstock-mutants-") as folder:
        failing = set(Bench(Path(folder), timeout_s).failing(sorted({one.by for one in killed})))
    return [one for one in killed if one.by in failing]


class Hunt:
    """Tests mutants on several benches at a time, and keeps the results."""

    def __init__(
        self,
        mutants: Sequence[Mutant],
        arguments: argparse.Namespace,
        killers: Mapping[str, str],
    ) -> None:
        self._todo: Final[queue.SimpleQueue[Mutant]] = queue.SimpleQueue()
        self._state: Final[Path] = arguments.state
        self._processes: Final[int] = arguments.processes
        self._timeout_s: Final[float] = arguments.timeout
        self._quick: Final[bool] = arguments.quick
        self._killers: Final = killers
        self._lock: Final = threading.Lock()
        self._stopped: Final = threading.Event()
        self._left = len(mutants)
        for mutant in mutants:
            self._todo.put(mutant)

    def run(self) -> None:
        """Test all; Ctrl-C ends the tests that run, and keeps what is known."""
        threads = []
        with tempfile.TemporaryDirectory(prefix="penstock-mutants-") as folder:
            for number in range(min(self._processes, self._left)):
                place = Path(folder) / str(number)
                bench = Bench(place, self._timeout_s, quick=self._quick, killers=self._killers)
                threads.append(threading.Thread(target=self._serve, args=(bench,), name=f"bench-{number}"))
            try:
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            finally:
                self._stopped.set()
                for thread in threads:
                    thread.join(self._timeout_s)

    def _serve(self, bench: Bench) -> None:
        while not self._stopped.is_set():
            try:
                mutant = self._todo.get_nowait()
            except queue.Empty:
                return
            result = bench.test(mutant, self._stopped)
            if result is None:
                return
            with self._lock:
                self._left -= 1
                with self._state.open("a", encoding="utf-8") as file:
                    file.write(f"{json.dumps(result._asdict())}\n")
                print(f"{self._left} left  {result.seconds:6.1f} s  {result.told()}", flush=True)


def chosen(arguments: argparse.Namespace, kept: Kept) -> list[Mutant]:
    """Return the mutants that the command line asks for, in the order of their places."""
    if arguments.kept:
        mutants = mutants_of(dict.fromkeys(one.path for one in kept.results))
        there = {one.place: one for one in mutants}
        gone = [one for one in kept.results if one.place not in there]
        for one in gone:
            print(f"gone, its code has changed: {one.told()}", file=sys.stderr)
        if gone:
            print(f"draw others in their place: --sample {len(gone)} --seed N --keep", file=sys.stderr)
        return [there[one.place] for one in kept.results if one.place in there]
    mutants = mutants_of(arguments.modules)
    if not arguments.all:
        places = list(range(len(mutants)))
        random.Random(arguments.seed).shuffle(places)  # noqa: S311
        compiling = (place for place in places if mutants[place].compiles())
        return [mutants[place] for place in sorted(islice(compiling, arguments.sample))]
    return [one for one in mutants if one.compiles()]


def keep(results: Sequence[Result], kept: Kept, *, replace: bool) -> None:
    """Write results into the list of mutants that are tested again.

    Args:
        results: what is known now.
        kept: the list as it was.
        replace: whether `results` are the list; they are added to it where not.
    """
    by_place = {} if replace else {one.place: one for one in kept.results}
    by_place |= {one.place: one for one in results}
    totals = Counter(area(one.path) for one in mutants_of(DRAWN_FROM) if one.compiles())
    write_kept(KEPT, Kept(dict(totals), [*by_place.values()]))


def write_page() -> None:
    """Write the page of the list."""
    PAGE.write_text(page(read_kept(KEPT), _reasons()), encoding="utf-8")


def _reasons() -> dict[str, str]:
    reasons: dict[str, str] = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    return reasons


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "modules",
        nargs="*",
        default=["engine", "runtime"],
        help="modules or folders, below core/src/penstock or relative to the root; engine runtime",
    )
    parser.add_argument("--sample", type=int, default=100, help="how many mutants; 100")
    parser.add_argument("--seed", type=int, default=1, help="which mutants; 1")
    parser.add_argument("--all", action="store_true", help="all mutants of the modules")
    parser.add_argument("--kept", action="store_true", help="the mutants of scripts/mutation/kept.json")
    parser.add_argument("--list", action="store_true", help="print the mutants, and test none")
    parser.add_argument("--page", action="store_true", help="write docs/mutants.md, and test none")
    parser.add_argument("--keep", action="store_true", help="add the results to kept.json, and to the page")
    parser.add_argument("--state", type=Path, default=STATE, help="where results are kept; .mutants.jsonl")
    parser.add_argument("--fresh", action="store_true", help="test all again, whatever the state says")
    parser.add_argument("--again", action="store_true", help="test survivors without a reason again")
    parser.add_argument(
        "--quick", action="store_true", help="ask only the tests of each module, not of its layer"
    )
    parser.add_argument("--processes", type=int, default=2, help="how many mutants are tested at a time; 2")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one call of pytest; 300")
    return parser.parse_args()


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _todo(
    mutants: Sequence[Mutant], known: Mapping[str, Result], arguments: argparse.Namespace
) -> list[Mutant]:
    """Return the mutants that are to be tested, shuffled: so that a part of them is a sample too."""
    asked = {"survived"} if arguments.again else set()
    if arguments.fresh:
        asked = {"survived", "killed"}
    reasons = {} if arguments.fresh else _reasons()
    todo = [
        one
        for one in mutants
        if one.key not in known or (known[one.key].outcome in asked and one.place not in reasons)
    ]
    random.Random(arguments.seed).shuffle(todo)  # noqa: S311
    return todo


def main() -> int:
    """Carry out what the command line asks for; return 1 where a mutant survived without a reason."""
    arguments = _arguments()
    if arguments.page:
        write_page()
        return 0
    kept = read_kept(KEPT)
    mutants = chosen(arguments, kept)
    if arguments.list:
        for mutant in mutants:
            print(mutant.result("untested", "", 0.0).told())
        return 0
    todo = _todo(mutants, read_state(arguments.state), arguments)
    print(f"{len(mutants)} mutants, {len(mutants) - len(todo)} of them known")
    by_place = {one.place: one.by for one in kept.results if one.outcome == "killed"}
    killers = {one.key: by_place.get(one.place, "") for one in todo}
    for number in (signal.SIGINT, signal.SIGTERM):  # shells let background jobs ignore Ctrl-C
        signal.signal(number, _interrupt)
    try:
        Hunt(todo, arguments, killers).run()
    except KeyboardInterrupt:
        print(f"interrupted; the same command goes on, from {arguments.state}", file=sys.stderr)
        return 130
    known = read_state(arguments.state)
    # Where the lines are now, whenever it was tested.
    results = [known[one.key]._replace(line=one.change.line) for one in mutants if one.key in known]
    false = false_kills(results, arguments.timeout)
    for one in false:
        print(f"not killed, since the test fails without the change too: {one.told()}", file=sys.stderr)
    if false:
        return 2
    if arguments.keep:
        keep(results, kept, replace=arguments.kept)
        write_page()
    return _conclude(results)


def _conclude(results: Sequence[Result]) -> int:
    reasons = _reasons()
    survivors = [one for one in results if one.outcome == "survived" and one.place not in reasons]
    for one in survivors:
        print(one.told())
    killed = sum(one.outcome == "killed" for one in results)
    print(f"{killed} of {len(results)} killed, {len(survivors)} survived without a reason")
    return 1 if survivors else 0


if __name__ == "__main__":
    raise SystemExit(main())
