from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest

from penstock import Registry
from penstock.packs import official_packs
from penstock.plugins import default_registry
from penstock_cli import group
from penstock_cli.machine.engine import engine_words
from penstock_cli.machine.environment import pip_command
from penstock_cli.main import penstock_command

pytestmark = pytest.mark.heavy

HELLO = """
    import click
    from penstock import hookimpl

    @hookimpl
    def penstock_cli(group):
        @group.command("hello")
        def hello():
            '''Say hello.

            Examples: penstock hello. Exit codes: 0.
            '''
            click.echo("hello from a plugin")
"""

THIEF = """
    from penstock import hookimpl

    @hookimpl
    def penstock_cli(group):
        group.command("early")(lambda: None)
        group.command("run")(lambda: None)
"""

COUNTS = """
    import click
    from penstock import hookimpl

    @hookimpl
    def penstock_run_options(command):
        command.params.append(click.Option(["--count-packets"], metavar="STREAM", help="Count its packets."))

    @hookimpl
    def penstock_run_prepared(graph):
        context = click.get_current_context(silent=True)
        stream = context and context.params.get("count_packets")
        if stream:
            graph.observe_output_stream(stream, lambda name, packet: click.echo(f"{name}: {packet.payload}"))
"""

GREEDY = """
    import click
    from penstock import hookimpl

    @hookimpl
    def penstock_run_options(command):
        command.params.append(click.Option(["--early"]))
        command.params.append(click.Option(["--mine", "-q"]))
"""

FAILING = """
    from penstock import hookimpl

    @hookimpl
    def penstock_run_options(command):
        command.params.clear()
        raise RuntimeError("no options today")
"""

BROKEN = """
    raise RuntimeError("no device [0] here")
"""


def listed(command, **environment):
    done = command("plugins", "--json", **environment)
    assert done.returncode == 0, done.stderr
    return {record["name"]: record for record in json.loads(done.stdout)}


def test_every_plugin_is_listed_with_what_it_provides(command):
    records = listed(command)

    assert records["video"]["state"] == "loaded"
    assert records["video"]["distribution"] == "penstock-video"
    assert records["video"]["components"]["calculator"] >= 4


def test_a_broken_plugin_is_listed_with_its_reason_and_traceback(command, installed):
    site = installed("sadness", BROKEN)

    record = listed(command, PYTHONPATH=site)["sadness"]

    assert (record["state"], record["reason"]) == ("failed", "RuntimeError: no device [0] here")
    assert "sadness_module.py" in record["traceback"]


def test_the_table_has_a_row_for_each_and_says_why_some_are_missing(command, installed):
    site = installed("sadness", BROKEN)

    done = command("plugins", PYTHONPATH=site, PENSTOCK_BLOCK_PLUGINS="image")

    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == f"engine: {engine_words()}"
    assert "loaded" in rows["video"]
    assert "7 calculators" in rows["video"]
    assert "blocked" in rows["image"]
    assert "blocked by name, see PENSTOCK_BLOCK_PLUGINS" in " ".join(done.stdout.split())
    assert "RuntimeError: no device [0] here" in rows["sadness"]
    assert "1 plugin failed; penstock plugins --debug shows how" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_debug_shows_how_a_plugin_failed(command, installed):
    done = command("plugins", "--debug", PYTHONPATH=installed("sadness", BROKEN))

    assert "sadness of sadness:\nTraceback (most recent call last):" in done.stderr


def test_a_wrong_switch_is_wrong_usage(command):
    done = command("plugins", PENSTOCK_NO_PLUGINS="yes")

    assert (done.returncode, done.stderr) == (
        2,
        "Error: PENSTOCK_NO_PLUGINS='yes': must be 1 (load no plugins) or 0\n",
    )


# --- commands of plugins --------------------------------------------------------------------------


def test_a_plugin_adds_a_command_and_its_help(command, installed):
    site = installed("hello", HELLO)

    assert command("hello", PYTHONPATH=site).stdout == "hello from a plugin\n"
    assert re.search(r"^  hello +Say hello\.$", command("--help", PYTHONPATH=site).stdout, re.MULTILINE)


def test_a_plugin_cannot_replace_a_command_and_then_none_of_its_commands_is_added(command, installed):
    installed("hello", HELLO)
    site = installed("thief", THIEF)

    done = command("--help", PYTHONPATH=site)

    assert done.returncode == 0
    assert done.stderr.startswith(
        "warning: the commands of plugin 'thief' are missing: "
        "AlreadyExistsError: the group has a command 'run' already"
    )
    assert "Run a graph file." in done.stdout
    assert "hello" in done.stdout
    assert "early" not in done.stdout


# --- options of plugins ---------------------------------------------------------------------------


