from __future__ import annotations

import json
import textwrap

import pytest


@pytest.fixture
def installed(tmp_path):
    """Return a function that installs a distribution with one plugin into a directory, and returns that."""
    site = tmp_path / "site"

    def install(name, source):
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[penstock]\n{name} = {name}_module\n")
        (site / f"{name}_module.py").write_text(textwrap.dedent(source))
        return site

    return install


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

BROKEN = """
    raise RuntimeError("no device [0] here")
"""


def listed(command, **environment):
    done = command("plugins", "--json", **environment)
    assert done.returncode == 0, done.stderr
    return {record["name"]: record for record in json.loads(done.stdout)}


def test_every_plugin_is_listed_with_what_it_brings(command):
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
    assert "loaded" in rows["video"]
    assert "4 calculators" in rows["video"]
    assert "blocked" in rows["image"]
    assert "blocked by name, see PENSTOCK_BLOCK_PLUGINS" in rows["image"]
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
    assert "hello    Say hello." in command("--help", PYTHONPATH=site).stdout


def test_a_plugin_cannot_take_the_name_of_a_command_and_all_it_added_is_gone(command, installed):
    installed("hello", HELLO)
    site = installed("thief", THIEF)

    done = command("--help", PYTHONPATH=site)

    assert done.returncode == 0
    assert done.stderr.startswith(
        "warning: the commands of plugin 'thief' are missing: "
        "AlreadyExistsError: there is a command 'run' already"
    )
    assert "Run a graph file." in done.stdout
    assert "hello" in done.stdout
    assert "early" not in done.stdout


def test_an_unknown_command_names_the_plugins_that_are_missing(command, installed):
    site = installed("sadness", BROKEN)

    done = command("cheer", PYTHONPATH=site)

    assert done.returncode == 2
    assert (
        "No such command 'cheer' (plugins that failed: sadness: RuntimeError: no device [0] here)"
        in done.stderr
    )


def test_an_unknown_command_without_broken_plugins_is_just_unknown(command):
    done = command("cheer")

    assert (done.returncode, "plugins" in done.stderr.splitlines()[-1]) == (2, False)
    assert "No such command 'cheer'" in done.stderr
