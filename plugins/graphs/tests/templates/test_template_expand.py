"""Expansion: the fields of the graph, their places, and every mistake with its place."""

import attrs
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, text_format
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import Registry
from penstock.config import build_plan, read_definition
from penstock.config.calculator_graph_template_pb2 import CalculatorGraphTemplate, TemplateDict
from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.errors import GraphConfigError, GraphParseError
from penstock.readers import definition_as_read_graph
from penstock_templates.expression_values import to_message, values_in, values_of

_KINDS = """
name: "penstock_config_tests/kinds.proto" package: "penstock_config_tests" syntax: "proto2"
dependency: "penstock/config/calculator_options.proto"
message_type {
  name: "KindsOptions"
  field { name: "flag" number: 1 type: TYPE_BOOL label: LABEL_OPTIONAL }
  field { name: "size" number: 2 type: TYPE_UINT32 label: LABEL_OPTIONAL }
  field { name: "scale" number: 3 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "data" number: 4 type: TYPE_BYTES label: LABEL_OPTIONAL }
  field { name: "mode" number: 5 type: TYPE_ENUM label: LABEL_OPTIONAL type_name: "Mode" }
  field { name: "left" number: 6 type: TYPE_STRING label: LABEL_OPTIONAL oneof_index: 0 }
  field { name: "right" number: 7 type: TYPE_INT64 label: LABEL_OPTIONAL oneof_index: 0 }
  field { name: "weight" number: 8 type: TYPE_MESSAGE label: LABEL_REPEATED type_name: "WeightEntry" }
  field { name: "part" number: 9 type: TYPE_MESSAGE label: LABEL_REPEATED type_name: "PartEntry" }
  field { name: "ratio" number: 10 type: TYPE_FLOAT label: LABEL_REPEATED }
  oneof_decl { name: "side" }
  enum_type { name: "Mode" value { name: "SOFT" number: 3 } value { name: "HARD" number: 200 } }
  nested_type {
    name: "WeightEntry"
    field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_INT32 label: LABEL_OPTIONAL }
    options { map_entry: true }
  }
  nested_type {
    name: "PartEntry"
    field { name: "key" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_MESSAGE label: LABEL_OPTIONAL type_name: "KindsOptions" }
    options { map_entry: true }
  }
  extension {
    name: "ext" number: 500020230 type: TYPE_MESSAGE label: LABEL_OPTIONAL
    type_name: "KindsOptions" extendee: ".penstock.CalculatorOptions"
  }
}
"""


_LIST = "the template cannot be evaluated: the expression of 'for' must be a list"
_ONE_VALUE = "field 'type' of the template takes one value, not a list of 1; repeat it"
_UNKNOWN = "penstock.CalculatorGraphConfig, which nothing declares; install its plugin"


@pytest.fixture(scope="module", autouse=True)
def _kinds():
    file = text_format.Parse(_KINDS, descriptor_pb2.FileDescriptorProto())
    descriptor_pool.Default().AddSerializedFile(file.SerializeToString())


def template(text):
    return read_definition(text, Registry())


def expanded(text, **arguments):
    return definition_as_read_graph(attrs.evolve(template(text), given=values_of(arguments)))[0]


def graph(text):
    return text_format.Parse(text, CalculatorGraphConfig())


def faults_of(text, **arguments):
    """Return (code's name, message) of each mistake."""
    with pytest.raises(GraphConfigError) as caught:
        expanded(text, **arguments)
    return [(fault.code.name, str(fault)) for fault in caught.value.faults]


def options(body):
    """Put fields into the options of a node."""
    return f"node {{ options {{ [penstock_config_tests.KindsOptions.ext] {{ {body} }} }} }}"


# --- for, if, param ---------------------------------------------------------------------------------------


def test_a_for_repeats_its_field_for_each_element_and_what_is_around_stays():
    text = 'input_stream: "a" %for (x : xs)% input_stream: %"s" + x% %end% input_stream: "z"'

    assert list(expanded(text, xs=[1, "b", 0.5]).input_stream) == ["a", "s1", "sb", "s0.5", "z"]
    assert list(expanded(text, xs=[]).input_stream) == ["a", "z"]


