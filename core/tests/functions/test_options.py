"""Keyword-only parameters as options of the node: one by one, or all of them in an attrs class."""

import enum

import attrs
import pytest

import penstock
from penstock.attrs_options import attrs_name
from penstock.errors import GraphConfigError, InvalidArgumentError
from penstock.registry import Registry
from penstock_testing import run_calculator


class Mode(enum.Enum):
    SOFT = 1
    HARD = 2


@attrs.frozen
class AllOptions:
    factor: int = 2


@penstock.calculator
def scaled(number: int, *, factor: int = 2, mode: Mode = Mode.SOFT, names: list[str] | None = None) -> object:
    """Scale.

    Args:
        number: to scale.
        factor: how much,
            in all.
    """
    return number * factor, mode, names


@penstock.calculator
def whole(number: int, *, options: AllOptions, extra: int = 0) -> int:
    return number * options.factor + extra


@penstock.calculator("far.Kept")
class Kept:
    """Keep.

    Args:
        start: the first one.
    """

    def __init__(self, *, start: int = 1, limit: int = 100):
        self.start = start

    def process(self, number: int, *, step: float, limit: int = 100) -> float:
        return min(limit, self.start + step * number)


def first(definition, **options):
    (cls,) = [one for one in definition.calculator.Options if one is not AllOptions]
    run = run_calculator(definition.calculator, {"NUMBER": [(0, 5)]}, outputs=["OUT"], options=cls(**options))
    return run.outputs["OUT"][0].payload


def test_parameters_get_the_options_of_the_node_and_their_defaults():
    assert first(scaled) == (10, Mode.SOFT, None)
    assert first(scaled, factor=3, mode=Mode.HARD, names=["a"]) == (15, Mode.HARD, ["a"])


def test_the_class_is_named_after_the_calculator_and_is_of_the_functions_package():
    (cls,) = scaled.calculator.Options
    (kept,) = Kept.calculator.Options

    package = __name__.partition(".")[0]
    assert (attrs_name(cls), attrs_name(kept)) == (
        f"{package}.ScaledOptions",
        f"{package}.KeptOptions",
    )


def test_a_class_gets_those_of_init_and_of_process():
    assert first(Kept, step=0.5) == 3.5
    assert first(Kept, step=100, start=2) == 100


def test_all_options_may_be_one_parameter_beside_others():
    run = run_calculator(
        whole.calculator, {"NUMBER": [(0, 5)]}, outputs=["OUT"], options=AllOptions(factor=4)
    )

    assert run.outputs["OUT"][0].payload == 20
    assert first(whole, extra=7) == 17


def test_graph_files_give_them_and_miss_what_is_required():
    registry = Registry()
    registry.add("calculator", "Kept", Kept)
    graph = 'node { calculator: "Kept" input_stream: "n" output_stream: "o" %s } input_stream: "n"'
    (cls,) = Kept.calculator.Options

    with pytest.raises(
        GraphConfigError, match=r"line 1, column 1: node 'Kept': options .*: step is missing, and has"
    ):
        penstock.config.build_plan(graph % "", registry)
    name = attrs_name(cls)
    with pytest.raises(GraphConfigError) as caught:
        penstock.config.build_plan(
            graph % f"node_options {{ [type.googleapis.com/{name}] {{ step: 2 }} }}", registry
        )
    assert "options" not in str(caught.value)  # all that is missing is the input stream handler


def test_a_function_without_options_says_none():
    @penstock.calculator
    def plain(number: int, *, gain: penstock.SidePacket[int] = 1) -> int:
        return number * gain

    assert plain.calculator.Options == ()


def test_one_name_means_one_option():
    class Torn:
        def __init__(self, *, limit: int = 1) -> None: ...

        def process(self, number: int, *, limit: int = 2) -> int: ...

    with pytest.raises(
        InvalidArgumentError, match=r"process: option 'limit' is another one in __init__; give both"
    ):
        penstock.calculator(Torn)


def test_options_that_are_one_parameter_and_those_that_are_many_have_two_names():
    def every(number: int, *, options: AllOptions, limit: int = 2) -> int: ...

    with pytest.raises(
        InvalidArgumentError, match=r"has two attrs options classes with the name '.*\.AllOptions'; put"
    ):
        penstock.calculator("All")(every)


def test_an_enum_that_graph_files_cannot_give_is_refused_when_decorating():
    def flagged(number: int, *, mode: enum.Flag("Odd", {"A": 1})) -> int: ...

    with pytest.raises(InvalidArgumentError, match=r"enum 'Odd' is a Flag"):
        penstock.calculator(flagged)
