"""Adapters that the loaded graph has between an output and an input whose types differ."""

from typing import Generic, TypeVar

import pytest

import penstock
from penstock.adapters import Adapter
from penstock.config import to_text
from penstock.errors import GraphConfigError, PacketTypeError


class Reading:
    def __init__(self, value: int) -> None:
        self.value = value


class FineReading(Reading): ...


class Table:
    def __init__(self, rows: list[int]) -> None:
        self.rows = rows


@penstock.calculator("ReadingToTable")
def reading_to_table(reading: Reading) -> Table:
    return Table([reading.value])


NAME = f"{__name__}.Reading->{__name__}.Table"


@pytest.fixture
def declared(registry, declare):
    """Calculators `WritesX` and `ReadsX` for each type, and the adapter."""
    kinds = {"Reading": Reading, "Fine": FineReading, "Table": Table, "Int": int}
    for name, kind in kinds.items():
        declare(f"Writes{name}", lambda cc, kind=kind: cc.outputs[0].set(kind))
        declare(f"Reads{name}", lambda cc, kind=kind: [port.set(kind) for port in cc.inputs])
    declare("ReadsEither", lambda cc: cc.inputs[0].set_one_of(int, Table))
    registry.add("calculator", "ReadingToTable", reading_to_table)
    registry.add("adapter", NAME, reading_to_table)
    return registry


def graph(*nodes):
    """Nodes as "Calculator < input input > output"."""
    text = []
    for node in nodes:
        name, _, ports = node.partition(" ")
        reads, _, writes = ports.partition(">")
        inputs = "".join(f'input_stream: "{one}" ' for one in reads.replace("<", "").split())
        outputs = "".join(f'output_stream: "{one}" ' for one in writes.split())
        text.append(f'node {{ calculator: "{name}" {inputs}{outputs}}}')
    return "\n".join(text)


def nodes_of(plan):
    names = {stream.id: stream.name for stream in plan.streams}
    return [(one.calculator, [names[port.stream] for port in one.inputs]) for one in plan.nodes]


def test_a_node_stands_between_an_output_and_an_input_of_another_type(plan, declared):
    made = plan(graph("WritesReading > a", "ReadsTable < a"))
    assert nodes_of(made) == [
        ("WritesReading", []), ("ReadingToTable", ["a"]), ("ReadsTable", ["a_as_table"])
    ]  # fmt: skip
    assert [node.name for node in made.nodes] == ["WritesReading", "a_as_table", "ReadsTable"]
    assert 'input_stream: "a_as_table"' in to_text(made.config)
    # What is written can be read again: it names the adapter's calculator, and no type differs.
    assert nodes_of(plan(to_text(made.config))) == nodes_of(made)


def test_all_readers_of_a_type_share_one_and_those_that_fit_read_the_stream_itself(plan, declared):
    made = plan(graph("WritesReading > a", "ReadsTable < a", "ReadsReading < a", "ReadsTable < a a"))
    assert [one for one in nodes_of(made) if one[0] != "WritesReading"] == [
        ("ReadsReading", ["a"]), ("ReadingToTable", ["a"]), ("ReadsTable", ["a_as_table"]),
        ("ReadsTable", ["a_as_table", "a_as_table"]),
    ]  # fmt: skip


def test_the_class_that_a_payload_derives_from_counts_and_the_first_type_that_has_an_adapter(plan, declared):
    assert ("ReadingToTable", ["a"]) in nodes_of(plan(graph("WritesFine > a", "ReadsEither < a")))


Item = TypeVar("Item")


class Boxed(Generic[Item]): ...


class BoxedReading(Boxed[Reading]): ...


@penstock.calculator("BoxedToTable")
def boxed_to_table(boxed: Boxed) -> Table:
    return Table([1])


def test_a_generic_class_has_an_adapter_as_others_have(plan, declared, declare):
    declare("WritesBoxed", lambda cc: cc.outputs[0].set(BoxedReading))
    with pytest.raises(
        GraphConfigError, match=r"input 0 expects .*Table, but stream 'a' carries .*BoxedReading"
    ):
        plan(graph("WritesBoxed > a", "ReadsTable < a"))
    declared.add("calculator", "BoxedToTable", boxed_to_table)
    declared.add("adapter", f"{__name__}.Boxed->{__name__}.Table", boxed_to_table)

    assert ("BoxedToTable", ["a"]) in nodes_of(plan(graph("WritesBoxed > a", "ReadsTable < a")))


class Spot: ...


@penstock.calculator("TableToSpots")
def table_to_spots(table: Table) -> list[Spot]:
    return [Spot() for _ in table.rows]


@pytest.fixture
def of_lists(declared, declare):
    declare("ReadsSpots", lambda cc: cc.inputs[0].set(list[Spot]))
    declare("ReadsNumbers", lambda cc: cc.inputs[0].set(list[int]))
    declare("ReadsAList", lambda cc: cc.inputs[0].set(list))
    declared.add("calculator", "TableToSpots", table_to_spots)
    declared.add("adapter", f"{__name__}.Table->builtins.list[{__name__}.Spot]", table_to_spots)
    return declared


