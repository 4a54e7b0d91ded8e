"""Random graphs and the project's own graphs, formatted: a short form of `format_graphs.py`."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.packs import default_registry

ROOT = Path(__file__).parent.parent
TRIALS = ROOT / "scripts" / "trials"
HOOKS = ROOT / ".pre-commit-hooks.yaml"


@pytest.fixture
def trial(monkeypatch):
    """Return the module of the script, which is imported as when it runs."""
    monkeypatch.syspath_prepend(str(TRIALS))
    yield importlib.import_module("format_graphs")
    for name in ("format_graphs", "graph_mutations", "random_layouts"):
        sys.modules.pop(name, None)


def test_random_graphs_are_the_same_message_and_stay_as_they_are(trial):
    registry = default_registry()
    texts = [trial.random_graph(11, number) for number in range(60)]

    verdicts = {trial.verdict(text, registry) for text in texts}

    assert verdicts <= {"changed", "as before"}
    assert "changed" in verdicts
    assert all(trial.is_same_message(text, registry) for text in texts)


def test_every_graph_file_of_the_project_keeps_its_message(trial):
    registry = default_registry()
    files = [path for name in trial.FOLDERS for path in (ROOT / name).rglob("*.pbtxt")]
    verdicts = {path.name: trial.verdict(path.read_text(encoding="utf-8"), registry) for path in files}

    assert len(verdicts) > 100
    assert set(verdicts.values()) == {"changed", "as before"}


def test_the_script_reports_what_the_layout_breaks(tmp_path):
    (tmp_path / "graph.pbtxt").write_text("node{}", encoding="utf-8")
    program = (
        f"import sys; sys.path.insert(0, {str(TRIALS)!r})\n"
        "import format_graphs; from penstock_format import layout\n"
        "original = layout.laid_out\n"
        "layout.laid_out = lambda document: original(document) + original(document)\n"
        f"sys.argv[1:] = [{str(tmp_path)!r}]\n"
        "format_graphs.main()"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.returncode == 1, done.stderr
    assert "graph.pbtxt: finding: <text>: the layout would change what the graph says" in done.stdout
    assert done.stdout.endswith("1 finding\n")


def test_the_hooks_of_pre_commit_call_commands_that_there_are(tmp_path):
    text = HOOKS.read_text(encoding="utf-8")
    entries = [line.partition("entry: ")[2] for line in text.splitlines() if "entry: " in line]
    graph = tmp_path / "graph.pbtxt"
    graph.write_text("node{}", encoding="utf-8")

    assert entries == ["penstock format", "penstock lint"]
    command = [sys.executable, "-m", "penstock_cli", *entries[0].split()[1:], str(graph)]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    assert graph.read_text(encoding="utf-8") == "node {}\n"
