"""Options that are attrs classes: graph files give them, calculators get instances."""

import enum
import sys

import attrs
import pytest

import penstock
from penstock.attrs_options import attrs_name
from penstock.config import build_plan, read_graph, to_binary, to_text
from penstock.config.options.message_class import extension_class, inner_message_classes, message_class
from penstock.config.options.message_values import instance_of
from penstock.config.options.options import NO_OPTIONS, Options
from penstock.config.subgraphs.subgraph import Subgraph
from penstock.errors import (
    GraphConfigError,
    GraphParseError,
    InvalidArgumentError,
    NameClashError,
    OptionError,
    PluginError,
)
from penstock.registry import Registry
from penstock_testing import testing_registry

NUMBERS = iter(range(500034001, 500034100))


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


def packed(fields):
    return f"node_options {{ [type.googleapis.com/{NAME}] {{\n {fields} }} }}"


def node(inside):
    return f'node {{ calculator: "Blur" input_stream: "in" output_stream: "out"\n  {inside} }}'


def whole(inside):
    return f'input_stream: "in"\n{node(inside)}'


def calculator(name="Blur", options=BlurOptions, ask=None, **more):
    """A calculator class with these options, which asks for `ask` in its contract."""

    class Asking:
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.outputs[0].set_any()
            if ask is not None:
                cls.asked = cc.options(ask)

    return type(name, (Asking,), more if options is None else {"Options": options, **more})


@pytest.fixture
def blur(registry):
    registry.add("calculator", "Blur", calculator())
    return registry


def given_by(text, registry, cls=BlurOptions):
    """Return the instance that the only node of a graph gets."""
    return build_plan(text, registry).nodes[0].options.get(cls)


def graph(fields):
    return whole(packed(fields))


# --- what a graph gives --------------------------------------------------------------------------


def test_a_graph_gives_fields_of_every_kind(blur):
    text = graph(
        "radius: 5 sigma: 0.5 mode: HARD step: FIVE names: ['a', 'b'] area { x: 1 } "
        'areas { x: 2 mode: SOFT } areas { x: 3 } size: [3, 4] weights { key: "w" value: 2 } '
        'places { key: "p" value { x: 4 } } data: "\\377" on: true spread: 8'
    )

    assert given_by(text, blur) == BlurOptions(
        radius=5,
        sigma=0.5,
        mode=Mode.HARD,
        step=Step.FIVE,
        names=["a", "b"],
        area=Rect(x=1),
        areas=(Rect(x=2, mode=Mode.SOFT), Rect(x=3)),
        size=(3, 4),
        weights={"w": 2.0},
        places={"p": Rect(x=4)},
        data=b"\xff",
        on=True,
        spread=8,
    )


def test_what_a_graph_leaves_out_has_the_defaults_of_the_class(blur):
    assert given_by(graph("radius: 7"), blur) == BlurOptions(radius=7)
    assert given_by(whole(""), blur) == BlurOptions()


def test_a_value_of_zero_is_given_all_the_same(blur):
    assert given_by(graph("spread: 0 sigma: 0"), blur) == BlurOptions(spread=0, sigma=0.0)


def test_values_are_of_the_types_that_the_class_says(blur):
    found = given_by(graph("sigma: 1 names: 'a' size: [1, 2]"), blur)

    assert (type(found.sigma), type(found.names), type(found.size)) == (float, list, tuple)


def test_an_instance_is_made_once_for_each_node(registry):
    made = []

    def note(instance):
        made.append(instance)

    counted = attrs.make_class(
        "Counted",
        {"size": attrs.field(type=int, default=0)},
        class_body={"__attrs_post_init__": note},
    )
    registry.add("calculator", "Blur", calculator(options=counted, ask=counted))
    two = whole("") + node("").replace('"in"', '"out"').replace('output_stream: "out"', 'output_stream: "o"')

    nodes = build_plan(two, registry).nodes

    assert len(made) == 2
    assert nodes[0].options.get(counted) is nodes[0].options.get(counted)
    assert nodes[0].options.get(counted) is not nodes[1].options.get(counted)
    assert len(made) == 2


