"""Contestants side by side: every measurement in its own process, in turns, reported as medians and ratios.

A benchmark defines its cases (amounts of work), its contestants (programs that do it), and its bars (claims).
In each round each contestant is measured once in each case (A B A B ...), so a machine that becomes slower
slows all of them; a ratio is the median of the rounds' ratios, both sides taken from the same round. Each
measurement is a new process (`measure.py`), warmed up by the function that it calls, so none inherits
another's heap, threads or caches. A contestant that is not installed is skipped, with the reason in the
table and in the JSON; a contestant with a wrong result ends the benchmark.

Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HERE: Final = Path(__file__).resolve().parent
#: A measurement that takes longer than this hangs.
TIMEOUT_S: Final = 300
SHORT_ROUNDS: Final = 1
ROUNDS: Final = 5
MEBI: Final = 1 << 20


class BenchmarkError(Exception):
    """A measurement failed, or a report lacks a field; the message names it, with the details."""


@dataclass(frozen=True)
class Case:
    """One amount of work."""

    #: For the table, unique in its benchmark.
    name: str
    #: Keyword arguments of every contestant's function.
    settings: Mapping[str, Any]
    #: Names of the contestants of this case; None for all.
    contestants: tuple[str, ...] | None = None
    #: The figure of which ratios are taken here; "" for that of the benchmark.
    figure: str = ""
    #: How many seconds longer than `TIMEOUT_S` one measurement may take.
    more_s: int = 0


@dataclass(frozen=True)
class Contestant:
    """One way to do the work."""

    #: For the table, unique in its benchmark.
    name: str
    #: "module:function" below benchmarks/; takes a case's settings and `settings`.
    function: str
    #: Further keyword arguments.
    settings: Mapping[str, Any] = field(default_factory=dict)
    #: The interpreter to run it with; None: not given, so it is skipped.
    python: str | None = sys.executable
    #: Whether it is a peer that may be missing, and is then skipped.
    optional: bool = False
    #: The command line's option for `python`; the reason of a skip names it.
    option: str = ""


@dataclass(frozen=True)
class Bar:
    """A claim about the result of a run."""

    #: As text.
    claim: str
    #: "at most" or "at least" the limit.
    sense: Literal["at most", "at least"]
    #: The limit of the value.
    limit: float
    #: Returns the value from measurements; None if a contestant that it needs was skipped.
    value: Callable[[Measurements], float | None]

    def report(self, measurements: Measurements) -> dict[str, object]:
        """Return the bar as data for JSON; `met` is None if the value is None."""
        value = self.value(measurements)
        met = None
        if value is not None:
            met = value <= self.limit if self.sense == "at most" else value >= self.limit
        return {"claim": self.claim, "sense": self.sense, "limit": self.limit, "value": value, "met": met}


class Measurements:
    """All measurements: for each case and contestant the figures of each round."""

    def __init__(self) -> None:
        self.rounds: dict[tuple[str, str], dict[str, list[float]]] = {}

    def add(self, case: str, contestant: str, figures: Mapping[str, float]) -> None:
        """Add one measurement."""
        known = self.rounds.setdefault((case, contestant), {})
        for name, value in figures.items():
            known.setdefault(name, []).append(value)

    def median(self, case: str, contestant: str, figure: str) -> float | None:
        """Return the median over the rounds, or None if that contestant was skipped."""
        found = self.rounds.get((case, contestant))
        return None if found is None else statistics.median(found[figure])

    def ratio(self, case: str, contestant: str, base: str, figure: str) -> float | None:
        """Return the median of the rounds' ratios to `base`, or None if either was skipped."""
        mine, others = self.rounds.get((case, contestant)), self.rounds.get((case, base))
        if mine is None or others is None or not all(others[figure]):
            return None
        return statistics.median(a / b for a, b in zip(mine[figure], others[figure], strict=True))


@dataclass(frozen=True)
class Benchmark:
    """One claim: its cases, its contestants, its bars."""

    #: In a sentence.
    claim: str
    #: The figure of which ratios are taken.
    figure: str
    #: Name of the contestant that others are compared with.
    base: str
    #: `cases`, `contestants`, `bars`: see these classes.
    cases: Sequence[Case]
    contestants: Sequence[Contestant]
    bars: Sequence[Bar] = ()
    #: The base if `base` is skipped.
    otherwise: str = ""


# --- the command line --------------------------------------------------------------------------------


def parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of the options that all benchmarks share."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--rounds", type=_positive, help=f"default {ROUNDS}; {SHORT_ROUNDS} with --short")
    made.add_argument("--short", action="store_true", help="little work, to check that everything runs")
    made.add_argument("--json", metavar="FILE", type=Path, help="write the report to this file too")
    made.add_argument("--check", action="store_true", help="exit with 1 if a bar is missed")
    made.add_argument(
        "--only", nargs="+", metavar="TEXT", help="only contestants whose name contains one of these"
    )
    made.add_argument(
        "--reference", metavar="PYTHON", help="interpreter of an environment with mediapipe==0.10.21"
    )
    made.add_argument(
        "--peers", metavar="PYTHON", default=sys.executable, help="interpreter with streamz and reactivex"
    )
    made.add_argument("--gstreamer", metavar="PYTHON", help="interpreter with gi and GStreamer 1")
    return made


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number}: must be 1 or more")
    return number


