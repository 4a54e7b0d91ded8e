"""The core with executors, stream handlers and calculators: what works, and which errors say what to install.

Each part runs twice: here, in a process that sees no other pack, and with `-m wheels` in an environment that
has no other one.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

#: The packs that graphs need; penstock-calculators requires penstock-formats.
KEPT = ("calculators", "executors", "formats", "stream-handlers")
#: Their packages: penstock-calculators has two.
PACKAGES = {f"penstock_{name.replace('-', '_')}" for name in (*KEPT, "shards")}

#: Hides the other packs from a process: their modules, and their entry points in all groups.
HIDE = f"""
import sys

KEPT = {set(KEPT)!r}
PACKAGES = {PACKAGES!r}


class _Hidden:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root.startswith("penstock_") and root not in PACKAGES:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, _Hidden())
import penstock.entry_points

_all = penstock.entry_points.ordinary_points
penstock.entry_points.ordinary_points = lambda group: [
    point for point in _all(group) if point.distribution.removeprefix("penstock-") in KEPT
]
"""

#: Each program prints what it finds, as JSON.
PROGRAMS = {
    "a graph with a subgraph runs": """
import json, penstock
inner = 'type: "Twice" input_stream: "in" output_stream: "out" node { calculator: "PassThroughCalculator" ' \\
    'input_stream: "in" output_stream: "between" } node { calculator: "PassThroughCalculator" ' \\
    'input_stream: "between" output_stream: "out" }'
outer = 'input_stream: "a" output_stream: "b" ' \\
    'node { calculator: "Twice" input_stream: "a" output_stream: "b" }'
graph = penstock.CalculatorGraph(outer, subgraphs=[penstock.CalculatorGraph(inner).text_config])
seen = []
graph.observe_output_stream("b", lambda _, packet: seen.append(packet.payload))
graph.start_run()
graph.add_packet_to_input_stream("a", penstock.Packet("here", 0))
graph.close(20)
print(json.dumps([len(graph.snapshot().nodes), seen]))
""",
    "an expired wait tells its story": """
import json, penstock
text = 'input_stream: "fed" input_stream: "forgotten" output_stream: "out" node { ' \\
    'calculator: "PassThroughCalculator" input_stream: "fed" input_stream: "forgotten" ' \\
    'output_stream: "out" output_stream: "other" }'
graph = penstock.CalculatorGraph(text)
graph.start_run()
graph.add_packet_to_input_stream("fed", penstock.Packet(1, 0))
try:
    graph.wait_until_done(0.05)
except penstock.WaitTimeoutError as error:
    print(json.dumps(str(error)))
graph.close(20)
""",
    "a notebook shows the text of a graph": """
import json, penstock
graph = penstock.CalculatorGraph('input_stream: "a" node { calculator: "PassThroughCalculator" ' \\
    'input_stream: "a" output_stream: "b" }')
print(json.dumps(graph._repr_mimebundle_()))
""",
    "a template says what to install": """
import json, penstock
try:
    penstock.CalculatorGraph('% param kind : "PassThroughCalculator" %\\ninput_stream: "a" ' \\
        'node { calculator: % kind % input_stream: "a" output_stream: "b" }')
except penstock.PenstockError as error:
    print(json.dumps(str(error)))
""",
    "a graph in JSON says what to install": """
import json, pathlib, penstock, penstock.config
path = pathlib.Path("graph.json")
path.write_text('{"node": []}')
said = []
for graph in (path, {"node": []}):
    try:
        penstock.CalculatorGraph(graph)
    except penstock.PenstockError as error:
        said.append(str(error))
try:
    penstock.config.to_json(penstock.config.CalculatorGraphConfig())
except penstock.PenstockError as error:
    said.append(str(error))
print(json.dumps(said))
""",
    "a graph that asks for a trace says what to install": """
import json, penstock
try:
    penstock.CalculatorGraph('profiler_config { trace_enabled: true } input_stream: "a" node { ' \\
        'calculator: "PassThroughCalculator" input_stream: "a" output_stream: "b" }')
except penstock.PenstockError as error:
    print(json.dumps(str(error)))
""",
}


def check(program, printed):
    """Compare what a program has printed with what it must print."""
    found = json.loads(printed)
    if program == "a graph with a subgraph runs":
        assert found == [2, ["here"]]
    elif program == "an expired wait tells its story":
        assert found.startswith("wait_until_done() ")
        assert "took longer than 0.05 s" in found
        assert found.startswith("wait_until_done() ")
        assert "took longer than 0.05 s" in found
        assert "graph input 'forgotten'" in found
    elif program == "a notebook shows the text of a graph":
        assert found == {"text/plain": "<CalculatorGraph of 1 nodes>"}
    elif program == "a graph in JSON says what to install":
        missing = "no graph reader 'json' is registered"
        assert found == [
            f"{words}; install it: pip install penstock-graphs"
            for words in (
                f"graph.json: this graph is JSON, and {missing}",
                f"this graph is a dict, and {missing}",
                f"penstock.config.to_json: {missing}",
            )
        ]
    else:
        pack = "graphs" if "emplate" in program else "views"
        assert found.endswith(f"install it: pip install penstock-{pack}"), found


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_process_that_sees_no_other_pack(program, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HIDE + PROGRAMS[program]],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    check(program, done.stdout)


@pytest.fixture(scope="module")
def minimal(built, environment_of):
    """Return the programs of an environment with the core and the packs that graphs need."""
    names = ["core", *KEPT]
    wheels = [next(built.glob(f"penstock_{name.replace('-', '_')}-*.whl")) for name in names]
    return environment_of("minimal", *wheels)


@pytest.mark.wheels
@pytest.mark.timeout(600)
@pytest.mark.parametrize("program", PROGRAMS)
def test_an_environment_without_other_packs(program, call, minimal, tmp_path):
    check(program, call(minimal / "python", "-W", "error", "-c", PROGRAMS[program], cwd=tmp_path))


# --- pytest beside the core -----------------------------------------------------------------------


@pytest.mark.wheels
@pytest.mark.timeout(600)
def test_pytest_beside_the_core_alone_prints_no_line_of_penstock(built, call, environment_of, tmp_path):
    (core,) = built.glob("penstock_core-*.whl")
    programs = environment_of("beside", core, "pytest>=8")
    (tmp_path / "test_nothing.py").write_text(
        "import sys\n\n\ndef test_nothing():\n    assert 'penstock' not in sys.modules\n", encoding="utf-8"
    )

    printed = call(programs / "python", "-m", "pytest", "-p", "no:cacheprovider", cwd=tmp_path)

    assert "1 passed" in printed
    assert "penstock" not in printed.replace(str(tmp_path), "")
