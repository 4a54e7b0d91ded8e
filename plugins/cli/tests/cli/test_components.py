from __future__ import annotations

import json
import subprocess
import sys

import click
import pytest

from penstock import Registry
from penstock.packs import KINDS
from penstock_cli.graphs import components
from penstock_cli.graphs.list_and_check_commands import COMMANDS
from penstock_cli.machine.environment import in_this_environment

INLINE = "penstock_testing.inline:InlineExecutor"
CLASH = """
    from penstock import Components, hookimpl

    @hookimpl
    def penstock_components():
        return Components(calculators={"CannyEdgeCalculator": "nowhere:Nothing"})
"""


def listed(invoke, *arguments):
    done = invoke("list", *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


@pytest.fixture
def registry():
    """Return a registry with a few names, of two packs and of this process."""
    registry = Registry()
    for name in ("BetaCalculator", "AlphaCalculator"):
        registry.add("calculator", name, "nowhere:Nothing", distribution="pack-a", plugin="a")
    registry.add("executor", "AlphaExecutor", INLINE, distribution="pack-b", plugin="b")
    registry.add("calculator", "Mine", "nowhere:Nothing")
    return registry


def test_in_a_pipe_each_name_has_a_line_with_its_distribution_and_kind(invoke):
    lines = listed(invoke, "--pack", "video")

    assert [line.split() for line in lines] == [
        ["LiveVideoCalculator", "penstock-video", "calculator"],
        ["LiveVideoSinkCalculator", "penstock-video", "calculator"],
        ["OpenCvVideoDecoderCalculator", "penstock-video", "calculator"],
        ["OpenCvVideoEncoderCalculator", "penstock-video", "calculator"],
        ["VideoDecoderCalculator", "penstock-video", "calculator"],
        ["VideoEncoderCalculator", "penstock-video", "calculator"],
        ["VideoPreStreamCalculator", "penstock-video", "calculator"],
    ]


def test_every_kind_that_a_registry_has_can_be_selected():
    command = next(one for one in COMMANDS if one.name == "list")
    kind = next(one for one in command.params if one.name == "kinds")

    assert list(kind.type.choices) == [name.replace(" ", "-") for name in KINDS]


def test_kinds_word_and_pack_narrow_the_list(invoke):
    lines = listed(invoke, "cli", "--kind", "calculator", "--kind", "subgraph")

    assert {line.split()[2] for line in lines} == {"calculator", "subgraph"}
    assert all("cli" in line.split()[0].lower() for line in lines)
    assert listed(invoke, "low", "--kind", "executor", "--pack", "penstock-executors") == [
        "LowPriorityThreadPoolExecutor  penstock-executors  executor"
    ]


def test_json_has_who_provides_each_name(invoke):
    found = json.loads(invoke("list", "CannyEdge", "--json").stdout)

    assert found == [
        {
            "name": "CannyEdgeCalculator",
            "kind": "calculator",
            "distribution": "penstock-image",
            "plugin": "image",
            "target": "penstock_image.filters.canny_edge:CannyEdgeCalculator",
            "problem": None,
            "summary": None,
            "source": None,
        }
    ]


def test_long_has_the_first_sentence_of_each(invoke):
    (line,) = listed(invoke, "CliNumbers", "--long")

    assert line.split(None, 3) == [
        "CliNumbers",
        "-",
        "calculator",
        "Sends 1, 2, ... up to the side packet COUNT.",
    ]


def test_what_cannot_be_imported_is_listed_with_the_reason(registry):
    (alpha,) = components.chosen(components.components(registry), registry, "alphac", (), None)

    (described,) = components.described([alpha], registry)

    assert (described.summary, alpha.problem) == ("", None)
    assert "ModuleNotFoundError: No module named 'nowhere'" in described.problem


def test_a_name_that_two_claim_is_listed_with_both(registry):
    registry.add("calculator", "Mine", "elsewhere:Other", distribution="pack-b", plugin="b")

    mine = next(one for one in components.components(registry) if one.name == "Mine")

    assert (mine.distribution, mine.problem[:53]) == (
        None,
        "calculator 'Mine' is claimed by this process (nowhere",
    )
    assert components.described([mine], registry)[0].problem == mine.problem


def test_names_are_sorted_by_kind_then_distribution(registry):
    assert [one.name for one in components.components(registry)] == [
        "Mine",
        "AlphaCalculator",
        "BetaCalculator",
        "AlphaExecutor",
    ]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("alpa", "no name contains 'alpa' (did you mean 'alpha'?)"),
        ("BettaCalculator", "no name contains 'BettaCalculator' (did you mean 'BetaCalculator'?)"),
        ("zzz", "no name contains 'zzz'; penstock list shows all of them"),
        (
            "canny",
            "no installed name contains 'canny'; for 'CannyEdgeCalculator': pip install penstock-image",
        ),
    ],
)
def test_a_word_that_is_in_no_name_is_wrong_usage(registry, word, message):
    with pytest.raises(click.ClickException) as caught:
        components.chosen(components.components(registry), registry, word, (), None)

    assert caught.value.exit_code == 2
    assert caught.value.message.startswith(message)