def test_nodes_without_options_do_not_share_an_instance_of_the_defaults():
    mutable = attrs.make_class("Mutable", {"names": attrs.field(type=list[str], factory=list)})

    NO_OPTIONS.get(mutable).names.append("a")

    assert NO_OPTIONS.get(mutable).names == []
    assert not NO_OPTIONS.has(mutable)


def test_options_are_had_in_the_contract_too(registry):
    made = calculator(options=None, ask=BlurOptions)
    registry.add("calculator", "Blur", made)
    registry.add_option(NAME, None, None, BlurOptions)

    build_plan(graph("radius: 9"), registry)

    assert made.asked.radius == 9


def test_a_contract_and_a_call_tell_whether_the_graph_gives_options_of_a_class():
    seen = []

    class Asks(penstock.Calculator):
        Options = BlurOptions

        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.outputs[0].set_any()
            seen.append(("contract", cc.has_options(BlurOptions), cc.has_options(Rect)))
            with pytest.raises(InvalidArgumentError, match="no message class and no attrs class"):
                cc.has_options(str)

        def open(self, cc):
            seen.append(("call", cc.has_options(BlurOptions), cc.has_options(Rect)))

    registry = testing_registry()
    registry.add("calculator", "Blur", Asks)
    for text, is_given in ((graph(""), True), (whole(""), False)):
        seen.clear()
        run = penstock.CalculatorGraph(text, registry=registry)
        run.start_run()
        run.close_all_packet_sources()
        run.wait_until_done()

        assert set(seen) == {("contract", is_given, False), ("call", is_given, False)}


def test_options_that_are_given_in_code_answer_for_their_class():
    given_in_code = BlurOptions(radius=4)

    assert Options(given_in_code).get(BlurOptions) is given_in_code
    assert Options(given_in_code).has(BlurOptions)
    assert not Options(given_in_code).has(Rect)
    assert Options(given_in_code).get(message_class(BlurOptions)) == message_class(BlurOptions)()


def test_converters_run(registry):
    @attrs.frozen
    class Converted:
        data: bytes = attrs.field(metadata={"type": str}, converter=bytes.fromhex)

    registry.add("calculator", "Blur", calculator(options=Converted))
    text = whole(packed('data: "00ff"').replace(NAME, attrs_name(Converted)))

    assert given_by(text, registry, Converted).data == b"\x00\xff"


def test_a_private_field_is_written_without_its_underscore(registry):
    private = attrs.make_class("Private", {"_size": attrs.field(type=int, default=0)})
    registry.add("calculator", "Blur", calculator(options=private))
    text = whole(packed("size: 2").replace(NAME, attrs_name(private)))

    assert given_by(text, registry, private) == private(size=2)


def test_a_class_that_contains_itself_can_be_given(registry):
    @attrs.frozen
    class Tree:
        children: "list[Tree]" = attrs.field(factory=list)

    Tree.__annotations__["children"] = list[Tree]
    registry.add("calculator", "Blur", calculator(options=Tree))
    text = whole(packed("children { children { } } children { }").replace(NAME, attrs_name(Tree)))

    assert given_by(text, registry, Tree) == Tree([Tree([Tree()]), Tree()])


def test_enums_may_have_values_of_the_same_name(registry):
    class Shade(enum.Enum):
        HARD = 1
        Shade = 2

    both = attrs.make_class(
        "Both",
        {
            "mode": attrs.field(type=Mode, default=Mode.SOFT),
            "shade": attrs.field(type=Shade, default=Shade.Shade),
            "HARD": attrs.field(type=int, default=0),
            "ModeEnum": attrs.field(type=int, default=0),
        },
    )
    registry.add("calculator", "Blur", calculator(options=both))
    text = whole(packed("mode: HARD shade: HARD HARD: 3").replace(NAME, attrs_name(both)))

    assert given_by(text, registry, both) == both(Mode.HARD, Shade.HARD, 3)


