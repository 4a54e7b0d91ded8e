"""The figures of trackers, counted by hand; the street that they are measured on, the same each time."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def load(monkeypatch):
    """Return a function that imports a module of benchmarks/ or scripts/; forgotten afterwards."""
    for folder in ("benchmarks", "scripts"):
        monkeypatch.syspath_prepend(str(ROOT / folder))

    def load(name):
        monkeypatch.delitem(sys.modules, name, raising=False)
        return __import__(name)

    yield load
    for name in ("tracking_figures", "street"):
        sys.modules.pop(name, None)


def figures(load, truth, tracked):
    """Return the figures of frames with name → left edge; every box is a square of 10."""
    module = load("tracking_figures")

    def frames(given):
        return [[module.Box(key, (x, 0, x + 10, 10)) for key, x in frame.items()] for frame in given]

    return module.figures(frames(truth), frames(tracked))


def test_a_perfect_tracker_may_have_ids_of_its_own(load):
    found = figures(load, [{1: 0, 2: 50}] * 4, [{8: 0, 9: 50}] * 4)

    assert found == (8, 0, 0, 0, 1.0, 1.0)


def test_what_is_missed_and_what_is_wrong_is_counted(load):
    found = figures(load, [{1: 0, 2: 50}] * 5, [{8: 0}] * 4 + [{8: 0, 7: 200}])

    assert found[:4] == (10, 5, 1, 0)
    assert found.mota == pytest.approx(1 - 6 / 10)
    assert found.idf1 == pytest.approx(2 * 5 / (10 + 6))


def test_an_id_that_changes_is_one_switch_and_half_of_the_object(load):
    found = figures(load, [{1: 0}] * 6, [{8: 0}] * 3 + [{9: 0}] * 3)

    assert found[:4] == (6, 0, 0, 1)
    assert found.idf1 == pytest.approx(0.5)


def test_two_objects_that_change_their_ids_are_two_switches(load):
    found = figures(load, [{1: 0, 2: 50}] * 4, [{8: 0, 9: 50}] * 3 + [{9: 0, 8: 50}])

    assert found[:4] == (8, 0, 0, 2)
    assert found.idf1 == pytest.approx(2 * 6 / 16)


def test_a_switch_is_counted_after_a_gap_too(load):
    found = figures(load, [{1: 0}] * 3, [{8: 0}, {}, {9: 0}])

    assert found[:4] == (3, 1, 0, 1)


def test_a_pair_stays_where_another_box_is_nearer(load):
    found = figures(load, [{1: 0}] * 2, [{8: 0}, {9: 0, 8: 2}])

    assert found[:4] == (2, 0, 1, 0)


def test_boxes_that_share_less_than_half_of_their_union_are_no_pair(load):
    near, far = figures(load, [{1: 0}], [{8: 3}]), figures(load, [{1: 0}], [{8: 4}])

    assert (near.missed, near.wrong) == (0, 0)  # 7 / 13
    assert (far.missed, far.wrong) == (1, 1)  # 6 / 14


def test_one_track_is_given_to_one_of_two_objects_that_had_it(load):
    found = figures(load, [{1: 0}, {2: 0}, {1: 0, 2: 1}], [{8: 0}] * 3)

    assert found[:4] == (4, 1, 0, 0)


def test_a_street_is_the_same_each_time(load, tmp_path, monkeypatch):
    street = load("street")
    files = []
    for name in ("a", "b"):
        truth, found = tmp_path / f"{name}.json", tmp_path / f"{name}.jsonl"
        arguments = ["street.py", "--truth", truth, "--noisy", found, "--seconds", "3", "--seed", "4"]
        monkeypatch.setattr(sys, "argv", [str(one) for one in arguments])
        assert street.main() == 0
        files.append((truth.read_bytes(), found.read_bytes()))

    assert files[0] == files[1]
    truth = json.loads(files[0][0])
    lines = [json.loads(line) for line in files[0][1].splitlines()]
    assert len(truth["frames"]) == len(lines) == 75
    assert [line["timestamp"] for line in lines] == [frame["timestamp"] for frame in truth["frames"]]
    objects = sum(len(frame["objects"]) for frame in truth["frames"])
    assert 0.75 * objects < sum(len(line["detections"]) for line in lines) < 1.1 * objects


def test_the_boxes_of_a_street_are_where_its_objects_are_drawn(load):
    import numpy as np

    street = load("street")
    film = street.things(4, np.random.default_rng(2))
    empty = street.background(640, 360)
    (*_, picture) = street.pictures(film, 2, 10, (640, 360))
    checked = 0
    for seen in street.seen_at(film, 1.9):
        if seen.share > 0.99 and seen.thing.label:
            left, top, right, bottom = (
                round(edge * n) for edge, n in zip(seen.box, (640, 360) * 2, strict=True)
            )
            middle = picture[(top + 2 * bottom) // 3, left + 4 : right - 4]
            assert (middle != empty[(top + 2 * bottom) // 3, left + 4 : right - 4]).any(axis=1).mean() > 0.9
            checked += 1
    assert checked


def test_a_crossing_of_the_line_is_told_with_its_direction(load):
    import numpy as np

    street = load("street")
    truth = street.truth_of(street.things(20, np.random.default_rng(1)), 20, 25)
    where = {}
    for frame in truth["frames"]:
        for one in frame["objects"]:
            where.setdefault(one["id"], []).append((frame["timestamp"], (one["box"][0] + one["box"][2]) / 2))
    assert len(truth["crossings"]) > 10
    for crossing in truth["crossings"]:
        before = [x for stamp, x in where[crossing["id"]] if stamp < crossing["timestamp"] - 500_000]
        after = [x for stamp, x in where[crossing["id"]] if stamp > crossing["timestamp"] + 500_000]
        if before and after and before[-1] > 0.03 and after[0] < 0.97:
            is_right = crossing["direction"] == "right"
            assert (before[-1] < after[0]) == is_right


@pytest.mark.parametrize(
    "arguments",
    [["street.py"], ["street.py", "a.mp4", "--size", "12"], ["street.py", "a.mp4", "--seconds", "0"]],
)
def test_wrong_usage_of_the_street_is_told(load, monkeypatch, capsys, arguments):
    street = load("street")
    monkeypatch.setattr(sys, "argv", arguments)

    with pytest.raises(SystemExit) as ended:
        street.main()

    assert ended.value.code == 2
    err = capsys.readouterr().err
    assert any(
        words in err for words in ("nothing is to be written", "is no size such as", "must be above 0")
    )
