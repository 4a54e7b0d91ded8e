"""scripts/graph_coverage.py counts the nodes of graph files whose calculator is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import CompletedProcess

SCRIPT = Path(__file__).resolve().parent.parent / "scripts/graph_coverage.py"


def count(folder: Path) -> CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_known_and_missing_names_are_counted(tmp_path):
    (tmp_path / "deeper").mkdir()
    (tmp_path / "one.pbtxt").write_text(
        'node { calculator: "PassThroughCalculator" }  # calculator: "CommentedCalculator"\n'
        'node { calculator: "NobodysCalculator" }\nnode { calculator: "NobodysSubgraph" }\n'
    )
    (tmp_path / "deeper" / "two.pbtxt").write_text(
        'node { calculator: "SwitchContainer" '
        'node_options { [x] { contained_node: { calculator: "GateCalculator" } } } }\n'
    )
    (tmp_path / "data.pbtxt").write_text("label: 1\n")

    told = count(tmp_path).stdout.splitlines()

    assert told[:3] == [
        "2 graph files, 5 node entries",
        "calculators: 2 of 3 entries (66.7%), 2 of 3 names",
        "subgraphs: 1 of 2 entries (50.0%), 1 of 2 names",
    ]
    assert sorted(line.split() for line in told[3:]) == [["1", "NobodysCalculator"], ["1", "NobodysSubgraph"]]


def test_a_folder_without_graphs_is_told(tmp_path):
    result = count(tmp_path)

    assert result.returncode == 1
    assert "no .pbtxt file" in result.stderr
