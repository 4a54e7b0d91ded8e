"""Equal graphs share a plan, and nothing that one of them can change, or that code may say otherwise."""

import gc
import logging
import threading
import weakref

import attrs
import pytest

import penstock
from penstock import limits
from penstock.access import Access, override
from penstock.config import build_plan, sharing
from penstock.errors import GraphConfigError, NotFoundError, ResourceExhaustedError
from penstock.registry import Registry

TEXT = """
input_stream: "in"
output_stream: "c"
node { calculator: "PassCalculator" input_stream: "in" output_stream: "b" }
node { calculator: "PassCalculator" input_stream: "b" output_stream: "c" }
"""
SIZED = """
input_stream: "in"
node {
  calculator: "SizedCalculator" input_stream: "in" output_stream: "out"
  options { [penstock.SizedCalculatorOptions.ext] { size: 7 } }
}
"""


@pytest.fixture(autouse=True)
def kept_at_once(monkeypatch):
    """Keep each plan when its graph is loaded first, so that tests need no graph before."""
    monkeypatch.setattr(sharing._Shelf, "was_noted", lambda *_: True)


def is_shared(one, other):
    """Return whether two plans have their ports and streams in common."""
    return one.streams is other.streams and all(
        a.inputs is b.inputs and a.outputs is b.outputs for a, b in zip(one.nodes, other.nodes, strict=True)
    )


def wired(plan):
    """Return what a plan says, without the objects that each graph has of its own."""
    return (
        plan._replace(nodes=(), config=plan.config.SerializeToString(), option_types=None, executors=()),
        [node._replace(contract=None, options=None) for node in plan.nodes],
        [(one.name, one.type, one.num_threads) for one in plan.executors],
    )


def test_an_equal_graph_has_the_streams_and_ports_of_the_first(plan):
    first, second = plan(TEXT), plan(TEXT)

    assert is_shared(first, second)
    assert wired(first) == wired(second)


def test_a_plan_is_kept_from_the_second_graph_on(plan, monkeypatch):
    monkeypatch.undo()  # of `kept_at_once`
    monkeypatch.setattr(sharing, "_MOST_NOTED", 1)

    first, second, third = plan(TEXT), plan(TEXT), plan(TEXT)

    assert not is_shared(first, second)
    assert is_shared(second, third)
    other = f"{TEXT}# a comment"
    assert not is_shared(plan(other), plan(other))  # so many are noted that this is forgotten: TEXT went
    assert is_shared(plan(other), plan(other))


def test_another_text_shares_nothing(plan):
    assert not is_shared(plan(TEXT), plan(f"{TEXT}# a comment"))


def test_contracts_options_and_config_are_of_each_graph_alone(plan):
    first, second, third = plan(TEXT), plan(TEXT), plan(TEXT)

    for one, other in ((first, second), (second, third)):
        assert one.config is not other.config
        assert one.stream_ids is not other.stream_ids
        for a, b in zip(one.nodes, other.nodes, strict=True):
            assert a.contract is not b.contract
            assert a.options is not b.options
            assert next(iter(a.contract.inputs)) is not next(iter(b.contract.inputs))


def test_what_one_graph_does_to_its_plan_no_other_graph_sees(plan, declare, make_options):
    options = make_options("SizedCalculatorOptions", 500020950).load()
    declare("SizedCalculator")
    sized = [plan(SIZED) for _ in range(2)]

    for one in sized:
        one.config.node[0].options.Extensions[options.ext].size = 8
        one.config.node[0].calculator = "Other"
        one.stream_ids["in"] = 99
        next(iter(one.nodes[0].contract.inputs)).set(str)
        one.nodes[0].contract.set_timestamp_offset(5)
        one.nodes[0].options._extended.Extensions[options.ext].size = 9

    third = plan(SIZED)
    assert is_shared(sized[1], third)
    assert third.config.node[0].calculator == "SizedCalculator"
    assert third.config.node[0].options.Extensions[options.ext].size == 7
    assert third.nodes[0].options.get(options).size == 7
    assert third.stream_ids["in"] == 0
    assert third.nodes[0].contract.timestamp_offset is None
    assert next(iter(third.nodes[0].contract.inputs)).is_any()


def test_instances_of_options_classes_are_made_for_each_graph(registry, plan, declare):
    @attrs.define
    class BoxOptions:
        size: int = 1
        seen: list[int] = attrs.field(factory=list)

    declare("BoxCalculator").Options = BoxOptions
    text = 'input_stream: "in" node { calculator: "BoxCalculator" input_stream: "in" output_stream: "out" }'
    first, second = plan(text), plan(text)
    first.nodes[0].options.get(BoxOptions).seen.append(1)

    assert is_shared(first, second)
    assert second.nodes[0].options.get(BoxOptions).seen == []


