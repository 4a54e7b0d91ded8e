from __future__ import annotations

import math

import hypothesis.strategies as st
import pytest
from hypothesis import given

from penstock.errors import PacketTypeError
from penstock_cli.runs.files import NamedFiles
from penstock_cli.runs.side_values import fault_words, read_value
from penstock_cli.wording import amount, clock, duration, plural, rate

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-7", -7),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        ("true", True),
        ("false", False),
        ("null", None),
        ("[1, 2]", [1, 2]),
        ('{"a": 1}', {"a": 1}),
        ('"3"', "3"),
        ("in.mp4", "in.mp4"),
        ("C:\\in.mp4", "C:\\in.mp4"),
        ("", ""),
        ("007", "007"),
        ("a=b", "a=b"),
        ("True", "True"),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_a_side_value_is_read_as_json_if_it_is_valid(text, value):
    read = read_value(text)

    assert (read, type(read)) == (value, type(value))


@given(st.text())
def test_any_text_is_a_value(text):
    value = read_value(text)

    assert value == text or not isinstance(value, str) or text.strip().startswith('"')
    assert not (isinstance(value, float) and math.isnan(value))


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (38_700_000, "38.7 MB"),
        (5 * 10**9, "5.0 GB"),
        (2 * 10**12, "2.0 TB"),
    ],
)
def test_bytes_have_decimal_units(count, words):
    assert amount(count) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0 s"),
        (2e-8, "0.02 us"),
        (1.234e-5, "12.3 us"),
        (1.64e-3, "1.64 ms"),
        (0.2501, "250 ms"),
        (2.0, "2.00 s"),
        (59.94, "59.9 s"),
        (187.2, "3 min 07 s"),
        (3599.9, "60 min 00 s"),
    ],
)
def test_durations_have_three_digits(seconds, words):
    assert duration(seconds) == words


def test_clocks_rates_and_counts_as_text():
    assert [clock(3.9), clock(760), clock(3723)] == ["0:03", "12:40", "1:02:03"]
    assert [rate(44.12), rate(12345.6)] == ["44.1/s", "12,346/s"]
    assert [plural(1, "packet"), plural(1200, "packet"), plural(0, "node")] == [
        "1 packet",
        "1,200 packets",
        "0 nodes",
    ]


def test_named_files_are_those_that_are_new_or_changed(tmp_path):
    old, new, same = (tmp_path / name for name in ("old", "new", "same"))
    old.write_text("before")
    same.write_text("same")
    named = NamedFiles([str(old), new, same, tmp_path, "never.txt", "", 7, None, "bad\0name", "x" * 5000])

    old.write_text("afterwards")
    new.write_text("new")

    assert named.written() == [(old, 10), (new, 3)]


ESCAPES = r"\033]0;pwn\007 \033[2J\033[31mred\342\200\256"


@pytest.mark.parametrize("name", ["validate", "show", "lint", "run", "why"])
@pytest.mark.parametrize("calculator", [f"PassThroughCalculator{ESCAPES}", "PassThroughCalculator"])
def test_names_of_a_graph_never_reach_the_terminal_as_escapes(command, tmp_path, name, calculator):
    (tmp_path / "g.pbtxt").write_text(
        f"""type: "{ESCAPES}" input_stream: "a"
        node {{ calculator: "{calculator}" name: "{ESCAPES}" input_stream: "a" output_stream: "b" }}
        node {{ calculator: "{calculator}" name: "{ESCAPES}2" input_stream: "missing" output_stream: "c" }}"""
    )
    done = command(name, "g.pbtxt")
    said = done.stdout + done.stderr
    assert "red" in said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)


def test_a_number_for_a_str_says_how_the_str_is_written():
    fault = PacketTypeError("side packet 'in' is a 'int', but the node expects str", stream="in")

    assert fault_words(fault, {"in": 5}) == f"{fault}; for a str write --side 'in=\"5\"'"
    assert fault_words(fault, {"in": True}) == f"{fault}; for a str write --side 'in=\"true\"'"
    assert fault_words(fault, {"in": [5]}) == str(fault)
    other = PacketTypeError("side packet 'in' is a 'float', but the node expects int", stream="in")
    assert fault_words(other, {"in": 0.5}) == str(other)
    assert read_value('"5"') == "5"
