"""Plain `pytest` leaves out what takes much of a small machine; whatever else is asked for does not."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[1]
USUAL = "not wheels and not slow and not timing"


@pytest.fixture(name="module")
def root_conftest():
    spec = importlib.util.spec_from_file_location("root_conftest", ROOT / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def asked(module):
    """Return a function: what the root's conftest makes of the arguments of a command."""

    def asked(*arguments, has_xdist=True, markexpr=USUAL, processes=None):
        option = SimpleNamespace(
            markexpr=markexpr, numprocesses=processes, maxprocesses=None, dist="no", maxworkerrestart=None
        )
        config = SimpleNamespace(
            option=option,
            pluginmanager=SimpleNamespace(hasplugin=lambda name: has_xdist and name == "xdist"),
            invocation_params=SimpleNamespace(args=arguments),
        )
        module.pytest_cmdline_main(config)
        return option, module.pytest_report_header(config)

    return asked


@pytest.mark.parametrize("arguments", [(), ("-q",), ("-x", "-v")])
@pytest.mark.parametrize("has_xdist", [True, False])
def test_plain_pytest_leaves_out_heavy_tests_and_says_so(asked, arguments, has_xdist):
    option, header = asked(*arguments, has_xdist=has_xdist)
    assert option.markexpr == f"not heavy and {USUAL}"
    assert "pytest -m heavy" in header
    assert option.numprocesses == (min(os.cpu_count() + 1, 4) if has_xdist else None)


@pytest.mark.parametrize(
    ("arguments", "markexpr", "processes"),
    [(("-n", "2"), USUAL, 2), (("tests",), USUAL, None), (("-m", "heavy"), "heavy", None)],
)
def test_what_is_asked_for_is_run(asked, arguments, markexpr, processes):
    option, header = asked(*arguments, markexpr=markexpr, processes=processes)
    assert (option.markexpr, option.numprocesses, header) == (markexpr, processes, None)


@pytest.mark.parametrize("has_reruns", [True, False])
def test_only_functions_get_a_second_try(module, request, has_reruns):
    """A code block of a page cannot run twice."""
    config = SimpleNamespace(
        pluginmanager=SimpleNamespace(hasplugin=lambda name: has_reruns and name == "rerunfailures")
    )
    marked = []
    block = SimpleNamespace(add_marker=marked.append)

    module.pytest_collection_modifyitems(config, [request.node, block])

    assert request.node.get_closest_marker("flaky") is None
    assert [mark.kwargs for mark in marked] == [{"reruns": 0}] * has_reruns
