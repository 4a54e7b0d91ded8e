"""The text of a template: the message that it is read to, and the places of its mistakes."""

import pytest
from google.protobuf import text_format

from penstock import Registry
from penstock.config import read_definition, read_graph
from penstock.config.calculator_graph_template_pb2 import CalculatorGraphTemplate
from penstock.errors import GraphParseError
from penstock_templates.template import Template


def read(text):
    template = read_definition(text, Registry())
    assert isinstance(template, Template)
    return template


def rules_of(text):
    """Return the rules as (operation or param, path)."""
    return [(rule.op or rule.param, rule.path) for rule in read(text).message.rule]


def fault_of(text):
    """Return "line:column: words" of what is wrong with a template."""
    with pytest.raises(GraphParseError) as caught:
        read_definition(text, Registry())
    error = caught.value
    assert str(error) == f"line {error.line}, column {error.column}: {str(error).partition(': ')[2]}"
    return f"{error.line}:{error.column}: {str(error).partition(': ')[2]}"


# --- templates --------------------------------------------------------------------------------------------


def test_text_is_a_template_where_a_percent_sign_stands_outside_of_strings_and_comments():
    graph = 'type: "50 %" # % for %\ninput_stream: "a"'

    assert not isinstance(read_definition(graph, Registry()), Template)
    assert isinstance(read_definition(f"{graph} % param x %", Registry()), Template)
    assert read_graph(f"{graph} % param x %", Registry()).type == "50 %"


def test_a_template_is_read_to_the_message_of_the_reference():
    template = read(
        """
        % param n : 2 %
        num_threads: %n%
        % for (i : list(n, 3)) %
        node { name: %i% input_stream: ["a", %"b" + i%] }
        % end %
        """
    )

    expected = text_format.Parse(
        """
        config {
          num_threads: 1
          node { name: "1" input_stream: "a" input_stream: "1" }
        }
        rule { op: "param" arg { param: "n" } arg { op: "literal" param: "2" } }
        rule { param: "n" path: "/8[0]" field_type: TYPE_INT32 }
        rule {
          op: "for"
          arg { param: "i" }
          arg { op: "list" arg { param: "n" } arg { op: "literal" param: "3" } }
          path: "/1[0]"
          field_type: TYPE_MESSAGE
        }
        rule { param: "i" path: "/1[0]/1[0]" field_type: TYPE_STRING }
        rule {
          op: "+"
          arg { op: "literal" param: "b" }
          arg { param: "i" }
          path: "/1[0]/3[1]"
          field_type: TYPE_STRING
        }
        """,
        CalculatorGraphTemplate(),
    )
    assert template.message == expected


def test_the_outermost_rule_around_a_field_that_does_not_repeat_holds_its_value():
    template = read(
        """
        % if (a) % % if (b) % num_threads: 300 % end % % end %
        % if (c) % num_threads: 0 % end %
        % if (d) % type: "T" % end %
        """
    )

    assert not template.message.config.ListFields()
    found = [(rule.path, rule.HasField("field_value"), rule.field_value) for rule in template.message.rule]
    assert found == [
        ("/8[0]", True, b"\xac\x02"),
        ("/8[0]", False, b""),
        ("/8[1]", True, b"\x00"),
        ("/20[0]", True, b"T"),
    ]


def test_rules_lead_through_extensions_packed_messages_and_repeated_fields():
    assert rules_of(
        """
        node {}
        node {
          options { [mediapipe.TemplateSubgraphOptions.ext] { dict { arg { key: %a% } } } }
          node_options {
            [type.googleapis.com/mediapipe.TemplateSubgraphOptions] { dict { arg { key: %b% } } }
          }
        }
        executor < name: %c% >
        """
    ) == [
        ("a", "/1[1]/7[0]/172998261[0]/1[0]/1[0]/1[0]"),
        ("b", "/1[1]/8[0]/2[0]/1[0]/1[0]/1[0]"),
        ("c", "/14[0]/1[0]"),
    ]


def test_declarations_may_stand_wherever_fields_may():
    assert rules_of("node { name: %a%, % param a : 1 % calculator: %a%; } % param b %") == [
        ("a", "/1[0]/1[0]"),
        ("param", ""),
        ("a", "/1[0]/2[0]"),
        ("param", ""),
    ]


def test_rules_hold_the_fields_of_an_inner_value_too():
    template = read(
        "node { % if (a) % input_stream_handler { % if (b) % input_stream_handler: 'X' % end % } % end % }"
    )

    assert [(rule.path, rule.field_value) for rule in template.message.rule] == [
        ("/1[0]/11[0]", b""),
        ("/1[0]/11[0]/1[0]", b"X"),
    ]


