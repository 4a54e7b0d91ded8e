"""For tests of calculators, packs and graphs: run one, feed it at random, check a pack, explore schedules.

`penstock-core[testing]` brings it, with pytest and Hypothesis. Importing this module registers nothing:
`testing_registry()` returns a registry that needs no plugin.
"""

from penstock_testing.calculator_check import CalculatorConformance, ConformanceError, check_calculator
from penstock_testing.calculators import calculator
from penstock_testing.clock import ManualClock
from penstock_testing.executors import check_executor
from penstock_testing.exploring import explore, explore_graph
from penstock_testing.inline import InlineExecutor
from penstock_testing.one_set import OneSetInputStreamHandler
from penstock_testing.packs import PackFault, PackReport, check_pack
from penstock_testing.registry import testing_registry
from penstock_testing.run import CalculatorRun, run_calculator
from penstock_testing.schedules import ScheduleHarness
from penstock_testing.wired_nodes import node, wired

__all__ = [
    "CalculatorConformance",
    "CalculatorRun",
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
