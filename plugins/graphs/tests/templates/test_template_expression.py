"""The expressions between percent signs: read, and evaluated against a model in plain Python."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock_templates.evaluate import Environment
from penstock_templates.expression import RuleError, read_directive, read_value
from penstock_templates.expression_values import number_text


def read(expression):
    rule = read_value(f"%{expression}%", 0)
    assert rule.end == len(expression) + 2
    return rule.expression


def evaluated(expression, **values):
    """Return the value of an expression, and the mistakes as (code's name, message)."""
    errors = []
    environment = Environment(values, lambda error: errors.append((error.code.name, str(error))))
    return environment.evaluate(read(expression)), errors


def value(expression, **values):
    found, errors = evaluated(expression, **values)
    assert errors == []
    return found


def mistakes(expression, **values):
    found, errors = evaluated(expression, **values)
    assert found is None
    return errors


def unreadable(text, read=read_value):
    """Return (offset, words) of what is wrong with a rule."""
    with pytest.raises(RuleError) as caught:
        read(text, 0)
    return caught.value.offset, caught.value.words


# --- literals, params, what a value is ----------------------------------------------------------------


def test_a_literal_keeps_its_text_until_it_is_used_as_a_number():
    assert value("1.50") == "1.50"
    assert value("1.50 + 0") == 1.5
    assert value("'left'") == value('"left"') == "left"
    assert value(r'"a\n\"b\"\\\x41\101B"') == 'a\n"b"\\AAB'


def test_numbers_are_doubles_and_their_text_is_the_shortest():
    assert value("'n' + (1 + 2)") == "n3"
    assert value("'n' + (0.1 + 0.2)") == "n0.30000000000000004"
    assert value("'n' + 7 / 2") == "n3.5"
    assert number_text(2.0**53) == "9007199254740992"
    assert number_text(1e300) == "1e+300"
    assert number_text(-0.5) == "-0.5"


def test_text_that_looks_like_a_number_is_added_and_concat_joins_it():
    assert value("'1' + '2'") == 3
    assert value("concat('1', '2')") == "12"
    assert value("'1' + 'a'") == "1a"
    assert value("'1e2' + ' .5 '") == 100.5
    assert value("'1_0' + 1") == "1_01"


def test_comparisons_are_of_numbers_where_both_are_and_else_of_text():
    assert value("'10' > '9'") == 1
    assert value("'10' > '9a'") == 0
    assert value("1 == 1.0") == 1
    assert value("'a' != 'b'") == 1
    assert value("2 <= 2") == value("2 >= 2") == 1
    assert value("2 < 2") == 0
    assert value("'inf' == 'inf'") == 1


def test_a_bool_is_one_or_zero_and_text_may_be_true_or_no():
    assert value("yes && t", yes="Yes", t="true") == 1
    assert value("no || f", no="no", f="F") == 0
    assert value("!(n)", n=0.0) == 1
    assert value("!(n)", n=0.5) == 0


def test_functions_do_what_their_names_say():
    assert value("min(3, 20)") == 3
    assert value("max(3, 20)") == 20
    assert value("lowercase('MiX') + uppercase('é-MiX')") == "mixé-MIX"
    assert value("size(list(1, 2, 3))") == 3
    assert value("size(dict('a': 1, 'b': 2))") == 2
    assert value("range(3)") == [0, 1, 2]
    assert value("list(1, list(), dict())") == ["1", [], {}]
    assert value("list(1: 2)") == ["1", "2"]


def test_a_dot_takes_an_item_of_a_dict_and_binds_tightest():
    point = {"x": 1.0, "inner": {"y": "2"}}
    assert value("p.x + p.inner.y * 2", p=point) == 5
    assert value("p.'x'", p=point) == 1
    assert value("dict('k', 1, 'k', 2).k") == "1"


def test_a_functions_name_is_a_params_where_no_bracket_follows():
    assert value("range + size + min(size, 9)", range=4.0, size=1.0) == 6


# --- strengths ------------------------------------------------------------------------------------------

_LEVELS = [["||"], ["&&"], ["==", "!="], [">", "<", ">=", "<="], ["+", "-"], ["*", "/"]]
_STRENGTH = {op: strength for strength, ops in enumerate(_LEVELS) for op in ops}
_trees = st.recursive(
    st.sampled_from(["a", "b", "1", "2.5", "'s'"]),
    lambda inner: st.tuples(inner, st.sampled_from(sorted(_STRENGTH)), inner),
    max_leaves=12,
)


def written(tree, weakest=0):
    """Write a tree with no more brackets than it needs."""
    if isinstance(tree, str):
        return tree
    left, op, right = tree
    strength = _STRENGTH[op]
    text = f"{written(left, strength)} {op} {written(right, strength + 1)}"
    return text if strength >= weakest else f"({text})"


def tree_of(expression):
    if expression.op == "paren":
        return tree_of(expression.arg[0])
    if expression.op == "literal":
        return f"'{expression.param}'" if expression.param == "s" else expression.param
    if not expression.op:
        return expression.param
    return (tree_of(expression.arg[0]), expression.op, tree_of(expression.arg[1]))


@given(_trees)
@settings(max_examples=150, deadline=None)
def test_any_expression_is_read_back_as_the_tree_that_it_was_written_from(tree):
    assert tree_of(read(written(tree))) == tree


_numbers = st.integers(0, 50).map(str) | st.sampled_from(["n", "0.25"])
_sums = st.recursive(
    _numbers, lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner) | inner.map(lambda one: (one,))
)


