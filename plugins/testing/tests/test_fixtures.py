"""The fixtures of the pytest plugin, as a pack's tests use them."""

from __future__ import annotations

import os
import subprocess
import sys
import types

import pytest

from penstock import STOP, Components, Packet, ServiceKey, hookimpl, register_calculator
from penstock.errors import GraphRunError, InternalError, NameClashError, UnavailableError, UnknownNameError
from penstock.packs import default_plugin_host, default_registry, plugins_renewed
from penstock_testing import ScheduleHarness, calculator, explore_graph, node, testing_registry, wired
from penstock_testing.temporary import TemporaryPlugins


def hand_on(cc):
    cc.output.add_packet(cc.input.packet)


Gate = calculator(hand_on, name="Gate", offset=0)
ONE_GATE = """
input_stream: "in"
output_stream: "out"
node { calculator: "Gate" input_stream: "in" output_stream: "out" }
"""


# --- plugins --------------------------------------------------------------------------------------


def test_a_temporary_plugin_is_found_as_any_other(penstock_plugins):
    record = penstock_plugins("gates", Components(calculators={"TryGate": Gate}), version="1.5")

    assert (record.name, record.distribution, record.version) == ("gates", "penstock-gates", "1.5")
    assert (record.state, record.components) == ("loaded", {"calculator": 1})
    assert record in default_plugin_host().records
    assert default_registry().find("calculator", "TryGate") is Gate
    assert default_registry().origin("calculator", "TryGate").plugin == "gates"


def test_a_temporary_plugin_is_gone_after_its_block(tmp_path):
    with pytest.MonkeyPatch.context() as patch, TemporaryPlugins(tmp_path, patch) as plugins:
        plugins("gates", Components(calculators={"TryGate": Gate}))
        assert default_registry().has("calculator", "TryGate")

    assert not default_registry().has("calculator", "TryGate")
    assert [record for record in default_plugin_host().records if record.name == "gates"] == []
    assert [path for path in sys.path if path.startswith(str(tmp_path))] == []
    assert [name for name in sys.modules if name.startswith("penstock_temporary")] == []


def test_several_are_there_together_and_may_clash(penstock_plugins):
    penstock_plugins("one", Components(calculators={"TryGate": Gate, "TryOne": Gate}))
    penstock_plugins("two", Components(calculators={"TryGate": Gate}))

    assert default_registry().find("calculator", "TryOne") is Gate
    with pytest.raises(
        NameClashError,
        match=r"^calculator 'TryGate' is claimed by penstock-one \(plugin 'one', .*\) and by penstock-two "
        r"\(plugin 'two', .*\); rename one, or block a plugin: PENSTOCK_BLOCK_PLUGINS=two$",
    ):
        default_registry().find("calculator", "TryGate")


def test_two_plugins_of_one_name_are_known_by_their_distribution(penstock_plugins):
    penstock_plugins("gates", Components(), distribution="penstock-gates")
    record = penstock_plugins("gates", Components(), distribution="penstock-rival")

    assert (record.distribution, record.state) == ("penstock-rival", "failed")
    assert record.reason.startswith("the plugin name 'gates' of penstock-rival is taken by penstock-gates;")


def test_a_module_with_hooks_is_a_plugin_whose_hooks_are_called(penstock_plugins):
    told = []

    def note(graph):
        told.append(graph)

    module = types.ModuleType("hooks")
    module.penstock_run_started = hookimpl(specname="penstock_run_started")(note)

    penstock_plugins("hooks", module)
    (started,) = [each for each in default_plugin_host().run_started if each.plugin == "hooks"]
    started.call("a graph")

    assert told == ["a graph"]


def test_a_plugin_that_is_wrong_comes_back_with_its_reason(penstock_plugins):
    module = types.ModuleType("wrong")
    module.penstock_components = hookimpl(specname="penstock_components")(lambda: 3)

    record = penstock_plugins("wrong", module)

    assert (record.state, record.reason) == (
        "failed",
        "discovery: penstock_components returned int, not Components",
    )


