"""All scenarios and easily mistaken behaviours: the test of each, or the reason why there is none.

A scenario's tests begin with `test_s` and its number, a behaviour's with `test_quirk` and its number. The
tests below see to it that the lists and the tests of this directory say the same.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

SUBGRAPHS = "subgraphs: shown by core/tests/config/test_expand.py and subgraphs/flow"
TEMPLATES = "numbers in templates of graphs: shown by core/tests/config/test_template_expression.py"
STATUS_HANDLERS = "status handlers are refused, decision 21"
PROFILER = "the profile of a graph: shown by plugins/calculators/tests/calculators/test_graph_profile.py"

#: Scenario → what it shows.
SCENARIOS = {
    1: "arithmetic of timestamps",
    2: "units and words of timestamps",
    3: "packets: time, equality, types",
    5: "the grammar of ports",
    6: "the order of ports",
    7: "input sets wait until they are settled",
    8: "a bound at t does not settle t",
    9: "bounds of a valve, and a negative offset",
    10: "an offset alone",
    11: "bounds do not call process",
    12: "bounds call process where the contract asks for it",
    13: "an empty packet is a bound",
    14: "bounds of graph inputs",
    15: "a stream that seldom has something",
    16: "a bound at the present time",
    17: "PostStream with process bounds",
    18: "bounds that offsets promise",
    19: "offsets below an explicit bound",
    20: "a timestamp written twice",
    21: "PreStream and PostStream stand alone",
    22: "timestamps and bounds that are none",
    23: "writing after close",
    24: "offset and header belong in open",
    25: "types at run time and in contracts",
    26: "batches",
    27: "bounds of batches",
    28: "immediate without bounds",
    29: "immediate with bounds",
    30: "immediate: who goes first",
    31: "immediate and one output",
    32: "sync sets",
    33: "a cycle with early close",
    34: "barrier",
    35: "a dot product under a graph-wide barrier",
    36: "fixed size: the defaults",
    37: "fixed size: surplus of any and of all",
    38: "mux",
    39: "align",
    40: "second runs under each policy",
    41: "source layers",
    42: "layers and throttling",
    43: "layers upside down",
    44: "a packet in open and queues of one",
    45: "a join with what seldom comes",
    46: "a reported deadlock",
    47: "a reported deadlock, later",
    48: "limits that grow",
    49: "refused adds",
    50: "a full poller",
    51: "STOP from a sink",
    52: "input timestamps of all methods",
    53: "closing all sources",
    54: "cancel",
    55: "errors in open",
    56: "side packets from nodes",
    57: "constant side packets",
    60: "the structure of graphs",
}

SCENARIOS_LEFT_OUT = {
    4: "Consume does not exist in Python: payloads are shared",
    58: "packet generators are refused, decision 21",
    59: STATUS_HANDLERS,
    "60, subgraphs": SUBGRAPHS,
    "simulated clock": "a tool of the reference for its tests; ours is the explorer in penstock_testing",
    "SwitchMux": "SwitchMuxCalculator: shown by plugins/calculators/tests/calculators/test_switch_mux.py",
}

#: Behaviour → the test that shows it: None for `test_quirk` with its number, else a scenario.
QUIRKS = {
    1: 20, 2: None, 3: None, 4: None, 5: 13, 6: None, 7: None, 8: None, 9: None, 10: 18, 11: None, 12:
    None, 13: None, 14: None, 15: None, 16: None, 17: None, 18: None, 19: None, 20: None, 21: None, 22:
    None, 23: None, 24: None, 25: None, 26: None, 27: 48, 28: None, 29: None, 30: None, 31: None, 32:
    None, 33: None, 34: None, 35: None, 36: 57, 37: None, 38: 54, 39: None, 40: None, 41: 6, 47: None,
    48: None, 49: None, 50: None, 52: None, 58: None, 59: 3, 60: 3, 62: None, 63: None, 64: None,
}  # fmt: skip

QUIRKS_LEFT_OUT = {
    42: SUBGRAPHS,
    43: SUBGRAPHS,
    44: SUBGRAPHS,
    45: STATUS_HANDLERS,
    46: STATUS_HANDLERS,
    51: "what the reference adds to the config that it returns: ours is the file's, its nodes in order",
    53: "option_value: shown by core/tests/config/test_option_value.py",
    54: TEMPLATES,
    55: PROFILER,
    56: PROFILER,
    57: "runtime info: shown where it is built",
    61: "how the reference joins its messages",
}


def names_of_tests():
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        for statement in ast.parse(path.read_text("utf-8")).body:
            if isinstance(statement, ast.FunctionDef) and statement.name.startswith("test_"):
                yield path.name, statement.name


def shown(prefix):
    """Return the numbers in the names of tests: `test_s46_s47_...` and `test_quirk31_32_...` have two."""
    pattern = re.compile(rf"test_{prefix}(\d\d)_(?:{'s' if prefix == 's' else ''}(\d\d)_)?")
    found = [pattern.match(name) for _, name in names_of_tests()]
    return {int(number) for match in found if match for number in match.groups() if number}


def test_every_scenario_has_a_test_or_a_reason():
    assert shown("s") == set(SCENARIOS)
    left_out = {number for number in SCENARIOS_LEFT_OUT if isinstance(number, int)}
    assert set(SCENARIOS) | left_out == set(range(1, 61))
    assert not set(SCENARIOS) & left_out


def test_every_behaviour_has_a_test_or_a_reason():
    assert shown("quirk") == {number for number, scenario in QUIRKS.items() if scenario is None}
    assert {scenario for scenario in QUIRKS.values() if scenario is not None} <= set(SCENARIOS)
    assert set(QUIRKS) | set(QUIRKS_LEFT_OUT) == set(range(1, 65))
    assert not set(QUIRKS) & set(QUIRKS_LEFT_OUT)


def test_the_decisions_on_order_bounds_and_observers_have_tests_with_their_numbers():
    assert shown("decision") == set(range(22, 29))


def test_every_test_belongs_to_a_scenario_a_behaviour_or_a_decision():
    here = Path(__file__).name
    names = [name for file, name in names_of_tests() if file != here]

    assert [name for name in names if not re.match(r"test_(s\d\d|quirk\d\d|decision\d\d|extra)_", name)] == []
    assert len(names) == len(set(names))
