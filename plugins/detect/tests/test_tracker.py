"""TrackerCalculator: who keeps an id, over gaps and crossings, in any order of steps."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_detect import Algorithm, TrackerCalculatorOptions
from penstock_detect.tracker import TrackerCalculator
from penstock_formats import Detection, LocationData
from penstock_testing import explore_graph, run_calculator

BOTH = pytest.mark.parametrize("algorithm", Algorithm)
SECOND = 1_000_000


def found(x, y=0.5, *, score=0.9, kind=0, size=0.1, **more):
    """Return a detection whose centre is (x, y)."""
    box = {"xmin": x - size / 2, "ymin": y - size / 2, "width": size, "height": size}
    place = {"format": LocationData.RELATIVE_BOUNDING_BOX, "relative_bounding_box": box}
    return Detection(label_id=[kind], score=[score], location_data=place, **more)


def track(frames, *, resets=(), **options):
    """Return timestamp → detections, of frames: timestamp in seconds → detections."""
    inputs = {"DETECTIONS": [(round(time * SECOND), made) for time, made in frames.items()]}
    if resets:
        inputs["RESET"] = [(round(time * SECOND), value) for time, value in resets]
    done = run_calculator(
        TrackerCalculator, inputs, outputs=["DETECTIONS"], options=TrackerCalculatorOptions(**options)
    )
    return {packet.timestamp.seconds: packet.payload for packet in done.outputs["DETECTIONS"]}


def ids(sent):
    return [[one.detection_id for one in made] for made in sent.values()]


def times(count, step=0.04, start=0.0):
    return [start + i * step for i in range(count)]


def middle(one):
    box = one.location_data.relative_bounding_box
    return box.xmin + box.width / 2


@BOTH
def test_two_objects_that_pass_each_other_keep_their_ids(algorithm):
    frames = {t: [found(0.2 + 0.3 * t, 0.45), found(0.8 - 0.3 * t, 0.5)] for t in times(50)}
    for t in times(50)[::2]:
        frames[t].reverse()

    sent = track(frames, algorithm=algorithm)

    for t, made in sent.items():
        to_right, to_left = sorted(made, key=lambda one: one.location_data.relative_bounding_box.ymin)
        assert middle(to_right) == pytest.approx(0.2 + 0.3 * t, abs=1e-6)
        assert (to_right.detection_id, to_left.detection_id) == ((2, 1))


@BOTH
@pytest.mark.parametrize("kind", ["empty list", "no packet"])
def test_an_id_survives_a_gap_and_ends_after_lost_seconds(algorithm, kind):
    def with_gap(seconds):
        frames = {t: [found(0.1 + 0.2 * t)] for t in times(25)}
        if kind == "empty list":
            frames |= {t: [] for t in times(round(seconds / 0.04), start=1.0)}
        return frames | {t: [found(0.1 + 0.2 * t)] for t in times(5, start=1.0 + seconds)}

    short = track(with_gap(0.8), algorithm=algorithm, lost_seconds=1.0)
    long = track(with_gap(1.2), algorithm=algorithm, lost_seconds=1.0)

    assert {one for made in ids(short) for one in made} == {1}
    assert {one for made in ids(long) for one in made} == {1, 2}
    assert ids(long)[-5:] == [[], [2], [2], [2], [2]]  # min_hits is 2


@BOTH
def test_ids_do_not_depend_on_the_rate(algorithm):
    random = np.random.default_rng(3)
    irregular = np.cumsum(random.choice([0.02, 0.04, 0.1, 0.25], 40)).tolist()

    for when in (times(100), times(20, 0.2), irregular):
        sent = track(
            {t: [found(0.1 + 0.09 * t), found(0.9 - 0.09 * t, 0.7)] for t in when}, algorithm=algorithm
        )
        assert ids(sent) == [[1, 2]] * len(when)


@BOTH
def test_an_object_that_is_covered_keeps_its_id_by_what_scores_little(algorithm):
    scores = [0.9] * 5 + [0.2] * 40 + [0.9] * 5
    frames = {t: [found(0.1 + 0.1 * t, score=score)] for t, score in zip(times(50), scores, strict=True)}

    assert ids(track(frames, algorithm=algorithm, lost_seconds=0.5)) == [[1]] * 50
    without = track(frames, algorithm=algorithm, lost_seconds=0.5, low_score=0.5)
    assert ids(without) == [[1]] * 5 + [[]] * 41 + [[2]] * 4


@BOTH
def test_what_scores_little_begins_no_track(algorithm):
    assert ids(track({t: [found(0.5, score=0.4)] for t in times(5)}, algorithm=algorithm)) == [[]] * 5


def test_a_detection_alone_is_no_object_unless_it_is_of_the_first_time():
    frames = {
        0: [found(0.2)],
        0.1: [found(0.2), found(0.6)],
        0.2: [found(0.2), found(0.9)],
        0.3: [found(0.2)],
    }

    assert ids(track(frames)) == [[1]] * 4
    assert ids(track(frames, min_hits=1)) == [[1], [1, 2], [1, 3], [1]]
    assert ids(track({t: [found(0.2)] for t in (0, 0.1)} | {0.2: [found(0.2)]}, min_hits=3)) == [[1]] * 3
    assert ids(track({0: []} | {t: [found(0.2)] for t in (0.1, 0.2, 0.3, 0.4)}, min_hits=3)) == [
        [],
        [],
        [],
        [1],
        [1],
    ]


def test_an_object_that_turns_while_it_is_covered_is_found_by_oc_sort():
    """It stops where it was last seen, and its track should be far ahead."""
    seen = [(t, 0.1 + 0.5 * t) for t in times(15)]
    frames = {t: [found(x)] for t, x in seen} | {t: [] for t in times(10, start=0.6)}
    frames |= {t: [found(seen[-1][1] + 0.02)] for t in times(5, start=1.0)}

    assert {one for made in ids(track(frames, algorithm=Algorithm.OC_SORT)) for one in made} == {1}
    assert {one for made in ids(track(frames, algorithm=Algorithm.BYTE_TRACK)) for one in made} == {1, 2}


def test_a_track_has_a_class_unless_classes_do_not_count():
    frames = {t: [found(0.5, kind=round(t * 25) % 2)] for t in times(8)}

    assert {one for made in ids(track(frames, class_aware=False)) for one in made} == {1}
    assert {one for made in ids(track(frames, min_hits=1)) for one in made} == {1, 2}


def test_a_reset_ends_all_tracks_and_no_id_is_given_twice():
    frames = {t: [found(0.5)] for t in times(6, 0.1)}

    assert ids(track(frames, resets=[(0.1, False), (0.3, True)])) == [[1]] * 3 + [[2]] * 3
    assert ids(track(frames, resets=[(0.25, True)])) == [[1]] * 3 + [[2]] * 3  # between two packets


def test_a_gap_is_filled_where_the_object_should_be():
    frames = {t: [found(0.1 + 0.5 * t, display_name=["bob"])] for t in times(20)}
    frames |= {t: [] for t in times(10, start=0.8)}

    sent = track(frames, fill_seconds=0.18)

    filled = {t: made for t, made in sent.items() if t > 0.79}
    assert [len(made) for made in filled.values()] == [1] * 4 + [
        0
    ] * 6  # 0.76 + 0.18 is between 0.92 and 0.96
    for t, made in list(filled.items())[:4]:
        assert (made[0].detection_id, list(made[0].score), list(made[0].display_name)) == (1, [0], ["bob"])
        assert middle(made[0]) == pytest.approx(0.1 + 0.5 * t, abs=0.01)


def test_what_is_not_followed_is_sent_on_request():
    frames = {t: [found(0.2, score=0.3, detection_id=77), found(0.7)] for t in times(3)}

    sent = track(frames, keep_untracked=True)

    assert [[one.HasField("detection_id") for one in made] for made in sent.values()] == [[False, True]] * 3
    assert frames[0][0].detection_id == 77  # the input is as it was


def test_boxes_in_pixels_are_followed_too():
    def in_pixels(x):
        box = {"xmin": x, "ymin": 100, "width": 50, "height": 80}
        return Detection(
            label=["car"], location_data={"format": LocationData.BOUNDING_BOX, "bounding_box": box}
        )

    frames = {t: [in_pixels(round(100 + 200 * t))] for t in times(10)} | {0.4: []}

    sent = track(frames, fill_seconds=1)

    assert ids(sent) == [[1]] * 11
    assert sent[0.4][0].location_data.bounding_box.xmin == pytest.approx(180, abs=3)


def test_a_limit_keeps_tracks_few_and_is_told():
    graph = penstock.CalculatorGraph(
        'input_stream: "in" output_stream: "out" node { calculator: "TrackerCalculator" '
        'input_stream: "DETECTIONS:in" output_stream: "DETECTIONS:out" node_options { '
        "[type.googleapis.com/penstock_detect.TrackerCalculatorOptions] { max_tracks: 3 } } }"
    )
    packets = []
    graph.observe_output_stream("out", lambda _, packet: packets.append(packet.payload))
    graph.start_run()
    for stamp in (0, 40_000):
        graph.add_packet_to_input_stream(
            "in", penstock.Packet([found(0.1 + 0.2 * i) for i in range(5)], stamp)
        )
    graph.close_all_packet_sources()
    graph.wait_until_done()

    assert [[one.detection_id for one in made] for made in packets] == [[1, 2, 3]] * 2
    (cut,) = graph.ledger().cuts
    assert "max_tracks is 3" in str(cut)
    assert "4" in str(cut)


@BOTH
def test_ids_are_the_same_in_any_order_of_steps(algorithm):
    random = np.random.default_rng(9)
    frames = []
    for i in range(12):
        boxes = [
            found(0.1 + 0.02 * i + 0.1 * k + random.normal(0, 0.01), score=float(random.uniform(0.3, 1)))
            for k in range(6)
        ]
        if i not in (4, 5):
            frames.append((i * 40_000, boxes))
    graph = f"""
    input_stream: "a" input_stream: "cut" output_stream: "out"
    node {{ calculator: "PassThroughCalculator" input_stream: "a" output_stream: "b" }}
    node {{ calculator: "TrackerCalculator" input_stream: "DETECTIONS:b" input_stream: "RESET:cut"
      output_stream: "DETECTIONS:out" node_options {{
      [type.googleapis.com/penstock_detect.TrackerCalculatorOptions] {{ algorithm: {algorithm.name} }} }} }}
    node {{ calculator: "PassThroughCalculator" input_stream: "a" output_stream: "other" }}"""

    carried = explore_graph(graph, {"a": frames, "cut": [(300_000, True)]}, seeds=range(12))

    last = [[one.detection_id for one in made] for _, made in carried["out"]]
    assert len(last) == 10
    assert min(last[-1]) > max(max(made) for made in last[:4])


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (
            Detection(),
            "a detection has a place of format GLOBAL, but a box is followed by the tracker; give it a",
        ),
        (found(float("nan")), "all of these numbers must be finite"),
        (found(0.5, score=float("inf")), "and the score inf, but all of these numbers must be finite"),
    ],
)
def test_what_is_no_box_is_refused(one, words):
    with pytest.raises(GraphRunError, match=words):
        track({0: [one]})


@pytest.mark.parametrize(
    "option", ["min_hits: 0", "lost_seconds: -1", "high_score: 1.5", "max_tracks: 100000"]
)
def test_options_out_of_range_are_refused(option):
    with pytest.raises(GraphConfigError, match=option.split(":", maxsplit=1)[0]):
        penstock.CalculatorGraph(
            'input_stream: "in" node { calculator: "TrackerCalculator" input_stream: "DETECTIONS:in" '
            'output_stream: "DETECTIONS:out" node_options { '
            f"[type.googleapis.com/penstock_detect.TrackerCalculatorOptions] {{ {option} }} }} }}"
        )
