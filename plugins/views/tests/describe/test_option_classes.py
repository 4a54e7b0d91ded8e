"""Options that are attrs classes, described: types, defaults, words, and where they are found."""

import enum
from typing import Annotated

import attrs
import pytest
from google.protobuf import text_format

from penstock import Calculator, Registry
from penstock.types import attrs_name, message_class
from penstock_views.describe import describe
from penstock_views.describe.docstrings import described_fields
from penstock_views.describe.option_classes import describe_class


class Mode(enum.Enum):
    SOFT = "soft"
    HARD = "hard"


@attrs.frozen
class Rect:
    """A rectangle."""

    x: int
    name: str | None = None


@attrs.frozen(kw_only=True)
class BlurOptions:
    """How to blur.

    Attributes:
        radius: half of the window, in pixels.
    """

    radius: int = 3
    needed: float
    sigma: float | None = None
    text: str = 'a "b"\n'
    data: bytes = b"\xff"
    on: bool = False
    mode: Mode = Mode.HARD
    area: Rect = Rect(1, "r")
    areas: tuple[Rect, ...] = (Rect(2), Rect(3))
    names: list[str] = attrs.field(factory=list)
    weights: dict[str, float] = attrs.field(factory=dict)
    places: dict[str, Rect] = attrs.field(factory=dict)
    factors: list[float] = attrs.field(factory=lambda: [0.5, 2])
    spread: int = attrs.field(default=attrs.Factory(lambda self: self.radius, takes_self=True))


@attrs.frozen
class Bare:
    x: int


@attrs.frozen(kw_only=True)
class Leaf:
    """What grows.

    Attributes:
        children: below this one,
            in order.
        name, alias, _size: how it is called.
    """

    children: list[int] = attrs.field(factory=list)
    name: str = ""
    alias: Annotated[str, "a short name"] = ""
    _size: int = 0


NAME = attrs_name(BlurOptions)


def test_fields_have_types_defaults_and_words():
    blur, rect = describe_class(BlurOptions, 7)

    assert (blur.name, blur.description, blur.extension) == (NAME, "How to blur.", 7)
    assert (rect.name, rect.description, rect.extension) == (f"{NAME}.Rect", "A rectangle.", None)
    assert [
        (one.name, one.number, one.type, one.repeated, one.default, one.required) for one in blur.fields
    ] == [
        ("radius", 1, "int64", False, "3", False),
        ("needed", 2, "double", False, None, True),
        ("sigma", 3, "double", False, None, False),
        ("text", 4, "string", False, '"a \\"b\\"\\n"', False),
        ("data", 5, "bytes", False, r'"\377"', False),
        ("on", 6, "bool", False, "false", False),
        ("mode", 7, "Mode", False, "HARD", False),
        ("area", 8, f"{NAME}.Rect", False, '{ x: 1, name: "r" }', False),
        ("areas", 9, f"{NAME}.Rect", True, "[{ x: 2 }, { x: 3 }]", False),
        ("names", 10, "string", True, None, False),
        ("weights", 11, "map<string, double>", False, None, False),
        ("places", 12, "map<string, Rect>", False, None, False),
        ("factors", 13, "double", True, "[0.5, 2]", False),
        ("spread", 14, "int64", False, None, False),
    ]
    assert blur.fields[0].description == "half of the window, in pixels."
    assert [(one.name, one.number) for one in blur.fields[6].choices] == [("SOFT", 0), ("HARD", 1)]


class Said(Calculator):
    Options = BlurOptions

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["IN"].set(int)


class InCode(Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.inputs["IN"].set(int)

    def open(self, cc):
        cc.options(BlurOptions)


@pytest.mark.parametrize("cls", [Said, InCode])
def test_the_options_of_a_calculator_are_described(cls):
    registry = Registry()
    registry.add("calculator", cls.__name__, cls)
    registry.add_option(NAME, None, None, BlurOptions)

    found = describe(cls.__name__, registry)

    assert [one.name for one in found.options] == [NAME, f"{NAME}.Rect"]
    assert found.options[0].extension is None
    assert [port.name for port in found.inputs] == ["IN"]
    assert found.as_dict()["options"][0]["fields"][1]["required"] is True


def test_undeclared_options_are_described_where_the_calculator_names_them():
    registry = Registry()
    registry.add("calculator", "Said", Said)
    registry.add("calculator", "InCode", InCode)

    assert [one.name for one in describe("Said", registry).options] == [NAME, f"{NAME}.Rect"]
    assert describe("InCode", registry).options == ()


def test_options_that_the_contract_asks_for_are_described():
    class Sized(Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs["IN"].set(int)
            cc.options(attrs_options)

    attrs_options = attrs.make_class("SizedOptions", {"size": attrs.field(type=int, default=1)})
    registry = Registry()
    registry.add("calculator", "Sized", Sized)

    assert [one.name for one in describe("Sized", registry).options] == [attrs_name(attrs_options)]


def test_options_of_another_kind_hide_nothing_else():
    registry = Registry()
    registry.add("calculator", "Said", type("Odd", (Said,), {"Options": complex}))

    found = describe("Said", registry)

    assert found.options == ()
    assert [port.name for port in found.inputs] == ["IN"]


def test_a_default_that_cannot_be_made_is_left_out():
    def fail():
        raise RuntimeError("no default today")

    made = attrs.make_class("Failing", {"one": attrs.field(type=int, factory=fail)})

    (described,) = describe_class(made)

    assert [(field.name, field.default, field.required) for field in described.fields] == [
        ("one", None, False)
    ]


@pytest.mark.parametrize(
    ("default", "written"),
    [
        (b"\xff\\\x00", r'"\377\\\000"'),
        ("a\rb\tc\x7f\u2028ü", '"a\\rb\\tc\\177\u2028ü"'),
    ],
)
def test_defaults_are_shown_as_graph_text_reads_them(default, written):
    made = attrs.make_class("Texts", {"one": attrs.field(type=type(default), default=default)})

    (described,) = describe_class(made)
    message = text_format.Parse(f"one: {written}", message_class(made)())

    assert described.fields[0].default == written
    assert message.one == default


def test_words_come_from_annotations_and_from_docstrings_of_bases():
    @attrs.frozen(kw_only=True)
    class Bush(Leaf):
        """One more.

        Attributes:
            leaves: how many.
        """

        leaves: int = 0

    (bush,) = describe_class(Bush)
    (bare,) = describe_class(Bare)

    assert bush.description == "One more."
    assert {one.name: one.description for one in bush.fields} == {
        "children": "below this one, in order.",
        "name": "how it is called.",
        "alias": "a short name",
        "size": "how it is called.",
        "leaves": "how many.",
    }
    assert (bare.description, bare.fields[0].description) == ("", "")


def test_a_docstring_ends_its_attributes_where_the_indentation_does():
    docstring = """Do.

    Args:
        one (int): first: of all.
        two: second.

    Raises:
        E: no.
    """

    assert described_fields(docstring) == {"one": "first: of all.", "two": "second."}
    assert described_fields(None) == {}