def test_names_of_an_enum_for_the_same_value_are_one_value(registry):
    alias = enum.Enum("Alias", {"ONE": 1, "UNO": 1})
    made = attrs.make_class("Aliased", {"one": attrs.field(type=alias)})
    registry.add("calculator", "Blur", calculator(options=made))
    text = whole(packed("one: UNO").replace(NAME, attrs_name(made)))

    assert given_by(text, registry, made).one is alias.ONE
    assert message_class(made).DESCRIPTOR.fields_by_name["one"].enum_type.GetOptions().allow_alias


def test_two_inner_classes_of_one_name_are_two():
    one = attrs.make_class("Inner", {"a": attrs.field(type=int, default=0)})
    other = attrs.make_class("Inner", {"b": attrs.field(type=int, default=0)})
    outer = attrs.make_class("Outer", {"one": attrs.field(type=one), "other": attrs.field(type=other)})

    assert [name.rpartition(".")[2] for name in inner_message_classes(outer)] == ["Outer", "Inner", "Inner_"]
    message = message_class(outer)()
    message.other.b = 2
    message.one.a = 1
    assert instance_of(outer, message) == outer(one(1), other(2))


# --- faults --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "place", "words"),
    [
        ("radius: 0", (4, 2), "radius is 0: ValueError: 'radius' must be >= 1: 0"),
        ("area { y: 1 }", (4, 2), "area.x is missing, and has no default; add x (int)"),
        ("areas { x: 1 } areas { y: 1 }", (4, 17), "areas[1].x is missing, and has no default; add x (int)"),
        ("size: [1, 2, 3]", (4, 9), "size has 3 values, but must have 2"),
        ("places { key: 'a' value { } }", (4, 2), "places.x is missing, and has no default; add x (int)"),
    ],
)
def test_what_the_class_refuses_is_a_fault_at_its_field(blur, fields, place, words):
    with pytest.raises(GraphConfigError) as caught:
        build_plan(graph(fields), blur)

    (fault,) = caught.value.faults
    line, column = place
    assert str(fault).endswith(f": node 'Blur': options {NAME}: {words}")
    assert str(fault).startswith(f"line {line}, column {column}: ")
    assert (fault.code.name, fault.node) == ("INVALID_ARGUMENT", "Blur")


def test_all_mistakes_in_the_options_of_one_node_are_reported(blur):
    with pytest.raises(GraphConfigError) as caught:
        build_plan(graph("area { }\n places { key: 'a' value { } }\n size: [1]"), blur)

    assert [str(fault).split("BlurOptions: ")[1].split()[0] for fault in caught.value.faults] == [
        "area.x",
        "places.x",
        "size",
    ]
    assert [str(fault).split(", ")[0] for fault in caught.value.faults] == ["line 4", "line 5", "line 6"]


def test_a_required_field_that_no_options_give_is_a_fault_of_the_node(registry):
    needed = attrs.make_class("Needed", {"size": attrs.field(type=tuple[int, int])})
    registry.add("calculator", "Blur", calculator(options=needed))

    with pytest.raises(
        GraphConfigError, match=r"line 2, column 1: node 'Blur': options .*\.Needed: size is missing"
    ):
        build_plan(whole(""), registry)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ("raduis: 3", f"line 4, column 2: {NAME} has no field 'raduis' (did you mean 'radius'?)"),
        ("area { xx: 3 }", f"line 4, column 9: {NAME}.Rect has no field 'xx' (did you mean 'x'?)"),
        ('radius: "a"', 'line 4, column 10: couldn\'t parse integer: "a"'),
        (
            "mode: ROUGH",
            f"line 4, column 8: enum type {NAME}.ModeEnum.Mode has no value 'ROUGH'; it has SOFT, HARD",
        ),
        (
            "mode: HART",
            f"line 4, column 8: enum type {NAME}.ModeEnum.Mode has no value 'HART' (did you mean 'HARD'?)",
        ),
        ('mode: "HARD"', 'line 4, column 8: "HARD" is a value of an enum, which has no quotes; write HARD'),
        ("mode: 'HARD'", "line 4, column 8: 'HARD' is a value of an enum, which has no quotes; write HARD"),
        (
            'mode: "ROUGH"',
            f"line 4, column 8: enum type {NAME}.ModeEnum.Mode has no value 'ROUGH'; it has SOFT, HARD",
        ),
    ],
)
def test_what_the_message_refuses_is_said_while_reading(blur, fields, words):
    with pytest.raises(GraphParseError) as caught:
        build_plan(graph(fields), blur)

    assert str(caught.value).startswith(words)


