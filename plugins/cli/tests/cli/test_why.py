"""`penstock why`: why a run ended or stands still, and what it lost."""

from __future__ import annotations

import json

import pytest

import penstock

STUCK = 'max_queue_size: 2 node { calculator: "CliNeverReturns" input_stream: "n" }'


@penstock.register_calculator
class CliLossy(penstock.Calculator):
    """Drops the number 2, and cuts a list at the number 3."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set(int)
        cc.outputs[0].set_any()

    def process(self, cc):
        if cc.input.payload == 2:
            cc.input.count_dropped("even")
            return
        if cc.input.payload == 3:
            cc.input.count_cut("most is 2", 5)
        cc.output.add(cc.input.payload, cc.input_timestamp)


LOSSY = 'node { calculator: "CliLossy" input_stream: "n" output_stream: "odd" }'


def why(invoke, path, *options, count=3):
    return invoke("why", path, "--side", f"count={count}", "--no-progress", *options)


def test_a_run_that_ends_says_so_and_that_nothing_is_missing(graph, invoke):
    result = why(invoke, graph())

    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "the run is over: its sources and graph inputs have ended",
        "  no packet was dropped, and nothing was cut from lists",
    ]


def test_what_was_dropped_and_cut_is_told_with_node_and_reason(graph, invoke):
    result = why(invoke, graph(LOSSY))

    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "the run is over: its sources and graph inputs have ended",
        "  cut 5 elements from lists on 'n' at node 'CliLossy' input 0: most is 2",
        "  1 of 3 packets on 'n' dropped at node 'CliLossy' input 0: even",
    ]


def test_a_run_that_stands_still_is_stopped_and_its_cause_is_told(graph, invoke):
    result = why(invoke, graph(STUCK), "--after", "1", count=1000)

    assert result.exit_code == 1
    first, second, *rest = result.output.splitlines()
    assert first == "nothing moved for 1 s, and the run was cancelled"
    assert second == "the run is running"
    assert "node 'CliNeverReturns' is running (1 calls): process() at 1 has not come back" in "\n".join(rest)
    assert rest[-1] == "  no packet was dropped, and nothing was cut from lists", "as it was before it ended"


@penstock.register_calculator
class CliRests(penstock.Calculator):
    """Rests for a tenth of a second with each packet."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()

    async def process(self, cc):
        import asyncio

        await asyncio.sleep(0.1)


def test_a_run_that_is_slow_does_not_stand_still(graph, invoke):
    result = why(invoke, graph('node { calculator: "CliRests" input_stream: "n" }'), "--after", "2", count=25)

    assert result.exit_code == 0, result.output
    assert result.output.startswith("the run is over")


def test_the_time_limit_of_a_run_is_told_with_what_it_waited_for(graph, invoke):
    result = why(invoke, graph(STUCK), "--timeout", "0.2", count=1000)

    assert result.exit_code == 1
    assert result.output.startswith(
        "the run did not end within 0.2 s and was cancelled\nthe run is running\n"
    )
    assert "node 'CliNeverReturns' is running" in result.output


def test_a_failed_run_is_told_with_its_error(graph, invoke):
    result = why(invoke, graph('node { calculator: "CliFailsAtThree" input_stream: "n" }'))

    assert result.exit_code == 1
    assert result.output.startswith("the run is over: it failed\n  an error of the run: ")
    assert "three is too much" in result.output


def test_json_has_the_end_the_chains_and_the_counts(graph, invoke):
    stopped = json.loads(why(invoke, graph(STUCK), "--after", "1", "--json", count=1000).output)
    ended = json.loads(why(invoke, graph(LOSSY), "--json").output)

    assert (stopped["end"], stopped["reason"]) == (
        "stopped",
        "nothing moved for 1 s, and the run was cancelled",
    )
    assert any(
        wait["chain"][-1]["kind"] == "running" and wait["chain"][-1]["node"] == "CliNeverReturns"
        for wait in stopped["waits"]
    )
    place = {"stream": "n", "place": "node 'CliLossy' input 0"}
    assert (ended["end"], ended["reason"], ended["waits"]) == ("ended", "", [])
    assert ended["drops"] == [{**place, "reason": "even", "count": 1}]
    assert ended["cuts"] == [{**place, "reason": "most is 2", "count": 5}]
    assert ended["notes"] == ["1 of 3 packets on 'n' dropped at node 'CliLossy' input 0: even"]


@pytest.mark.parametrize(("behind", "code"), [(LOSSY, 1), ("", 0)])
def test_a_strict_answer_fails_if_anything_was_lost(graph, invoke, behind, code):
    assert why(invoke, graph(behind), "--strict").exit_code == code


def test_a_quiet_answer_is_printed_only_if_the_run_did_not_end(graph, invoke):
    assert why(invoke, graph(LOSSY), "--quiet").output == ""
    assert "nothing moved" in why(invoke, graph(STUCK), "--quiet", "--after", "1", count=1000).output


def test_it_traces_as_a_run_does(graph, invoke, tmp_path):
    why(invoke, graph(), "--trace", tmp_path / "trace.json", "--quiet")

    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]


def test_side_packets_that_do_not_fit_are_refused_as_by_run(graph, invoke):
    texts = [
        invoke(command, graph(), "--side", "count=3", "--side", "colour=red", "--no-progress")
        for command in ("why", "run")
    ]

    assert [one.exit_code for one in texts] == [2, 2]
    assert texts[0].output.partition("Error")[2] == texts[1].output.partition("Error")[2]
    assert "'colour'" in texts[0].output


@pytest.mark.parametrize("seconds", ["0", "nan", "soon"])
def test_the_time_of_a_standstill_is_a_positive_number(graph, invoke, seconds):
    result = invoke("why", graph(), "--after", seconds)

    assert result.exit_code == 2
    assert "Invalid value for '--after'" in result.output