def test_a_switch_keeps_it_out_and_the_error_says_so(penstock_plugins, monkeypatch):
    monkeypatch.setenv("PENSTOCK_BLOCK_PLUGINS", "gates")

    assert penstock_plugins("gates", Components(calculators={"TryGate": Gate})).state == "blocked"
    with pytest.raises(UnknownNameError, match=r"gates \(blocked by name, see PENSTOCK_BLOCK_PLUGINS\)"):
        default_registry().find("calculator", "TryGate")


def test_what_the_process_has_registered_stays_known_and_what_it_registers_meanwhile_does_not(tmp_path):
    known = []

    def look():
        registry = default_registry()
        names = [name for name in ("TryBefore", "TryInside") if registry.has("calculator", name)]
        known.append((names, registry.option("try.Options") is not None))

    with plugins_renewed():
        register_calculator("TryBefore")(Gate)
        default_registry().add_option("try.Options", "penstock.CalculatorOptions", 98799, "no_module:Options")
        with pytest.MonkeyPatch.context() as patch, TemporaryPlugins(tmp_path, patch) as plugins:
            plugins("gates", Components())
            register_calculator("TryInside")(Gate)
            look()
        look()

    assert known == [(["TryBefore", "TryInside"], True), (["TryBefore"], True)]


# --- schedules ------------------------------------------------------------------------------------


def test_a_graph_is_run_under_many_orders_and_what_it_carried_is_returned(schedules):
    carried = schedules(ONE_GATE, {"in": [(1, "a"), (5, "b")]}, registry=testing_registry(Gate))

    assert carried == {"in": [(1, "a"), (5, "b")], "out": [(1, "a"), (5, "b")]}


@pytest.fixture
def events(monkeypatch):
    """Return a list of the packets that come into harnesses, as timestamps; a test adds what it sees."""
    noted = []
    add_packet = ScheduleHarness.add_packet

    def add_and_note(harness, stream, packet):
        noted.append((stream, int(packet.timestamp)))
        add_packet(harness, stream, packet)

    monkeypatch.setattr(ScheduleHarness, "add_packet", add_and_note)
    return noted


def test_the_graph_does_one_thing_after_each_input(events):
    def note(cc):
        events.append(int(cc.input_timestamp))

    plan = wired(node(calculator(note, name="Note"), "in"), inputs="in")
    explore_graph(plan, {"in": [(1, None), (2, None), (3, None)]}, seeds=[])

    assert events == [("in", 1), ("in", 2), 1, ("in", 3), 2, 3]  # after the first it is opened


def test_inputs_are_fed_by_timestamp_whatever_their_stream(events):
    plan = wired(node(calculator(name="Both"), "a b"), inputs="a b")

    explore_graph(plan, {"a": [(2, None), Packet(None, 3)], "b": [(1, None), (2, None)]}, seeds=[])

    assert events == [("b", 1), ("a", 2), ("b", 2), ("a", 3)]


def test_what_depends_on_the_order_is_found_with_its_seed():
    shared = []

    def racy(cc):
        shared.append(cc.node_name)
        cc.output.add(tuple(shared), cc.input_timestamp)

    def start(cc):
        shared.clear()

    racer = calculator(racy, name="Racer", open=start)
    plan = wired(node(racer, "in", "one"), node(racer, "in", "two"), inputs="in")
    with pytest.raises(
        InternalError, match=r"^exploring: stream '(one|two)' depends on the order of steps: with seed \d+"
    ):
        explore_graph(plan, {"in": [(1, None)]})


def test_a_run_that_fails_is_raised(schedules):
    def fails(cc):
        raise ArithmeticError("three is too much")

    plan = wired(node(calculator(fails, name="Fails"), "in"), inputs="in")

    with pytest.raises(GraphRunError, match="three is too much"):
        schedules(plan, {"in": [(1, 3)]})


