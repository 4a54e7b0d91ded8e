"""Is the engine as quick as before? Counts instructions of the working tree and of an earlier commit.

A machine with other work cannot tell 3 % by the clock, but instructions stay the same: two counts of one
commit differ by 0.2 %. They are counted by `perf stat` where the processor lets it, else by valgrind
(Debian: `apt-get install valgrind`), one process of each tree at a time. Both trees are installed into
folders of their own, their requirements included, so that a change of them counts too. What a process takes
without the workload is subtracted.

    python benchmarks/guard.py [--commit REV] [--base main] [--limit 10] [--only NAME ...] [--times N]
        [--counter auto] [--json FILE]

The commit is by default the last release, that is the last tag v*. Before the first release it is the commit
where this branch left `--base`, or, on that branch itself and with nothing changed, the commit before this
one. The guard exits with 1 if a workload takes over `--limit` percent more instructions, and with 2 if it
could not count. Where nothing can count, or there is no earlier commit, it says so and exits with 0.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parent
#: What the workloads need, as folders of the workspace; a commit may lack some of them.
PARTS: Final = ("core", "plugins/executors", "plugins/stream-handlers")
#: One process must be done by then.
TIMEOUT_S: Final = 600.0


class Workload(NamedTuple):
    """What is counted.

    Args:
        title: for the table.
        small: how many times each process does it anyhow.
        more: how many times more it is done to be counted.
        units: how many units one time is, such as node steps.
    """

    title: str
    small: int
    more: int
    units: int = 1


#: By their names in `guard_work.py`.
WORKLOADS: Final = {
    "single": Workload("single node, a packet", 10, 2000),
    "chain": Workload("chain of 50, a step", 10, 100, 50),
    "pool": Workload("chain of 10, thread pool, a step", 10, 500, 10),
    "join": Workload("join of two streams, a pair", 10, 1000),
    "start": Workload("100 nodes, text to started and closed", 1, 3),
}
#: In the place of a workload: nothing is done more often than in each process.
NOTHING: Final = "nothing"


class GuardError(Exception):
    """The guard could not count."""


class NotHereError(GuardError):
    """Nothing counts instructions here, or there is nothing to compare with."""


# --- counting -----------------------------------------------------------------------------------------


def perf_command(report: Path) -> list[str]:
    """Return what counts the instructions of the command behind it with perf."""
    return ["perf", "stat", "-x", ",", "-e", "instructions:u", "-o", str(report), "--"]


def valgrind_command(report: Path) -> list[str]:
    """Return what counts the instructions of the command behind it with valgrind."""
    options = ["--cache-sim=no", "--cachegrind-out-file=/dev/null", f"--log-file={report}"]
    return ["valgrind", "--tool=cachegrind", *options]


COUNTERS: Final = {"perf": perf_command, "valgrind": valgrind_command}
_SAID: Final = {
    "perf": re.compile(r"^(\d+),[^,]*,instructions", re.MULTILINE),
    "valgrind": re.compile(r"\bI +refs: +([\d,]+)"),
}


def instructions(counter: str, report: str) -> int:
    """Return the number of instructions that a counter reports.

    Raises:
        GuardError: there is no number in it, as where a processor counts nothing.
    """
    found = _SAID[counter].search(report)
    if found is None:
        raise GuardError(f"{counter} reported no instructions: {report.strip()[-300:] or 'nothing'}")
    return int(found[1].replace(",", ""))


def count(counter: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Run a command and return how many instructions its process executed.

    Raises:
        GuardError: it failed, or took too long; says what it wrote last.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        whole = [*COUNTERS[counter](report), *command]
        try:
            done = subprocess.run(  # noqa: S603  # our own files
                whole, env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
            )
        except OSError as error:
            raise GuardError(f"{whole[0]} cannot be started: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise GuardError(f"not done after {TIMEOUT_S:g} s: {' '.join(command)}") from error
        said = report.read_text("utf-8") if report.exists() else ""
        if done.returncode:
            raise GuardError(f"exited with {done.returncode}: {' '.join(command)}\n{done.stderr[-2000:]}")
        return instructions(counter, said)


def find_counter(wanted: str) -> str:
    """Return the counter to use: the wanted one, or with "auto" the first that works here.

    Raises:
        NotHereError: it does not; says what to install.
    """
    reasons = []
    for name in COUNTERS if wanted == "auto" else (wanted,):
        if shutil.which(name) is None:
            reasons.append(f"{name} is not installed")
            continue
        try:
            count(name, [sys.executable, "-S", "-c", ""])
        except GuardError as error:
            reasons.append(str(error))
        else:
            return name
    why = "; ".join(reasons)
    raise NotHereError(f"nothing counts instructions here: {why}. On Debian: apt-get install valgrind")


# --- trees --------------------------------------------------------------------------------------------


def git(*arguments: str, cwd: Path = ROOT) -> str:
    """Return what git says.

    Raises:
        GuardError: it refuses; has its words.
    """
    command = ["git", *arguments]
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        raise GuardError(f"git cannot be started: {error.strerror}") from error
    if done.returncode:
        raise GuardError(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def default_commit(base: str, cwd: Path = ROOT) -> str:
    """Return what to compare with: the last release, or where the branch left `base`, or the commit before.

    Raises:
        NotHereError: there is none of them, as in a clone of one commit.
    """
    try:
        return git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", cwd=cwd)
    except GuardError:
        pass  # no release yet
    try:
        head = git("rev-parse", "HEAD", cwd=cwd)
        try:
            left = git("merge-base", "HEAD", base, cwd=cwd)
        except GuardError:  # no such branch here
            left = head
        if left != head or git("status", "--porcelain", "--untracked-files=no", cwd=cwd):
            return left
        return git("rev-parse", "HEAD^", cwd=cwd)
    except GuardError as error:
        raise NotHereError(f"no earlier commit to compare with, give --commit REV ({error})") from error


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """Give a work tree of a commit, which is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="penstock-guard-") as folder:
        tree = Path(folder) / "tree"
        git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree))