def test_a_list_of_one_kind_of_element_has_an_adapter_of_its_own(plan, of_lists):
    made = plan(graph("WritesTable > a", "ReadsSpots < a"))
    assert nodes_of(made) == [("WritesTable", []), ("TableToSpots", ["a"]), ("ReadsSpots", ["a_as_list"])]


@pytest.mark.parametrize("reader", ["ReadsNumbers", "ReadsAList"])
def test_other_lists_are_not_made_by_it(plan, of_lists, reader):
    with pytest.raises(GraphConfigError, match="convert it in between") as raised:
        plan(graph("WritesTable > a", f"{reader} < a"))
    assert "adapters take" not in str(raised.value)


def test_an_adapter_to_any_list_serves_where_no_closer_one_is(plan, of_lists):
    @penstock.calculator("TableToList")
    def table_to_list(table: Table) -> list:
        return table.rows

    of_lists.add("calculator", "TableToList", table_to_list)
    of_lists.add("adapter", f"{__name__}.Table->builtins.list", table_to_list)
    assert ("TableToSpots", ["a"]) in nodes_of(plan(graph("WritesTable > a", "ReadsSpots < a")))
    assert ("TableToList", ["a"]) in nodes_of(plan(graph("WritesTable > a", "ReadsNumbers < a")))


def test_a_name_that_is_taken_gets_a_number(plan, declared):
    made = plan(
        graph("WritesReading > a", "WritesInt > a_as_table", "ReadsTable < a", "ReadsInt < a_as_table")
    )
    assert ("ReadsTable", ["a_as_table_2"]) in nodes_of(made)


def test_tags_and_back_edges_of_the_reader_stay(plan, declared, declare):
    declare(
        "Loop",
        lambda cc: [cc.inputs["IN"].set(int), cc.inputs["BACK"].set(Table), cc.outputs["OUT"].set(Reading)],
    )
    made = plan(
        'input_stream: "in" node { calculator: "Loop" input_stream: "IN:in" input_stream: "BACK:0:out" '
        'output_stream: "OUT:out" input_stream_info { tag_index: "BACK" back_edge: true } }'
    )
    assert nodes_of(made) == [("Loop", ["out_as_table", "in"]), ("ReadingToTable", ["out"])]
    assert [port.back_edge for port in made.nodes[0].inputs] == [True, False]
    assert 'input_stream: "BACK:0:out_as_table"' in to_text(made.config)


def test_the_message_that_the_application_gave_does_not_change(plan, declared):
    given = penstock.config.read_graph(graph("WritesReading > a", "ReadsTable < a"), declared)
    before = given.SerializeToString()
    assert len(plan(given).nodes) == 3
    assert given.SerializeToString() == before


def test_what_cannot_be_adapted_is_an_error_that_says_what_can(plan, declared):
    with pytest.raises(GraphConfigError) as raised:
        plan(graph("WritesInt > a", "ReadsTable < a"))
    assert f"convert it in between (adapters take {__name__}.Reading)" in str(raised.value)
    with pytest.raises(GraphConfigError) as raised:
        plan(graph("WritesTable > a", "ReadsReading < a"))
    assert str(raised.value).endswith("convert it in between")


def test_other_faults_are_told_alone(plan, declared):
    with pytest.raises(GraphConfigError) as raised:
        plan(graph("WritesReading > a", "ReadsTable < a", "ReadsInt < nobody"))
    assert len(raised.value.faults) == 1


def test_an_adapter_that_cannot_be_imported_is_a_fault_with_its_place(plan, declared):
    declared.add("adapter", f"{__name__}.Table->{__name__}.Reading", "no_such_package.adapters:made")
    with pytest.raises(GraphConfigError) as raised:
        plan(graph("WritesTable > a", "ReadsReading < a"))
    assert "node 'ReadsReading': " in str(raised.value)
    assert "no_such_package" in str(raised.value)


def test_an_adapter_without_its_calculator_is_a_fault(plan, registry, declare):
    declare("WritesReading", lambda cc: cc.outputs[0].set(Reading))
    declare("ReadsTable", lambda cc: cc.inputs[0].set(Table))
    registry.add("adapter", NAME, reading_to_table)
    with pytest.raises(GraphConfigError) as raised:
        plan(graph("WritesReading > a", "ReadsTable < a"))
    assert "'ReadingToTable'" in str(raised.value)


def test_an_adapter_whose_error_has_no_text_is_reported() -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def fails(payload: object) -> object:
        raise SilentError

    adapter = Adapter(fails, "FailsCalculator", Table)
    with pytest.raises(
        PacketTypeError, match="FailsCalculator failed: SilentError: no text, since its __str__"
    ):
        adapter.adapt(1)
    made = Adapter(lambda payload: "text", "WrongCalculator", Table)
    with pytest.raises(PacketTypeError, match="WrongCalculator made a 'str' of it"):
        made.adapt(1)
