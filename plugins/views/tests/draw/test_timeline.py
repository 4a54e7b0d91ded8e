from __future__ import annotations

import re
import weakref
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import Calculator, CalculatorGraph, Packet
from penstock.errors import NotFoundError
from penstock.lowlevel import DONE, PRESTREAM
from penstock_testing import testing_registry
from penstock_views.draw import Recorder, Track, timeline_svg
from penstock_views.draw.markup import text_width

NAMESPACE = "{http://www.w3.org/2000/svg}"
LEGEND = {
    "packet",
    "settled, no packet",
    "bound: packets may come from here on",
    "ended",
    "came when the inputs closed",
}


def picture(*tracks, **options):
    return ET.fromstring(timeline_svg(tracks, **options))  # noqa: S314  # just written


def with_class(root, name):
    return [element for element in root.iter() if name in element.get("class", "").split()]


def at(element, *names):
    return tuple(float(element.get(name)) for name in names)


def marks(track):
    """Return the words of a row's packets, with the middle of each."""
    return [
        (text.text, float(text.get("x")))
        for mark in with_class(track, "pk-mark")
        for text in mark.iter(f"{NAMESPACE}text")
    ]


def test_streams_are_rows_and_times_are_columns() -> None:
    root = picture(Track("frames", ((0, "a"), (20, "b")), 21), Track("other", ((10, 5),), 11), legend=False)

    times = {text.text: float(text.get("x")) for text in with_class(root, "pk-time")}
    first, second = with_class(root, "pk-track")
    assert list(times) == ["0", "10", "20"]
    assert [text.text for text in with_class(root, "pk-name")] == ["frames", "other"]
    assert marks(first) == [("a", times["0"]), ("b", times["20"])]
    assert marks(second) == [("5", times["10"])]
    assert sorted(times.values()) == list(times.values())


def test_a_settled_time_without_a_packet_is_a_dot() -> None:
    root = picture(Track("a", ((0, 1), (10, 2), (20, 3)), 21), Track("b", ((10, 1),), 15))

    times = {text.text: float(text.get("x")) for text in with_class(root, "pk-time")}
    dots = [[at(dot, "cx") for dot in with_class(row, "pk-dot")] for row in with_class(root, "pk-track")]
    assert dots == [[], [(times["0"],)]]


def test_a_settled_time_that_no_stream_has_a_packet_at_has_a_column() -> None:
    root = picture(Track("a", (), 11, settled=(10,)))

    assert [text.text for text in with_class(root, "pk-time")] == ["10"]
    assert len(with_class(with_class(root, "pk-track")[0], "pk-dot")) == 1


@pytest.mark.parametrize(("bound", "before"), [(0, 0), (1, 1), (10, 1), (11, 2), (21, 3)])
def test_the_bar_comes_after_the_settled_times(bound, before) -> None:
    root = picture(Track("all", ((0, 1), (10, 1), (20, 1)), 21), Track("one", (), bound))

    row = with_class(root, "pk-track")[1]
    (bar,) = with_class(row, "pk-bar")
    times = [float(text.get("x")) for text in with_class(root, "pk-time")]
    assert sum(time < float(bar.get("x1")) for time in times) == before
    (still_open,) = with_class(row, "pk-open")
    assert at(still_open, "x1") == at(bar, "x1")
    assert [at(line, "x2") for line in with_class(row, "pk-row")] == [at(bar, "x1")] * bool(before)


def test_a_stream_that_has_ended_has_an_end_and_no_bar() -> None:
    row = with_class(picture(Track("a", ((0, 1),), DONE)), "pk-track")[0]

    assert len(with_class(row, "pk-end")) == 1
    assert with_class(row, "pk-bar") == []
    assert with_class(row, "pk-open") == []


def test_packets_that_came_when_the_inputs_closed_are_hollow() -> None:
    row = with_class(picture(Track("a", ((0, 1), (1, 2), (2, 3)), 1, late=2)), "pk-track")[0]

    assert ["pk-late" in rect.get("class") for rect in with_class(row, "pk-packet")] == [False, True, True]


class Thing:
    """A payload without words of its own."""


def test_a_payload_that_is_forwarded_keeps_its_number() -> None:
    one, other = Thing(), Thing()
    root = picture(Track("a", ((0, one), (1, other)), 2), Track("b", ((0, other), (1, one)), 2))

    assert [[text for text, _ in marks(row)] for row in with_class(root, "pk-track")] == [
        ["Thing #1", "Thing #2"],
        ["Thing #2", "Thing #1"],
    ]
    assert with_class(root, "pk-mark")[0].find(f"{NAMESPACE}title").text == "<Thing>"


def test_packets_of_one_time_share_a_mark() -> None:
    row = with_class(picture(Track("a", ((0, 1), (0, 2)), 1)), "pk-track")[0]

    assert [text for text, _ in marks(row)] == ["1 2"]


