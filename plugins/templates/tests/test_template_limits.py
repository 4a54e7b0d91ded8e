"""Broken templates: every mistake is reported as a fault, and nothing else is raised."""

import pytest

from penstock import GraphTemplate
from penstock.errors import GraphConfigError, GraphParseError, InvalidArgumentError
from penstock_testing import testing_registry

LOOP = '% param n : 2 % % for (i : range(n)) % node { calculator: % "a" + i % } % end %'


def template(text):
    return GraphTemplate.from_text(text, testing_registry())


def message(change):
    made = template(LOOP).to_message()
    change(made.rule)
    return GraphTemplate.from_message(made, testing_registry())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rules: rules[0].arg.add(), "'param' has 3 arguments; it takes 1 or 2"),
        (lambda rules: rules[0].ClearField("arg"), "'param' has 0 arguments; it takes 1 or 2"),
        (lambda rules: rules[1].ClearField("arg"), "'for' has 0 arguments; it takes 2"),
        (lambda rules: rules[1].MergeFrom(type(rules[1])(op="if")), "'if' has 2 arguments; it takes 1"),
    ],
)
def test_rules_of_a_message_that_lack_arguments_are_faults(change, words):
    broken = message(change)

    with pytest.raises(GraphConfigError) as raised:
        broken.expand()

    assert words in str(raised.value)
    assert isinstance(broken.params, dict)


@pytest.mark.parametrize(
    ("rule", "column"), [('"\\ud800"', 22), ("dict('a': 1) . '\\ud800'", 37)]
)
def test_half_of_a_character_in_a_rule_is_reported_with_its_place(rule, column):
    with pytest.raises(GraphParseError, match="half of a character; write the character itself") as raised:
        template(f"node {{ calculator: % {rule} % }}")

    assert (raised.value.line, raised.value.column) == (1, column)


def test_an_argument_that_utf8_cannot_write_is_refused():
    for value in ("\ud800", ["\ud800"], {"\ud800": 1}):
        with pytest.raises(InvalidArgumentError, match=r"argument 'name'.* '\\ud800' cannot be written"):
            template("node { calculator: % name % }").with_arguments(name=value)


def test_a_path_of_a_rule_with_thousands_of_digits_is_refused():
    for path in (f"/{'1' * 5000}[0]", f"/1[{'1' * 5000}]"):
        message = template("node { calculator: % name % }").to_message()
        message.rule[0].path = path

        with pytest.raises(GraphParseError, match="this is no path; a path looks like"):
            GraphTemplate.from_message(message)


def test_a_number_of_thousands_of_digits_is_a_fault_of_its_field():
    with pytest.raises(GraphConfigError, match="'max_in_flight' cannot be a number of 5000 digits"):
        template('node { calculator: "A" max_in_flight: % n % }').expand(n="9" * 5000)


def test_arguments_that_never_end_are_refused():
    circle = []
    circle.append(circle)

    for use in (template("node { calculator: % size(x) % }").expand, GraphTemplate.options):
        with pytest.raises(InvalidArgumentError) as raised:
            use(x=circle)
        assert str(raised.value) == "argument 'x': lists and dicts are nested more than 64 deep"


def test_more_rules_around_one_field_than_can_be_carried_out_are_refused():
    def around(count):
        return "% if (1) % " * count + 'node { calculator: "A" }' + " % end %" * count

    assert template(around(64)).expand().node[0].calculator == "A"
    with pytest.raises(
        GraphParseError, match="1:705: more than 64 rules around one field; join conditions by"
    ):
        template(around(65))
    with pytest.raises(GraphParseError, match="1:705: more than 64 rules around one field"):
        template(around(2000))

    made = template(around(1)).to_message()
    made.rule.extend([made.rule[0]] * 2000)
    with pytest.raises(GraphParseError, match="rule 65: more than 64 rules around one field"):
        GraphTemplate.from_message(made, testing_registry())


@pytest.mark.parametrize(
    "text",
    [
        "% for (x : x) % node { calculator: % x % } % end %",
        '% for (x : list("A")) % node { calculator: % x % } % end % node { calculator: % size(x) % }',
    ],
)
def test_a_param_may_have_the_name_of_a_variable_elsewhere(text):
    graph = template(text)

    assert graph.params == {"x": True}
    assert [node.calculator for node in graph.expand(x=["A", "B"]).node][:1] == ["A"]


def test_a_variable_is_no_param():
    assert template(LOOP).params == {"n": False}
