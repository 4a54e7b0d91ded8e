"""Claim: importing Penstock and running a first small graph takes less time than `import numpy`.

Each figure is of new interpreters, started as `python -c`, after one that is not counted (files are then in
the system's cache, and Penstock has kept what the plugins bring): milliseconds inside, from before the first
import, and for the whole process. Then the same where Python finds no bytecode, of the standard library
neither, and writes none. Then with 100 more plugins installed, of ten calculators each: the time to find and
load them, compared with only reading the entry points, and with pluggy, which loads one after the other and
keeps no record.

    python benchmarks/start.py [--plugins 100] [--rounds 5] [--reference PYTHON] [--short] [--json FILE]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import dedent
from time import perf_counter
from typing import TYPE_CHECKING

from expected import expect
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

FIGURE = "ms"
#: New interpreters in one measurement, of which the median is taken.
STARTS = 3
NUMPY, GRAPH = "import numpy", "import penstock, first small graph"
READ = "importlib.metadata, entry points read"

#: Three nodes, ten packets.
_GRAPH_TEXT = "input_stream: 's0' " + " ".join(
    f"node {{ calculator: 'PassThroughCalculator' input_stream: 's{i}' output_stream: 's{i + 1}' }}"
    for i in range(3)
)
_FIRST_GRAPH = f"""
import penstock
graph = penstock.CalculatorGraph({_GRAPH_TEXT!r})
seen = []
graph.observe_output_stream("s3", lambda name, packet: seen.append(packet.payload))
graph.start_run()
for number in range(10):
    graph.add_packet_to_input_stream("s0", penstock.Packet(number, number))
graph.close()
result = seen
"""
_REFERENCE_GRAPH = f"""
import os
os.environ["GLOG_minloglevel"] = "3"
from mediapipe.python import packet_creator, packet_getter
from mediapipe.python._framework_bindings import calculator_graph
graph = calculator_graph.CalculatorGraph(graph_config={_GRAPH_TEXT!r})
seen = []
graph.observe_output_stream("s3", lambda name, packet: seen.append(packet_getter.get_int(packet)))
graph.start_run()
for number in range(10):
    graph.add_packet_to_input_stream("s0", packet_creator.create_int(number).at(number))
graph.close_all_packet_sources()
graph.wait_until_done()
result = seen
"""
_TEN = list(range(10))
#: Contestant → the code that a new interpreter executes, and the expected `result` (None: not checked).
BODIES: dict[str, tuple[str, object]] = {
    "python alone": ("", None),
    NUMPY: ("import numpy", None),
    "import penstock": ("import penstock", None),
    GRAPH: (_FIRST_GRAPH, _TEN),
    "reference, first small graph": (_REFERENCE_GRAPH, _TEN),
    READ: (
        """
        from importlib.metadata import entry_points
        result = sum(point.name.startswith("bench_") for point in entry_points(group="penstock"))
        """,
        "plugins",
    ),
    "pluggy, all loaded": (
        """
        import pluggy
        from penstock.plugins import hookspecs
        manager = pluggy.PluginManager("penstock")
        manager.add_hookspecs(hookspecs)
        manager.load_setuptools_entrypoints("penstock")
        manager.hook.penstock_components()
        result = sum(name.startswith("bench_") for name, _ in manager.list_name_plugin())
        """,
        "plugins",
    ),
    "penstock, all loaded, with records": (
        """
        from penstock.plugins.discovery import PluginHost
        records = PluginHost().records
        result = sum(each.name.startswith("bench_") and each.state == "loaded" for each in records)
        """,
        "plugins",
    ),
}
_MODULE = """\
from penstock import Components, hookimpl

@hookimpl
def penstock_components():
    names = [f"Bench{number}Calculator{{i}}" for i in range(10)]
    return Components(calculators={{name: f"bench_{number}.code:{{name}}" for name in names}})
"""


def interpreter(name: str, plugins: int, folder: str, no_bytecode: str = "") -> dict[str, float]:
    """Start new interpreters that execute a contestant's code; return the medians of their times.

    Args:
        name: of the contestant.
        plugins: how many are in the folder.
        folder: what is put on the path.
        no_bytecode: an empty folder, where Python is to look for bytecode; "" for bytecode as ever.
    """
    body, result = BODIES[name]
    code = "\n".join(
        [
            "from time import perf_counter",
            "start, result = perf_counter(), None",
            dedent(body),
            "print((perf_counter() - start) * 1e3, result, sep='\\n')",
        ]
    )
    wanted = str(plugins if result == "plugins" else result)
    environment = {**os.environ, "PYTHONPATH": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if no_bytecode:
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": no_bytecode}
    inside, whole = [], []
    for _ in range(1 + STARTS):
        start = perf_counter()
        done = subprocess.run(  # noqa: S603  # our own text
            [sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        whole.append((perf_counter() - start) * 1e3)
        took, got = done.stdout.splitlines()[-2:]
        expect(got, wanted, "result")
        inside.append(float(took))
    return {FIGURE: statistics.median(inside[1:]), "whole process ms": statistics.median(whole[1:])}


def install(folder: Path, plugins: int) -> None:
    """Write distributions as pip installs them: a module, its metadata, its entry point."""
    for number in range(plugins):
        (folder / f"bench_{number}.py").write_text(_MODULE.format(number=number), encoding="utf-8")
        info = folder / f"bench_{number}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: bench-{number}\nVersion: 1.0\n", encoding="utf-8"
        )
        (info / "entry_points.txt").write_text(
            f"[penstock]\nbench_{number} = bench_{number}\n", encoding="utf-8"
        )


def benchmark(given: argparse.Namespace, folder: Path) -> Benchmark:
    """Return the benchmark; its plugins are written into `folder`."""
    plugins = given.plugins or (10 if given.short else 100)
    installed, empty = folder / "installed", folder / "empty"
    installed.mkdir()
    empty.mkdir()
    install(installed, plugins)
    alone, without = "as installed", "without bytecode"
    more = f"{plugins} more plugins"
    reference = "reference, first small graph"

    def ratio(case: str) -> Callable[[Measurements], float | None]:
        return lambda measured: measured.ratio(case, GRAPH, NUMPY, FIGURE)

    return Benchmark(
        claim="Penstock is imported, and has run a first small graph, before `import numpy` is done.",
        figure=FIGURE,
        base=NUMPY,
        otherwise=READ,
        cases=[
            Case(
                alone,
                {"plugins": 0, "folder": ""},
                ("python alone", NUMPY, "import penstock", GRAPH, reference),
            ),
            Case(
                without,
                {"plugins": 0, "folder": "", "no_bytecode": str(empty)},
                ("python alone", NUMPY, "import penstock", GRAPH),
            ),
            Case(
                more,
                {"plugins": plugins, "folder": str(installed)},
                tuple(name for name in BODIES if name not in ("python alone", NUMPY, reference)),
            ),
        ],
        contestants=[
            Contestant(
                name,
                "start:interpreter",
                {"name": name},
                python=given.reference,
                optional=True,
                option="--reference PYTHON",
            )
            if name == reference
            else Contestant(name, "start:interpreter", {"name": name})
            for name in BODIES
        ],
        bars=[
            Bar(f"{GRAPH}, x {NUMPY}", "at most", 0.7, ratio(alone)),
            Bar(f"{without}: {GRAPH}, x {NUMPY}", "at most", 1.0, ratio(without)),
        ],
    )


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--plugins", type=int, help="default 100; 10 with --short")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as made:
        sys.exit(main(benchmark(asked, Path(made)), asked))