def main(
    benchmark: Benchmark,
    given: argparse.Namespace,
    more: Callable[[dict[str, Any]], str] | None = None,
) -> int:
    """Run a benchmark, print its table, write its report. Return the exit status.

    Args:
        benchmark: what is run.
        given: the options.
        more: adds to the report, and returns what is printed below the table.
    """
    rounds = given.rounds or (SHORT_ROUNDS if given.short else ROUNDS)
    try:
        report = run(narrowed(benchmark, given.only), rounds, short=given.short)
    except BenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(table(report), flush=True)
    if more is not None:
        print(f"\n{more(report)}")
    if given.json is not None:
        given.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return int(given.check and any(bar["met"] is False for bar in report["bars"]))


def narrowed(benchmark: Benchmark, only: Sequence[str] | None) -> Benchmark:
    """Return the benchmark with the contestants whose name contains one of these texts, or with all.

    A case without any of them is left out.

    Raises:
        BenchmarkError: no contestant is left.
    """
    if only is None:
        return benchmark
    left = [each for each in benchmark.contestants if any(text in each.name for text in only)]
    names = {each.name for each in left}
    if not left:
        known = ", ".join(repr(each.name) for each in benchmark.contestants)
        raise BenchmarkError(
            f"--only {' '.join(only)}: no contestant has that in its name; there are {known}"
        )
    cases = [case for case in benchmark.cases if case.contestants is None or names & set(case.contestants)]
    return replace(benchmark, contestants=left, cases=cases)


# --- measuring ---------------------------------------------------------------------------------------


def run(benchmark: Benchmark, rounds: int, *, short: bool = False) -> dict[str, Any]:
    """Measure everything in turns and return the report.

    Raises:
        BenchmarkError: a measurement failed or gave a wrong result.
    """
    measurements, versions, skipped = Measurements(), dict[str, object](), dict[str, str]()
    busy, spent, began = busy_s(), _own_s(), perf_counter()
    load = _load()
    for _ in range(rounds):
        for case in benchmark.cases:
            for contestant in benchmark.contestants:
                if case.contestants is not None and contestant.name not in case.contestants:
                    continue
                if contestant.name in skipped:
                    continue
                said = measure(contestant, case)
                if "missing" in said:
                    skipped[contestant.name] = said["missing"]
                    continue
                measurements.add(case.name, contestant.name, said["figures"])
                versions[contestant.name] = {"python": said["python"], **said["versions"]}
    elapsed = perf_counter() - began
    others = None if busy is None else max(0.0, (busy_s() or 0.0) - busy - (_own_s() - spent)) / elapsed
    return {
        "benchmark": Path(sys.argv[0]).stem,
        "claim": benchmark.claim,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "short": short,
        "rounds": rounds,
        "seconds": round(elapsed, 1),
        "machine": machine(),
        "load": {"before": load, "after": _load(), "processors busy with other work": others},
        "versions": versions,
        "skipped": skipped,
        "cases": [_case_report(benchmark, case, measurements) for case in benchmark.cases],
        "bars": [bar.report(measurements) for bar in benchmark.bars],
    }


