"""ZonesCalculator: events and counts as streams, and files of zones."""

from __future__ import annotations

import json
import logging

import pytest
from tracked import box, pixel_box

import penstock
from penstock.access import Access
from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError, ResourceExhaustedError
from penstock_detect.zones.anchors import Anchor
from penstock_detect.zones.events import ZoneEventKind
from penstock_detect.zones.zones_file import MAX_FILE_BYTES, read_places

GATE = 'line { name: "gate" point: [0.2, 0.5, 0.8, 0.5] }'
YARD = 'zone { name: "yard" point: [0.2, 0.6, 0.8, 0.6, 0.8, 0.9, 0.2, 0.9] }'


def graph(options, *, ports=""):
    return f"""
    input_stream: "tracked" input_stream: "size"
    output_stream: "events" output_stream: "counts"
    node {{
      calculator: "ZonesCalculator" input_stream: "DETECTIONS:tracked" {ports}
      output_stream: "EVENTS:events" output_stream: "COUNTS:counts"
      node_options {{ [type.googleapis.com/penstock_detect.ZonesCalculatorOptions] {{ {options} }} }}
    }}"""


SIZED = 'input_stream: "IMAGE_SIZE:size"'


def run(options, frames, *, sizes=(), access=None):
    made = penstock.CalculatorGraph(graph(options, ports=SIZED if sizes else ""), access=access)
    found = {"events": [], "counts": []}
    for name, packets in found.items():
        made.observe_output_stream(name, lambda _, packet, packets=packets: packets.append(packet))
    with made:
        made.start_run()
        for at, size in sizes:
            made.add_packet_to_input_stream("size", penstock.Packet(size, at))
        for at, detections in frames:
            made.add_packet_to_input_stream("tracked", penstock.Packet(detections, at))
        made.close_all_input_streams()
        made.wait_until_done(30)
    events = [(int(one.timestamp), event) for one in found["events"] for event in one.payload]
    return events, [one.payload for one in found["counts"]]


WAY = [(at * 100_000, [box(3, 0.5, 0.32 + 0.1 * at)]) for at in range(7)]


def test_events_and_counts_of_a_track():
    events, counts = run(f"{GATE} {YARD} margin: 0.05", WAY)

    # each is certain a frame after the one that shows it
    assert [(at, one.kind, one.place, one.timestamp, one.direction) for at, one in events] == [
        (300_000, ZoneEventKind.CROSS, "gate", 200_000, "in"),
        (400_000, ZoneEventKind.ENTER, "yard", 300_000, ""),
    ]
    assert len(counts) == len(WAY)
    assert counts[2].lines[0].totals == (0, 0)
    assert counts[3].lines[0].by_label == {"car": (1, 0)}
    assert counts[-1].zones[0].present == {"car": 1}
    assert counts[-1].as_data() == {
        "lines": {"gate": {"in": {"car": 1}, "out": {}}},
        "zones": {"yard": {"present": {"car": 1}, "entered": {"car": 1}, "mean_dwell_s": None}},
    }


def test_an_event_as_json():
    (_, event), *_ = run(GATE, WAY)[0]

    assert event.as_data() == {
        "event": "cross", "timestamp": 200_000, "place": "gate", "direction": "in", "label": "car", "track":
        3, "x": 0.5, "y": 0.52, "dwell_s": None, "speed": None,
    }  # fmt: skip


def test_a_stay_is_measured_by_timestamps():
    frames = [(at * 500_000, [box(1, 0.5, 0.75 if 2 <= at < 7 else 0.4)]) for at in range(10)]
    events, counts = run(f"{YARD} hold_ms: 0", frames)

    assert [(one.kind.value, one.timestamp, one.dwell_us) for _, one in events] == [
        ("enter", 1_000_000, None), ("leave", 3_500_000, 2_500_000)
    ]  # fmt: skip
    assert counts[-1].zones[0].mean_dwell_s == 2.5


