"""The pytest plugin of Penstock: fixtures, two options, and one line in pytest's header.

It does not change how tests run. In a source tree of Penstock it refuses to run them where compiled modules
are older than their source.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.errors import InvalidArgumentError
from penstock.packs import engine_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock import Registry
    from penstock_testing.clock import ManualClock
    from penstock_testing.run import CalculatorRun
    from penstock_testing.schedules import Carried
    from penstock_testing.temporary import TemporaryPlugins


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that say under which orders graphs are tested."""
    group = parser.getgroup("penstock", "orders of the steps of graphs")
    group.addoption(
        "--penstock-orders",
        type=int,
        metavar="N",
        help="how many orders `schedules`, `explore_graph` and `explore`, and how many feeds "
        "`check_calculator` try where a test does not say (24); a failing one prints the command that takes "
        "it again",
    )
    group.addoption(
        "--penstock-order",
        metavar="ORDER",
        help="try one order only, as a failing test has printed it: a seed, or the places "
        "and choices of its switches",
    )


def pytest_report_header() -> str:
    """Say which Penstock is tested, and whether its engine is compiled."""
    return f"penstock {penstock.__version__}, engine: {engine_form()}"


def pytest_configure(config: pytest.Config) -> None:
    """Take the options; refuse to test compiled modules whose source has changed since.

    Raises:
        UsageError: there are such modules; names them. Or an option has no meaning.
    """
    _take_options(config)
    package = Path(penstock.__file__).parent
    check = (
        package.parents[1] / "build_record.py"
    )  # in a source tree; an installed package comes from one build
    if not check.is_file():
        return
    stale_modules = runpy.run_path(str(check))["stale_modules"]
    stale = [str(path.relative_to(package.parent)) for path in stale_modules(package)]
    if stale:
        raise pytest.UsageError(
            f"{package.parent}: pytest would test compiled modules that are not what their source says now: "
            f"{', '.join(stale)}; delete them, or compile again"
        )


def _take_options(config: pytest.Config) -> None:
    count, order = config.getoption("--penstock-orders"), config.getoption("--penstock-order")
    if count is None and order is None:
        return
    from penstock_testing.switches import WANTED, from_text  # only when it is used

    if count is not None and count < 1:
        raise pytest.UsageError(f"--penstock-orders {count}: give 1 or more")
    try:
        WANTED.only = None if order is None else from_text(order)
    except InvalidArgumentError as error:
        raise pytest.UsageError(f"--penstock-order: {error}") from None
    WANTED.count = count or WANTED.usual


def pytest_unconfigure() -> None:
    """Forget the options: pytest may be called again in this process."""
    from penstock_testing.switches import WANTED

    WANTED.only, WANTED.count = None, WANTED.usual


@pytest.fixture
def penstock_registry() -> Registry:
    """Give a test a registry of its own, with no plugin: one input stream handler, the inline executor."""
    from penstock_testing.registry import testing_registry  # only when it is used

    return testing_registry()


@pytest.fixture
def penstock_plugins(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TemporaryPlugins]:
    """Give a test a function that installs plugins until the test is over; see `TemporaryPlugins`.

    `penstock_plugins("gates", Components(calculators={"Gate": Gate}))` returns the plugin's record.
    """
    from penstock_testing.temporary import TemporaryPlugins  # only when it is used

    with TemporaryPlugins(tmp_path_factory.mktemp("penstock_plugins"), monkeypatch) as plugins:
        yield plugins


@pytest.fixture
def run_calculator() -> Callable[..., CalculatorRun]:
    """Give a test `penstock_testing.run_calculator`."""
    from penstock_testing.run import run_calculator  # only when it is used

    return run_calculator


@pytest.fixture
def schedules() -> Callable[..., dict[str, Carried]]:
    """Give a test `penstock_testing.explore_graph`: a graph under many orders, which must not matter."""
    from penstock_testing.exploring import explore_graph  # only when it is used

    return explore_graph


@pytest.fixture
def manual_clock() -> ManualClock:
    """Give a test a clock that shows 0 s until the test moves it."""
    from penstock_testing.clock import ManualClock  # only when it is used

    return ManualClock()