def spelled(tree):
    if isinstance(tree, str):
        return tree
    return f"({spelled(tree[0])})" if len(tree) == 1 else f"{spelled(tree[0])} {tree[1]} {spelled(tree[2])}"


@given(_sums, st.integers(-9, 9))
@settings(max_examples=150, deadline=None)
def test_sums_and_products_are_those_of_python(tree, n):
    text = spelled(tree)
    expected = eval(text, {"n": n})  # noqa: S307  # made here of digits, n, operators and brackets

    assert float(value(text, n=float(n))) == pytest.approx(float(expected), rel=1e-12)


@given(st.floats(allow_nan=False))
def test_the_text_of_a_number_is_that_number(number):
    assert float(number_text(number)) == number


# --- mistakes that reading finds --------------------------------------------------------------------------


def test_what_is_no_expression_is_reported_with_its_place():
    assert unreadable("% %") == (2, "found the end of the rule, expected a value")
    assert unreadable("%a b%") == (3, "found 'b', expected an operator or '%'")
    assert unreadable("%(a%") == (3, "found the end of the rule, expected ')'")
    assert unreadable("%-1%") == (1, "found '-', expected a value; write 0 - x for -x")
    assert unreadable("%min(1 2)%") == (7, "found '2', expected ',' or ')'")
    assert unreadable("%!x%") == (2, "found 'x', expected '('")
    assert unreadable("%a.1%") == (2, "found '.1', expected an operator or '%'")
    assert unreadable("%a.(b)%") == (3, "found '(', expected the name of a dict's item")
    assert unreadable("%if (a)%") == (
        1,
        "found 'if', expected a value; it stands before a field, not behind its name",
    )
    assert unreadable("%2 * root(4)%") == (
        5,
        (
            "expressions have no function 'root'; "
            "there are min, max, concat, lowercase, uppercase, size, !, dict, list, range"
        ),
    )
    assert unreadable("%a + # a comment %\n") == (
        0,
        "the template's expression, or rule, begins at this '%', and no second '%' ends it",
    )


def test_functions_say_how_many_arguments_they_take():
    assert unreadable("%1 + max(2)%") == (5, "'max' has 1 argument in this expression; it takes 2")
    assert unreadable("%size(a, b)%") == (1, "'size' has 2 arguments in this expression; it takes 1")
    assert unreadable("%range()%") == (1, "'range' has 0 arguments in this expression; it takes 1")
    assert unreadable("%dict(a: 1, b)%") == (
        1,
        "'dict' has 3 arguments in this expression; it takes a value for each key, dict(key: value, ...)",
    )


