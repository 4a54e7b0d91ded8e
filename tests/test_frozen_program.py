"""A small program is frozen by PyInstaller, without an option, and runs where there is no Python."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("PyInstaller", reason="PyInstaller is not installed: pip install pyinstaller")

pytestmark = pytest.mark.heavy

#: The pack of a stranger: a calculator that is named in a string, and a subgraph as a file.
PLUGIN = """
from penstock import Components, hookimpl

@hookimpl
def penstock_components():
    return Components(
        calculators={"Doubled": "strange_pack.doubled:Doubled"},
        subgraphs={"TwiceDoubled": "strange_pack:twice.pbtxt"},
    )
"""
DOUBLED = """
import penstock

@penstock.calculator
def doubled(number: int) -> int:
    return 2 * number

Doubled = doubled.calculator
"""
TWICE = """
input_stream: "in"
output_stream: "out"
node { calculator: "Doubled" input_stream: "NUMBER:in" output_stream: "OUT:between" }
node { calculator: "Doubled" input_stream: "NUMBER:between" output_stream: "OUT:out" }
"""
PROGRAM = '''
import os
import subprocess
import sys

import penstock
from penstock.packs import child_command, official_packs, default_plugin_host

GRAPH = """
input_stream: "in"
output_stream: "out"
executor { name: "apart" type: "ProcessExecutor" }
node { calculator: "TwiceDoubled" input_stream: "in" output_stream: "four" }
node { calculator: "Doubled" executor: "apart" input_stream: "NUMBER:four" output_stream: "OUT:out" }
"""
if __name__ == "__main__":
    packets = penstock.run(GRAPH, {"in": [(time, time) for time in range(3)]})["out"]
    print([packet.payload for packet in packets])
    print(sorted(record.name for record in default_plugin_host().records if record.state == "loaded"))
    print([record.reason for record in default_plugin_host().records if record.state == "failed"])
    print(official_packs()["calculator"]["GateCalculator"])
    command = child_command("strange_pack.child", "one")
    child = subprocess.run(command, capture_output=True, text=True, timeout=60)
    print(child.returncode, child.stdout.strip(), child.stderr, sep="|")
'''
CHILD = """
import os
import sys

def main():
    print("a child", sys.argv[1:])
"""
#: The packs of this environment that come along; the test would take minutes with all.
PLUGINS = "strange,executors,stream-handlers,processes,formats"


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program, in a folder of its own."""
    folder = tmp_path_factory.mktemp("frozen")
    package, info = folder / "site" / "strange_pack", folder / "site" / "strange_pack-2.0.dist-info"
    for place in (package, info):
        place.mkdir(parents=True)
    sources = {"__init__": "", "plugin": PLUGIN, "doubled": DOUBLED, "child": CHILD}
    for name, source in sources.items():
        (package / f"{name}.py").write_text(source)
    (package / "twice.pbtxt").write_text(TWICE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange-pack\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[penstock]\nstrange = strange_pack.plugin\n")
    (folder / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "PyInstaller", "--log-level", "WARN", "program.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "site"), "PENSTOCK_PLUGINS": PLUGINS},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder / "dist" / "program" / "program"


def test_a_frozen_program_has_its_packs_graphs_workers_and_children(frozen, tmp_path) -> None:
    done = subprocess.run(
        [frozen], cwd=tmp_path, env={}, capture_output=True, text=True, check=False, timeout=120
    )

    assert (done.returncode, done.stderr) == (0, "")
    packets, plugins, failed, pack, child = done.stdout.splitlines()
    assert packets == "[0, 8, 16]"
    assert set(PLUGINS.split(",")) <= set(eval(plugins))  # noqa: S307  # a list that the program has printed
    assert failed == "[]"
    assert pack == "penstock-calculators"
    assert child == "0|a child ['one']|"
