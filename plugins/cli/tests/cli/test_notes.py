"""Notes on a run: nodes that waited or never ran, dropped packets; `--strict` and `--max-memory`."""

from __future__ import annotations

import json
import math

import pytest

import penstock
from penstock_cli.byte_size import half_of_memory, read_size

CIRCLE = (
    "the wait goes in a circle: 'CliLoop', which waits for 'CliLoop'; let one of them settle its output "
    "before it has read all: by a first packet or bound written in open, or by a timestamp offset above 0"
)
WAITED = (
    "3 packets waited at node 'CliLoop' when the sources had ended: node 'CliLoop' waits for stream 'loop' "
    f"(no packet yet) to settle 1; culprit: {CIRCLE}"
)
NOTES = [
    WAITED,
    "node 'CliLoop' (CliLoop) never ran; 3 packets came to it",
    "3 of 3 packets on 'n' dropped at node 'CliLoop' input 0: the reader had closed",
]
UNFED = """
    node { calculator: "CliLoop" input_stream: "n" input_stream: "loop" output_stream: "loop"
           input_stream_info { tag_index: ":1" back_edge: true } }
"""
SILENT = 'node { calculator: "CliSilent" input_stream: "n" output_stream: "quiet" }'


@penstock.register_calculator
class CliLoop(penstock.Calculator):
    """Sends what comes back around the loop once more."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()
        cc.inputs[1].set_any()
        cc.outputs[0].set_any()

    def process(self, cc):
        cc.output.add_packet(cc.inputs[1].packet)


@penstock.register_calculator
class CliSilent(penstock.Calculator):
    """Writes nothing, and drops the number 2."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set(int)
        cc.outputs[0].set_any()

    def process(self, cc):
        if cc.input.payload == 2:
            cc.input.count_dropped("even")
            cc.input.count_cut("most is 2", 5)