def test_an_if_keeps_its_field_or_leaves_it_out():
    text = "%if (n > 1)% num_threads: %n% %end% %if (n <= 1)% max_queue_size: 7 %end%"

    assert expanded(text, n=3) == graph("num_threads: 3")
    assert expanded(text, n=1) == graph("max_queue_size: 7")


def test_rules_nest_on_one_field_and_in_the_fields_inside_it():
    text = """
    %for (row : rows)% %if (row.width > 0)% %for (i : range(row.width))%
    node { name: %row.name + i% %for (tag : row.tags)% input_stream: %tag + ":in" + i% %end% }
    %end% %end% %end%
    """

    rows = [
        {"name": "a", "width": 2, "tags": ["L", "R"]},
        {"name": "b", "width": 0},
        {"name": "c", "width": 1, "tags": []},
    ]
    assert expanded(text, rows=rows) == graph(
        """
        node { name: "a0" input_stream: "L:in0" input_stream: "R:in0" }
        node { name: "a1" input_stream: "L:in1" input_stream: "R:in1" }
        node { name: "c0" }
        """
    )


def test_several_rules_on_one_list_do_not_disturb_one_another():
    text = """
    %for (x : a)% input_stream: %x% %end%
    input_stream: "middle"
    %if (size(a) > 1)% input_stream: "many" %end%
    %for (x : b)% input_stream: %x% %end%
    """

    assert list(expanded(text, a=["p", "q"], b=["r"]).input_stream) == ["p", "q", "middle", "many", "r"]
    assert list(expanded(text, a=[], b=["r", "s"]).input_stream) == ["middle", "r", "s"]


def test_the_name_of_a_for_hides_another_value_only_inside():
    text = "%param x : 'out'% %for (x : list('in'))% input_stream: %x% %end% type: %x%"

    assert expanded(text) == graph('input_stream: "in" type: "out"')
    assert expanded(text, x="given") == graph('input_stream: "in" type: "given"')
    text = "%for (y : list(1))% input_stream: %y% %end% type: %y%"
    assert [code for code, _ in faults_of(text)] == ["NOT_FOUND"]


def test_a_default_counts_where_nothing_is_given_and_may_use_earlier_params():
    text = "%param n : 2% %param twice : n * 2% num_threads: %n% max_queue_size: %twice%"

    assert expanded(text) == graph("num_threads: 2 max_queue_size: 4")
    assert expanded(text, n=5) == graph("num_threads: 5 max_queue_size: 10")
    assert expanded(text, twice=1) == graph("num_threads: 2 max_queue_size: 1")


def test_a_declaration_counts_for_the_whole_template():
    assert expanded("node { name: %a% %param a : 'x'% calculator: %a% }") == graph(
        'node { name: "x" calculator: "x" }'
    )


def test_the_template_itself_stays_as_it_is():
    made = template("%for (i : range(2))% node { name: %i% } %end%\nnode {}")
    before = made.message.SerializeToString()

    assert definition_as_read_graph(made)[0] == definition_as_read_graph(made)[0]
    assert definition_as_read_graph(made)[1].position_of([("node", 2)]) == (2, 1)
    assert made.message.SerializeToString() == before


# --- kinds of fields --------------------------------------------------------------------------------------


def test_values_become_what_their_field_holds():
    made = expanded(
        options("flag: %f% size: %n% scale: %1 / 4% data: %'é'% mode: %m% right: %big% ratio: [0.5, %n%]"),
        f="yes",
        n=3,
        m="HARD",
        big="9007199254740993",
    )

    assert made == graph(
        options("flag: true size: 3 scale: 0.25 data: 'é' mode: HARD right: 9007199254740993 ratio: [0.5, 3]")
    )
    assert expanded(options("mode: %m%"), m=3) == graph(options("mode: SOFT"))
    assert expanded(options("flag: %1 == 2%")) == graph(options("flag: false"))


def test_only_the_member_of_a_oneof_that_is_kept_counts():
    text = options("%if (l)% left: 'x' %end% %if (!(l))% right: 4 %end%")

    assert expanded(text, l=True) == graph(options("left: 'x'"))
    assert expanded(text, l=False) == graph(options("right: 4"))
    text = options("%if (l)% left: 'x' %end% %if (l)% right: 4 %end%")
    ((code, message),) = faults_of(text, l=1)
    assert code == "INVALID_ARGUMENT"
    assert message.endswith("field 'right' is given beside 'left'; only one of them can be expanded")