# --- what is wrong with it --------------------------------------------------------------------------------


def test_a_mistake_in_a_rule_has_its_line_and_column():
    assert fault_of('type: "x"\nnode {\n  name: % 1 + %\n}') == (
        "3:15: found the end of the rule, expected a value"
    )
    assert fault_of("node {\n  name: % a\n}") == "3:1: found '}', expected an operator or '%'"
    assert fault_of("node { }\n  % a") == (
        "2:5: found 'a', expected 'param', 'for', 'if' or 'end'; a value stands behind the name of its field"
    )
    assert fault_of("% param a") == (
        "1:1: the template's expression, or rule, begins at this '%', and no second '%' ends it"
    )


def test_a_mistake_in_the_graph_around_rules_has_its_line_and_column():
    assert fault_of("% param a : 1 %\n% if (a) % node {\n  nme: %a% } % end %") == (
        "3:3: penstock.CalculatorGraphConfig.Node has no field 'nme' (did you mean 'name'?)"
    )
    assert fault_of("node { name: %a% }\nnode { name: 7 }") == "2:14: expected string but found: '7'"
    assert fault_of("node {\n name: %\na % max_in_flight: 'x' }") == "3:20: couldn't parse integer: 'x'"
    assert fault_of("type: 'x'\nnode { name: %a%\n") == "2:6: this bracket is never closed"
    assert fault_of("% if (a) % input_stream_handler {\n input_stream_handler: %b%") == (
        "1:33: this bracket is never closed"
    )
    assert fault_of("% param a % : 4") == "1:13: expected identifier or number, got :"


def test_a_mistake_in_a_field_that_its_rule_holds_has_its_line_and_column():
    assert fault_of("%param a%\n  % if (a) % num_threads: 'x' % end %") == (
        "2:27: couldn't parse integer: 'x'"
    )
    assert fault_of("% if (a) %\n options {\n  x: 1 } % end %") == (
        "3:3: penstock.MediaPipeOptions has no field 'x'; it has none"
    )


def test_for_and_if_are_for_one_field_each_and_end():
    one = "is for one field; end it with % end %, and open another one for the next field"
    assert fault_of("%if (a)%\nnode {}\nnode {} %end%") == f"3:1: 'if' {one}"
    assert fault_of("%if (a)% node {}\n%if (b)% node {} %end% %end%") == f"2:1: 'if' {one}"
    assert (
        fault_of("%if (a)% node {}")
        == "1:1: this 'if' is never ended in the text of the template; write % end % behind its field"
    )
    assert fault_of("%if (a)%") == (
        "1:1: 'if' has no field in the text of the template; a field and % end % follow it"
    )
    assert (
        fault_of("node { %for (a : b)% }")
        == "1:8: 'for' has no field in the text of the template; a field and % end % follow it"
    )
    assert fault_of("%if (a)% %end%") == "1:10: 'if' has no field"
    assert fault_of("node {} %end%") == "1:9: nothing is open that this could end"
    assert fault_of("%for (a : b)% %param c% node {} %end%") == (
        "1:15: a param inside 'for'; declare it before, outside of 'for' and 'if'"
    )
    assert fault_of("%if (a)% input_stream: ['a', 'b'] %end%") == (
        "1:24: the text of the template has a list inside 'if'; give one value"
    )


def test_rules_for_what_is_no_value_are_refused():
    packed = "[type.googleapis.com/penstock.TemplateSubgraphOptions]"
    assert fault_of(f"node {{ node_options {{ %if (a)% {packed} {{}} %end% }} }}") == (
        f"1:23: a rule around what an Any holds; put it around the field that has {packed}"
    )
    assert fault_of(f"node {{ node_options {{ {packed}: %a% }} }}") == (
        f"1:79: {packed} in the text of the template is a message; give values to its fields"
    )


def test_brackets_that_are_nested_too_deep_are_reported():
    inside = "arg { value { dict { " * 400
    text = f"node {{ options {{ [penstock.TemplateSubgraphOptions.ext] {{ dict {{ {inside}"

    with pytest.raises(GraphParseError, match="its brackets are nested too deep"):
        read_definition(text + "% param a %", Registry())


def test_unknown_options_are_reported_as_in_any_graph():
    assert fault_of("%param a% node { options { [mediapipe.NoOptions.ext] {} } }").startswith(
        "1:28: no options message 'mediapipe.NoOptions.ext' is known"
    )