@penstock.register_calculator
class CliSlow(penstock.Calculator):
    """Holds numbers that say to be large."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()

    async def process(self, cc):
        import asyncio

        await asyncio.Event().wait()


def test_a_run_that_loses_packets_in_a_loop_that_nothing_feeds_is_told_with_the_culprit(graph, invoke):
    result = invoke("run", graph(UNFED), "--side", "count=3", "--no-progress")

    lines = result.output.splitlines()
    assert lines[-6].startswith("3 packets in all, 3 dropped; ")
    assert lines[-5:-2] == [f"note: {note}" for note in NOTES]
    assert (result.exit_code, lines[-2:]) == (1, ["Error: every packet was dropped", f"  {NOTES[-1]}"])


def test_a_quiet_run_that_drops_every_packet_fails_and_says_where(graph, invoke):
    result = invoke("run", graph(UNFED), "--side", "count=3", "-q")

    assert (result.exit_code, result.output) == (1, f"Error: every packet was dropped\n  {NOTES[-1]}\n")


def test_a_run_that_drops_some_of_its_packets_succeeds(graph, invoke):
    result = invoke("run", graph(SILENT), "--side", "count=3", "-q")

    assert (result.exit_code, result.output) == (0, "")


def test_a_strict_run_fails_with_the_notes_even_if_it_is_quiet(graph, invoke):
    for options in (["--quiet"], []):
        result = invoke("run", graph(UNFED), "--side", "count=3", "--strict", "--no-progress", *options)

        assert result.exit_code == 1
        words = "\n  ".join(["Error: --strict: 3 notes on the run", *NOTES])
        assert result.output.endswith(f"{words}\n")
        assert "note: " not in result.output


def test_a_strict_run_without_notes_succeeds(graph, invoke):
    result = invoke("run", graph(), "--side", "count=3", "--strict", "-q")

    assert (result.exit_code, result.output) == (0, "")


def test_json_has_the_notes_and_for_each_stream_what_was_dropped_where(graph, invoke):
    result = invoke("run", graph(UNFED), "--side", "count=3", "--json", "--no-progress")

    found = json.loads(result.output[: result.output.index("Error: ")])
    assert found["notes"] == NOTES
    assert [stream["drops"] for stream in found["streams"]] == [
        [{"place": "node 'CliLoop' input 0", "reason": "the reader had closed", "count": 3}],
        [],
    ]


def test_a_strict_run_prints_its_json_and_then_fails(graph, invoke):
    result = invoke("run", graph(UNFED), "--side", "count=3", "--json", "--strict", "--no-progress")

    assert result.exit_code == 1
    assert json.loads(result.output[: result.output.index("Error: ")])["notes"] == NOTES


def test_what_a_calculator_drops_and_a_node_to_which_nothing_comes_are_notes(graph, invoke):
    path = graph(SILENT + 'node { calculator: "CliSilent" input_stream: "quiet" output_stream: "out" }')
    result = invoke("run", path, "--side", "count=3", "--no-progress")

    assert [line for line in result.output.splitlines() if line.startswith("note: ")] == [
        "note: node 'CliSilent_2' (CliSilent) never ran; 0 packets came to it",
        "note: 1 of 3 packets on 'n' dropped at node 'CliSilent_1' input 0: even",
        "note: cut 5 elements from lists on 'n' at node 'CliSilent_1' input 0: most is 2",
    ]


def test_of_very_many_notes_the_first_are_printed(graph, invoke):
    many = "".join(
        f'node {{ calculator: "CliSilent" input_stream: "q{i}" output_stream: "q{i + 1}" }}'
        for i in range(30)
    )
    path = graph(SILENT.replace('"quiet"', '"q0"') + many)
    result = invoke("run", path, "--side", "count=1", "--no-progress")

    notes = [line for line in result.output.splitlines() if line.startswith("note: ")]
    assert (len(notes), notes[-1]) == (21, "note: 10 more are in the output of --json")


# --- the limit of memory --------------------------------------------------------------------------


def test_a_run_whose_queues_take_more_than_allowed_fails_and_names_node_and_stream(graph, invoke):
    path = graph('max_queue_size: -1 node { calculator: "CliSlow" input_stream: "n" }')
    result = invoke("run", path, "--side", "count=100", "--max-memory", "1kB", "--no-progress")

    assert result.exit_code == 1
    assert "max_queued_bytes is 1,000; most of them" in result.output
    assert "on stream 'n' at node 'CliSlow'" in result.output
    assert "node 'CliSlow' is running (1 calls): process() at 1 has not come back" in result.output


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("200MB", 200_000_000), ("200 mb", 200_000_000), ("1.5GiB", 3 * 2**29), ("64k", 64_000), ("7", 7),
        ("1TB", 10**12), ("12B", 12), ("none", math.inf),
    ],
)  # fmt: skip
def test_sizes_are_numbers_with_decimal_or_binary_units(text, size):
    assert read_size(None, None, text) == size


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("much", "'much' is no size; give a number with a unit, such as 200MB or 1.5GiB, or none"),
        ("-1MB", "'-1MB' is no size; give a number with a unit, such as 200MB or 1.5GiB, or none"),
        ("0.2B", "'0.2B' is less than a byte; none is no limit"),
    ],
)
def test_what_is_no_size_is_wrong_usage(graph, invoke, text, said):
    result = invoke("run", graph(), "--side", "count=1", "--max-memory", text)

    assert result.exit_code == 2
    assert f"Invalid value for '--max-memory': {said}" in result.output


def test_the_default_is_half_of_the_memory_and_none_where_the_system_does_not_tell(monkeypatch):
    monkeypatch.setattr(
        "os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}.__getitem__, raising=False
    )
    assert half_of_memory() == 2_048_000

    def unknown(name):
        raise ValueError(name)

    monkeypatch.setattr("os.sysconf", unknown, raising=False)
    assert half_of_memory() == math.inf


@pytest.mark.parametrize(
    ("option", "limit"), [([], 500), (["--max-memory", "3kB"], 3000), (["--max-memory", "none"], math.inf)]
)
def test_the_limit_of_a_run_and_of_the_demo_is_the_option_else_the_default(
    monkeypatch, graph, invoke, option, limit
):
    found = []

    def note(*arguments):
        found.append(arguments[-1].max_queued_bytes)

    monkeypatch.setattr("penstock_cli.runs.manner.half_of_memory", lambda: 500.0)
    monkeypatch.setattr("penstock_cli.runs.run.run_file", note)
    monkeypatch.setattr("penstock_cli.demo.demo.run_demo", note)
    invoke("run", graph(), *option)
    invoke("demo", *option)

    assert found == [limit, limit]
