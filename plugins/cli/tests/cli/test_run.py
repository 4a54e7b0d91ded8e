from __future__ import annotations

import json
import re
import signal
from datetime import datetime, timedelta
from pathlib import Path

import click
import pytest

import penstock_cli.runs.run
from penstock_cli.main import penstock_command

SINK = 'node { calculator: "CliWrites" input_stream: "n" input_side_packet: "TARGET:target" }'

#: Where `CliFailsAtThree` raises.
_SOURCE = Path(__file__).with_name("conftest.py").read_text(encoding="utf-8").splitlines()
_LINE = next(number for number, line in enumerate(_SOURCE, 1) if "three is too much" in line)
RAISED_AT = f" (at conftest.py:{_LINE} in process)"


def said(result):
    """Return the output, without click's usage text before an error."""
    return result.output[result.output.find("Error: ") :]


def test_a_run_ends_with_the_time_of_each_node_and_totals(graph, invoke):
    result = invoke("run", graph(), "--side", "count=10")

    assert result.exit_code == 0
    assert re.search(r"^\s*CliNumbers +11 +\S+ (m|u)?s ", result.output, re.MULTILINE)
    assert re.search(r"^10 packets on 'n' in \S+ (m|u)?s: [\d,.]+/s$", result.output, re.MULTILINE)
    assert re.search(
        r"^10 packets in all, 0 dropped; \d\.\d of \d+ cores? busy$", result.output, re.MULTILINE
    )


def test_a_node_with_a_name_of_its_own_is_shown_with_its_calculator(graph, invoke):
    path = graph()
    path.write_text(path.read_text().replace("node {", 'node { name: "[red]counter"'))

    result = invoke("run", path, "--side", "count=1")

    assert re.search(r"\[red\]counter +CliNumbers +2 ", result.output)


def test_files_that_side_packets_name_and_the_run_has_written_are_listed(graph, invoke, tmp_path):
    target = tmp_path / "numbers.txt"

    result = invoke("run", graph(SINK), "--side", "count=3", "--side", f"target={target}")

    assert result.output.endswith(f"written: {target} (6 B)\n")
    assert target.read_text() == "1\n2\n3\n"


def test_a_quiet_run_prints_nothing(graph, invoke, tmp_path):
    result = invoke(
        "run", graph(SINK), "--side", "count=3", "--side", f"target={tmp_path / 'numbers.txt'}", "-q"
    )

    assert (result.exit_code, result.output) == (0, "")


def test_a_graph_without_packets_says_so(graph, invoke):
    result = invoke("run", graph(), "--side", "count=0")

    assert (result.exit_code, "no packets in " in result.output) == (0, True)


def test_warnings_of_the_library_are_shown(graph, invoke):
    result = invoke("run", graph('output_stream: "missing"'), "--side", "count=1")

    assert result.exit_code == 0
    assert re.search(r"^warning: .*'missing'", result.output, re.MULTILINE)


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_failing_calculator_is_one_message_and_exit_code_1(graph, invoke):
    path = graph('node { calculator: "CliFailsAtThree" input_stream: "n" }')

    result = invoke("run", path, "--side", "count=5")

    assert result.exit_code == 1
    assert said(result) == (
        "Error: the graph run failed: node 'CliFailsAtThree' (CliFailsAtThree): process() failed at 3: "
        f"ArithmeticError: three is too much{RAISED_AT}\n"
    )


@pytest.mark.parametrize("place", ["before", "behind"])
def test_debug_adds_the_traceback_of_the_calculator(graph, invoke, place):
    path = graph('node { calculator: "CliFailsAtThree" input_stream: "n" }')
    arguments = ["run", path, "--side", "count=5"]

    result = invoke(*(["--debug", *arguments] if place == "before" else [*arguments, "--debug"]))

    assert result.exit_code == 1
    assert 'raise ArithmeticError("three is too much")' in result.output
    assert result.output.endswith(f"ArithmeticError: three is too much{RAISED_AT}\n")


def test_a_graph_with_faults_has_them_all_and_exit_code_3(graph, invoke):
    path = graph('node { calculator: "CliNumber" }\nnode { calculator: "CliNeverReturns" input_stream: "m" }')

    result = invoke("run", path, "--side", "count=5")

    assert result.exit_code == 3
    assert said(result).startswith(f"Error: {path}: the graph cannot run, 2 faults:\n")
    assert "no calculator 'CliNumber' is registered (did you mean 'CliNumbers'?)" in result.output


def test_a_file_that_is_no_graph_has_the_place_and_exit_code_3(tmp_path, invoke):
    path = tmp_path / "broken.pbtxt"
    path.write_text('node {\n  calculatr: "X"\n}\n')

    result = invoke("run", path)

    assert result.exit_code == 3
    assert said(result).startswith(f"Error: {path}:2:")


