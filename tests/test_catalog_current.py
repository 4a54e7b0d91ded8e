from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from penstock.packs import official_packs
from penstock.plugins.default_registry import default_plugin_host

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "catalog.py"

PLUGIN = """
from penstock import Components, hookimpl

@hookimpl
def penstock_components():
    return Components(
        {kind}={{"Gate": "no_such_module:Gate"}},
        options={{"penstock.GateOptions": ("penstock.CalculatorOptions", 7, "no_such_module:GateOptions")}},
    )
"""


def catalog(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_the_catalog_of_official_packs_is_current() -> None:
    ended = catalog("--check")

    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_catalog_has_what_the_packs_add_to_the_command_line() -> None:
    """The lists in their pyproject.toml are what their hooks add."""
    distributions = {record.name: record.distribution for record in default_plugin_host().records}
    commands: dict[str, str] = {}
    for hook in default_plugin_host().implementations("penstock_cli"):
        group = click.Group()
        hook.call(group)
        commands.update(dict.fromkeys(group.commands, distributions[hook.plugin]))

    others = {"penstock-cli", "penstock-room-sensors"}
    assert {name for name, pack in commands.items() if pack == "penstock-cli"} == {"format", "lint"}
    assert {name: pack for name, pack in commands.items() if pack not in others} == (
        official_packs()["subcommand"]
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with two packs and a core without code; the installed core is used instead."""
    (tmp_path / "core" / "src" / "penstock" / "plugins").mkdir(parents=True)
    for folder, name, kind in (
        ("plugins", "try-gates", "calculators"),
        ("contrib", "try-other", "executors"),
    ):
        module = "penstock_" + name.replace("-", "_")
        sources = tmp_path / folder / name / "src" / module
        sources.mkdir(parents=True)
        (sources / "__init__.py").touch()
        (sources / "plugin.py").write_text(PLUGIN.format(kind=kind))
        (tmp_path / folder / name / "pyproject.toml").write_text(
            f'[project]\nname = "penstock-{name}"\n'
            f'[project.entry-points.penstock]\n{name} = "{module}.plugin"\n'
        )
    return tmp_path


def test_a_stale_catalog_is_shown_and_left_and_then_written(workspace: Path) -> None:
    file = workspace / "core" / "src" / "penstock" / "plugins" / "catalog.json"
    file.write_text("{}\n")

    stale = catalog("--root", str(workspace), "--check")
    assert (stale.returncode, stale.stderr) == (1, "")
    assert '+    "Gate": "penstock-try-gates"' in stale.stdout
    assert stale.stdout.endswith("catalog.json is stale; run: python scripts/catalog.py\n")
    assert file.read_text() == "{}\n"

    written = catalog("--root", str(workspace))
    assert (written.returncode, written.stdout, written.stderr) == (0, "", "")
    assert json.loads(file.read_text()) == {
        "calculator": {"Gate": "penstock-try-gates"},
        "option": {"penstock.GateOptions": "penstock-try-gates"},
    }
    assert catalog("--root", str(workspace), "--check").returncode == 0


def test_two_official_packs_that_claim_one_name_are_refused(workspace: Path) -> None:
    (workspace / "contrib").rename(workspace / "subgraphs")
    plugin = workspace / "subgraphs" / "try-other" / "src" / "penstock_try_other" / "plugin.py"
    plugin.write_text(PLUGIN.format(kind="calculators"))

    ended = catalog("--root", str(workspace))

    assert ended.returncode == 1
    assert (
        ended.stderr.strip()
        == "calculator 'Gate' is in penstock-try-gates and in penstock-try-other; rename one"
    )
