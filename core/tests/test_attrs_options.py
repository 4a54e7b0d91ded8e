"""Attrs classes as options, read without protobuf: names, numbers, types, and what is refused."""

from __future__ import annotations

import collections.abc  # noqa: TC003  # read at run time
import enum
import subprocess
import sys
from typing import Annotated, Any

import attrs
import pytest

from penstock.attrs_options import (
    attrs_classes,
    attrs_enum_numbers,
    attrs_name,
    check_class,
    fields_of,
    is_attrs_options,
    options_classes,
)
from penstock.errors import InvalidArgumentError

PACKAGE = __name__.partition(".")[0]


class Mode(enum.Enum):
    SOFT = "soft"
    HARD = "hard"


@attrs.frozen
class Rect:
    x: int = 0


@attrs.frozen(kw_only=True)
class Tree:
    """A class that contains itself."""

    children: list[Tree] = attrs.field(factory=list)
    name: str = ""
    alias: Annotated[str, "a short name"] = ""
    #: Not in `__init__`.
    depth: int = attrs.field(default=0, init=False)


@attrs.frozen(kw_only=True)
class Every:
    flag: bool
    whole: int
    real: float
    text: str
    data: bytes
    mode: Mode
    rect: Rect
    several: list[int]
    many: tuple[Mode, ...]
    pair: tuple[float, float]
    sequence: collections.abc.Sequence[str]
    either: list[str] | tuple[str, ...]
    named: dict[str, Rect]
    mapped: collections.abc.Mapping[str, int]
    perhaps: int | None
    converted: object = attrs.field(metadata={"type": str}, converter=bytes.fromhex)
    _private: int = 0


def test_the_fields_have_python_names_types_and_numbers_in_order():
    fields = fields_of(Every)

    assert [(one.name, one.number) for one in fields][-2:] == [("converted", 16), ("private", 17)]
    assert [one.type_name for one in fields] == [
        "bool",
        "int",
        "float",
        "str",
        "bytes",
        "Mode",
        "Rect",
        "list[int]",
        "tuple[Mode, ...]",
        "tuple[float, float]",
        "tuple[str, ...]",
        "list[str]",
        "dict[str, Rect]",
        "dict[str, int]",
        "int",
        "str",
        "int",
    ]


def test_what_has_no_default_is_required_unless_it_may_be_none():
    assert [one.name for one in fields_of(Every) if not one.is_required] == ["perhaps", "private"]


def test_a_class_contains_itself_and_enums_once():
    assert list(attrs_classes(Tree)) == [Tree]
    assert list(attrs_classes(Every)) == [Every, Mode, Rect]


def test_a_subclass_has_the_fields_of_its_base():
    @attrs.frozen(kw_only=True)
    class Bush(Tree):
        leaves: int = 0

    assert {one.name: one.number for one in fields_of(Bush)} == {
        "children": 1,
        "name": 2,
        "alias": 3,
        "leaves": 4,
    }


def test_numbers_may_be_chosen():
    @attrs.frozen
    class Chosen:
        one: int = attrs.field(default=0, metadata={"number": 7})
        two: int = 0

    assert [one.number for one in fields_of(Chosen)] == [7, 2]


def test_the_full_name_is_that_of_the_package_and_of_the_class():
    class Blur:
        @attrs.frozen
        class Options:
            pass

    assert attrs_name(Rect) == f"{PACKAGE}.Rect"
    assert attrs_name(Blur.Options) == f"{PACKAGE}.Blur.Options"
    Blur.Options.__module__ = "penstock_blur.smoothing.gauss"
    assert attrs_name(Blur.Options) == "penstock_blur.Blur.Options"


def test_a_class_that_graph_files_cannot_name_is_refused():
    Größe = attrs.make_class("Größe", [])  # noqa: N806, PLC2401

    with pytest.raises(
        InvalidArgumentError, match=r"'.*\.Größe': graph files can name no such class; use letters"
    ):
        attrs_name(Größe)


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ({"A": "a", "B": "b"}, {"A": 0, "B": 1}),
        ({"A": 3, "B": -1, "C": 3}, {"A": 3, "B": -1, "C": 3}),
        ({"A": "a", "B": "b", "C": "a"}, {"A": 0, "B": 1, "C": 0}),
        ({"A": 1, "B": 2**31}, {"A": 0, "B": 1}),
        ({"A": False, "B": True}, {"A": 0, "B": 1}),
    ],
)
def test_the_numbers_of_an_enum_are_its_values_where_they_can_be(values, numbers):
    assert attrs_enum_numbers(enum.Enum("Made", values)) == numbers


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (enum.Enum("Made", {}), "'Made' has no value, which graph files cannot give"),
        (enum.Flag("Made", {"A": 1}), "'Made' is a Flag: use a list"),
        (enum.Enum("Made", {"Größe": 1}), "'Made' has the name 'Größe'"),
    ],
)
def test_an_enum_that_graph_files_cannot_give_is_refused(made, why):
    with pytest.raises(InvalidArgumentError, match=why):
        check_class(attrs.make_class("Holder", {"one": attrs.field(type=made)}))