# --- the others -----------------------------------------------------------------------------------


def test_a_run_that_fails_before_all_is_fed_is_raised_as_well(schedules):
    def refuse(cc):
        raise ValueError("no")

    registry = testing_registry(calculator(refuse, name="Gate", offset=0))

    said = r"process\(\) failed at 0: ValueError: no \(at test_fixtures.py:\d+ in refuse\)$"
    with pytest.raises(GraphRunError, match=said):
        schedules(ONE_GATE, {"in": [(time, time) for time in range(9)]}, registry=registry)


def test_a_graph_that_stops_itself_is_fed_no_more(schedules):
    def stop(cc):
        return STOP

    registry = testing_registry(calculator(stop, name="Gate", offset=0))
    fed = {"in": [(time, time) for time in range(9)]}

    assert schedules(ONE_GATE, fed, seeds=(), registry=registry)["out"] == []


def test_services_with_a_factory_are_made_for_each_order(schedules):
    key = ServiceKey("test.seen", create=list)

    def number(cc):
        seen = cc.service(key)
        seen.append(cc.input.payload)
        cc.output.add(len(seen), cc.input_timestamp)

    counting = calculator(number, name="Gate", offset=0, contract=lambda cc: cc.use_service(key))
    carried = schedules(ONE_GATE, {"in": [(0, "a"), (1, "b")]}, registry=testing_registry(counting))

    assert carried["out"] == [(0, 1), (1, 2)]


def test_a_service_that_is_not_given_is_missing_before_anything_runs():
    asker = calculator(
        hand_on, name="Asker", contract=lambda cc: cc.use_service(ServiceKey("test.device")), offset=0
    )

    with pytest.raises(
        UnavailableError,
        match=r"^service 'test.device', required by node 'Asker', is not there: it was not set",
    ):
        ScheduleHarness(wired(node(asker, "in", "out"), inputs="in"))


def test_a_calculator_is_run_and_time_moves_by_hand(run_calculator, manual_clock, penstock_registry):
    run = run_calculator("Gate", {0: [(1, 7)]}, outputs=[0], registry=testing_registry(Gate))

    assert [packet.payload for packet in run.outputs[0]] == [7]
    assert manual_clock() == 0.0
    manual_clock.advance(2.0)
    assert manual_clock() == 2.0
    assert not penstock_registry.has("calculator", "Gate")


def test_they_come_with_the_installed_plugin_and_graphs_find_what_a_test_installs(tmp_path):
    (tmp_path / "test_a_pack.py").write_text(
        """
import penstock
from penstock import Components
from penstock.plugins.default_registry import default_registry

class TryGate(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)

    def process(self, cc):
        cc.output.add_packet(cc.input.packet)

BENCH = Components(
    input_stream_handlers={"DefaultInputStreamHandler": "penstock_testing.one_set:OneSetInputStreamHandler"},
    executors={"ThreadPoolExecutor": "penstock_testing.inline:InlineExecutor"},
    calculators={"TryGate": TryGate},
)
GRAPH = '''
input_stream: "in"
output_stream: "out"
node { calculator: "TryGate" input_stream: "in" output_stream: "out" }
'''

def test_a_graph(penstock_plugins, schedules, run_calculator, manual_clock, penstock_registry):
    penstock_plugins("bench", BENCH)
    seen = []
    with penstock.CalculatorGraph(GRAPH) as graph:
        graph.observe_output_stream("out", lambda name, packet: seen.append(packet.payload))
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet(5, 1))
    assert seen == [5]
    assert run_calculator("TryGate", {0: [(1, 5)]}, outputs=[0]).outputs[0][0].payload == 5
    assert schedules(GRAPH, {"in": [(1, 5)]})["out"] == [(1, 5)]

def test_it_is_gone():
    assert not default_registry().has("calculator", "TryGate")
""",
        encoding="utf-8",
    )

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", tmp_path],
        env={**os.environ, "PENSTOCK_PLUGINS": "bench"},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )

    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
