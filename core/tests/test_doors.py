"""The names of `penstock` that lead into packs, where the pack is installed and where it is not."""

from __future__ import annotations

import concurrent.futures
import importlib
import re
import subprocess
import sys

import pytest

import penstock.tracing
from penstock import doors
from penstock.entry_points import ordinary_points
from penstock.registry import official_packs
from penstock.runtime.graph import _steering as steering_of
from penstock_testing import testing_registry

#: The doors that are modules of `penstock`; the others lend it, and its modules, single names.
MODULES = sorted(
    set(official_packs()["door"])
    - {"executors", "functions", "json_graphs", "steering", "templates", "tracing"}
)


def test_a_door_has_the_names_of_the_module_behind_it() -> None:
    program = (
        "import penstock.testing, penstock_testing; from penstock.testing import run_calculator; "
        "assert run_calculator is penstock_testing.run_calculator; "
        "assert 'penstock.testing.run' not in __import__('sys').modules"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_every_name_of_the_module_comes_with_a_star_import() -> None:
    program = (
        "from penstock.testing import *; import penstock_testing; "
        "assert set(penstock_testing.__all__) <= set(globals())"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_a_door_has_no_name_that_its_module_lacks() -> None:
    door = importlib.import_module("penstock.testing")

    with pytest.raises(AttributeError, match="'penstock_testing' has no attribute 'nobody'"):
        door.nobody  # noqa: B018  # it is looked up
    with pytest.raises(ImportError):
        importlib.import_module("penstock.testing.run")


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_a_pack_that_is_not_installed_says_what_to_install(name, without, monkeypatch) -> None:
    pack = official_packs()["door"][name]
    without(pack)
    monkeypatch.delitem(sys.modules, f"penstock.{name}", raising=False)

    with pytest.raises(
        ModuleNotFoundError,
        match=re.escape(f"penstock.{name} is in a pack that is not installed; install it: pip install {pack}")
        + "$",
    ) as caught:
        importlib.import_module(f"penstock.{name}")

    assert caught.value.name == f"penstock.{name}"


def test_a_name_of_a_pack_that_is_not_installed_says_what_to_install(without, monkeypatch) -> None:
    without("penstock-functions")
    monkeypatch.delitem(vars(penstock), "calculator", raising=False)

    with pytest.raises(
        ModuleNotFoundError,
        match=r"^penstock\.calculator is in a pack that is not installed; "
        r"install it: pip install penstock-functions$",
    ):
        penstock.calculator  # noqa: B018  # it is looked up


def test_a_tracer_of_a_pack_that_is_not_installed_says_what_to_install(without, monkeypatch) -> None:
    without("penstock-views")
    monkeypatch.delitem(vars(penstock.tracing), "ChromeTracer", raising=False)

    with pytest.raises(
        ModuleNotFoundError,
        match=r"^penstock\.tracing\.ChromeTracer is in a pack that is not installed; "
        r"install it: pip install penstock-views$",
    ):
        penstock.tracing.ChromeTracer  # noqa: B018  # it is looked up


def test_doors_are_found_by_pythons_own_reader_too(tmp_path, monkeypatch) -> None:
    (tmp_path / "packed.zip").write_bytes(b"")  # which a path with zip files is left to
    monkeypatch.syspath_prepend(tmp_path / "packed.zip")
    assert ordinary_points(doors.GROUP) is None

    assert doors.behind("testing") is importlib.import_module("penstock_testing")


def test_a_pool_needs_the_pack_that_runs_nodes_on_pools(without) -> None:
    without("penstock-executors")
    graph = penstock.CalculatorGraph("", registry=testing_registry())

    with (
        concurrent.futures.ThreadPoolExecutor(1) as pool,
        pytest.raises(
            ModuleNotFoundError,
            match=r"^the executor for a ThreadPoolExecutor is in a pack that is not installed; "
            r"install it: pip install penstock-executors$",
        ),
    ):
        graph.set_executor("", pool)


@pytest.mark.parametrize(
    ("method", "arguments"), [("set_options", ("n", {})), ("swap", ("n",)), ("reset", ())]
)
def test_a_graph_that_is_to_change_needs_the_pack_for_that(method, arguments, without) -> None:
    without("penstock-steering")
    steering_of.cache_clear()
    graph = penstock.CalculatorGraph("", registry=testing_registry())

    with pytest.raises(
        ModuleNotFoundError,
        match=rf"^graph\.{method}\(\) is in a pack that is not installed; install it: "
        r"pip install penstock-steering$",
    ):
        getattr(graph, method)(*arguments)