def test_detections_without_tracks_are_left_out_and_said_once(caplog):
    with caplog.at_level(logging.WARNING, "penstock"):
        events, counts = run(GATE, [(at, [box(0, 0.5, 0.3 + at / 10)]) for at in range(5)])

    assert not events
    assert counts[-1].lines[0].totals == (0, 0)
    assert [one.getMessage() for one in caplog.records] == [
        "no detection had a track's ID, so nothing was counted; put a tracker before this node"
    ]


def test_pixels_of_images_whose_size_comes_as_a_stream():
    options = 'line { name: "gate" point: [64, 180, 512, 180] direction: ["south", "north"] } is_pixels: true'
    frames = [(at, [pixel_box(1, 300, 100 + 40 * at)]) for at in range(5)]

    events, _ = run(options, frames, sizes=[(at, (640, 360)) for at in range(5)])

    assert [(one.direction, one.timestamp) for _, one in events] == [("south", 3)]
    with pytest.raises(
        GraphRunError,
        match=r"lines and zones are in pixels, but the size of the image changes from \(640.0, 360.0\) "
        r"to \(320.0",
    ):
        run(options, frames, sizes=[(at, (640 >> (at == 2), 360)) for at in range(5)])
    with pytest.raises(GraphRunError, match="no packet of IMAGE_SIZE has come"):
        run(options, frames, sizes=[(3, (640, 360))])


FILE = {
    "size": [1000, 500],
    "anchor": "center",
    "lines": [{"name": "gate", "points": [[200, 250], [800, 250]], "directions": ["down", "up"]}],
    "zones": [
        {"name": "yard", "points": [[200, 300], [800, 300], [800, 450], [200, 450]], "classes": ["bus"]}
    ],
    "ground": {"image": [[0, 0], [1, 0], [1, 1], [0, 1]], "meters": [[0, 0], [9, 0], [9, 9], [0, 9]]},
}


def test_a_file_of_zones(tmp_path):
    path = tmp_path / "zones.json"
    path.write_text(json.dumps(FILE), encoding="utf-8")

    events, counts = run(f'zones_path: "{path}"', WAY)

    assert [(one.place, one.direction, one.timestamp) for _, one in events] == [("gate", "down", 300_000)]
    assert counts[-1].lines[0].start == (0.2, 0.5)
    assert counts[-1].zones[0].entered == {}
    with pytest.raises(GraphConfigError, match="may not read"):
        run(f'zones_path: "{path}"', WAY, access=Access(reads=()))


def line(points, more=""):
    return f'{{"lines": [{{"name": "a", "points": {points}{more}}}]}}'


def zone(points, before=""):
    return f'{{{before}"zones": [{{"name": "a", "points": {points}}}]}}'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"lines": [}', "is no JSON: line 1, column 12: Expecting value"),
        ("[1]", "the whole is [1], but must be an object {...}"),
        ('{"lines": 3}', "lines is 3, but must be a list of 0 to 1000"),
        ('{"line": []}', "line is unknown, but must be one of lines, zones, units, size, anchor, ground"),
        ('{"lines": [], "lines": []}', "the member 'lines' is there twice"),
        ('{"lines": [{"name": "a"}]}', "lines[0].points is missing, but must be a list of 2"),
        ('{"lines": [{"points": [[0, 0], [1, 1]]}]}', "lines[0].name is missing, but must be a text of 1"),
        (line("[[0, 0], [1, 1, 2]]"), "lines[0].points[1] is a list of 3, but must be a list of 2"),
        (line('[[0, 0], [1, "x"]]'), 'lines[0].points[1][1] is "x", but must be a number'),
        (line("[[0, 0], [1, NaN]]"), "lines[0].points[1][1] is NaN, but must be a number"),
        (line("[[0, 0], [1, 1]]", ', "directions": ["x", "x"]'), 'directions is ["x", "x"], but must be two'),
        (line("[[0, 0], [0, 0]]"), "the ends of the zone line 'a' are the same point"),
        (zone("[[0, 0], [0.5, 0.5], [1, 1]]"), "the corners of the zone 'a' are on one line"),
        (zone("[[0, 0], [1, 1]]"), "zones[0].points is a list of 2, but must be a list of 3 to 1000"),
        (line("[[0, 0], [640, 1]]"), 'for pixels say "units": "pixels"'),
        (
            zone("[[0, 0], [0, 1], [1, 1]]", '"lines": [{"name": "a", "points": [[0, 0], [1, 1]]}], '),
            "two lines or zones have the name 'a'",
        ),
        ('{"anchor": "feet"}', 'anchor is "feet", but must be one of bottom_center, center'),
        ('{"units": "cm"}', 'units is \'cm\', but must be "fractions" or "pixels"'),
        ('{"size": [0, 5]}', "size is [0, 5], but must be width and height in pixels, both above 0"),
        ('{"size": [1, 5], "units": "fractions"}', "size is given, but must be left out, or"),
        ('{"ground": {"image": [[0, 0]]}}', "ground.image is a list of 1, but must be a list of 4"),
        ("[" * 100_000, "is no JSON for zones"),
        ('{"size": [1' + "0" * 400 + ", 1]}", "but must be a number"),
    ],
)
def test_a_file_that_is_wrong_names_the_place(text, words):
    with pytest.raises(InvalidArgumentError) as caught:
        read_places("zones.json", text.encode())

    assert words in str(caught.value)
    assert str(caught.value).startswith("the zones file 'zones.json'")