def test_a_long_run_continues_below() -> None:
    tracks = [Track("a", tuple((t, t) for t in range(40)), 40), Track("b", ((3, 1),), 4)]

    root = picture(*tracks, width=400)

    _, _, width, height = map(float, root.get("viewBox").split())
    assert width <= 400 + 40
    assert [text for row in with_class(root, "pk-track") for text, _ in marks(row)] == [
        text for block in blocks_of(root) for text in block
    ]
    assert sorted(int(text.text) for text in with_class(root, "pk-time")) == list(range(40))
    assert len(with_class(root, "pk-bar")) - 1 == 2  # one for each stream, and the bar of the legend
    assert max(float(rect.get("y")) for rect in with_class(root, "pk-packet")) < height


def blocks_of(root):
    """Return the words of the packets of each row."""
    return [[text for text, _ in marks(row)] for row in with_class(root, "pk-track")]


def test_the_legend_has_only_marks_that_occur() -> None:
    def keys(*tracks):
        return {text.text for text in with_class(picture(*tracks), "pk-key")}

    assert keys(Track("a", ((0, 1),), 1)) == {"packet", "bound: packets may come from here on"}
    assert keys(Track("a", ((0, 1), (2, 1)), DONE, settled=(1,), late=1)) == LEGEND - {
        "bound: packets may come from here on"
    }
    assert with_class(picture(Track("a", ((0, 1),), 1), legend=False), "pk-key") == []


_PAYLOADS = st.integers() | st.text(max_size=40) | st.lists(st.integers(), max_size=9) | st.builds(Thing)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.builds(
            Track,
            st.text(max_size=40),
            st.dictionaries(st.integers(-5, 30), _PAYLOADS, max_size=9).map(
                lambda found: tuple(sorted(found.items(), key=lambda item: item[0]))
            ),
            st.integers(-5, 31) | st.sampled_from([PRESTREAM, DONE]),
            st.lists(st.integers(-5, 30), max_size=4).map(tuple),
            st.integers(0, 3),
        ),
        max_size=4,
    ),
    st.floats(10, 900),
)
def test_any_tracks_are_drawn_without_marks_that_overlap(tracks, width) -> None:
    root = picture(*tracks, width=width)

    _, _, wide, high = map(float, root.get("viewBox").split())
    spans = []
    for row in with_class(root, "pk-track"):
        spans += [at(rect, "x", "y", "width", "height") for rect in with_class(row, "pk-packet")]
    assert len(spans) == sum(len({t for t, _ in track.packets}) for track in tracks)
    for i, (x, y, w, h) in enumerate(spans):
        assert x >= 0
        assert x + w <= wide
        assert y + h <= high
        for other_x, other_y, other_w, other_h in spans[:i]:
            assert x >= other_x + other_w or other_x >= x + w or y >= other_y + other_h or other_y >= y + h
    for name in with_class(root, "pk-name"):
        assert float(name.get("x")) - text_width(name.text or "", 11, bold=True) >= 0


def test_equal_tracks_give_equal_drawings() -> None:
    tracks = [Track("a", ((0, Thing()), (1, "x")), 2)]

    assert timeline_svg(tracks) == timeline_svg(tracks)
    assert re.match(r'<svg [^>]*aria-label="timeline of a run"', timeline_svg(tracks))


# --- recorded runs --------------------------------------------------------------------------------


class Odd(Calculator):
    """Hands on what is odd; says of the rest that nothing comes."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)

    def process(self, cc) -> None:
        if cc.input.payload % 2:
            cc.output.add(cc.input.payload, cc.input_timestamp)


@pytest.fixture
def graph():
    return CalculatorGraph(
        'input_stream: "n" node { calculator: "Odd" input_stream: "n" output_stream: "odd" }',
        registry=testing_registry(Odd),
    )


def test_a_run_is_recorded_with_its_bounds(graph) -> None:
    recorder = Recorder(graph)
    assert [track.bound for track in recorder.tracks()] == [PRESTREAM, PRESTREAM]
    graph.start_run()
    for timestamp, number in enumerate([1, 2, 3, 4]):
        graph.add_packet_to_input_stream("n", Packet(number, timestamp))
    graph.wait_until_idle(30)

    n, odd = recorder.tracks()

    assert n == Track("n", ((0, 1), (1, 2), (2, 3), (3, 4)), 4)
    assert odd == Track("odd", ((0, 1), (2, 3)), 4, settled=(1, 3))
    graph.close(30)
    assert [track.bound for track in recorder.tracks()] == [DONE, DONE]
    recorder.clear()
    assert [track.packets for track in recorder.tracks()] == [(), ()]


def test_only_the_named_streams_are_recorded(graph) -> None:
    assert [track.name for track in Recorder(graph, ["odd"]).tracks()] == ["odd"]
    with pytest.raises(NotFoundError, match="there is no stream 'even'"):
        Recorder(graph, ["even"])


def test_a_recorder_does_not_keep_its_graph_alive() -> None:
    made = CalculatorGraph(
        'input_stream: "n" node { calculator: "Odd" input_stream: "n" output_stream: "odd" }',
        registry=testing_registry(Odd),
    )
    recorder = Recorder(made)
    gone = weakref.ref(made)
    del made
    assert gone() is None
    assert [track.name for track in recorder.tracks()] == ["n", "odd"]