def test_a_contract_that_says_otherwise_the_second_time_counts(plan, declare):
    says = [int]
    called = []

    def fill(cc):
        called.append(cc.node_name)
        cc.inputs[0].set_any()
        cc.outputs[0].set(says[0])

    declare("MoodyCalculator", fill)
    text = 'input_stream: "in" node { calculator: "MoodyCalculator" input_stream: "in" output_stream: "out" }'
    first, second = plan(text), plan(text)
    says[0] = str
    third, fourth = plan(text), plan(text)

    assert [one.streams[1].type_name for one in (first, second, third, fourth)] == [
        "int",
        "int",
        "str",
        "str",
    ]
    assert is_shared(first, second)
    assert is_shared(third, fourth)
    assert len(called) >= 4


@pytest.mark.parametrize(
    "change",
    [
        lambda cc: cc.inputs[0].set(int),
        lambda cc: cc.outputs[0].set_same_as(cc.inputs[1]),
        lambda cc: cc.inputs["MORE"].set_any(),
        lambda cc: cc.inputs["MORE"].set_any().optional(),
        lambda cc: cc.set_input_stream_handler("OtherHandler"),
    ],
)
def test_each_thing_that_wiring_depends_on_is_compared(registry, plan, declare, change):
    registry.add("input stream handler", "OtherHandler", type("OtherHandler", (), {}))
    is_changed = []

    def fill(cc):
        cc.inputs[0].set_any()
        cc.inputs[1].set_any()
        cc.outputs[0].set_same_as(cc.inputs[0])
        if is_changed:
            change(cc)

    declare("MoodyCalculator", fill)
    text = """
        input_stream: "a" input_stream: "b"
        node { calculator: "MoodyCalculator" input_stream: "a" input_stream: "b" output_stream: "c" }"""
    first = plan(text)
    is_changed.append(True)

    try:
        second = plan(text)
    except GraphConfigError as error:
        assert "MORE" in str(error)  # noqa: PT017  # what is missing now
    else:
        assert not is_shared(first, second)