def test_a_refusal_of_the_contract_has_the_place_of_its_field_too(registry):
    registry.add("calculator", "Blur", calculator(options=None, ask=BlurOptions))
    registry.add_option(NAME, None, None, BlurOptions)

    with pytest.raises(
        GraphConfigError, match=r"line 4, column 8: node 'Blur': get_contract\(\) failed: options "
    ):
        build_plan(graph("on: 0 radius: 0"), registry)


def test_all_faults_of_a_graph_are_reported_at_once(blur):
    text = graph("radius: 0") + 'node { calculator: "Absent" }'

    with pytest.raises(GraphConfigError) as caught:
        build_plan(text, blur)

    assert len(caught.value.faults) == 2


def test_a_converter_that_refuses_is_named(registry):
    @attrs.frozen
    class Converted:
        first: int = 0
        data: bytes = attrs.field(default="00", metadata={"type": str}, converter=bytes.fromhex)

    message = message_class(Converted)()
    message.data = "no hex"

    with pytest.raises(
        OptionError, match=r"Converted: data is 'no hex': ValueError: non-hexadecimal"
    ) as caught:
        instance_of(Converted, message)
    assert caught.value.path == (("data", 0),)


def test_a_validator_sees_the_other_fields_when_the_culprit_is_looked_for():
    def below(instance, _, value):
        if value >= instance.upper:
            raise ValueError

    ranged = attrs.make_class(
        "Ranged",
        {
            "upper": attrs.field(type=int, default=2, validator=attrs.validators.instance_of(int)),
            "lower": attrs.field(type=int, default=2, validator=below),
        },
    )

    with pytest.raises(OptionError, match=r"Ranged: lower is its default: ValueError$"):
        instance_of(ranged)


def test_a_class_that_refuses_as_a_whole_names_no_field():
    def refuse(_):
        raise RuntimeError("never")

    whole = attrs.make_class("Whole", {}, class_body={"__attrs_post_init__": refuse})

    with pytest.raises(OptionError, match=r"Whole: refused by Whole: RuntimeError: never$") as caught:
        instance_of(whole)
    assert caught.value.path == ()


def test_options_of_a_calculator_that_are_no_options_are_a_fault(registry):
    registry.add("calculator", "Blur", calculator(options=complex))

    with pytest.raises(
        GraphConfigError,
        match=r"line 2, column 8: node 'Blur': attrs options: Blur.Options is <class 'complex'>",
    ):
        build_plan(whole(""), registry)


def test_bytes_that_are_no_such_message_are_a_fault(blur):
    config = read_graph(graph("radius: 3"), blur)
    config.node[0].node_options[0].value = b"\xff"

    with pytest.raises(
        GraphConfigError, match=rf"node 'Blur': options {NAME}: its 1 bytes are no such message"
    ):
        build_plan(config, blur)


