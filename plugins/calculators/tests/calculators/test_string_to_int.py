"""Expected values from runs of the reference, whose rules are those of `absl::SimpleAtoi`."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, GraphConfigError, GraphRunError, StatusCode
from penstock_calculators.side_packets import string_to_int
from penstock_testing import InlineExecutor, run_calculator

RANGES = {
    "StringToIntCalculator": (-(2**31), 2**31 - 1),
    "StringToInt32Calculator": (-(2**31), 2**31 - 1),
    "StringToInt64Calculator": (-(2**63), 2**63 - 1),
    "StringToUintCalculator": (0, 2**32 - 1),
    "StringToUint32Calculator": (0, 2**32 - 1),
    "StringToUint64Calculator": (0, 2**64 - 1),
}
SIGNED = [name for name, (lowest, _) in RANGES.items() if lowest]
UNSIGNED = [name for name in RANGES if name not in SIGNED]
NO_NUMBERS = [
    "", " ", "+", "-", "- 5", "+-5", "4x", "x4", "5 6", "0x10", "1_0", "5.0", "1e3",
    "٣", "\u00a07", "\x1c7", "\x007", "7\x00", "9" * 5000,
]  # fmt: skip


def number(name, text):
    run = run_calculator(getattr(string_to_int, name), side_packets={0: text}, output_side_packets=[0])
    return run.output_side_packets[0]


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("12", 12), (" 7 ", 7), ("+5", 5), ("007", 7), ("\x0b7\x0c", 7), ("\t8\r\n", 8)],
)
def test_digits_become_a_number_whatever_ascii_white_space_is_around(name, text, value):
    found = number(name, text)

    assert found == value
    assert type(found) is int


@pytest.mark.parametrize("name", SIGNED)
@pytest.mark.parametrize(("text", "value"), [("-5", -5), (" -5\t\n", -5), ("-0", 0)])
def test_a_minus_makes_a_signed_number_negative(name, text, value):
    assert number(name, text) == value


@pytest.mark.parametrize("name", UNSIGNED)
@pytest.mark.parametrize("text", ["-1", "-0"])
def test_an_unsigned_number_has_no_minus(name, text):
    with pytest.raises(GraphRunError, match=f"'{text}' could not be parsed as an integer; {name} takes"):
        number(name, text)


@pytest.mark.parametrize("text", NO_NUMBERS)
@pytest.mark.parametrize("name", ["StringToIntCalculator", "StringToUint64Calculator"])
def test_a_text_that_is_not_a_decimal_number_ends_the_run_with_invalid_argument(name, text):
    with pytest.raises(GraphRunError, match="could not be parsed as an integer") as caught:
        number(name, text)

    assert caught.value.errors[0].code is StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_the_range_are_numbers_and_those_beyond_are_errors(name):
    lowest, highest = RANGES[name]

    assert number(name, str(lowest)) == lowest
    assert number(name, "0" * 40 + str(highest)) == highest
    for beyond in (lowest - 1, highest + 1):
        with pytest.raises(GraphRunError, match=f"decimal digits between {lowest} and {highest}"):
            number(name, str(beyond))


def test_an_error_shows_the_beginning_of_a_long_string():
    with pytest.raises(GraphRunError, match=r"the string '9{40}\.\.\.' could not be parsed"):
        number("StringToIntCalculator", "9" * 5000)


def test_a_run_with_a_side_packet_that_is_not_a_string_does_not_start():
    with pytest.raises(GraphConfigError, match="is a 'int', but the node expects str"):
        number("StringToIntCalculator", 7)


@pytest.mark.parametrize("name", RANGES)
def test_the_example_of_each_docstring_runs_and_names_its_own_calculator(name):
    example = getattr(string_to_int, name).__doc__.partition("Example config::")[2]
    assert f'calculator: "{name}"' in example
    graph = CalculatorGraph(example)
    graph.set_executor("", InlineExecutor())
    given = next(word for word in example.split('"') if word.endswith("_text"))
    made = example.split('"')[-2]

    graph.run({given: "42"}, 20)

    assert graph.get_output_side_packet(made).payload == 42
