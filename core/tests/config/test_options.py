import pytest

from penstock.config import read_graph
from penstock.config.options.options import NO_OPTIONS, Options
from penstock.config.places import Places
from penstock.config.reading.graph_specs import graph_spec
from penstock.errors import InvalidArgumentError


def node_options(text, registry):
    message = read_graph(f"node {{ {text} }}", registry)
    return graph_spec(message, Places()).nodes[0].options


EXTENSION = "options { [penstock.%s.ext] { size: 1 } }"
PACKED = "node_options { [type.googleapis.com/penstock.%s] { size: 2 } }"


def test_an_extension_is_found(registry, make_options):
    made = make_options("ExtensionOptions", 500020101)
    options = node_options(EXTENSION % "ExtensionOptions", registry)

    assert options.get(made.load()).size == 1
    assert options.has(made.load())


def test_a_packed_message_is_found_and_an_extension_of_its_type_wins(registry, make_options):
    made = make_options("PackedOptions", 500020102)

    assert node_options(PACKED % "PackedOptions", registry).get(made.load()).size == 2
    both = node_options(PACKED % "PackedOptions" + EXTENSION % "PackedOptions", registry)
    assert both.get(made.load()).size == 1


def test_where_the_graph_gives_none_the_defaults_come(registry, make_options):
    made = make_options("AbsentOptions", 500020103)
    other = make_options("PresentOptions", 500020104)
    options = node_options(EXTENSION % "PresentOptions" + PACKED % "PresentOptions", registry)

    assert options.get(made.load()) == made.load()()
    assert not options.has(made.load())
    assert options.has(other.load())
    assert not NO_OPTIONS.has(made.load())


def test_every_answer_is_a_copy_of_its_own(registry, make_options):
    made = make_options("CopiedOptions", 500020105)
    options = node_options(EXTENSION % "CopiedOptions", registry)

    options.get(made.load()).size = 99

    assert options.get(made.load()).size == 1


def test_a_message_given_in_code_answers_for_its_own_type(registry, make_options):
    made = make_options("DirectOptions", 500020106)
    other = make_options("OtherDirectOptions", 500020107)

    options = Options(made.load()(size=5))

    assert options.get(made.load()).size == 5
    assert not options.has(other.load())


@pytest.mark.parametrize("wrong", [int, "Options", None, []])
def test_what_is_no_message_class_is_refused(wrong):
    with pytest.raises(
        InvalidArgumentError,
        match=r"^options are found by class, but .* is no message class and no attrs class;",
    ):
        NO_OPTIONS.get(wrong)