def test_text_that_is_no_utf8_is_a_fault(blur):
    config = read_graph(graph("names: 'one' names: 'two'"), blur)
    config.node[0].node_options[0].value = config.node[0].node_options[0].value.replace(b"two", b"tw\xff")

    field = rf"({NAME}\.names|names\[1\])"  # protobuf in plain Python says only which field
    with pytest.raises(GraphConfigError, match=rf"node 'Blur': options {NAME}: {field} is no UTF-8"):
        build_plan(config, blur)


# --- how a name is found -------------------------------------------------------------------------


def test_a_name_is_found_at_the_calculators_of_the_graph_and_no_others_are_imported(
    registry, tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("lazy_blur", "lazy_other"):
        monkeypatch.delitem(sys.modules, name, raising=False)
        (tmp_path / f"{name}.py").write_text(
            "import attrs\n"
            "@attrs.frozen\nclass LazyOptions:\n    size: int = 1\n"
            "class Lazy:\n    Options = LazyOptions\n    @classmethod\n    def get_contract(cls, cc):\n"
            "        [port.set_any() for port in (*cc.inputs, *cc.outputs)]\n",
            encoding="utf-8",
        )
        registry.add("calculator", f"x.{name}", f"{name}:Lazy")
    text = whole(packed("size: 2").replace(NAME, "lazy_blur.LazyOptions")).replace("Blur", "lazy_blur")

    plan = build_plan(f'package: "x" {text}', registry)

    assert plan.nodes[0].options.get(plan.nodes[0].factory.Options).size == 2
    assert "lazy_other" not in sys.modules


def test_options_that_a_plugin_declares_are_found_without_their_calculator(registry, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "declared_blur", raising=False)
    (tmp_path / "declared_blur.py").write_text(
        "import attrs\n@attrs.frozen\nclass BlurOptions:\n    size: int = 1\n", encoding="utf-8"
    )
    registry.add_option("declared_blur.BlurOptions", None, None, "declared_blur:BlurOptions", plugin="p")
    text = f"node {{ {packed('size: 2').replace(NAME, 'declared_blur.BlurOptions')} }}"

    read_graph('node { calculator: "Blur" }', registry)
    assert "declared_blur" not in sys.modules
    assert "size: 2" in to_text(read_graph(text, registry), registry)


def test_a_declared_class_of_another_name_is_the_plugins_failure(registry):
    registry.add_option("penstock.BlurOptions", None, None, BlurOptions, plugin="p", distribution="d")

    with pytest.raises(
        PluginError,
        match=rf"^line 1, column \d+: option 'penstock.BlurOptions': .* gives the message '{NAME}'",
    ):
        read_graph("node { node_options { [type.googleapis.com/penstock.BlurOptions] { } } }", registry)


def test_a_declared_class_that_cannot_be_options_is_the_plugins_failure(registry):
    odd = attrs.make_class("Odd", {"size": attrs.field(type=complex)})
    registry.add_option(attrs_name(odd), None, None, odd)

    with pytest.raises(PluginError, match=r"options class 'Odd': field 'size' is 'complex'"):
        read_graph(f"node {{ node_options {{ [type.googleapis.com/{attrs_name(odd)}] {{ }} }} }}", registry)


def test_a_class_that_is_defined_again_replaces_the_former_one(registry):
    for type_, written, value in ((int, "1", 1), (str, '"a"', "a"), (int, "2", 2)):
        again = attrs.make_class("AgainOptions", {"size": attrs.field(type=type_)})
        registry.add("calculator", "Blur", calculator(options=again))
        text = whole(packed(f"size: {written}").replace(NAME, attrs_name(again)))

        plan = build_plan(text, registry)

        assert plan.nodes[0].options.get(again).size == value
        assert f"size: {written}" in to_text(plan.config, plan.option_types)


def test_a_calculator_of_the_graph_counts_before_those_of_others(registry):
    def other():
        @attrs.frozen
        class BlurOptions:
            colour: str = ""

        return BlurOptions

    registry.add("calculator", "Other", calculator("Other", options=other()))
    registry.add("calculator", "Blur", calculator())

    assert given_by(graph("radius: 2"), registry).radius == 2
    text = graph("").replace('"Blur"', '"Other"').replace("radius", "colour")
    assert build_plan(text, registry)


def test_two_classes_of_one_name_in_one_graph_are_a_clash(blur):
    def other():
        @attrs.frozen
        class BlurOptions:
            colour: str = ""

        return BlurOptions

    blur.add("calculator", "Other", calculator("Other", options=other()))

    with pytest.raises(
        NameClashError,
        match=rf"^line 3, column 18: options '{NAME}' are claimed by the classes .* and .*; rename one",
    ):
        build_plan(graph("radius: 2") + 'node { calculator: "Other" }', blur)


def test_an_unknown_name_is_compared_with_those_of_calculators(blur):
    with pytest.raises(GraphParseError, match=rf"/{NAME[:-1]}' is known \(did you mean '{NAME}'"):
        read_graph(graph("").replace(NAME, NAME[:-1]), blur)


def test_a_message_class_may_be_named_by_the_calculator_too(registry, make_options):
    made = make_options("SaidOptions", next(NUMBERS), known=False)
    registry.add("calculator", "Blur", calculator(options=made.load()))
    text = whole(packed("size: 3").replace(NAME, "penstock.SaidOptions"))

    assert given_by(text, registry, made.load()).size == 3


# --- extensions ----------------------------------------------------------------------------------


def extended(registry, name, cls=None):
    made = cls or attrs.make_class(name, {"size": attrs.field(type=int, default=1)})
    number = next(NUMBERS)
    registry.add_option(attrs_name(made), "penstock.CalculatorOptions", number, made)
    registry.add("calculator", "Blur", calculator(options=made))
    return made, number


def test_a_class_with_a_number_is_an_extension_and_can_be_packed(registry):
    made, number = extended(registry, "ExtOptions")
    name = attrs_name(made)
    as_extension = whole(f"options {{ [{name}.ext] {{ size: 2 }} }}")

    assert given_by(as_extension, registry, made).size == 2
    assert given_by(whole(packed("size: 3").replace(NAME, name)), registry, made).size == 3
    both = whole(packed("size: 3").replace(NAME, name) + f"options {{ [{name}.ext] {{ size: 2 }} }}")
    assert given_by(both, registry, made).size == 2
    assert message_class(made).DESCRIPTOR.full_name == name
    extension = extension_class(made, "penstock.CalculatorOptions", number)
    assert [field.number for field in extension.DESCRIPTOR.extensions] == [number]


def test_an_extension_in_a_binary_graph_is_found_by_its_number(registry):
    made, _ = extended(registry, "BinaryExtOptions")
    config = read_graph(whole(f"options {{ [{attrs_name(made)}.ext] {{ size: 2 }} }}"), registry)
    again = Registry()
    again.add_option(
        *next((one.full_name, one.extendee, one.number, made) for one in registry.options().values())
    )

    found = read_graph(type(config).FromString(config.SerializeToString()), again)

    assert found == config


def test_a_fault_in_an_extension_has_its_place(registry):
    checked = attrs.make_class(
        "CheckedExtOptions", {"size": attrs.field(type=int, default=1, validator=attrs.validators.ge(1))}
    )
    extended(registry, "", checked)

    with pytest.raises(
        GraphConfigError, match=r"^.*\n.*line 3, column 4\d: node 'Blur': options .*: size is 0"
    ):
        build_plan(whole(f"options {{ [{attrs_name(checked)}.ext] {{ size: 0 }} }}"), registry)


def test_an_extension_that_is_defined_again_says_to_restart(registry):
    extended(registry, "FixedOptions")[0]
    read = "node {{ options {{ [{}.ext] {{ }} }} }}"
    made, number = extended(registry, "MovedOptions")
    read_graph(read.format(attrs_name(made)), registry)
    moved = attrs.make_class("MovedOptions", {"other": attrs.field(type=int, default=1)})
    other = Registry()
    other.add_option(attrs_name(moved), "penstock.CalculatorOptions", number, moved)

    with pytest.raises(
        PluginError, match=r"MovedOptions': protobuf takes no such message class: .*restart Python"
    ):
        read_graph(read.format(attrs_name(moved)), other)


def test_an_extension_needs_a_number_of_its_own(registry):
    taken, number = extended(registry, "TakenOptions")
    extension_class(taken, "penstock.CalculatorOptions", number)
    made = attrs.make_class("LateOptions", {})

    with pytest.raises(
        InvalidArgumentError, match=rf"number {number} of penstock.CalculatorOptions belongs to '.*TakenO"
    ):
        extension_class(made, "penstock.CalculatorOptions", number)


def test_what_is_extended_must_be_there():
    made = attrs.make_class("LostOptions", {})

    with pytest.raises(
        InvalidArgumentError, match=r"there is no message 'penstock.Absent' to extend; extend"
    ):
        extension_class(made, "penstock.Absent", 20001)


# --- other forms of graphs -----------------------------------------------------------------------


def test_text_and_bytes_hold_the_same_graph(blur, tmp_path):
    text = graph("radius: 5 mode: HARD area { x: 1 } weights { key: 'w' value: 2 }")
    config = read_graph(text, blur)
    (tmp_path / "g.pbtxt").write_text(to_text(config, blur), encoding="utf-8")
    (tmp_path / "g.binarypb").write_bytes(to_binary(config))

    for name in ("g.pbtxt", "g.binarypb"):
        assert to_binary(read_graph(tmp_path / name, blur)) == to_binary(config)
        assert given_by(tmp_path / name, blur) == given_by(text, blur)
    assert "radius: 5" in to_text(config, blur)


def test_unknown_options_are_bytes_in_text(blur):
    config = read_graph(graph("radius: 5"), blur)

    assert to_binary(read_graph(to_text(config), blur)) == to_binary(config)


# --- subgraphs -----------------------------------------------------------------------------------


def test_a_computed_subgraph_gets_an_instance_and_its_fault_a_place(blur):
    class Chain(Subgraph):
        Options = BlurOptions

        @classmethod
        def get_config(cls, sc):
            assert sc.has_options(BlurOptions)
            return whole(packed(f"spread: {sc.options(BlurOptions).radius}")) + ' output_stream: "out"'

    blur.add("subgraph", "Chain", Chain)
    text = graph("radius: 2").replace('"Blur"', '"Chain"')

    assert given_by(text, blur).spread == 2
    with pytest.raises(
        GraphConfigError,
        match=rf"line 4, column 2: node 'Chain': get_config\(\) failed: options {NAME}: radius is 0",
    ):
        build_plan(text.replace("radius: 2", "radius: 0"), blur)


def test_a_wrong_field_is_reported_where_one_class_name_begins_with_another(registry):
    deep = attrs.make_class("Deep", {"far": attrs.field(type=int, default=1)})
    inner = attrs.make_class("Inner", {"deep": attrs.field(type=deep | None, default=None)})
    outer = attrs.make_class("Outer", {"size": attrs.field(type=int, default=1)})
    outer.__module__ = inner.__module__ = "nesting"
    inner.__qualname__ = "Outer.Inner"
    registry.add("calculator", "Blur", calculator(options=(outer, inner)))
    url = "type.googleapis.com/nesting.Outer"
    both = f"""node_options {{ [{url}] {{ size: 2 }} }}
      node_options {{ [{url}.Inner] {{ deep {{ far: 3 }} }} }}"""

    assert given_by(whole(both), registry, outer).size == 2
    assert given_by(whole(both), registry, inner).deep.far == 3
    with pytest.raises(
        GraphParseError,
        match=r"line 4, column \d+: nesting.Outer.Inner.Deep has no field 'fare' \(did you mean 'far'\?\)",
    ):
        read_graph(whole(both.replace("far:", "fare:")), registry)
