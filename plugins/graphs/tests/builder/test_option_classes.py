"""Options that are attrs classes in graphs written in Python: by field, and as instances."""

import enum

import attrs
import pytest

from penstock import Calculator
from penstock.config import build_plan
from penstock.errors import InvalidArgumentError
from penstock.types import attrs_name
from penstock_builder import Graph
from penstock_testing.registry import testing_registry


class Mode(enum.Enum):
    SOFT = 1
    HARD = 2


@attrs.frozen
class Rect:
    x: int = 0
    y: int = 0


@attrs.frozen(kw_only=True)
class BlurOptions:
    radius: int = 3
    sigma: float | None = 1.5
    gain: float | None = None
    mode: Mode = Mode.SOFT
    area: Rect | None = None
    areas: list[Rect] = attrs.field(factory=list)
    names: tuple[str, ...] = ("a",)
    weights: dict[str, float] = attrs.field(factory=dict)


class Blur(Calculator):
    Options = BlurOptions

    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set_same_as(cc.inputs[0].set_any())


@pytest.fixture
def registry():
    made = testing_registry().child()
    made.add("calculator", "Blur", Blur)
    return made


@pytest.fixture
def options(registry):
    """Return what the node gets that is written with these arguments, after the text was read again."""

    def options(given=None, **fields):
        g = Graph(registry)
        g.output(g.node("Blur", g.input("in"), options=given, **fields).output)
        return read(g, registry)

    return options


def written(g):
    # not the messages themselves: protobuf in plain Python compares no packed ones that it does not know
    return g.to_config().SerializeToString(deterministic=True)


def read(g, registry):
    assert written(g) == written(Graph.from_config(g.to_text(), registry))
    return build_plan(g.to_text(), registry).nodes[0].options.get(BlurOptions)


def test_fields_are_given_as_python_has_them(options):
    found = options(
        radius=5,
        sigma=2,
        mode=Mode.HARD,
        area=Rect(1, 2),
        areas=[Rect(3), {"y": 4}],
        names=["b", "c"],
        weights={"w": 0.5},
    )

    assert found == BlurOptions(
        radius=5,
        sigma=2.0,
        mode=Mode.HARD,
        area=Rect(1, 2),
        areas=[Rect(3), Rect(y=4)],
        names=("b", "c"),
        weights={"w": 0.5},
    )


def test_an_enum_may_be_given_by_its_name(options):
    assert options(mode="HARD").mode is Mode.HARD


def test_an_instance_is_given_whole(options):
    given = BlurOptions(radius=9, mode=Mode.HARD, areas=[Rect(1)], names=("x",))

    assert options(given) == given
    assert options(given, radius=4) == attrs.evolve(given, radius=4)


def test_fields_join_those_that_are_set_and_none_takes_one_back(registry):
    g = Graph(registry)
    node = g.node("Blur", g.input("in"), radius=5, gain=2)
    g.output(node.output)
    node.set_options(mode=Mode.HARD)
    node.set_options(gain=None)

    assert read(g, registry) == BlurOptions(radius=5, mode=Mode.HARD)
    node.set_options(BlurOptions(radius=7))
    assert read(g, registry) == BlurOptions(radius=7)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"raduis": 1}, r"has no field 'raduis' \(did you mean 'radius'\?\)$"),
        ({"radius": "x"}, r"radius is 'x', but must be int$"),
        ({"radius": True}, r"radius is True, but must be int$"),
        ({"mode": "ROUGH"}, r"mode is 'ROUGH', but must be Mode; its values are SOFT, HARD$"),
        (
            {"sigma": None},
            r"sigma is None, which no message can say: the default is another value",
        ),
        (
            {"names": ()},
            r"names is \(\), which no message can say: the default is another value, or",
        ),
        ({"names": "abc"}, r"names is 'abc', but must be tuple\[str, \.\.\.\]$"),
        ({"area": {"z": 1}}, r"\.Rect has no field 'z'; it has x, y$"),
        ({"options": BlurOptions(radius="x")}, r"radius is 'x', but must be int$"),
        (
            {"options": BlurOptions},
            r"are no options message for the builder; pass a message such as XOptions",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_refused_on_its_line_and_changes_nothing(registry, fields, words):
    g = Graph(registry)
    node = g.node("Blur", g.input("in"), radius=5)
    before = written(g)

    with pytest.raises(InvalidArgumentError, match=r"^node 'Blur': .*" + words):
        node.set_options(**fields)
    assert written(g) == before


def test_the_calculators_own_class_is_meant_where_another_calculators_has_its_name(registry):
    def other():
        @attrs.frozen
        class BlurOptions:
            colour: str = ""

        return BlurOptions

    registry.add("calculator", "Other", type("Other", (Blur,), {"Options": other()}))
    g = Graph(registry)

    g.output(g.node("Blur", g.input("in"), radius=5).output)
    assert read(g, registry).radius == 5
    g = Graph(registry)
    g.output(g.node("Blur", g.input("in"), options=BlurOptions(radius=6)).output)
    assert build_plan(g, registry).nodes[0].options.get(BlurOptions).radius == 6


def test_an_instance_is_an_extension_where_its_class_has_a_number(registry):
    made = attrs.make_class("BuiltOptions", {"size": attrs.field(type=int, default=1)})
    registry.add_option(attrs_name(made), "penstock.CalculatorOptions", 500032001, made)
    lend = attrs.make_class("BuiltLendOptions", {"threads": attrs.field(type=int, default=1)})
    registry.add_option(attrs_name(lend), "penstock.MediaPipeOptions", 500032002, lend)
    registry.add("executor", "Lend", type("Lend", (), {"Options": lend}))
    g = Graph(registry)
    g.output(g.node("Blur", g.input("in"), options=made(size=4)).output)
    g.executor("one", "Lend", options=lend(threads=2))
    g.executor("two", "Lend", threads=3)

    text = " ".join(g.to_text().split())
    assert f"options {{ [{attrs_name(lend)}.ext] {{ threads: 2 }} }}" in text
    assert f"options {{ [{attrs_name(lend)}.ext] {{ threads: 3 }} }}" in text
    assert build_plan(text, registry).nodes[0].options.get(made).size == 4


def test_an_executor_refuses_an_instance_without_an_extension_number(registry):
    registry.add("executor", "Lend", type("Lend", (), {}))

    with pytest.raises(
        InvalidArgumentError, match=r"executor 'one': .*BlurOptions does not extend penstock.Media"
    ):
        Graph(registry).executor("one", "Lend", options=BlurOptions())
