from __future__ import annotations

import itertools

import pytest

from penstock import STOP
from penstock.errors import InternalError, NotFoundError
from penstock.lowlevel import DONE
from penstock_testing import calculator, node, testing_registry, wired
from penstock_testing.timeline import Row, draw, picture, record, tracks
from penstock_views.draw import Track


def doubles_even(cc):
    if cc.input.payload % 2 == 0:
        cc.output.add(2 * cc.input.payload, cc.input_timestamp)


def row(name, *packets, bound, before_end=None):
    return Row(name, packets, len(packets) if before_end is None else before_end, bound)


def test_a_run_becomes_rows_with_the_bounds_before_the_inputs_close():
    doubles = calculator(doubles_even)
    plan = wired(node(doubles, "n", "m"), inputs="n")

    assert record(plan, {"n": [(10, 2), (20, 3)]}) == [
        row("n", (10, 2), (20, 3), bound=21),
        row("m", (10, 4), bound=11),
    ]


def test_a_graph_input_can_have_a_header():
    def send_header(cc):
        cc.output.add(cc.input.header.payload, cc.input_timestamp)

    plan = wired(node(calculator(send_header), "n", "m"), inputs="n")

    rows = record(plan, {"n": [(10, 2)]}, headers={"n": "header"})

    assert rows[1].packets == ((10, "header"),)


def test_packets_that_come_when_the_inputs_close_are_in_brackets():
    def at_end(cc):
        cc.output.add("last", 30)

    late = calculator(close=at_end, name="Late")

    rows = record(wired(node(late, "n", "m"), inputs="n"), {"n": [(10, 1)]})

    assert rows[1].packets == ((30, "last"),)
    assert rows[1].before_end == 0
    assert draw(rows).splitlines()[2] == "m          |    (last)"


def test_a_stream_that_ended_before_has_no_bound_but_an_end():
    def once(cc):
        cc.output.add(7, 0)
        return STOP

    rows = record(wired(node(calculator(once), (), "m")), {})

    assert rows == [row("m", (0, 7), bound=DONE)]
    assert draw(rows) == "timestamp   0\nm           7 ]"


def test_a_source_without_end_is_refused():
    def endless(cc):
        cc.output.add(0, next(clock))

    clock = itertools.count()
    plan = wired(node(calculator(endless), (), "m"))

    with pytest.raises(InternalError, match="not idle after"):
        record(plan, {})


def test_rows_are_drawn_with_dots_bars_and_marks():
    thing = object()
    rows = [
        row("frames", (0, thing), (10, object()), (30, None), bound=31),
        row("flag", (0, True), (20, False), bound=21),
        row("out", (0, thing), (10, [1, (0.5, "a long word of words")]), bound=11),
    ]

    assert draw(rows) == (
        "timestamp   0   10                      20  30\n"
        "frames      #1  #2                      .   None |\n"
        "flag        T   .                       F  |\n"
        "out         #1  [1 (0.5 a long word…)] |"
    )


def test_a_wide_run_continues_below_within_the_columns():
    rows = [row("n", *((1000 * t, t) for t in range(30)), bound=30000)]

    blocks = draw(rows, columns=60).split("\n\n")

    assert len(blocks) > 2
    assert all(len(line) <= 60 for block in blocks for line in block.splitlines())
    assert [block.splitlines()[1].endswith("|") for block in blocks] == [False] * (len(blocks) - 1) + [True]


def test_a_bound_that_is_a_timestamp_of_the_table_is_drawn_before_it():
    drawn = draw([row("n", (10, 1), (20, 2), bound=21), row("m", (10, 1), bound=20)])

    assert drawn.splitlines()[2] == "m           1  |"
    assert draw([row("n", (10, 1), (20, 2), bound=20)]).splitlines()[1] == "n           1  |2"


def test_of_a_long_list_the_first_few_elements_are_drawn():
    drawn = draw([row("n", (0, list(range(8))), (1, tuple(range(9))), bound=2)])

    assert drawn.splitlines()[1] == "n           [0 1 2 3 4 5 6 7]  (0 1 2 …) |"


# --- as SVG ---------------------------------------------------------------------------------------


def test_rows_become_tracks() -> None:
    assert tracks([row("n", (0, 1), (1, 2), (2, 3), bound=1, before_end=1)]) == [
        Track("n", ((0, 1), (1, 2), (2, 3)), 1, late=2)
    ]


TEXT = 'input_stream: "n" node { calculator: "Even" input_stream: "n" output_stream: "m" }'


@pytest.fixture
def registry():
    return testing_registry(calculator(doubles_even, name="Even"))


def test_a_graph_and_its_feed_become_a_drawing(registry) -> None:
    drawn = picture(TEXT, {"n": [(10, 2), (20, 3)]}, registry=registry, label="even numbers")

    assert 'aria-label="even numbers"' in drawn
    assert [drawn.count(f">{word}</text>") for word in ("n", "m", "10", "20", "2", "3", "4")] == [1] * 7
    assert drawn.count("<title>bound ") == 2
    assert drawn == picture(TEXT, {"n": [(10, 2), (20, 3)]}, registry=registry, label="even numbers")


def test_the_streams_that_are_named_are_shown_in_that_order(registry) -> None:
    drawn = picture(TEXT, {"n": [(0, 2)]}, streams=["m"], registry=registry)

    assert ">m</text>" in drawn
    assert ">n</text>" not in drawn
    with pytest.raises(NotFoundError, match="the timeline has no stream 'x'; there are: 'n', 'm'"):
        picture(TEXT, {"n": [(0, 2)]}, streams=["m", "x"], registry=registry)