def test_a_file_of_an_unknown_kind_has_exit_code_3(tmp_path, invoke):
    path = tmp_path / "graph.txt"
    path.write_text("")

    result = invoke("run", path)

    assert result.exit_code == 3
    assert "ends with '.txt'; expected one of .pbtxt" in said(result)


def test_a_missing_file_names_one_like_it_and_has_exit_code_4(graph, invoke):
    path = graph(name="edges.pbtxt")
    wrong = path.with_name("edge.pbtxt")

    result = invoke("run", wrong)

    assert result.exit_code == 4
    assert said(result) == f"Error: graph file '{wrong}' does not exist; did you mean '{path}'?\n"


def test_a_missing_file_in_a_missing_directory_has_exit_code_4(tmp_path, invoke):
    wrong = tmp_path / "none" / "edge.pbtxt"

    result = invoke("run", wrong)

    assert (result.exit_code, said(result)) == (
        4,
        f"Error: graph file '{wrong}' does not exist; check the path\n",
    )


def test_a_file_that_cannot_be_read_has_exit_code_4(tmp_path, invoke):
    (tmp_path / "folder.pbtxt").mkdir()

    result = invoke("run", tmp_path / "folder.pbtxt")

    assert result.exit_code == 4
    assert "folder.pbtxt" in said(result)


def test_a_missing_side_packet_says_how_to_give_it(graph, invoke):
    result = invoke("run", graph())

    assert result.exit_code == 2
    assert said(result) == (
        "Error: side packets:\n"
        "  node 'CliNumbers' needs the side packet 'count'; give it with --side count=VALUE\n"
    )


def test_a_side_packet_of_a_wrong_type_names_both_types(graph, invoke):
    result = invoke("run", graph(), "--side", "count=ten")

    assert result.exit_code == 2
    assert re.search(r"side packet 'count' of node 'CliNumbers' is a 'str', but .* int", said(result))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param(["cuont=1"], "has no side packet 'cuont' (did you mean 'count'?)", id="misspelt"),
        pytest.param(["x=1"], "no side packet 'x'; the graph's side packets: 'count'", id="unknown"),
        pytest.param(["count"], "'count': must be NAME=VALUE", id="without-value"),
        pytest.param(["=1"], "'=1': must be NAME=VALUE", id="without-name"),
        pytest.param(["count=1", "count=2"], "side packet 'count' is given twice", id="twice"),
    ],
)
def test_a_malformed_side_packet_is_wrong_usage(graph, invoke, given, message):
    arguments = [part for each in given for part in ("--side", each)]

    result = invoke("run", graph(), *arguments)

    assert result.exit_code == 2
    assert message in said(result)


def test_a_graph_with_input_streams_is_refused(tmp_path, invoke):
    path = tmp_path / "fed.pbtxt"
    path.write_text(
        'input_stream: "a"\ninput_stream: "TAG:0:b"\n'
        'node { calculator: "CliNeverReturns" input_stream: "a" }\n'
    )

    result = invoke("run", path)

    assert result.exit_code == 2
    assert f"graph '{path}' has input streams that this command cannot feed: 'a', 'b'; add" in said(result)


def test_a_run_that_takes_too_long_is_cancelled_and_says_what_it_waits_for(graph, invoke):
    path = graph('node { calculator: "CliNeverReturns" input_stream: "n" }')

    result = invoke("run", path, "--side", "count=1", "--timeout", "1")

    assert result.exit_code == 1
    assert said(result).startswith("Error: the run did not end within 1 s and was cancelled\n")
    assert "node 'CliNeverReturns' is running" in said(result)


def test_a_time_limit_on_a_run_that_ends_in_time_changes_nothing(graph, invoke):
    assert invoke("run", graph(), "--side", "count=5", "--timeout", "60").exit_code == 0


def test_a_time_limit_that_is_not_a_number_is_refused(graph, invoke):
    result = invoke("run", graph(), "--timeout", "nan")

    assert result.exit_code == 2
    assert "Error: Invalid value for '--timeout': nan is not in the range x>0.\n" in said(result)


def test_a_time_limit_must_be_positive(graph, invoke):
    result = invoke("run", graph(), "--timeout", "0")

    assert result.exit_code == 2
    assert "0.0 is not in the range x>0" in said(result)


# --- unexpected errors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(
            ZeroDivisionError("oh"),
            (1, "Error: unexpected failure, ZeroDivisionError: oh; this is a bug, please report it"),
            id="a-bug",
        ),
        pytest.param(OSError(28, "no space"), (1, "Error: OSError: [Errno 28] no space\n"), id="the-system"),
        pytest.param(KeyboardInterrupt(), (130, "Error: interrupted\n"), id="ctrl-c-before-the-run"),
    ],
)
def test_any_exception_is_a_message(graph, invoke, monkeypatch, error, expected):
    def fail(*_):
        raise error

    monkeypatch.setattr(penstock_cli.runs.run, "run_file", fail)

    result = invoke("run", graph())

    assert (result.exit_code, said(result)[: len(expected[1])]) == expected
    assert "Traceback" not in result.output