def test_entries_of_maps_have_rules_too():
    made = expanded(
        options(
            """
            weight { key: 'a/b[0]' value: %n% }
            %for (k : ks)% weight { key: %k% value: %size(ks)% } %end%
            weight { key: %'x' + n% value: 5 }
            part { key: 7 value { size: %n% } }
            part { key: %n% value { %if (n > 1)% size: 9 %end% } }
            """
        ),
        n=2,
        ks=["p", "q"],
    )

    assert made == graph(
        options(
            """
            weight { key: 'a/b[0]' value: 2 } weight { key: 'p' value: 2 } weight { key: 'q' value: 2 }
            weight { key: 'x2' value: 5 } part { key: 7 value { size: 2 } } part { key: 2 value { size: 9 } }
            """
        )
    )
    twice = faults_of(options("weight { key: %a% } weight { key: %b% }"), a="k", b="k")
    assert twice[0][1].endswith("field 'weight' has the key 'k' twice; keys differ")


def test_packed_messages_have_rules_inside_and_out():
    text = """
    %for (n : ns)%
    node { node_options { [type.googleapis.com/penstock_config_tests.KindsOptions] { size: %n% } } }
    %end%
    node { %if (size(ns) > 1)% node_options { [type.googleapis.com/mediapipe.TemplateSubgraphOptions] {
      dict { arg { key: %'k' + size(ns)% } } } } %end% }
    """
    made = expanded(text, ns=[4, 5])

    assert made == graph(
        """
        node { node_options { [type.googleapis.com/penstock_config_tests.KindsOptions] { size: 4 } } }
        node { node_options { [type.googleapis.com/penstock_config_tests.KindsOptions] { size: 5 } } }
        node { node_options { [type.googleapis.com/penstock.TemplateSubgraphOptions] {
          dict { arg { key: "k2" } } } } }
        """
    )


def test_a_dict_becomes_the_arguments_of_a_template_inside():
    text = "node { options { [penstock.TemplateSubgraphOptions.ext] { dict: %dict('n': n - 1, 'l': l)% } } }"

    made = expanded(text, n=3, l=["a", {"k": True}])

    assert made == graph(
        """
        node { options { [penstock.TemplateSubgraphOptions.ext] { dict {
          arg { key: "n" value { num: 2 } }
          arg { key: "l" value {
            element { str: "a" }
            element { dict { arg { key: "k" value { num: 1 } } } }
          } }
        } } } }
        """
    )


# --- mistakes ---------------------------------------------------------------------------------------------