def test_a_contract_that_fails_the_second_time_is_a_fault_with_its_place(plan, declare):
    fails = []

    def fill(cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        if fails:
            raise RuntimeError("the licence has expired")

    declare("LicensedCalculator", fill)
    node = 'node { calculator: "LicensedCalculator" input_stream: "in" output_stream: "out" }'
    text = f'input_stream: "in"\n{node}'
    plan(text)
    fails.append(True)

    with pytest.raises(GraphConfigError, match=r"line 2.*the licence has expired"):
        plan(text)
    fails.clear()
    plan(text)


def test_a_validator_of_options_is_asked_for_each_graph(registry, plan, declare):
    taken = {"model.onnx"}

    @attrs.frozen
    class ModelOptions:
        path: str = attrs.field(default="model.onnx")

        @path.validator
        def _is_there(self, _, value):
            if value not in taken:
                raise ValueError(f"there is no {value}")

    declare("ModelCalculator").Options = ModelOptions
    text = 'input_stream: "in" node { calculator: "ModelCalculator" input_stream: "in" output_stream: "out" }'
    plan(text)
    taken.clear()

    with pytest.raises(GraphConfigError, match="there is no model"):
        plan(text)


# --- registries -----------------------------------------------------------------------------------


def test_registries_share_nothing_with_one_another(declare, registry, plan):
    first = plan(TEXT)
    other = Registry()
    for kind, name in (
        ("input stream handler", "DefaultInputStreamHandler"),
        ("executor", "ThreadPoolExecutor"),
    ):
        other.add(kind, name, registry.find(kind, name))
    mine = type(
        "PassCalculator", (), {"get_contract": registry.find("calculator", "PassCalculator").get_contract}
    )
    other.add("calculator", "PassCalculator", mine)

    second = build_plan(TEXT, other)

    assert not is_shared(first, second)
    assert {node.factory for node in second.nodes} == {mine}
    assert mine not in {node.factory for node in plan(TEXT).nodes}


@pytest.mark.parametrize("is_child", [False, True])
def test_a_calculator_that_is_registered_again_is_the_one_that_counts(registry, declare, is_child):
    asked = registry.child() if is_child else registry
    first = build_plan(TEXT, asked)
    again = declare("PassCalculator")

    second = build_plan(TEXT, asked)

    assert again not in {node.factory for node in first.nodes}
    assert {node.factory for node in second.nodes} == {again}


def test_a_subgraph_that_is_registered_later_goes_before_the_calculator(registry, plan, tmp_path):
    plan(TEXT)
    file = tmp_path / "pass.pbtxt"
    file.write_text('input_stream: "a" output_stream: "a" type: "PassCalculator"')
    registry.add("subgraph", "PassCalculator", file)

    with pytest.raises(GraphConfigError):
        plan(TEXT)


def test_plans_go_with_their_registry(declare, registry):
    mine = registry.child()
    first, second = build_plan(TEXT, mine), build_plan(TEXT, mine)
    assert is_shared(first, second)
    gone = weakref.ref(mine)

    del mine, first, second
    gc.collect()

    assert gone() is None


# --- files and subgraphs ----------------------------------------------------------------------------


def test_a_file_is_read_again_for_each_graph(plan, tmp_path):
    file = tmp_path / "graph.pbtxt"
    file.write_text(TEXT)
    first, second = plan(file), plan(file)
    file.write_text(TEXT.replace('"b"', '"x"'))
    third = plan(file)

    assert is_shared(first, second)
    assert [stream.name for stream in third.streams] == ["in", "x", "c"]
    file.unlink()
    with pytest.raises(NotFoundError):
        plan(file)


def test_files_of_subgraphs_are_read_again_too(registry, plan, tmp_path):
    file = tmp_path / "inner.pbtxt"
    inner = 'input_stream: "a" output_stream: "b" node { calculator: "PassCalculator" %s }'
    file.write_text(inner % 'input_stream: "a" output_stream: "b"')
    registry.add("subgraph", "Inner", file)
    text = 'input_stream: "in" node { calculator: "Inner" input_stream: "in" output_stream: "out" }'
    first, second = plan(text), plan(text)
    file.write_text(inner % 'input_stream: "a" output_stream: "b" name: "renamed"')
    third = plan(text)
    file.unlink()

    assert is_shared(first, second)
    assert [node.name for node in third.nodes] == ["inner__renamed"]
    with pytest.raises(GraphConfigError, match=r"inner\.pbtxt"):
        plan(text)


def test_a_computed_subgraph_is_asked_for_each_graph(registry, declare):
    key = penstock.ServiceKey("test.prefix")
    asked = []

    class Chosen(penstock.Subgraph):
        @classmethod
        def get_config(cls, sc):
            asked.append(sc.service(key))
            node = f'node {{ calculator: "PassCalculator" input_stream: "a" output_stream: "{asked[-1]}" }}'
            return f'input_stream: "a" output_stream: "OUT:{asked[-1]}" {node}'

    registry.add("subgraph", "Chosen", Chosen)
    text = 'input_stream: "in" node { calculator: "Chosen" input_stream: "in" output_stream: "OUT:out" }'

    for name in ("x", "y"):
        build_plan(text, registry, services={key: name})

    assert asked == ["x", "y"]


def test_subgraphs_that_are_given_count_for_their_graph_alone(registry, declare):
    text = 'input_stream: "in" node { calculator: "Mine" input_stream: "in" output_stream: "out" }'
    inner = 'input_stream: "a" output_stream: "b" node { name: "%s" %s }'
    ports = 'calculator: "PassCalculator" input_stream: "a" output_stream: "b"'

    one = build_plan(text, registry, subgraphs={"Mine": inner % ("one", ports)})
    two = build_plan(text, registry, subgraphs={"Mine": inner % ("two", ports)})

    assert [one.nodes[0].name, two.nodes[0].name] == ["mine__one", "mine__two"]
    with pytest.raises(GraphConfigError, match="Mine"):
        build_plan(text, registry)


# --- what is around a graph -------------------------------------------------------------------------


def test_each_graph_is_warned_of(plan, caplog):
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            plan(f'{TEXT} output_stream: "nobody"')

    assert len([one for one in caplog.records if "nothing produces it" in one.getMessage()]) == 3


def test_what_a_graph_may_touch_is_looked_at_for_each(plan, declare, tmp_path):
    def fill(cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.declare(reads=[str(tmp_path / "model.onnx")])

    declare("ReadingCalculator", fill)
    text = (
        'input_stream: "in" node { calculator: "ReadingCalculator" input_stream: "in" output_stream: "out" }'
    )
    first, second = plan(text), plan(text)
    assert is_shared(first, second)
    assert first.nodes[0].contract.services == second.nodes[0].contract.services

    with override(Access(reads=[])), pytest.raises(GraphConfigError, match=r"model\.onnx"):
        plan(text)


def test_lower_limits_count_for_a_graph_that_was_loaded_before(plan):
    plan(TEXT)

    with limits.override(nodes=1), pytest.raises(ResourceExhaustedError):
        plan(TEXT)


def test_the_plan_that_was_used_longest_ago_goes_when_there_are_too_many(plan, monkeypatch):
    one = sharing._BYTES_OF_NODE * 2 + 200
    monkeypatch.setattr(sharing, "_MOST_BYTES", one * 5)
    texts = [f"{TEXT}# {number}" for number in range(6)]
    plans = [plan(text) for text in texts[:4]]
    assert is_shared(plans[0], plan(texts[0]))

    plans += [plan(text) for text in texts[4:]]

    assert is_shared(plans[0], plan(texts[0]))
    assert not is_shared(plans[1], plan(texts[1]))


def test_a_large_graph_is_not_kept(plan, monkeypatch):
    monkeypatch.setattr(sharing, "_MOST_BYTES", sharing._BYTES_OF_NODE * 7)

    assert not is_shared(plan(TEXT), plan(TEXT))


def test_short_cuts_that_are_off_share_nothing(plan, monkeypatch):
    monkeypatch.setattr(sharing, "SHARES", False)

    assert not is_shared(plan(TEXT), plan(TEXT))


def test_many_threads_load_equal_graphs_at_the_same_time(plan):
    plans, errors = [], []

    def load():
        try:
            plans.extend(plan(f"{TEXT}# {number % 3}") for number in range(30))
        except Exception as error:  # noqa: BLE001  # told below
            errors.append(error)

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert errors == []
    assert len({id(one.config) for one in plans}) == 120
    assert all(wired(one) == wired(plans[0]) for one in plans)
