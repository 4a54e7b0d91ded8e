"""Broken templates: every mistake is reported as a fault, and nothing else is raised."""

import subprocess
import sys

import pytest

import penstock
from penstock import limits
from penstock.config import build_plan
from penstock.errors import (
    GraphConfigError,
    GraphParseError,
    InvalidArgumentError,
    PenstockError,
    ResourceExhaustedError,
    StatusCode,
)
from penstock.packs import default_registry
from penstock_templates import GraphTemplate
from penstock_testing import testing_registry

pytestmark = pytest.mark.heavy

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
        (lambda rules: rules[0].arg.add(), "the template's rule 'param' has 3 arguments; it takes 1 or 2"),
        (
            lambda rules: rules[0].ClearField("arg"),
            "the template's rule 'param' has 0 arguments; it takes 1 or 2",
        ),
        (lambda rules: rules[1].ClearField("arg"), "the template's rule 'for' has 0 arguments; it takes 2"),
        (
            lambda rules: rules[1].MergeFrom(type(rules[1])(op="if")),
            "the template's rule 'if' has 2 arguments; it takes 1",
        ),
    ],
)
def test_rules_of_a_message_that_lack_arguments_are_faults(change, words):
    broken = message(change)

    with pytest.raises(GraphConfigError) as raised:
        broken.expand()

    assert words in str(raised.value)
    assert isinstance(broken.params, dict)


@pytest.mark.parametrize(("rule", "column"), [('"\\ud800"', 22), ("dict('a': 1) . '\\ud800'", 37)])
def test_half_of_a_character_in_a_rule_is_reported_with_its_place(rule, column):
    with pytest.raises(GraphParseError, match="half of a character; write the character itself") as raised:
        template(f"node {{ calculator: % {rule} % }}")

    assert (raised.value.line, raised.value.column) == (1, column)


def test_an_argument_that_utf8_cannot_write_is_refused():
    for value in ("\ud800", ["\ud800"], {"\ud800": 1}):
        with pytest.raises(InvalidArgumentError, match=r"argument 'name'.* '\\ud800' is half of"):
            template("node { calculator: % name % }").with_arguments(name=value)


def test_a_path_of_a_rule_with_thousands_of_digits_is_refused():
    for path in (f"/{'1' * 5000}[0]", f"/1[{'1' * 5000}]"):
        message = template("node { calculator: % name % }").to_message()
        message.rule[0].path = path

        with pytest.raises(GraphParseError, match="this is no path; a path looks like"):
            GraphTemplate.from_message(message)


def test_a_number_of_thousands_of_digits_is_a_fault_of_its_field():
    with pytest.raises(
        GraphConfigError, match="'max_in_flight' of the template cannot be a number of 5000 digits"
    ):
        template('node { calculator: "A" max_in_flight: % n % }').expand(n="9" * 5000)


def test_arguments_that_never_end_are_refused():
    circle = []
    circle.append(circle)

    for use in (template("node { calculator: % size(x) % }").expand, GraphTemplate.options):
        with pytest.raises(ResourceExhaustedError) as raised:
            use(x=circle)
        assert str(raised.value).startswith("argument 'x': lists and dicts are nested 65 deep, more than the")


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
    with pytest.raises(GraphParseError, match="rule 65: its path has more than 64 rules of the template"):
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


# --- the limits of `penstock.limits` ----------------------------------------------------------------

NODE = 'node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }'


def loops(count, inside):
    begin = "".join(f"% for (i{number} : range(10000)) % " for number in range(count))
    return f"{begin}{inside}{' % end %' * count}"


def doubled(first, again):
    """Return params of which each is made of the one before, twice."""
    more = "".join(f"% param p{i + 1} : {again.format(i)} % " for i in range(30))
    return f"% param p0 : {first} % {more}"


OPTIONS = "node_options { [type.googleapis.com/penstock.TemplateSubgraphOptions] { dict: % d % } }"
HOSTILE = [
    ("steps", loops(3, NODE)),
    ("steps", loops(2, NODE)),
    ("steps", f'node {{ calculator: "P" {loops(3, "input_stream: % i0 + i1 + i2 %")} }}'),
    ("steps", f"% param p : list({', '.join(['range(100000)'] * 100)}) % {NODE}"),
    ("steps", f"% for (i : range(1e300)) % {NODE} % end %"),
    ("steps", doubled("1", "list(p{0}, p{0})") + f"% param d : dict('x': p30) % node {{ {OPTIONS} }}"),
    ("text", doubled("'0123456789'", "concat(p{0}, p{0})") + "node { calculator: % p30 % }"),
    ("text", doubled("'a'", "p{0} + p{0}") + "node { calculator: % p30 % }"),
    ("text", loops(1, f'node {{ calculator: "P" name: % i0 % executor: "{"x" * 100_000}" }}')),
    ("depth", doubled("1", "list(list(list(p{0})))") + f"% param d : dict('x': p30) % node {{ {OPTIONS} }}"),
]
RUN = """
import resource, sys
from penstock import CalculatorGraph
from penstock.errors import ResourceExhaustedError

text = sys.stdin.read()
CalculatorGraph('% if (0) % node { calculator: "P" } % end %')  # imports what a template needs
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 256 * 2**20,) * 2)
before = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
try:
    CalculatorGraph(text)
except ResourceExhaustedError as error:
    print(error.limit, error.code.name, sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - before, error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
@pytest.mark.parametrize(("limit", "text"), HOSTILE)
def test_a_short_template_ends_with_an_error_and_not_with_the_machine(limit, text):
    done = subprocess.run(
        [sys.executable, "-c", RUN], input=text, capture_output=True, text=True, check=False, timeout=60
    )

    assert done.stderr == ""
    found, code, seconds, *words = done.stdout.split()
    assert (found, code) == (limit, "RESOURCE_EXHAUSTED")
    assert float(seconds) < 10  # a moment on a quiet machine; what has no limit is killed after 20
    assert f"more than the limit '{limit}'" in " ".join(words)
    assert words[0] == "line"  # the place of the rule


def test_a_template_makes_no_more_nodes_than_a_graph_may_have():
    text = (
        'input_stream: "a" % for (i : range(10001)) % node { calculator: "Nobody" input_stream: "a" } % end %'
    )

    with pytest.raises(
        ResourceExhaustedError, match="that this template makes has 10001 nodes, more than the limit"
    ):
        penstock.CalculatorGraph(text)


def test_the_templates_of_one_graph_are_counted_together():
    inner = "% for (i : range(300)) % node { calculator: 'P' } % end %"

    def load(uses):
        with limits.override(steps=10_000), pytest.raises(PenstockError) as raised:
            build_plan("node { calculator: 'Inner' } " * uses, default_registry(), subgraphs={"Inner": inner})
        return raised.value.code

    assert load(1) is StatusCode.NOT_FOUND  # there is no calculator "P"
    assert load(4) is StatusCode.RESOURCE_EXHAUSTED


def test_each_graph_is_counted_for_itself():
    made = template("% for (i : range(300)) % node { calculator: 'P' } % end %")

    with limits.override(steps=10_000):
        for _ in range(4):
            assert len(made.expand().node) == 300


def test_mistakes_are_told_before_the_limit_that_they_run_into():
    with limits.override(steps=1000), pytest.raises(GraphConfigError, match="takes whole numbers") as raised:
        template(
            "% for (i : range(900)) % node { calculator: 'P' max_in_flight: % i + 0.5 % } % end %"
        ).expand()

    assert raised.value.code is StatusCode.INVALID_ARGUMENT


def test_an_ordinary_large_template_is_far_from_every_limit():
    fields = "name: % 'n' + i % input_stream: % 's' + i % output_stream: % 's' + (i + 1) %"
    made = template(f"% for (i : range(10000)) % node {{ calculator: 'P' {fields} }} % end %")

    assert len(made.expand().node) == 10_000


@pytest.mark.parametrize("deepest", [64, 90])
@pytest.mark.parametrize("made", ["dict('a': {})", "list({})", "dict('a': list({}))"])
def test_values_that_protobuf_would_not_read_are_refused_before(deepest, made):
    def text(depth):
        params = "".join(f"% param p{i + 1} : {made.format(f'p{i}')} % " for i in range(depth))
        last = f"% param d : dict('x': p{depth}) %"
        return f"% param p0 : dict('a': 1) % {params}{last} node {{ {OPTIONS} }}"

    refused = []
    with limits.override(depth=deepest):
        for depth in range(1, 110):
            try:
                template(text(depth)).expand()
            except ResourceExhaustedError:
                refused.append(depth)

    assert refused[0] > 10
    assert refused == list(range(refused[0], 110))


def test_arguments_that_protobuf_would_not_read_are_refused_before():
    value = {"a": 1}
    for _ in range(20):
        value = {"a": value}
    assert GraphTemplate.options(x=value).dict.arg[0].key == "x"
    for _ in range(20):
        value = {"a": value}
    with pytest.raises(ResourceExhaustedError, match="argument 'x': lists and dicts are nested 66 deep"):
        GraphTemplate.options(x=value)


@pytest.mark.parametrize("text", ["node { calculator: % BEGIN1END % }", "% if (1) % node { } % end %"])
def test_the_largest_depth_that_an_application_may_allow_is_one_that_works(text):
    with limits.override(depth=90):
        for depth in (88, 89, 90, 91, 300, 5000):
            nested = text.replace("BEGIN", "(" * depth).replace("END", ")" * depth)
            nested = nested.replace("% if (1) % ", "% if (1) % " * depth).replace(
                " % end %", " % end %" * depth
            )
            try:
                template(nested).expand()
                assert depth <= 90
            except GraphParseError:
                assert depth >= 90