@pytest.mark.parametrize(
    "annotation",
    [
        object,
        Any,
        list,
        list[list[int]],
        list[int | None],
        tuple[int, str],
        tuple[()],
        dict[int, str],
        dict[str, list[int]],
        int | str,
        list[int] | tuple[str, ...],
        int | list[int],
        None,
        type(None),
        set[int],
        complex,
        InvalidArgumentError,
    ],
    ids=str,
)
def test_a_type_that_graph_files_cannot_give_is_refused_with_class_field_and_type(annotation):
    made = attrs.make_class("Odd", {"size": attrs.field(type=annotation)})

    with pytest.raises(InvalidArgumentError) as caught:
        check_class(made)

    assert "options class 'Odd': field 'size' " in str(caught.value)
    assert "which graph files cannot give; possible are bool, int, float, str, bytes, an enum.Enum" in str(
        caught.value
    )


def test_a_fault_in_an_inner_class_names_that_class():
    inner = attrs.make_class("Inner", {"size": attrs.field(type=complex)})
    outer = attrs.make_class("Outer", {"inner": attrs.field(type=list[inner])})

    with pytest.raises(InvalidArgumentError, match=r"class 'Inner': field 'size' is 'complex', which graph"):
        check_class(outer)


def test_annotations_that_are_not_there_at_run_time_are_refused():
    @attrs.frozen
    class Local:
        size: NotThere  # noqa: F821

    with pytest.raises(
        InvalidArgumentError, match=r"name 'NotThere', which is not there at run time; import or"
    ):
        fields_of(Local)


def test_annotations_that_are_no_python_are_refused():
    @attrs.frozen
    class Odd:
        size: "list["  # noqa: F722  # what is refused

    with pytest.raises(InvalidArgumentError, match=r"its type hints cannot be evaluated"):
        fields_of(Odd)


@pytest.mark.parametrize("number", [0, -1, "1", True, 2**29, 19000, 19999])
def test_a_number_that_no_field_can_have_is_refused(number):
    made = attrs.make_class("Odd", {"size": attrs.field(type=int, metadata={"number": number})})

    with pytest.raises(
        InvalidArgumentError, match=rf"field 'size': option number {number!r} must be an int from"
    ):
        fields_of(made)


def test_two_fields_cannot_have_one_number():
    made = attrs.make_class(
        "Odd", {"one": attrs.field(type=int, metadata={"number": 2}), "two": attrs.field(type=int)}
    )

    with pytest.raises(
        InvalidArgumentError, match=r"field 'two' has number 2, as 'one' has; give one of the"
    ):
        fields_of(made)


def test_a_field_that_graph_files_cannot_name_is_refused():
    made = attrs.make_class("Odd", {"größe": attrs.field(type=int)})

    with pytest.raises(InvalidArgumentError, match=r"field 'größe': an option's name has letters a to z"):
        fields_of(made)


def test_a_component_says_which_options_it_takes():
    class Message:
        DESCRIPTOR = None

    assert options_classes(type("None_", (), {})) == ()
    assert options_classes(type("One", (), {"Options": Rect})) == (Rect,)
    assert options_classes(type("Two", (), {"Options": (Rect, Message)})) == (Rect, Message)


def test_a_component_cannot_take_two_classes_of_one_name():
    other = attrs.make_class("Rect", {})

    with pytest.raises(
        InvalidArgumentError, match=rf"^Two has two attrs options classes with the name '{PACKAGE}.Rect'"
    ):
        options_classes(type("Two", (), {"Options": (Rect, other)}))


@pytest.mark.parametrize("wrong", [int, Rect(), "Rect", (Rect, 7)], ids=str)
def test_options_of_another_kind_are_refused(wrong):
    with pytest.raises(
        InvalidArgumentError,
        match=r"^attrs options: Blur.Options is .*; it must be an attrs class, decorated",
    ):
        options_classes(type("Blur", (), {"Options": wrong}))


def test_only_attrs_classes_are_options_classes():
    assert is_attrs_options(Rect)
    assert not any(map(is_attrs_options, (Rect(), Mode, int, "Rect", None)))


def test_reading_a_class_needs_no_protobuf():
    code = (
        "import attrs, sys; from penstock import register_calculator, Calculator\n"
        "Blur = attrs.make_class('Blur', {'size': attrs.field(type=int, default=1)})\n"
        "register_calculator(type('B', (Calculator,), {'Options': Blur}))\n"
        "print([name for name in sys.modules if name.startswith('google')])"
    )

    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )
