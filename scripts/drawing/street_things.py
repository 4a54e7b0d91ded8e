"""The car and the house of the street as detections, rectangles and drawings, for frame `i`."""

from __future__ import annotations

from drawing.street_images import HEIGHT, WIDTH, car_box, house_box

from penstock_formats import Detection, LocationData, NormalizedRect, RenderData, TimedBoxProtoList


def detection(
    box: tuple[float, float, float, float], label: str, number: int, score: float = 0.9
) -> Detection:
    """Return a box with key points: its middle, the middle of its top, its lower corners."""
    made = Detection(label=[label], label_id=[number], score=[score], detection_id=number)
    place = made.location_data
    place.format = LocationData.RELATIVE_BOUNDING_BOX
    inner = place.relative_bounding_box
    left, top, width, height = box
    inner.xmin, inner.ymin, inner.width, inner.height = box
    for x, y in ((0.5, 0.75), (0.5, 0), (0.6, 0.0), (0.1, 1), (0.9, 1), (0.3, 0.5), (0.7, 0.5)):
        place.relative_keypoints.add(x=left + x * width, y=top + y * height)
    return made


def detections(i: int) -> list[Detection]:
    """Return the car and the house."""
    return [detection(car_box(i), "car", 1), detection(house_box(i), "house", 2, 0.7)]


def without_labels(i: int) -> list[Detection]:
    """Return what a model says that knows numbers of classes only."""
    made = detections(i)
    for number, one in enumerate(made):
        del one.label[:]
        one.label_id[:] = [number]
    return made


def overlapping(i: int) -> list[Detection]:
    """Return three boxes around the car, and the house."""
    left, top, width, height = car_box(i)
    shifts = ((0, 0, 0.9), (0.03, 0.02, 0.6), (-0.02, -0.03, 0.5))
    near = [detection((left + x, top + y, width, height), "car", 1, score) for x, y, score in shifts]
    return [*near, detection(house_box(i), "house", 2, 0.7)]


def _in_pixels(made: list[Detection]) -> list[Detection]:
    for one in made:
        place = one.location_data
        inner = place.relative_bounding_box
        place.format = LocationData.BOUNDING_BOX
        place.bounding_box.xmin, place.bounding_box.ymin = (
            round(inner.xmin * WIDTH),
            round(inner.ymin * HEIGHT),
        )
        place.bounding_box.width, place.bounding_box.height = (
            round(inner.width * WIDTH),
            round(inner.height * HEIGHT),
        )
        place.ClearField("relative_bounding_box")
        place.ClearField("relative_keypoints")
    return made


def doubled(i: int) -> list[Detection]:
    """Return each box twice, with two labels."""
    other = [detection(car_box(i), "vehicle", 3, 0.6), detection(house_box(i), "building", 4, 0.5)]
    return _in_pixels([*detections(i), *other])


def with_a_weak_one(i: int) -> list[Detection]:
    """Return the car, the house, and the sun with a low score."""
    return [*detections(i), detection((0.81, 0.09, 0.075, 0.18), "sun", 3, 0.2)]


def rect(box: tuple[float, float, float, float], rotation: float, number: int) -> NormalizedRect:
    """Return a box as a rectangle that is turned by so many radians about its middle."""
    left, top, width, height = box
    return NormalizedRect(
        x_center=left + width / 2,
        y_center=top + height / 2,
        width=width,
        height=height,
        rotation=rotation,
        rect_id=number,
    )


def rects(i: int) -> list[NormalizedRect]:
    """Return the rectangles of the car and the house."""
    return [rect(car_box(i), 0.15, 1), rect(house_box(i), 0.0, 2)]


def timed_boxes(i: int) -> TimedBoxProtoList:
    """Return the car and the house as a tracker sends them."""
    made = TimedBoxProtoList()
    for number, (label, (left, top, width, height)) in enumerate(
        (("car", car_box(i)), ("house", house_box(i)))
    ):
        made.box.add(
            left=left,
            top=top,
            right=left + width,
            bottom=top + height,
            id=number,
            label=label,
            time_msec=40 * i,
        )
    return made


def drawing(i: int) -> RenderData:
    """Return the outline of the car, and its name."""
    made = RenderData()
    left, top, width, height = car_box(i)
    box = made.render_annotations.add(thickness=3)
    box.color.r, box.color.g = 255, 220
    place = box.rectangle
    place.normalized, place.left, place.top = True, left, top
    place.right, place.bottom = left + width, top + height
    text = made.render_annotations.add(thickness=1)
    text.color.r = text.color.g = text.color.b = 255
    text.text.display_text, text.text.normalized = "car", True
    text.text.left, text.text.baseline, text.text.font_height = left, top - 0.03, 0.08
    return made
