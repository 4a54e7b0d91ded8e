"""For tests of calculators, packs and graphs: run one, feed it at random, check a pack, explore schedules.

`penstock-core[testing]` brings it, with pytest and Hypothesis. Importing this module registers nothing:
`testing_registry()` returns a registry that needs no plugin.
"""

from penstock_testing.clock import ManualClock
from penstock_testing.conformance import Conformance, ConformanceError, check_calculator
from penstock_testing.inline import InlineExecutor
from penstock_testing.orders import explore_graph
from penstock_testing.packs import PackFault, PackReport, check_pack
from penstock_testing.random_graphs import check_executor
from penstock_testing.registry import OneSetInputStreamHandler, testing_registry
from penstock_testing.run import CalculatorRun, run_calculator
from penstock_testing.schedules import ScheduleHarness, explore
from penstock_testing.wiring import calculator, node, wired

__all__ = [
    "CalculatorRun",
    "Conformance",
    "ConformanceError",
    "InlineExecutor",
    "ManualClock",
    "OneSetInputStreamHandler",
    "PackFault",
    "PackReport",
    "ScheduleHarness",
    "calculator",
    "check_calculator",
    "check_executor",
    "check_pack",
    "explore",
    "explore_graph",
    "node",
    "run_calculator",
    "testing_registry",
    "wired",
]