def test_rules_before_a_field_are_three_and_an_end():
    assert read_directive("%for (x : list(1))%", 0).op == "for"
    assert read_directive("%for (x, list(1))%", 0).op == "for"
    assert read_directive("%if (x)%", 0).op == "if"
    assert read_directive("% param x %", 0).op == "param"
    assert read_directive("% end %", 0).op == "end"
    words = "found 'x', expected 'param', 'for', 'if' or 'end'; a value stands behind the name of its field"
    assert unreadable("% x %", read_directive) == (2, words)
    assert unreadable("%for (1 : x)%", read_directive) == (6, "found '1', expected a name for each element")
    assert unreadable("%for (x)%", read_directive) == (7, "found ')', expected ':' and a list")
    assert unreadable("%param 1%", read_directive) == (7, "found '1', expected the param's name")


def test_an_expression_that_is_nested_too_deep_is_refused_and_one_that_is_not_is_read():
    words = "the expression has more than 64 operations inside one another; declare a param for a part of it"
    assert unreadable(f"%{'(' * 65}1{')' * 65}%")[1] == words
    assert unreadable(f"%{' + '.join('1' * 66)}%")[1] == words
    assert value(" + ".join("1" * 60)) == 60


# --- mistakes that evaluation finds -----------------------------------------------------------------------


def test_a_param_without_a_value_is_not_found_and_reported_once():
    words = (
        "param 'nn' has no value and no default ('n' has one); give it to expand() or with_arguments() "
        "of a GraphTemplate, or in the TemplateSubgraphOptions of the node"
    )
    assert mistakes("1 + nn * 2", n=1.0) == [("NOT_FOUND", words)]


def test_all_mistakes_of_an_expression_are_reported():
    found = mistakes("missing + list(1) + d.y", d={"x": 1.0})

    assert [message.partition(" has")[0] for _, message in found[:1]] == ["param 'missing'"]
    assert found[1:] == [
        ("NOT_FOUND", "the template cannot be evaluated: field 'y' is missing; the dict has x")
    ]


@pytest.mark.parametrize(
    ("expression", "code", "words"),
    [
        ("1 - 'a'", "INVALID_ARGUMENT", "the template's expression values for '-' must be numbers, not 'a'"),
        (
            "1 + list(1)",
            "INVALID_ARGUMENT",
            "the template's expression values for '+' must be text or numbers, not a list of 1",
        ),
        ("1 / 0", "INVALID_ARGUMENT", "the template cannot be evaluated: 1 is divided by zero"),
        (
            "dict() == 1",
            "INVALID_ARGUMENT",
            "the template's expression values for a comparison must be text or numbers, not a dict of 0",
        ),
        (
            "1 && 2",
            "INVALID_ARGUMENT",
            (
                "the template's expression values for '&&' must be true or false, not '2'; compare a number, "
                "as in x != 0"
            ),
        ),
        (
            "!('maybe')",
            "INVALID_ARGUMENT",
            "the template's expression values for '!' must be true or false, not 'maybe'",
        ),
        (
            "size('abc')",
            "INVALID_ARGUMENT",
            "the template cannot be evaluated: 'size' takes a list or a dict, not 'abc'",
        ),
        (
            "range(1.5)",
            "INVALID_ARGUMENT",
            "the template cannot be evaluated: 'range' takes a whole number from 0 on, not 1.5",
        ),
        (
            "range(0 - 1)",
            "INVALID_ARGUMENT",
            "the template cannot be evaluated: 'range' takes a whole number from 0 on, not -1",
        ),
        (
            "'a'.b",
            "NOT_FOUND",
            "the template cannot be evaluated: field 'b' is asked of 'a', which is no dict",
        ),
        (
            "dict(list(): 1)",
            "INVALID_ARGUMENT",
            "the template's expression values for a key of 'dict' must be text or numbers, not a list of 0",
        ),
    ],
)
def test_a_value_of_the_wrong_kind_is_reported(expression, code, words):
    assert mistakes(expression) == [(code, words)]


def test_both_sides_of_a_condition_are_looked_at():
    assert [code for code, _ in mistakes("0 && missing")] == ["NOT_FOUND"]