def test_every_mistake_is_reported_once_with_the_place_of_its_rule():
    text = "type: %a%\n%for (i : range(3))% node {\n  name: %b + i%\n  calculator: %'C' / 2%\n} %end%"
    without = "has no value and no default; give it to expand() or with_arguments() of a GraphTemplate, or in"

    found = faults_of(text)

    assert [(code, message.split(f" {without}")[0]) for code, message in found] == [
        ("NOT_FOUND", "line 1, column 7: param 'a'"),
        ("NOT_FOUND", "line 3, column 9: param 'b'"),
        (
            "INVALID_ARGUMENT",
            "line 4, column 15: the template's expression values for '/' must be numbers, not 'C'",
        ),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("num_threads: %1.5%", "field 'num_threads' of the template takes whole numbers, not '1.5'"),
        ("num_threads: %'x'%",
         "the template's expression values for field 'num_threads' must be numbers, not 'x'"),
        ("type: %list(1)%", f"{_ONE_VALUE}: % for (one : ...) % type: % one % % end %"),
        ("executor: %'x'%",
         "field 'executor' of the template is a message; give values to its fields, not 'x'"),
        ("executor: %dict()%",
         "field 'executor' of the template is a message; give values to its fields, not a dict of 0"),
        ("%for (x : 3 + 0)% node {} %end%",
         f"{_LIST}, for example range(n), not 3"),
        ("%for (x : 'ab')% node {} %end%",
         f"{_LIST}, not 'ab'"),
        ("%if ('2')% node {} %end%",
         ("the template's expression values for 'if' must be true or false, not '2'; compare a "
          "number, as in x != 0")),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_reported(text, words):
    assert [message.partition(": ")[2] for _, message in faults_of(text)] == [words]


def test_a_number_that_its_field_cannot_hold_is_reported():
    ((code, message),) = faults_of(options("size: %0 - 1%"))

    assert code == "INVALID_ARGUMENT"
    assert "field 'size' of the template cannot be -1: " in message
    assert faults_of(options("mode: %4%"))[0][1].endswith(
        "field 'mode' of the template cannot be '4'; it is one of SOFT, HARD"
    )
    assert faults_of(options("flag: %'perhaps'%"))[0][1].endswith(
        "the template's expression values for field 'flag' must be true or false, not 'perhaps'"
    )


def test_a_field_that_does_not_repeat_takes_one_value():
    words = "the template's field 'num_threads' does not repeat and expands to 2 values; it takes 1"
    assert faults_of("%for (i : range(2))% num_threads: %i + 1% %end%")[0][1].endswith(words)
    both = "%if (a)% num_threads: 1 %end%\n%if (b)% num_threads: 2 %end%"
    assert faults_of(both, a=1, b=1) == [("INVALID_ARGUMENT", f"line 1, column 1: {words}")]
    assert expanded(both, a=0, b=1) == graph("num_threads: 2")
    assert faults_of("num_threads: 5 %if (a)% num_threads: 2 %end%", a=1)[0][1].endswith(words)
    assert expanded("num_threads: 5 %if (a)% num_threads: 2 %end%", a=0) == graph("num_threads: 5")
    message = "%if (a)% options {} %end% %if (a)% options {} %end%"
    assert "field 'options' does not repeat" in faults_of(f"node {{ {message} }}", a=1)[0][1]


# --- places -------------------------------------------------------------------------------------------------


def test_what_a_rule_makes_stands_where_its_text_stands():
    inside = "  name: %i%\n  input_stream: %'s' + i%\n"
    text = f"node {{ name: 'first' }}\n%for (i : range(2))% node {{\n{inside}}} %end%\nnode {{}}"
    places = definition_as_read_graph(template(text))[1]

    def position(*path):
        return places.position_of(path)

    assert position(("node", 0)) == (1, 1)
    assert position(("node", 1)) == position(("node", 2)) == (2, 22)
    assert position(("node", 2), ("input_stream", 0)) == (4, 3)
    assert position(("node", 3)) == (6, 1)


def test_a_field_that_its_rule_holds_has_the_place_of_its_text():
    text = "%if (a)%\n executor { name: 'x' } %end%\n%if (b)%\n  input_stream_handler {\n options {} } %end%"
    places = definition_as_read_graph(attrs.evolve(template(text), given={"a": 1.0, "b": 1.0}))[1]

    assert places.position_of([("executor", 0), ("name", 0)]) == (2, 13)
    assert places.position_of([("input_stream_handler", 0), ("options", 0)]) == (5, 2)


# --- messages -----------------------------------------------------------------------------------------------


def of_message(text):
    return read_definition(text_format.Parse(text, CalculatorGraphTemplate()), Registry())


def test_a_message_gives_the_graph_that_its_text_gave():
    text = """
    %param n : 2% %for (i : range(n))% node { name: %i% %if (i > 0)% options {
      [penstock.TemplateSubgraphOptions.ext] { dict { arg { key: %i% } } } } %end% } %end%
    %if (n > 1)% num_threads: %n% %end%
    """
    read = template(text)
    again = read_definition(read.message, Registry())

    assert again.message == read.message
    assert definition_as_read_graph(again)[0] == definition_as_read_graph(read)[0]
    assert definition_as_read_graph(read)[0].num_threads == 2


def test_a_value_that_the_reference_put_into_an_inner_rule_is_found():
    made = of_message(
        """
        rule { op: "if" arg { op: "literal" param: "1" } path: "/8[0]" field_type: TYPE_INT32 }
        rule { op: "if" arg { op: "literal" param: "1" } path: "/8[0]" field_value: "\\003" }
        """
    )

    assert definition_as_read_graph(made)[0] == graph("num_threads: 3")


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ('rule { param: "a" path: "x" }', "path 'x': this is no path; a path looks like '/1[0]/2[0]'"),
        ('rule { param: "a" path: "/1" }', "path '/1': this is no path; a path looks like '/1[0]/2[0]'"),
        (
            'rule { param: "a" path: "/20[0]" } rule { param: "b" path: "/20[0]" }',
            "rule 1: its path '/20[0]' is where another rule ended",
        ),
        ('rule { param: "a" }', "rule 0: its path '' is where another rule ended"),
        (
            'rule { param: "a" path: "/1[0]/2[0]" } rule { op: "if" path: "/1[0]" }',
            (
                "rule 1: its path '/1[0]' is around that of an earlier rule; "
                "in a template the outer rule comes first"
            ),
        ),
    ],
)
def test_rules_of_a_message_that_lead_nowhere_are_refused(rules, words):
    with pytest.raises(GraphParseError) as caught:
        of_message(rules)
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ('rule { op: "literal" path: "/1[3]/1[0]" }',
         "the template cannot be expanded: its rule is for node[3], which is missing"),
        ('rule { op: "literal" path: "/999[0]" }',
         f"the template cannot be expanded: its rule is for field 999 of {_UNKNOWN}"),
        ('rule { op: "?" path: "/20[0]" }', "the template cannot be evaluated: there is no operation '?'"),
        ('rule { op: "+" path: "/20[0]" }',
         "the template cannot be evaluated: '+' has 0 arguments; it takes 2"),
        ('rule { op: "if" path: "/20[0]/1[0]" }',
         "the template cannot be expanded: a rule leads into field 'type', which holds no message"),
        ('rule { op: "if" arg { op: "literal" param: "1" } path: "/8[0]" field_value: "\\200" }',
         "the field_value of field 'num_threads', 1 bytes, is no value of its type"),
    ],
)  # fmt: skip
def test_rules_of_a_message_that_do_not_fit_its_graph_are_reported(rules, words):
    with pytest.raises(GraphConfigError) as caught:
        definition_as_read_graph(of_message(f'config {{ type: "x" }} {rules}'))
    assert [str(fault) for fault in caught.value.faults] == [words]


