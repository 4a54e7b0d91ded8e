"""Options that are attrs classes become messages, and come back equal."""

import enum
from pathlib import PurePosixPath

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import Registry
from penstock.config import read_graph, to_text
from penstock.errors import InvalidArgumentError
from penstock.types import Options, attrs_name, message_class
from penstock_builder.option_messages import message_of


class Mode(enum.Enum):
    SOFT = "soft"
    HARD = "hard"


class Step(enum.IntEnum):
    ONE = 1
    FIVE = 5


@attrs.frozen(kw_only=True)
class Rect:
    x: int
    y: int = 0
    mode: Mode = Mode.HARD


@attrs.frozen(kw_only=True)
class BlurOptions:
    """How to blur."""

    radius: int = attrs.field(default=3, validator=attrs.validators.ge(1))
    sigma: float | None = None
    mode: Mode = Mode.SOFT
    step: Step = Step.ONE
    names: list[str] | tuple[str, ...] = ()
    area: Rect | None = None
    areas: tuple[Rect, ...] = ()
    size: tuple[int, int] = (640, 480)
    weights: dict[str, float] = attrs.field(factory=dict)
    places: dict[str, Rect] = attrs.field(factory=dict)
    data: bytes = b""
    on: bool = False
    spread: int = attrs.field(default=attrs.Factory(lambda self: 2 * self.radius, takes_self=True))


NAME = attrs_name(BlurOptions)


def instance_of(cls, message):
    """Return what a node gets whose graph packs this message."""
    config = read_graph("node { }", Registry())
    config.node[0].node_options.add().Pack(message)
    return Options(None, config.node[0].node_options).get(cls)


FLOATS = st.floats(allow_nan=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
WHOLES = st.integers(-(2**63), 2**63 - 1)
RECTS = st.builds(Rect, x=WHOLES, y=WHOLES, mode=st.sampled_from(Mode))
OPTIONS = st.builds(
    BlurOptions,
    radius=st.integers(1, 2**63 - 1),
    sigma=st.none() | FLOATS,
    mode=st.sampled_from(Mode),
    step=st.sampled_from(Step),
    names=st.lists(TEXTS, max_size=3),
    area=st.none() | RECTS,
    areas=st.lists(RECTS, max_size=2).map(tuple),
    size=st.tuples(WHOLES, WHOLES),
    weights=st.dictionaries(TEXTS, FLOATS, max_size=2),
    places=st.dictionaries(TEXTS, RECTS, max_size=2),
    data=st.binary(max_size=4),
    on=st.booleans(),
    spread=WHOLES,
)


@given(options=OPTIONS)
@settings(max_examples=40, deadline=None)
def test_an_instance_comes_back_equal_from_its_message_and_from_graph_text(options):
    registry = Registry()
    registry.add_option(NAME, None, None, BlurOptions)
    config = read_graph("node { }", registry)
    config.node[0].node_options.add().Pack(message_of(options, message_class(BlurOptions)()))
    read = read_graph(to_text(config, registry), registry)

    found = Options(None, read.node[0].node_options).get(BlurOptions)

    assert attrs.evolve(found, names=list(found.names)) == options


@pytest.mark.parametrize(
    ("options", "written"),
    [
        (BlurOptions(), []),
        (BlurOptions(radius=5, names=[], on=True), ["radius", "on"]),
        (BlurOptions(radius=5, spread=6), ["radius", "spread"]),
        (Rect(x=0), ["x"]),
        (Rect(x=0, mode=Mode.SOFT), ["x", "mode"]),
    ],
)
def test_what_has_its_default_is_not_written(options, written):
    message = message_of(options, message_class(type(options))())

    assert [field.name for field, _ in message.ListFields()] == written


def test_an_inner_instance_of_nothing_but_defaults_is_given_all_the_same():
    inner = attrs.make_class("Inner", {"size": attrs.field(type=int, default=1)})
    outer = attrs.make_class("Outer", {"inner": attrs.field(type=inner | None, default=None)})

    assert instance_of(outer, message_of(outer(inner()), message_class(outer)())) == outer(inner())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (BlurOptions(size=()), r"size is \(\), but must be tuple\[int, int\]"),
        (
            BlurOptions(size=None),
            r"size is None, which no message can say: the default is another",
        ),
        (BlurOptions(radius=2**63), r"radius is 9223372036854775808, but must be int of 64 bits"),
        (BlurOptions(radius=True), r"radius is True, but must be int"),
        (BlurOptions(mode="soft"), r"mode is 'soft', but must be Mode; its values are SOFT, HARD"),
        (BlurOptions(size=(1, 2, 3)), r"size is \(1, 2, 3\), but must be tuple\[int, int\]"),
        (
            BlurOptions(names=["\ud800"]),
            r"names is \['\\ud800'\], but must be list\[str\]; .* surrogates not allowed",
        ),
        (
            BlurOptions(weights={"\ud800": 1.0}),
            r"weights is .*, but must be dict\[str, float\]; 'utf-8' codec",
        ),
        (BlurOptions(names="abc"), r"names is 'abc', but must be list\[str\]"),
        (BlurOptions(weights={1: 2.0}), r"weights is {1: 2.0}, but must be dict\[str, float\]"),
        (BlurOptions(area=3), r"area is 3, but must be Rect"),
        (BlurOptions(areas=[{"z": 1}]), r"has no field 'z'; it has x, y, mode"),
    ],
)
def test_an_instance_that_no_message_can_hold_is_refused(options, words):
    with pytest.raises(InvalidArgumentError, match=words):
        message_of(options, message_class(BlurOptions)())


def test_what_a_converter_makes_of_a_default_is_the_default():
    made = attrs.make_class(
        "Converted",
        {
            "path": attrs.field(default="a/b", converter=PurePosixPath, metadata={"type": str}),
            "tags": attrs.field(default=(), converter=frozenset, metadata={"type": list[str]}),
            "radius": attrs.field(type=int, default=1),
        },
    )
    message = message_of(made(radius=5), message_class(made)())

    assert [field.name for field, _ in message.ListFields()] == ["radius"]
    assert instance_of(made, message) == made(radius=5)
    with pytest.raises(InvalidArgumentError, match=r"path is PurePosixPath\('c'\), but must be str"):
        message_of(made("c"), message_class(made)())


def test_an_instance_whose_default_cannot_be_made_or_compared_is_written():
    class Odd(list):
        def __eq__(self, other):
            raise RuntimeError("not now")

        __hash__ = None

    def fail():
        raise RuntimeError("no default today")

    made = attrs.make_class(
        "Failing",
        {"one": attrs.field(type=int, factory=fail), "odd": attrs.field(type=str, default="", eq=False)},
    )
    odd = attrs.make_class("Odd", {"values": attrs.field(type=list[int], default=(), converter=Odd)})

    assert instance_of(made, message_of(made(one=3), message_class(made)())) == made(one=3)
    assert list(message_of(odd([1]), message_class(odd)()).values) == [1]
