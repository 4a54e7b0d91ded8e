"""What plugins may add to the commands that run a graph: options without a value, and preparations."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from penstock.errors import AlreadyExistsError
from penstock_cli.options import ValueIfAny
from penstock_cli.running_command import RunningCommand


@pytest.fixture
def command():
    """Return a command that prints its argument and the value of `--serve`."""

    @click.command(cls=RunningCommand)
    @click.argument("graph")
    @click.option("--side")
    def command(graph, side):
        click.echo(f"{graph} {side} {click.get_current_context().params['serve']}")

    def add(taken):
        taken.params.append(
            ValueIfAny(["--serve"], is_value=str.isdigit, left_out="0", type=click.IntRange(0, 9))
        )

    command.take_options(add)
    return command


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("graph", "graph None None"),
        ("--serve graph", "graph None 0"),
        ("graph --serve", "graph None 0"),
        ("--serve 8 graph", "graph None 8"),
        ("--serve=8 graph", "graph None 8"),
        ("graph --serve 8", "graph None 8"),
        ("--serve --side x graph", "graph x 0"),
        ("--serve 8 7", "7 None 8"),
    ],
)
def test_the_next_word_is_a_value_only_if_it_can_be_one(command, words, printed):
    done = CliRunner().invoke(command, words.split())
    assert (done.output, done.exit_code) == (f"{printed}\n", 0)


def test_a_value_out_of_range_is_refused_as_of_any_option(command):
    done = CliRunner().invoke(command, ["--serve", "10", "graph"])
    assert done.exit_code == 2
    assert "10 is not in the range 0<=x<=9" in done.output


def test_what_fails_in_a_preparation_ends_the_command_before_it_begins(command):
    def refuse(ctx):
        raise click.ClickException(f"port {ctx.params['serve']} is taken")

    command.preparations.append(refuse)
    done = CliRunner().invoke(command, ["--serve", "8", "graph"])
    assert (done.output, done.exit_code) == ("Error: port 8 is taken\n", 1)


def test_a_plugin_whose_options_clash_prepares_nothing(command):
    def add(taken):
        taken.params.append(click.Option(["--side"]))
        taken.preparations.append(lambda ctx: None)

    with pytest.raises(AlreadyExistsError, match="has an option '--side' already"):
        command.take_options(add)
    assert command.preparations == []
