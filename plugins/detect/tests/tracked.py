"""Detections of tracks, for the tests of lines and zones."""

from __future__ import annotations

from penstock_formats import Detection, LocationData


def box(track, x, y, label="car", size=0.1):
    """Return a detection whose bottom centre is at a place; track 0 is none."""
    one = Detection(label=[label] if label else [], score=[0.9])
    if track:
        one.detection_id = track
    one.location_data.format = LocationData.RELATIVE_BOUNDING_BOX
    found = one.location_data.relative_bounding_box
    found.xmin, found.ymin, found.width, found.height = x - size / 2, y - size, size, size
    return one


def pixel_box(track, x, y, size=10):
    """Return a detection in pixels whose bottom centre is at a place."""
    one = Detection(label=["car"], score=[0.9], detection_id=track)
    one.location_data.format = LocationData.BOUNDING_BOX
    found = one.location_data.bounding_box
    found.xmin, found.ymin, found.width, found.height = x - size // 2, y - size, size, size
    return one
