"""What the contract of a decorated function says, its names, and that it keeps its word."""

# Annotations of this file are objects, not strings: no `from __future__ import annotations`.

import sys
from typing import Annotated, Any, NamedTuple, TypedDict

import pytest

import penstock
from penstock.config import CalculatorGraphConfig
from penstock.contract import CalculatorContract
from penstock.engine.outcome import STOP, Stop
from penstock.errors import AlreadyExistsError, InvalidArgumentError, PluginError
from penstock.plugins.default_registry import default_registry
from penstock.port_tags import TagMap
from penstock.registry import Registry
from penstock_testing import check_calculator, run_calculator


class Size(TypedDict):
    width: int


class Parts(NamedTuple):
    first: Annotated[list[int], "the first part"]
    in_: Any


def contract_of(definition):
    nothing = TagMap(())
    cc = CalculatorContract("node", nothing, nothing, nothing, nothing, None)
    definition.calculator.get_contract(cc)
    return cc


def ports(specs):
    return {tag: (spec.type_name(), spec.is_optional) for (tag, _), spec in specs.unconnected.items()}


def test_ports_are_declared_from_the_annotations():
    @penstock.calculator
    def everything(  # noqa: PLR0913  # one of each kind
        one: Annotated[int, "how many"],
        two: str | float,
        size: Size,
        any_: Any = None,
        four: "list[int] | None" = None,
        *,
        side: penstock.SidePacket[int] | None = None,
    ) -> Parts:
        raise NotImplementedError

    cc = contract_of(everything)

    assert ports(cc.inputs) == {
        "ONE": ("int", False),
        "TWO": ("str | float", False),
        "SIZE": ("dict", False),
        "ANY": ("any type", True),
        "FOUR": ("list[int]", True),
    }
    assert ports(cc.outputs) == {"FIRST": ("list[int]", True), "IN": ("any type", True)}
    assert ports(cc.input_side_packets) == {"SIDE": ("int", True)}
    assert cc.inputs["ONE"].description == "how many"
    assert cc.outputs["FIRST"].description == "the first part"
    assert cc.timestamp_offset == 0


def test_an_only_output_must_be_connected_and_a_sink_promises_nothing():
    @penstock.calculator
    def one(number: int) -> int:
        return number

    @penstock.calculator
    def none(number: int) -> None:
        """Do nothing."""

    assert ports(contract_of(one).outputs) == {"OUT": ("int", False)}
    assert ports(contract_of(none).outputs) == {}
    assert contract_of(none).timestamp_offset is None


def test_the_options_message_is_asked_for_when_the_graph_is_loaded():
    @penstock.calculator
    def sized(number: int, *, options: CalculatorGraphConfig) -> int:
        return number + int(options.max_queue_size)

    asked = []

    class Options:
        def get(self, message_type):
            asked.append(message_type)

    nothing = TagMap(())
    sized.calculator.get_contract(CalculatorContract("node", nothing, nothing, nothing, nothing, Options()))

    assert asked == [CalculatorGraphConfig]


def test_stop_beside_a_type_is_not_part_of_what_the_output_carries():
    @penstock.calculator
    def until(number: int) -> int | Stop | None:
        return number if number < 3 else STOP

    assert ports(contract_of(until).outputs) == {"OUT": ("int", False)}


def test_a_subclass_of_a_decorated_class_has_to_be_decorated_itself():
    class Child(Summed):
        pass

    with pytest.raises(InvalidArgumentError, match=r"or decorated with @penstock.calculator"):
        penstock.register_calculator(Child)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the statement is younger than this Python")
def test_a_named_alias_is_what_it_stands_for():
    scope: dict[str, Any] = {"penstock": penstock}
    source = "type Number = int | None\n@penstock.calculator\ndef f(n: Number) -> int: return 0\n"
    exec(source, scope)  # noqa: S102  # older Pythons cannot read it

    assert ports(contract_of(scope["f"]).inputs) == {"N": ("int", True)}


# --- names ------------------------------------------------------------------------------------


@penstock.calculator
def count_faces(number: int) -> int:
    """Count them."""
    return number


@penstock.calculator("pack.Other")
def named(number: int) -> int:
    return number


def test_the_class_has_the_name_of_the_function_in_camel_case_its_docstring_and_its_place():
    cls = count_faces.calculator

    assert (cls.__name__, cls.__doc__) == ("CountFaces", "Count them.")
    assert f"{cls.__module__}:{cls.__qualname__}" == f"{__name__}:count_faces.calculator"
    assert named.calculator.__name__ == "pack.Other"


def test_registering_makes_the_calculator_known_under_its_name_and_returns_the_function():
    assert penstock.register_calculator(count_faces) is count_faces
    assert penstock.register_calculator("Renamed")(count_faces) is count_faces

    assert default_registry().find("calculator", "CountFaces") is count_faces.calculator
    assert default_registry().find("calculator", "Renamed") is count_faces.calculator


def test_a_cell_that_is_run_again_replaces_its_function_and_another_function_does_not():
    def cell(factor):
        @penstock.register_calculator
        @penstock.calculator("RunAgain")
        def again(number: int) -> int:
            return factor * number

        return again

    cell(1)
    newer = cell(2)

    assert default_registry().find("calculator", "RunAgain") is newer.calculator
    with pytest.raises(AlreadyExistsError, match=r"'RunAgain' for .*again\.calculator already"):
        penstock.register_calculator("RunAgain")(count_faces)


@pytest.mark.parametrize("target", ["count_faces", "count_faces.calculator"])
def test_a_pack_names_the_function_as_a_target(target, monkeypatch):
    monkeypatch.setitem(sys.modules, "some_pack", sys.modules[__name__])
    registry = Registry()
    registry.add("calculator", "Faces", f"some_pack:{target}", distribution="some-pack", plugin="some")

    assert registry.find("calculator", "Faces") is count_faces.calculator


def test_the_error_for_a_plain_function_as_a_target_says_to_decorate_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "some_pack", sys.modules[__name__])
    registry = Registry()
    registry.add("calculator", "Faces", "some_pack:contract_of", distribution="some-pack", plugin="some")

    with pytest.raises(PluginError, match=r"no class; decorate a function with @penstock.calculator$"):
        registry.find("calculator", "Faces")


def test_a_decorated_function_can_be_run_by_the_name_of_a_registry():
    registry = Registry()
    registry.add("calculator", "Faces", count_faces)

    assert registry.find("calculator", "Faces") is count_faces.calculator
    assert (
        run_calculator(count_faces.calculator, {"NUMBER": [(1, 7)]}, outputs=["OUT"])
        .outputs["OUT"][0]
        .payload
        == 7
    )


# --- promises ---------------------------------------------------------------------------------


@penstock.calculator
def mix(left: int, right: int | None, *, offset: penstock.SidePacket[int] = 0) -> int | None:
    return left if right is None else None if right % 3 == 0 else left + right + offset


@penstock.calculator
async def mix_later(left: int, right: int, up: int = 1) -> tuple[int, int]:
    return left + right, up


@penstock.calculator
class Summed:
    def __init__(self) -> None:
        self.total = 0

    def process(self, number: int) -> int:
        self.total += number
        return self.total


@pytest.mark.parametrize("definition", [mix, mix_later, Summed, count_faces])
def test_what_is_made_keeps_what_all_calculators_promise(definition):
    check_calculator(definition.calculator)
