"""Without the libraries of the extra `live`, the error says which is missing and what to install."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest
from click.testing import CliRunner

import penstock_live
from penstock.errors import UnavailableError
from penstock_cli.main import penstock_command
from penstock_live import needs

WORDS = (
    'the page of a running graph needs uvicorn, which is not installed; pip install "penstock-monitor[live]"'
)


@pytest.fixture
def no_uvicorn(monkeypatch):
    monkeypatch.setattr(needs, "find_spec", lambda name: None if name == "uvicorn" else find_spec(name))
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for name in ("penstock_live.server", "penstock_live.web"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delitem(vars(penstock_live), "serve", raising=False)
    monkeypatch.delitem(vars(penstock_live), "server", raising=False)


@pytest.mark.usefixtures("no_uvicorn")
def test_a_program_is_told():
    with pytest.raises(UnavailableError) as caught:
        penstock_live.serve  # noqa: B018  # the name is imported when it is asked for

    assert str(caught.value) == WORDS


@pytest.mark.usefixtures("no_uvicorn")
def test_the_command_is_told_before_the_run(tmp_path):
    graph = tmp_path / "graph.pbtxt"
    graph.write_text('node { calculator: "CountingSourceCalculator" output_stream: "out" }', encoding="utf-8")
    done = CliRunner().invoke(penstock_command, ["run", str(graph), "--serve"])

    assert done.exit_code == 1
    assert "needs uvicorn, which is not installed; " in done.output


def test_nothing_is_missing_here():
    needs.check_needs()
