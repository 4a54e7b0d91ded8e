"""Claim: what one driver, one worker and one call cost says what many drivers do; so 1,000 can be simulated.

A driver is a program with a graph: events split by key over replicas in workers. Several drivers share a log
by its partitions. Each round measures what one driver costs, alone, then runs 1, 2 and 4 drivers at the same
time, and simulates the same events from these costs:

- "small events": nothing but the calls; the drivers are full, then the processors of this machine.
- "1 ms of Python": workers are full, then the processors.
- "5 ms on a device, skew 1": no processor is full; the replica of the most frequent key is.

Figures are events a second of all drivers together. The bars say by which factor the simulation is off.
Then 1 to 1,000 drivers are simulated, each on a host of its own, at several skews of the keys (the key of
rank r has a part in proportion to r to the power of -skew): how many events a second none falls behind with,
what is full first, how long events wait, and what it costs when workers and hosts die.

    python benchmarks/simulated_scale.py [--rounds 3] [--short] [--json FILE] [--picture FILE]
        [--keys 200000] [--work-us 500] [--load 0.7] [--mtbf-days 30] [--seed 1]

Costs of actors on a Ray cluster are measured where Ray is installed, and else taken from a table; with
--short too. Needs simpy. Linux, as worker processes do.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
from scale.costs import RAY, RAY_RESTART_S, Costs
from scale.drivers import Drivers
from scale.log_group import GroupTimes
from scale.measuring import MEASURED, measure, measure_restart, processors
from scale.model import simulate
from scale.outlook import Kind, Question, Scale, curves, interruption, losses
from scale.picture import picture
from scale.tables import text_of
from scale.work import Layout
from scale.workloads import DRIVERS, WORKLOADS, traces
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, busy_s, main, parser
from side_by_side import measure as measure_contestant

if TYPE_CHECKING:
    from collections.abc import Callable

    from scale.workloads import Workload

ROUNDS: Final = 3
COSTS: Final = "one driver"
OURS, SIMULATION = "penstock", "simulation"
#: By which factor the simulation may be off.
LIMIT: Final = 1.25
FIELDS: Final = tuple(field.name for field in attrs.fields(Costs) if field.default is attrs.NOTHING)
RESTART: Final = "restart ms"
#: How soon a group notices that a driver has died: librdkafka's default, and what one may choose.
SESSIONS_S: Final = (45.0, 6.0)
#: How soon a host's actors are known to be dead: "What holds after which failure" in
#: docs/how-to/use-a-cluster.md.
RAY_HOST_S: Final = 3.0


def figure(drivers: int) -> str:
    """Return the name of the figure of so many drivers: events a second."""
    return f"{drivers} driver{'s' * (drivers > 1)}, 1/s"


# --- contestants: each a process of its own ---------------------------------------------------------------


def one_driver(file: str, events: int, repeats: int, times: float, workloads: list[str]) -> dict[str, float]:
    """Measure what one driver costs; then run several, and write all into a file for the other contestants.

    Args:
        file: what is written, JSON.
        events: with which the costs are measured.
        repeats: how often they are measured.
        times: what the events of workloads are multiplied with.
        workloads: names of `WORKLOADS`.
    """
    costs = measure(events, repeats)
    restart_s = measure_restart()
    with Drivers(max(DRIVERS), MEASURED) as drivers:
        ran = {name: run_workload(drivers, WORKLOADS[name], times) for name in workloads}
    found = {"costs": attrs.asdict(costs), "ran": ran, "times": times}
    Path(file).write_text(json.dumps(found), encoding="utf-8")
    told = {field.replace("_", " "): getattr(costs, field) for field in FIELDS}
    return {**told, RESTART: restart_s * 1e3}


def run_workload(drivers: Drivers, workload: Workload, times: float) -> dict[str, dict[str, float]]:
    """Run a workload on 1, 2 and 4 drivers.

    Returns:
        For each number: events a second, processors that others kept busy, and, to understand a simulation
        that is off, processor time for an event.
    """
    found = {}
    for count in DRIVERS:
        busy = busy_s() or 0.0
        keys = workload.of_drivers(count, times)
        ran = drivers.run(keys, workload.compute_us, workload.wait_us)
        spent = max(one.ended for one in ran) - min(one.began for one in ran)
        own = sum(one.driver_s + one.workers_s for one in ran)
        others = max(0.0, (busy_s() or 0.0) - busy - own) / spent
        events = sum(map(len, keys))
        found[figure(count)] = {
            "rate": events / spent,
            "others": others,
            "driver_us": sum(one.driver_s for one in ran) / events * 1e6,
            "worker_us": sum(one.workers_s for one in ran) / events * 1e6,
        }
    return found


def drivers_that_ran(file: str, workload: str) -> dict[str, float]:
    """Return what the drivers of this round did."""
    ran = json.loads(Path(file).read_text(encoding="utf-8"))["ran"][workload]
    others = statistics.mean(one["others"] for one in ran.values())
    return {**{name: one["rate"] for name, one in ran.items()}, "other work": others}


def simulated(file: str, workload: str) -> dict[str, float]:
    """Simulate what the drivers of this round had to do, from the costs of one.

    Of the runs it knows the events, and how much of the processors other work took.
    """
    known = json.loads(Path(file).read_text(encoding="utf-8"))
    costs, what = Costs(**known["costs"]), WORKLOADS[workload]
    found = {}
    for count in DRIVERS:
        keys = what.of_drivers(count, known["times"])
        others = known["ran"][workload][figure(count)]["others"]
        outcomes = simulate(what.layout(), costs, traces(keys), processors=processors(), others=others)
        ended = max(float(one.done.max()) for one in outcomes if len(one.done))
        found[figure(count)] = sum(map(len, keys)) / ended
    return found


# --- the benchmark ----------------------------------------------------------------------------------------


def bar(workload: str, count: int) -> Bar:
    """Return the bar on the simulation of a workload on so many drivers."""

    def value(measured: Measurements) -> float | None:
        ratio = measured.ratio(workload, SIMULATION, OURS, figure(count))
        return None if ratio is None else max(ratio, 1 / ratio)

    return Bar(
        f"{workload}, {figure(count).removesuffix(', 1/s')}: off by a factor of", "at most", LIMIT, value
    )


def benchmark(given: argparse.Namespace, folder: Path) -> Benchmark:
    """Return the benchmark; what was measured in a round is in a file of `folder`."""
    file = str(folder / "round.json")
    names = list(WORKLOADS)
    costs = {"events": 300, "repeats": 2} if given.short else {"events": 2000, "repeats": 5}
    work = {**costs, "times": 0.1 if given.short else 1, "workloads": names}
    last = figure(max(DRIVERS))
    return Benchmark(
        claim="What one driver costs says what many drivers do.",
        figure=last,
        base=OURS,
        cases=[
            Case(COSTS, {"file": file, **work}, (f"{OURS}, alone",), FIELDS[0].replace("_", " ")),
            *(Case(name, {"file": file, "workload": name}, (OURS, SIMULATION)) for name in names),
        ],
        contestants=[
            Contestant(f"{OURS}, alone", "simulated_scale:one_driver"),
            Contestant(OURS, "simulated_scale:drivers_that_ran"),
            Contestant(SIMULATION, "simulated_scale:simulated"),
        ],
        bars=[bar(name, count) for name in names for count in DRIVERS],
    )


# --- 1 to 1,000 drivers -----------------------------------------------------------------------------------


def costs_of(report: dict[str, Any]) -> tuple[Costs, float]:
    """Return the medians of the rounds: what a driver costs, and seconds until a worker is replaced."""
    [told] = [case["results"] for case in report["cases"] if case["case"] == COSTS]
    figures = told[f"{OURS}, alone"]
    medians = {field: figures[field.replace("_", " ")]["median"] for field in FIELDS}
    return Costs(**medians), figures[RESTART]["median"] / 1e3


def ray_costs(given: argparse.Namespace) -> tuple[Costs, float, str]:
    """Return what actors cost, seconds until one is replaced, and where that is from."""
    if given.short:
        return RAY, RAY_RESTART_S, "from the table in scale/costs.py, since this run is short"
    contestant = Contestant(
        "actors", "scale.ray_costs:figures", {"events": 1000, "repeats": 3}, optional=True
    )
    said = measure_contestant(contestant, Case("actors", {}))
    if "missing" in said:
        return RAY, RAY_RESTART_S, f"from the table in scale/costs.py: {said['missing']}"
    restart_s = said["figures"].pop("restart_s")
    return Costs(**said["figures"]), restart_s, "measured here"


def kinds(given: argparse.Namespace, costs: Costs, actors: Costs) -> list[Kind]:
    """Return what drivers are simulated."""
    work = given.work_us
    replicas = Layout(shards=8, workers=8, compute_us=work)
    copies = Layout(
        shards=16, workers=16, compute_us=work, queue=0, in_flight=512, stateless=True, batch=32, messages=2
    )
    return [
        Kind("8 replicas by key in 8 workers", replicas, costs),
        Kind("16 copies without state in 16 actors of Ray, batch: 32", copies, actors),
    ]


def outlook(given: argparse.Namespace, report: dict[str, Any]) -> str:
    """Simulate many drivers from the costs in a report; add it to the report, and return it as text."""
    if all(case["case"] != COSTS for case in report["cases"]):
        return f"1 to 1,000 drivers are simulated only if {OURS + ', alone'!r} is measured"
    costs, restart_s = costs_of(report)
    actors, actor_restart_s, source = ray_costs(given)
    asked = question(given)
    workers, cluster = kinds(given, costs, actors)
    scale = Scale(
        asked,
        source,
        {kind: curves(kind, asked) for kind in (workers, cluster)},
        {
            "a worker of 8": interruption(workers, 1, restart_s, asked),
            "an actor of 16": interruption(cluster, 1, actor_restart_s, asked),
            "a host of Ray with 8 actors of 16": interruption(
                cluster, 8, RAY_HOST_S + actor_restart_s, asked
            ),
        },
        {
            session: [losses(workers, asked, GroupTimes(notice_s=session), count) for count in asked.groups]
            for session in SESSIONS_S
        },
    )
    report["scale"] = scale.as_json()
    if given.picture is not None:
        given.picture.write_text(picture(scale.curves[workers]), encoding="utf-8")
    return text_of(scale)


def question(given: argparse.Namespace) -> Question:
    """Return what the command line asks for."""
    asked = Question(keys=given.keys, load=given.load, mtbf_days=given.mtbf_days, seed=given.seed)
    if given.short:
        return attrs.evolve(
            asked, drivers=(1, 10, 1000), skews=(0.0, 1.0), keys=min(20_000, given.keys), events=300
        )
    return asked


def above_zero(kind: Callable[[str], float]) -> Callable[[str], float]:
    """Return a function that reads a number above 0."""

    def read(text: str) -> float:
        value = kind(text)
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"{text}: must be above 0")
        return value

    return read


def part(text: str) -> float:
    """Read a number between 0 and 1."""
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be between 0 and 1")
    return value


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = parser(__doc__)
    made.add_argument("--keys", type=above_zero(int), default=200_000, help="that events have (200000)")
    made.add_argument(
        "--work-us", type=above_zero(float), default=500, help="of Python an event, in a worker (500)"
    )
    made.add_argument("--load", type=part, default=0.7, help="of what drivers can do (0.7)")
    made.add_argument(
        "--mtbf-days", type=above_zero(float), default=30, help="mean time until a host dies (30)"
    )
    made.add_argument("--seed", type=int, default=1, help="of all that is drawn (1)")
    made.add_argument(
        "--picture", metavar="FILE", type=Path, help="draw the curves of the first kind, as SVG"
    )
    return made


def run() -> int:
    """Run the benchmark, and simulate more drivers."""
    given = options().parse_args()
    given.rounds = given.rounds or (1 if given.short else ROUNDS)
    with tempfile.TemporaryDirectory() as made:
        return main(benchmark(given, Path(made)), given, partial(outlook, given))


if __name__ == "__main__":
    sys.exit(run())