_values = st.recursive(
    st.text(max_size=4) | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=4), _values, max_size=3))
@settings(max_examples=60, deadline=None)
def test_arguments_are_the_same_after_a_way_through_a_message(arguments):
    values = values_of(arguments)

    assert values == arguments
    assert values_in(to_message(values)) == values


def test_where_a_key_comes_twice_in_a_message_the_first_one_counts():
    message = text_format.Parse(
        'arg { key: "a" value { num: 1 } } arg { key: "a" value { num: 2 } } arg { key: "b" }', TemplateDict()
    )

    assert values_in(message) == {"a": 1, "b": []}


_fields = st.lists(
    st.sampled_from(
        [
            ("input_stream: 'plain'", lambda n: ["plain"]),
            ("input_stream: %n%", lambda n: [str(n)]),
            ("%if (n > 1)% input_stream: 'if' %end%", lambda n: ["if"] if n > 1 else []),
            ("%for (i : range(n))% input_stream: %i% %end%", lambda n: [str(i) for i in range(n)]),
            (
                "%for (i : range(n))% %if (i != 1)% input_stream: %'x' + i% %end% %end%",
                lambda n: [f"x{i}" for i in range(n) if i != 1],
            ),
        ]
    ),
    max_size=6,
)


@given(_fields, st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_any_row_of_rules_gives_what_a_loop_in_python_gives(row, n):
    body = " ".join(text for text, _ in row)

    made = expanded(f"%param n% node {{ {body} }}", n=n)

    assert list(made.node[0].input_stream) == [name for _, names in row for name in names(n)]


def test_the_thousandth_fault_ends_the_expansion():
    outer = 'node { calculator: "Inner" }\n' * 3000
    subgraphs = {"Inner": "node { name: % nothing % }", "Outer": outer}

    with pytest.raises(GraphConfigError) as caught:
        build_plan('node { calculator: "Outer" }', Registry(), subgraphs=subgraphs)

    assert len(caught.value.faults) == 1000