def install(tree: Path, target: Path) -> None:
    """Install what the workloads need from a tree, and what that needs, into a folder.

    Raises:
        GuardError: uv is missing or fails; has its words.
    """
    if shutil.which("uv") is None:
        raise GuardError("uv is not installed; it installs both trees: python -m pip install uv")
    parts = [str(tree / part) for part in PARTS if (tree / part / "pyproject.toml").exists()]
    options = ["--quiet", "--compile-bytecode", "--no-sources", "--python", sys.executable]
    command = ["uv", "pip", "install", *options, "--target", str(target), *parts]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise GuardError(f"{tree} cannot be installed:\n{done.stderr.strip()}")
    # The first process keeps what the plugins bring; the others, which are counted, find it.
    subprocess.run(_command(NOTHING, 0), env=_environment(target), capture_output=True, check=False)  # noqa: S603


def count_work(counter: str, name: str, times: int, installed: Path) -> int:
    """Return the instructions of a process that does a workload, or `NOTHING`, with a tree's Penstock."""
    more = WORKLOADS[name].small + WORKLOADS[name].more * times if name != NOTHING else 0
    return count(counter, _command(name, more), _environment(installed))


def _command(name: str, more: int) -> list[str]:
    return [sys.executable, "-S", str(HERE / "guard_work.py"), name, str(more)]


def _environment(installed: Path) -> dict[str, str]:
    own = {"PYTHONPATH": str(installed), "PYTHONHASHSEED": "0", "XDG_CACHE_HOME": str(installed / "caches")}
    environment = {**os.environ, **own}
    environment.pop("PENSTOCK_SHORTCUTS", None)
    return environment


# --- the comparison -----------------------------------------------------------------------------------


class Row(NamedTuple):
    """The instructions of one unit of a workload: in the commit, and in the working tree."""

    name: str
    before: float
    now: float

    @property
    def change(self) -> float:
        """How many percent more the working tree takes."""
        return round((self.now / self.before - 1) * 100, 3)


def rows(counts: Mapping[str, tuple[int, int]], times: int) -> list[Row]:
    """Return a row for each workload; `counts` has the instructions in commit and tree, and `NOTHING`'s."""
    nothing = counts[NOTHING]
    found = []
    for name, both in counts.items():
        if name != NOTHING:
            units = WORKLOADS[name].more * WORKLOADS[name].units * times
            before, now = ((whole - start) / units for whole, start in zip(both, nothing, strict=True))
            if before <= 0:
                raise GuardError(f"{name}: {before:.0f} instructions in the commit, which cannot be")
            found.append(Row(name, before, now))
    return found


def table(found: Sequence[Row], limit: float) -> str:
    """Return the rows as text, with the changes in percent, and which are above the limit."""
    lines = [f"{'instructions':40}{'before':>14}{'now':>14}{'change':>10}"]
    for row in found:
        verdict = f"  more than {limit:g} % slower" if row.change > limit else ""
        title = WORKLOADS[row.name].title
        lines.append(f"{title:40}{row.before:14,.0f}{row.now:14,.0f}{row.change:+9.1f} %{verdict}")
    return "\n".join(lines)


def compare(commit: str, counter: str, names: Sequence[str], times: int) -> list[Row]:
    """Count every workload in both trees, two processes at a time, and return what they take.

    Raises:
        GuardError: a tree cannot be installed, or a workload fails.
    """
    counts: dict[str, tuple[int, int]] = {}
    with checkout(commit) as tree, tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as both:
        targets = [Path(folder) / name for name in ("before", "now")]
        list(both.map(install, (tree, ROOT), targets))
        for name in (NOTHING, *names):
            before, now = both.map(partial(count_work, counter, name, times), targets)
            counts[name] = before, now
            print(f"counted: {name}", file=sys.stderr, flush=True)
    return rows(counts, times)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print. Return the exit status."""
    given = _parser().parse_args(arguments)
    try:
        counter = find_counter(given.counter)
        commit = git("rev-parse", "--short", f"{given.commit or default_commit(given.base)}^{{commit}}")
        print(f"working tree beside {git('log', '-1', '--format=%h %s', commit)!r}, counted by {counter}")
        found = compare(commit, counter, given.only or list(WORKLOADS), given.times)
    except NotHereError as reason:
        print(f"guard skipped: {reason}")
        return 0
    except GuardError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    print(table(found, given.limit))
    if given.json:
        rows_as_data = [row._asdict() | {"change": row.change} for row in found]
        report = {"commit": commit, "counter": counter, "limit": given.limit, "rows": rows_as_data}
        given.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return int(any(row.change > given.limit for row in found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--commit", metavar="REV", help="what to compare with; default: see above")
    parser.add_argument("--base", metavar="BRANCH", default="main", help="default main; see above")
    parser.add_argument("--limit", type=float, default=10.0, help="percent, default 10")
    parser.add_argument(
        "--only", nargs="+", choices=list(WORKLOADS), metavar="NAME", help="workloads to count"
    )
    parser.add_argument("--times", type=_positive, default=1, help="do each workload so many times as often")
    parser.add_argument("--counter", choices=["auto", *COUNTERS], default="auto", help="default auto")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to a file")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