def measure(contestant: Contestant, case: Case) -> dict[str, Any]:
    """Measure once, in a process of its own; return the output of `measure.py`.

    Raises:
        BenchmarkError: it failed, or a contestant that is not optional is not installed.
    """
    if contestant.python is None:
        return {"missing": f"{contestant.option} was not given"}
    settings = json.dumps({**case.settings, **contestant.settings})
    command = [contestant.python, str(HERE / "measure.py"), contestant.function, settings]
    where = f"{contestant.name!r} in case {case.name!r}"
    try:
        done = subprocess.run(  # noqa: S603  # our own files, and interpreters that the caller names
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S + case.more_s,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise BenchmarkError(f"{where}: not done after {TIMEOUT_S + case.more_s} s, and ended") from None
    except OSError as error:
        raise BenchmarkError(f"{where}: {contestant.python!r} cannot be started: {error.strerror}") from error
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        raise BenchmarkError(f"{where}: exited with {done.returncode}:\n{done.stdout}{done.stderr}".rstrip())
    said: dict[str, Any] = json.loads(lines[-1])
    if "missing" in said and not contestant.optional:
        raise BenchmarkError(f"{where}: cannot be imported: {said['missing']}; install the workspace")
    return said


def _case_report(benchmark: Benchmark, case: Case, measurements: Measurements) -> dict[str, Any]:
    names = [each.name for each in benchmark.contestants if (case.name, each.name) in measurements.rounds]
    base = next((name for name in (benchmark.base, benchmark.otherwise) if name in names), None)
    results = {
        name: {
            figure: {
                "median": statistics.median(values),
                "from": min(values),
                "to": max(values),
                "rounds": values,
            }
            for figure, values in measurements.rounds[case.name, name].items()
        }
        for name in names
    }
    figure = case.figure or benchmark.figure
    ratios = {name: measurements.ratio(case.name, name, base, figure) for name in names if base is not None}
    return {
        "case": case.name,
        "settings": dict(case.settings),
        "figure": figure,
        "base": base,
        "results": results,
        "ratios": ratios,
    }


# --- the machine -------------------------------------------------------------------------------------


def machine() -> dict[str, object]:
    """Return a description of the machine for the report."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "processors": os.cpu_count(),
        "memory in MB": _memory_mb(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _memory_mb() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MEBI
    except (AttributeError, ValueError, OSError):  # not on this system
        return None


def _load() -> float | None:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def _own_s() -> float:
    """Return the CPU seconds of this process and of the children that have ended."""
    return sum(os.times()[:4])


def busy_s() -> float | None:
    """Return the CPU seconds that all processes of the machine have taken since it started; Linux only."""
    try:
        first = Path("/proc/stat").read_text(encoding="utf-8").partition("\n")[0].split()[1:9]
    except OSError:
        return None
    user, nice, system, _idle, _wait, irq, soft_irq, steal = map(int, first)
    ticks = user + nice + system + irq + soft_irq + steal
    return ticks / float(os.sysconf("SC_CLK_TCK"))


# --- the report --------------------------------------------------------------------------------------

#: Every field of a report, and its type.
_FIELDS: Final[Mapping[str, type]] = {
    "benchmark": str,
    "claim": str,
    "date": str,
    "short": bool,
    "rounds": int,
    "seconds": float,
    "machine": dict,
    "load": dict,
    "versions": dict,
    "skipped": dict,
    "cases": list,
    "bars": list,
}


def check_report(report: Mapping[str, Any]) -> None:
    """Raise unless a report has all fields that the README lists.

    Raises:
        BenchmarkError: names the field.
    """
    for name, kind in _FIELDS.items():
        if not isinstance(report.get(name), kind):
            raise BenchmarkError(f"report field {name!r} is {report.get(name)!r}, expected a {kind.__name__}")
    if not report["cases"]:
        raise BenchmarkError("report field 'cases' is empty")
    for case in report["cases"]:
        if not any("penstock" in name for name in case["results"]):
            raise BenchmarkError(
                f"case {case['case']!r} has no results of Penstock: {sorted(case['results'])}"
            )
        for name, figures in case["results"].items():
            for figure, told in figures.items():
                if len(told["rounds"]) != report["rounds"]:
                    raise BenchmarkError(
                        f"case {case['case']!r}, {name!r}, {figure!r}: {len(told['rounds'])} rounds, "
                        f"expected {report['rounds']}"
                    )


def table(report: Mapping[str, Any]) -> str:
    """Return a report as text: a table for each case, then what was skipped, the machine, the bars."""
    lines = [report["claim"]]
    for case in report["cases"]:
        lines += ["", *_case_table(case)]
    lines += [f"skipped: {name}: {reason}" for name, reason in report["skipped"].items()]
    others = report["load"]["processors busy with other work"]
    other = "unknown" if others is None else f"{others:.2f} processors"
    about = report["machine"]
    pythons = sorted({told["python"] for told in report["versions"].values()})
    lines += [
        "",
        f"{report['rounds']} rounds in {report['seconds']:.0f} s, other work meanwhile: {other}",
        f"{about['processors']} processors ({about['processor']}), {about['system']}, {', '.join(pythons)}",
    ]
    lines += [_bar_line(bar, short=report["short"]) for bar in report["bars"]]
    return "\n".join(lines)


def _case_table(case: Mapping[str, Any]) -> list[str]:
    figures = list(dict.fromkeys(name for told in case["results"].values() for name in told))
    heads = [
        case["case"],
        *figures,
        f"{case['figure']}, from",
        "to",
        "" if case["base"] is None else f"x {case['base']}",
    ]
    rows = [heads]
    for name, told in case["results"].items():
        main_figure = told[case["figure"]]
        ratio = case["ratios"].get(name)
        rows.append(
            [
                name,
                *(_number(told[figure]["median"]) if figure in told else "" for figure in figures),
                _number(main_figure["from"]),
                _number(main_figure["to"]),
                "" if ratio is None else f"{ratio:.2f}",
            ]
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
    return [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _bar_line(bar: Mapping[str, Any], *, short: bool) -> str:
    """Return a bar as text; a short run has no results for bars."""
    promised = f"{bar['claim']}: {bar['sense']} {bar['limit']:g}"
    if bar["value"] is None:
        return f"bar, {promised}: not taken, a contestant is missing"
    verdict = "a short run decides nothing" if short else ("met" if bar["met"] else "MISSED")
    return f"bar, {promised}: {bar['value']:.3f}, {verdict}"


def _number(value: float) -> str:
    """Return a number with three significant digits; from 100 on a whole number."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004  # three digits