def test_files_that_are_too_large_or_no_text():
    with pytest.raises(ResourceExhaustedError, match="bytes, but may have 1048576"):
        read_places("z.json", b" " * (MAX_FILE_BYTES + 1))
    with pytest.raises(InvalidArgumentError, match="is no text in UTF-8"):
        read_places("z.json", b"\xff\xff")
    assert read_places("z.json", b'\xef\xbb\xbf{"anchor": "top_center"}').anchor is Anchor.TOP_CENTER


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("", "none of zones_path, line and zone are set"),
        (f'zones_path: "a.json" {GATE}', "both of zones_path, line and zone are set"),
        (
            'line { name: "a" point: [0, 0, 1] }',
            "has the numbers [0.0, 0.0, 1.0], but must have x and y of 2 points",
        ),
        (
            'line { name: "a" point: [0, 0, 1, 1] direction: "x" }',
            "must have a name and two different directions",
        ),
        ('zone { name: "a" point: [0, 0, 1, 1] }', "must have x and y of 3 or more points"),
        ("zone { point: [0, 0, 1, 1, 0, 1] }", "a zone has no name; set it"),
        (f"{GATE} {GATE}", "two lines or zones have the name 'gate'"),
        (f"{GATE} margin: 2", "margin is 2, but must be from 0 to 1"),
        (f"{GATE} lost_ms: -1", "lost_ms is -1, but must be 0 or more"),
        (f"{GATE} is_pixels: true", "is_pixels is set, but IMAGE_SIZE is not connected"),
    ],
)
def test_options_that_are_wrong(options, words):
    with pytest.raises(GraphConfigError) as caught:
        penstock.CalculatorGraph(graph(options))

    assert words in str(caught.value)


def test_files_without_zones_or_without_a_size(tmp_path):
    path = tmp_path / "zones.json"
    path.write_text("{}")
    with pytest.raises(
        GraphRunError, match=r"zone counter: its file .* has no line or zone to count; write one"
    ):
        run(f'zones_path: "{path}"', [])
    path.write_text('{"units": "pixels", "lines": [{"name": "a", "points": [[0, 0], [5, 5]]}]}')
    with pytest.raises(GraphRunError, match="has coordinates in pixels, but not of which image"):
        run(f'zones_path: "{path}"', [])
    with pytest.raises(GraphRunError, match=r"'nowhere\.json'"):
        run('zones_path: "nowhere.json"', [])


@pytest.mark.parametrize(
    ("detections", "words"),
    [
        ([box(1, 0, 0), box(1, 1, 1)], "has two detections with the ID 1 at timestamp 0"),
        ([pixel_box(1, 9, 9)], "with a box in pixels, but the size of the image is not known"),
    ],
)
def test_detections_that_cannot_be_counted(detections, words):
    with pytest.raises(GraphRunError) as caught:
        run(GATE, [(0, detections)])

    assert words in str(caught.value)
