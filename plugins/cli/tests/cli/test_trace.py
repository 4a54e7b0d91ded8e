"""`--trace FILE`: the file is a trace, however the run ends, and the messages about it."""

from __future__ import annotations

import re
from functools import partial

import pytest

from penstock_testing.traces import read_trace
from penstock_views.traces import ChromeTracer

SINK = 'node { calculator: "CliWrites" input_stream: "n" input_side_packet: "TARGET:target" }'


def run(invoke, path, trace, *arguments, count=5):
    return invoke("run", path, "--side", f"count={count}", "--trace", trace, "--no-progress", *arguments)


def test_a_run_is_traced_and_stderr_says_where_and_how_to_open_the_trace(graph, invoke, tmp_path):
    target = tmp_path / "trace.json"
    side = f"target={tmp_path / 'numbers.txt'}"

    result = run(invoke, graph(SINK), target, "--side", side)

    assert result.exit_code == 0
    trace = read_trace(target)
    assert [(a.stream, a.source.name, a.target.name, a.about["timestamp"]) for a in trace.arrows] == [
        ("n", "CliNumbers", "CliWrites", number) for number in range(1, 6)
    ]
    assert trace.processes[0].startswith("graph.pbtxt, run ")
    assert re.search(
        rf"^trace: 15 steps and 5 packets in {re.escape(str(target))} \(\d\.\d kB\); open it in "
        r"https://ui\.perfetto\.dev, which does not upload it$",
        result.stderr,
        re.MULTILINE,
    )
    assert re.search(r"^\s*CliNumbers +6 +\S+ (m|u)?s ", result.output, re.MULTILINE)


def test_a_quiet_run_writes_its_trace_and_says_nothing(graph, invoke, tmp_path):
    result = run(invoke, graph(), tmp_path / "trace.json", "--quiet")

    assert (result.exit_code, result.output) == (0, "")
    assert len(read_trace(tmp_path / "trace.json").slices) == 8


def test_without_the_option_nothing_is_written(graph, invoke, tmp_path):
    path = graph()
    invoke("run", path, "--side", "count=5")

    assert list(tmp_path.iterdir()) == [path]


def test_a_run_that_fails_has_its_trace_too(graph, invoke, tmp_path):
    path = graph('node { calculator: "CliFailsAtThree" input_stream: "n" }')

    result = run(invoke, path, tmp_path / "trace.json")

    assert result.exit_code == 1
    assert "three is too much" in result.stderr
    assert "trace: " in result.stderr
    (error,) = [one[3] for one in read_trace(tmp_path / "trace.json").instants if "error" in one[2]]
    assert error == {"error": "ArithmeticError: three is too much"}


def test_a_run_whose_time_is_up_has_its_trace_with_what_it_waited_for(graph, invoke, tmp_path):
    path = graph('node { calculator: "CliNeverReturns" input_stream: "n" }')

    result = run(invoke, path, tmp_path / "trace.json", "--timeout", "0.3")

    assert result.exit_code == 1
    (waited,) = [one for one in read_trace(tmp_path / "trace.json").slices if one.name == "CliNeverReturns"]
    assert waited.about["error"] == "CancelledError"
    assert waited.end - waited.start > 200_000


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("none/trace.json", r"target file '.*' of the trace: there is no directory '.*none'; make it first"),
        (".", r"target file '.*' of the trace is a directory; name a file in it"),
    ],
)
def test_a_trace_that_cannot_be_written_is_refused_before_the_run(graph, invoke, tmp_path, where, wanted):
    numbers = tmp_path / "numbers.txt"

    result = run(invoke, graph(SINK), tmp_path / where, "--side", f"target={numbers}")

    assert result.exit_code == 4
    assert re.search(wanted, result.stderr)
    assert not numbers.exists()


@pytest.mark.parametrize("behind", ["", "CliFailsAtThree"])
def test_a_disk_that_is_full_at_the_end_is_reported_and_hides_no_error(
    graph, with_a_full_disk, tmp_path, behind
):
    path = graph(f'node {{ calculator: "{behind}" input_stream: "n" }}' if behind else "")

    result = run(partial(with_a_full_disk, 100), path, tmp_path / "trace.json")

    assert result.returncode == 1
    assert "the tracer cannot write trace '" in result.stderr
    assert ": [Errno 27] File too large" in result.stderr
    assert ("three is too much" in result.stderr) == bool(behind)
    assert ("warning: the tracer cannot" in result.stderr) == bool(behind)
    assert list(tmp_path.iterdir()) == [path]


def test_wrong_side_packets_leave_no_trace(graph, invoke, tmp_path):
    path = graph()
    result = invoke("run", path, "--trace", tmp_path / "trace.json")

    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == [path]


def test_the_number_of_dropped_records_is_reported(graph, invoke, tmp_path, monkeypatch):
    monkeypatch.setattr("penstock_views.traces.ChromeTracer", partial(ChromeTracer, capacity=5))

    result = run(invoke, graph(), tmp_path / "trace.json")

    assert "trace: 3 older records were dropped; a trace keeps the last 5" in result.stderr


def test_for_a_graph_with_trace_enabled_a_warning_names_the_option(graph, invoke, tmp_path):
    path = graph("profiler_config { trace_enabled: true }")

    asked = invoke("run", path, "--side", "count=5")
    given = run(invoke, path, tmp_path / "trace.json")

    assert "or run the graph with `penstock run --trace FILE`" in asked.stderr
    assert "profiler_config" not in given.stderr
    assert read_trace(tmp_path / "trace.json").slices


def test_the_help_names_the_page_that_shows_traces_and_no_other(command):
    for name in ("run", "demo"):
        words = " ".join(command(name, "--help").stdout.split())
        assert "JSON that https://ui.perfetto.dev shows (nothing is uploaded)" in words
        assert "chrome" not in words.lower()
