"""`penstock room`: a command that a pack adds, by the public names of the command line alone."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from penstock_cli.main import penstock_command


def room(tmp_path, text):
    file = tmp_path / "readings.csv"
    file.write_text(text, encoding="utf-8")
    return CliRunner().invoke(penstock_command, ["room", str(file)])


def test_changes_are_printed_with_their_time(tmp_path):
    done = room(tmp_path, "seconds,loudness,brightness\n0,30,400\n0.5,31,400\n1,80,400\n3,31,2\n")

    assert done.exit_code == 0, done.output
    assert done.output.splitlines() == [
        "    0.00 s  quiet, bright, occupied",
        "    1.00 s  loud, bright",
        "    3.00 s  quiet, dark, empty",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seconds,loudness\n", "readings.csv:1: `penstock room` lacks the column 'brightness'"),
        ("seconds,loudness,brightness\n0,30,400\n1,x,4\n", "readings.csv:3: could not convert"),
        ("seconds,loudness,brightness\n0,30\n", "readings.csv:2: "),
    ],
)
def test_a_file_that_cannot_be_read_is_reported_with_its_line(tmp_path, text, words):
    done = room(tmp_path, text)

    assert done.exit_code == 4
    assert words in done.output


def test_the_command_is_one_of_penstock():
    assert "penstock room readings.csv" in CliRunner().invoke(penstock_command, ["room", "--help"]).output
