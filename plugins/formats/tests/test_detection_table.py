"""Detections as plain numbers are those that protobuf sets and reads field by field."""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock_formats import Detection, LocationData
from penstock_formats.detection_table import detections_of, label_bytes, table_of


def by_field(row, label_id=3):
    made = Detection(score=row[:1], label_id=[label_id])
    location = made.location_data
    location.format = LocationData.RELATIVE_BOUNDING_BOX
    box = location.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = row[1:5]
    for x, y in zip(row[5::2], row[6::2], strict=True):
        location.relative_keypoints.add(x=x, y=y)
    return made


def some_rows(count, keypoints):
    values = np.random.default_rng(keypoints).normal(size=(count, 5 + 2 * keypoints)).astype(np.float32)
    values[:, 2] = 0  # a field that is set to its default is present
    return values.tolist()


@pytest.mark.parametrize("label_id", [0, 3, 127, 128, 70_000, -1])
@pytest.mark.parametrize("keypoints", [0, 1, 6, 8, 9, 17, 200])
def test_numbers_become_the_messages_that_fields_make_and_come_back(keypoints, label_id):
    rows = some_rows(3, keypoints)

    made = detections_of([label_bytes(label_id)] * 3, rows)

    assert made == [by_field(row, label_id) for row in rows]
    assert made[0].location_data.relative_bounding_box.HasField("ymin")
    table = table_of([by_field(row, label_id) for row in rows])
    assert list(map(list, table.rows)) == rows
    assert detections_of(table.labels, table.rows) == made


def test_no_row_is_no_message():
    assert detections_of([], []) == []


def test_each_message_has_its_own_label():
    rows = some_rows(2, 1)
    made = detections_of([label_bytes(1), label_bytes(500)], rows)
    assert [list(one.label_id) for one in made] == [[1], [500]]


def test_names_come_back_too():
    (row,) = some_rows(1, 2)
    made = by_field(row)
    made.label.append("hand")
    table = table_of([made])
    assert detections_of(table.labels, table.rows) == [made]


def test_infinities_and_no_number_go_through():
    row = [math.nan, math.inf, -math.inf, math.nan, 0.0]
    (made,) = detections_of([label_bytes(0)], [row])
    assert math.isnan(made.score[0])
    assert math.isnan(made.location_data.relative_bounding_box.width)
    assert table_of([made]).rows[0][1:3] == (math.inf, -math.inf)


def changed(change):
    made = by_field(some_rows(1, 2)[0])
    change(made)
    return made


@pytest.mark.parametrize(
    "other",
    [
        Detection(),
        Detection(score=[0.5], label_id=[1]),
        changed(lambda one: one.score.append(0.5)),
        changed(lambda one: one.ClearField("score")),
        changed(lambda one: one.ClearField("label_id")),
        changed(lambda one: one.label_id.append(4)),
        changed(lambda one: one.label.extend(("left", "right"))),
        changed(lambda one: one.ClearField("location_data")),
        changed(lambda one: setattr(one, "feature_tag", "x")),
        changed(lambda one: setattr(one, "timestamp_usec", 5)),
        changed(lambda one: setattr(one, "track_id", "an id as long as a location and more" * 9)),
        changed(lambda one: setattr(one.location_data, "format", LocationData.GLOBAL)),
        changed(lambda one: one.location_data.relative_bounding_box.ClearField("xmin")),
        changed(lambda one: setattr(one.location_data.relative_keypoints[0], "score", 0.5)),
        changed(lambda one: setattr(one.location_data.relative_keypoints[1], "keypoint_label", "nose")),
        changed(lambda one: one.location_data.bounding_box.SetInParent()),
    ],
)
def test_detections_of_another_form_have_no_table(other):
    plain = by_field(some_rows(1, 2)[0])
    assert table_of([plain]) is not None
    assert table_of([other]) is None
    assert table_of([plain, other]) is None


def test_other_fields_of_the_same_length_are_no_numbers():
    made = by_field(some_rows(1, 0)[0])
    made.location_data.relative_keypoints.add(x=5.0, score=0.5)
    assert made.ByteSize() == by_field(some_rows(1, 1)[0]).ByteSize()
    assert table_of([made]) is None


def test_detections_with_different_numbers_of_keypoints_have_no_table():
    rows = [some_rows(1, count)[0] for count in (1, 2)]
    assert table_of([by_field(row) for row in rows]) is None
    assert table_of([by_field(row) for row in reversed(rows)]) is None