def test_a_word_that_is_a_pack_says_how_its_names_are_listed(registry, invoke):
    with pytest.raises(click.ClickException) as caught:
        components.chosen(components.components(registry), registry, "pack-a", (), None)

    assert (
        caught.value.message
        == "no component's name contains 'pack-a'; that is a pack: penstock list --pack pack-a"
    )
    done = invoke("list", "video")
    assert "VideoDecoderCalculator" in done.stdout
    assert "'video' in them; all of the pack: penstock list --pack video" in done.stderr
    assert "all of the pack" not in invoke("list", "canny").stderr


def test_for_a_word_of_a_plugin_that_is_blocked_the_reason_is_given(registry):
    registry.fail("video", "blocked by name", distribution="penstock-video")

    with pytest.raises(click.ClickException) as caught:
        components.chosen(components.components(registry), registry, "video", (), None)

    assert caught.value.message == (
        "no name contains 'video'; penstock list shows all of them; "
        "plugins that are not loaded: video (blocked by name)"
    )


def test_a_kind_without_such_names_is_an_empty_list(invoke):
    assert listed(invoke, "CannyEdge", "--kind", "executor") == []


def test_an_unknown_pack_is_wrong_usage(invoke):
    done = invoke("list", "--pack", "vidoe")

    assert done.exit_code == 2
    assert "no pack 'vidoe' provides components (did you mean 'video'?)" in done.output


@pytest.mark.usefixtures("with_pip")
def test_missing_packs_are_reported_on_stderr_with_the_reason(registry, capsys):
    registry.fail("gpu", "blocked by name", distribution="penstock-gpu")

    components.print_notes(registry, "canny")

    assert capsys.readouterr().err.splitlines() == [
        "not loaded: plugin 'gpu': blocked by name",
        in_this_environment("not installed: 1 name; pip install penstock-image"),
    ]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (80, ["  AlphaCalculator  BetaCalculator"]),
        (33, ["  AlphaCalculator", "  BetaCalculator"]),
    ],
)
def test_on_a_terminal_names_are_in_groups_and_in_columns_where_there_is_room(
    registry, terminal, monkeypatch, width, lines
):
    monkeypatch.setenv("COLUMNS", str(width))

    with terminal as shown:
        components.print_components(components.components(registry))

    assert click.unstyle(shown.getvalue()).splitlines() == [
        "calculators of this process (1)",
        "  Mine",
        "",
        "calculators of pack-a (2)",
        *lines,
        "",
        "executors of pack-b (1)",
        "  AlphaExecutor",
        "",
    ]


def test_on_a_terminal_the_sentences_are_wrapped_below_their_names(registry, terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    executor = [one for one in components.components(registry) if one.kind == "executor"]

    with terminal as shown:
        components.print_components(components.described(executor, registry))

    heading, name, *sentence = click.unstyle(shown.getvalue()).splitlines()
    assert (heading, name) == ("executors of pack-b (1)", "  AlphaExecutor")
    assert len(sentence) > 2
    assert all(len(line) <= 50 and (line.startswith("      ") or not line) for line in sentence)


def test_listing_imports_no_components():
    program = (
        "import sys\n"
        "from penstock_cli.main import main\n"
        "sys.argv = ['penstock', 'list']\n"
        "try:\n    main()\n"
        "finally:\n"
        "    print('loaded', *sys.modules, file=sys.stderr)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    loaded = set(done.stderr.splitlines()[-1].split())
    of_packs = {name for name in loaded if name.startswith("penstock_") and "penstock_cli" not in name}
    assert len(done.stdout.splitlines()) > 20
    assert loaded & {"rich", "google", "numpy", "cv2", "av", "asyncio", "packaging"} == set()
    assert {name.partition(".")[2] for name in of_packs} <= {
        "",
        "plugin",
        "components",
        "commands",
        "command_line",
        # small modules beside the command lines of packs that have several
        "detect_command",
        "needs",
        "serve_options",
        "watching",
        "streaming",
        "streaming.announcing",
        "streaming.command_line",
    }


def test_names_of_a_clash_between_plugins_are_listed(command, installed):
    site = installed("rival", CLASH)

    done = command("list", "CannyEdge", PYTHONPATH=site)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("CannyEdgeCalculator  -  calculator  cannot be used: calculator 'CannyEdge")
    assert "is claimed by penstock-image" in done.stdout