def test_a_plugin_adds_an_option_to_run_and_sees_its_value_before_the_run(command, installed, tmp_path):
    site = installed("counts", COUNTS)
    path = tmp_path / "graph.pbtxt"
    path.write_text(
        'node { calculator: "ConstantSidePacketCalculator" output_side_packet: "PACKET:n" node_options { '
        "[type.googleapis.com/penstock.ConstantSidePacketCalculatorOptions] { packet { int_value: 2 } } } }\n"
        'node { calculator: "CountingSourceCalculator" input_side_packet: "MAX_COUNT:n" output_stream: "x" }'
    )

    assert command("run", path, "-q", PYTHONPATH=site).stdout == ""
    assert command("run", path, "-q", "--count-packets", "x", PYTHONPATH=site).stdout == "x: 0\nx: 1\n"


def test_options_of_plugins_are_in_the_help_of_run_and_demo_only(command, installed):
    site = installed("counts", COUNTS)

    helps = {name: command(name, "--help", PYTHONPATH=site).stdout for name in ("run", "demo", "list")}

    words = re.compile(r"--count-packets STREAM\s+Count its packets\.")
    assert [bool(words.search(helps[name])) for name in helps] == [True, True, False]


def test_a_plugin_cannot_replace_an_option_and_then_none_of_its_options_is_added(command, installed):
    installed("counts", COUNTS)
    site = installed("greedy", GREEDY)

    done = command("run", "--help", PYTHONPATH=site)

    warnings = done.stderr.splitlines()
    assert warnings[:2] == [
        f"warning: the options of {name!r} of plugin 'greedy' are missing: AlreadyExistsError: "
        f"running command {name!r} has an option '-q' already; choose another name"
        for name in ("run", "demo")
    ]
    assert all("has an option '-q' already" in words for words in warnings)  # commands of other packs too
    assert "--count-packets" in done.stdout
    assert "--quiet" in done.stdout
    assert "--early" not in done.stdout


def test_a_plugin_whose_options_fail_changes_no_command(command, installed):
    done = command("run", "--help", PYTHONPATH=installed("failing", FAILING))

    assert done.returncode == 0
    assert "plugin 'failing' are missing: RuntimeError: no options today" in done.stderr
    assert "--quiet" in done.stdout


def test_an_unknown_command_names_the_plugins_that_are_missing(command, installed):
    site = installed("sadness", BROKEN)

    done = command("cheer", PYTHONPATH=site)

    assert done.returncode == 2
    assert done.stderr.endswith(
        "Error: there is no command 'cheer'; --help lists them "
        "(plugins that failed: sadness: RuntimeError: no device [0] here)\n"
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [("cheer", "--help lists them"), ("pluggins", "did you mean 'plugins'?")],
)
def test_an_unknown_command_is_wrong_usage_and_similar_ones_are_suggested(invoke, wrong, words):
    done = invoke(wrong)

    assert done.exit_code == 2
    assert done.output.endswith(f"Error: there is no command {wrong!r}; {words}\n")


def without(monkeypatch, *packs):
    """Let the command find no plugin, as if these packs were not installed and the others were blocked."""
    registry = Registry()
    for pack in set(official_packs()["subcommand"].values()):
        if pack not in packs:
            registry.fail(pack, "blocked by name", distribution=pack)
    monkeypatch.setattr(group, "_host", lambda: SimpleNamespace(records=(), implementations=lambda _: ()))
    monkeypatch.setattr(default_registry, "default_registry", lambda: registry)
    monkeypatch.setattr(penstock_command, "_is_complete", True)
    for name in official_packs()["subcommand"]:
        monkeypatch.delitem(penstock_command.commands, name, raising=False)


@pytest.mark.usefixtures("with_pip")
@pytest.mark.parametrize(("name", "pack"), sorted(official_packs()["subcommand"].items()))
def test_a_command_of_a_pack_that_is_not_installed_is_named_with_it(invoke, monkeypatch, name, pack):
    without(monkeypatch, pack)
    done = invoke(name, "--help")

    assert done.exit_code == 2
    words = (
        f"Error: there is no command {name!r}; install the pack that has it: {pip_command('install', pack)}"
    )
    assert done.output.endswith(f"{words}\n")


def test_a_pack_that_is_installed_and_not_loaded_is_not_to_be_installed(invoke, monkeypatch):
    without(monkeypatch)

    assert "there is no command 'hands'; --help lists them" in invoke("hands").output


def test_a_misspelt_option_of_the_command_itself_is_reported_as_an_option(invoke):
    done = invoke("--versoin")

    assert done.exit_code == 2
    assert "No such option" in done.output
    assert "--version" in done.output