def paths(command, above=()):
    """Yield the words that lead to each command, groups included."""
    yield above
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from paths(command.commands[name], (*above, name))


def test_help_of_every_command_has_examples_and_exit_codes(invoke):
    for arguments in paths(penstock_command):
        result = invoke(*arguments, "--help")
        assert result.exit_code == 0
        assert "Examples:" in result.output
        assert re.search(r"Exit codes: 0 done; 1 the run or a check failed; 2 wrong usage; 3", result.output)


# --- as data, and with the log --------------------------------------------------------------------


def test_json_has_what_the_summary_has(graph, command, tmp_path):
    program = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import conftest"
    (tmp_path / "sitecustomize.py").write_text(program, encoding="utf-8")
    target = tmp_path / "numbers.txt"
    path = graph(SINK)

    done = command(
        "run", path, "--side", "count=3", "--side", f"target={target}", "--json", PYTHONPATH=tmp_path
    )

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["packets"], found["dropped"], found["was_interrupted"]) == (3, 0, False)
    assert [(node["name"], node["calculator"], node["steps"]) for node in found["nodes"]] == [
        ("CliNumbers", "CliNumbers", 4),
        ("CliWrites", "CliWrites", 3),
    ]
    assert found["streams"] == [{"name": "n", "packets": 3, "dropped": 0, "drops": []}]
    assert found["notes"] == []
    assert found["files"] == [{"path": str(target), "bytes": 6}]
    assert found["wall_s"] > 0
    assert found["nodes"][0]["busy_s"] >= 0


def test_json_goes_to_stdout_alone_also_of_a_quiet_run(graph, invoke):
    result = invoke("run", graph(), "--side", "count=3", "--json", "-q")

    assert json.loads(result.stdout)["packets"] == 3
    assert result.output == result.stdout


def test_a_failed_run_has_no_json(graph, invoke):
    path = graph('node { calculator: "CliFailsAtThree" input_stream: "n" }')

    result = invoke("run", path, "--side", "count=5", "--json", "--no-progress")

    assert (result.exit_code, result.stdout) == (1, "")


def test_a_verbose_run_shows_the_log_with_logger_and_place(graph, invoke):
    path = graph('output_stream: "missing"\nnode { calculator: "CliFailsAtThree" input_stream: "n" }')

    began = datetime.now()  # noqa: DTZ005  # local, as in the log
    timed = invoke("run", path, "--side", "count=5", "-v").stderr.splitlines()
    lines = [line[len("2026-01-01 00:00:00.000 ") :] for line in timed]

    for line in timed[:3]:
        assert abs(datetime.fromisoformat(line[:23]) - began) < timedelta(minutes=1)
    assert lines[0] == (
        f"warning: penstock.config: {path}:2:1: the graph's output_stream 'missing': nothing produces it "
        "(stream 'missing')"
    )
    assert lines[1] == "info: penstock.runtime: the run starts; number of nodes: 2"
    assert lines[2].startswith(
        "info: penstock.runtime: the run has ended with UNKNOWN: the graph run failed: "
    )
    assert lines[2].endswith("(node 'CliFailsAtThree', at 3)")


def test_the_log_is_shown_from_the_given_level(graph, invoke):
    run = ["run", graph('output_stream: "missing"'), "--side", "count=1", "--no-progress"]

    assert "the run starts" not in invoke(*run, "--log-level", "warning").stderr
    assert " warning: penstock.config: " in invoke(*run, "--log-level", "warning").stderr
    assert invoke(*run, "--log-level", "error").stderr == ""
    assert "info: penstock.runtime: the run has ended\n" in invoke(*run, "--log-level", "debug").stderr


def test_quiet_and_the_log_exclude_each_other(graph, invoke):
    result = invoke("run", graph(), "-q", "-v")

    assert result.exit_code == 2
    assert (
        "the manner of a run cannot be --quiet with --verbose or --log-level; leave out one of them"
        in said(result)
    )


def test_a_crash_in_native_code_says_where_the_calculator_was(command, tmp_path):
    (tmp_path / "crash.py").write_text(
        "import os, penstock\n\n\n@penstock.register_calculator\n@penstock.calculator\n"
        "def falls() -> penstock.SidePacket[int]:\n    os.abort()\n"
    )
    (tmp_path / "crash.pbtxt").write_text('node { calculator: "Falls" output_side_packet: "OUT:a" }')

    done = command("run", "crash.pbtxt", "--import", "./crash.py", "--no-progress")

    assert done.returncode == -signal.SIGABRT
    assert "Fatal Python error: Aborted" in done.stderr
    assert re.search(r'crash\.py", line 7 in falls', done.stderr)
