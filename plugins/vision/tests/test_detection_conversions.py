"""Calculators that change what a detection says: numbers, landmarks, pixels, classes, doubles."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import CalculatorGraph, Packet
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import (
    ClassificationList,
    Detection,
    DetectionList,
    LocationData,
    NormalizedLandmarkList,
)
from penstock_testing import run_calculator
from penstock_vision.detections.detection_classifications_merger import (
    DetectionClassificationsMergerCalculator,
)
from penstock_vision.detections.detection_to_landmarks import DetectionToLandmarksCalculator
from penstock_vision.detections.detection_transformation import DetectionTransformationCalculator
from penstock_vision.detections.detection_unique_id import DetectionUniqueIdCalculator
from penstock_vision.detections.detections_deduplicate import DetectionsDeduplicateCalculator
from penstock_vision.detections.pass_through_or_empty import PassThroughOrEmptyDetectionVectorCalculator

FIELDS = ("xmin", "ymin", "width", "height")


def relative(*numbers, **more):
    made = Detection(**more)
    made.location_data.format = LocationData.RELATIVE_BOUNDING_BOX
    for field, number in zip(FIELDS, numbers, strict=True):
        setattr(made.location_data.relative_bounding_box, field, number)
    return made


def in_pixels(*numbers, **more):
    made = Detection(**more)
    made.location_data.format = LocationData.BOUNDING_BOX
    for field, number in zip(FIELDS, numbers, strict=True):
        setattr(made.location_data.bounding_box, field, number)
    return made


# --- DetectionToLandmarksCalculator ------------------------------------------------------------------


def test_keypoints_become_landmarks():
    given = relative(0, 0, 1, 1)
    given.location_data.relative_keypoints.add(x=0.25, y=0.5, keypoint_label="eye", score=1)
    given.location_data.relative_keypoints.add(x=2)

    feeds = {"DETECTION": [(1, given), (2, Detection())]}
    found = run_calculator(DetectionToLandmarksCalculator, feeds, outputs=["LANDMARKS"]).outputs["LANDMARKS"]

    expected = NormalizedLandmarkList(landmark=[{"x": 0.25, "y": 0.5}, {"x": 2, "y": 0}])
    assert [packet.payload for packet in found] == [expected, NormalizedLandmarkList()]


# --- DetectionUniqueIdCalculator ---------------------------------------------------------------------


def test_detections_are_numbered_from_1_over_time_and_over_both_inputs():
    given = [Detection(score=[0.5], detection_id=9), Detection()]
    feeds = {
        "DETECTIONS": [(1, given), (2, [Detection()])],
        "DETECTION_LIST": [(2, DetectionList(detection=given))],
    }

    for _ in range(2):  # a second run begins again
        outputs = run_calculator(DetectionUniqueIdCalculator, feeds, outputs=list(feeds)).outputs
        ids = {tag: [packet.payload for packet in packets] for tag, packets in outputs.items()}

        assert [[one.detection_id for one in some] for some in ids["DETECTIONS"]] == [[1, 2], [5]]
        assert [one.detection_id for one in ids["DETECTION_LIST"][0].detection] == [3, 4]
        assert ids["DETECTIONS"][0][0].score == [0.5]
    assert given[0].detection_id == 9


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ([], ["DETECTIONS"], "none of the inputs DETECTION_LIST, DETECTIONS, but unique ids need one at"),
        (["DETECTIONS"], [], "there is no output DETECTIONS, but the detections of the input DETECTIONS"),
    ],
)
def test_numbered_detections_need_an_input_and_its_output(inputs, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(DetectionUniqueIdCalculator, {tag: [] for tag in inputs}, outputs=outputs)


# --- DetectionsDeduplicateCalculator -----------------------------------------------------------------


def deduplicated(*given):
    found = run_calculator(DetectionsDeduplicateCalculator, {0: [(1, list(given))]}, outputs=[0]).outputs[0]
    return found[0].payload


def test_equal_boxes_become_one_detection_with_all_labels():
    first = in_pixels(1, 2, 3, 4, label=["cup"], score=[0.5], label_id=[1], display_name=["Cup"])
    other = in_pixels(1, 2, 3, 5, label=["can"], score=[0.25])
    again = in_pixels(1, 2, 3, 4, label=["mug"], score=[0.75], label_id=[2], display_name=["Mug"])

    found = deduplicated(first, other, again)

    both = {"label": ["cup", "mug"], "score": [0.5, 0.75], "label_id": [1, 2], "display_name": ["Cup", "Mug"]}
    assert found == [in_pixels(1, 2, 3, 4, **both), other]
    assert first.label == ["cup"]


@pytest.mark.parametrize("given", [Detection(), relative(0, 0, 1, 1)])
def test_only_boxes_in_pixels_are_compared(given):
    with pytest.raises(
        GraphRunError, match="and no bounding_box, but to deduplicate, boxes in pixels are compared"
    ):
        deduplicated(given)


# --- DetectionTransformationCalculator ---------------------------------------------------------------


def transformed(payload, output, *more, tag="DETECTIONS", size=(101, 77)):
    feeds = {tag: [(1, payload)], "IMAGE_SIZE": [(1, size)] if size else []}
    outputs = run_calculator(DetectionTransformationCalculator, feeds, outputs=[output, *more]).outputs
    found = [outputs[one][0].payload for one in (output, *more)]
    return found if more else found[0]


#: Numbers of a relative box, and the numbers of the reference for an image of 101 by 77 (a run of 0.10.21).
TO_PIXELS = [
    ((0.1, 0.33, 0.5, 0.9), (10, 25, 50, 69)),
    ((-0.1, 1.2, 3, 0.999), (0, 77, 101, 76)),
    ((float("nan"), float("inf"), -float("inf"), 1e30), (0, 0, 0, 0)),
]


@pytest.mark.parametrize(("numbers", "pixels"), TO_PIXELS)
def test_fractions_become_pixels_cut_to_the_image(numbers, pixels):
    given = relative(*numbers, score=[0.5])
    given.location_data.relative_keypoints.add(x=0.5, y=0.25)

    found = transformed(given, "PIXEL_DETECTION", tag="DETECTION")

    expected = in_pixels(*pixels, score=[0.5])
    expected.location_data.relative_keypoints.add(x=0.5, y=0.25)
    assert found == expected


def test_pixels_become_fractions_cut_to_0_and_1():
    found = transformed(in_pixels(10, -3, 99, 1000), "RELATIVE_DETECTION", tag="DETECTION")

    tenth, most = (float(np.float32(n) / np.float32(101)) for n in (10, 99))
    assert found == relative(tenth, 0, most, 1)


@pytest.mark.parametrize("is_list", [False, True])
def test_several_detections_leave_in_every_form(is_list):
    given = [relative(0, 0, 1, 1, label=["a"]), relative(0, 0, 0.5, 0.5, label=["b"])]
    payload = DetectionList(detection=given) if is_list else given

    first, some, listed = transformed(
        payload, "PIXEL_DETECTION", "PIXEL_DETECTIONS", "PIXEL_DETECTION_LIST", size=(8, 6)
    )

    expected = [in_pixels(0, 0, 8, 6, label=["a"]), in_pixels(0, 0, 4, 3, label=["b"])]
    assert (first, some, listed) == (expected[0], expected, DetectionList(detection=expected))


@pytest.mark.parametrize(
    ("payload", "tag"), [([], "DETECTIONS"), (DetectionList(), "DETECTIONS"), (Detection(), "DETECTION")]
)
def test_nothing_gives_empty_outputs(payload, tag):
    outputs = ("RELATIVE_DETECTION", "RELATIVE_DETECTIONS", "RELATIVE_DETECTION_LIST")

    assert transformed(payload, *outputs, tag=tag) == [Detection(), [], DetectionList()]


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ([in_pixels(0, 0, 1, 1)], "has format BOUNDING_BOX, but for the node's outputs it must be REL"),
        ([relative(0, 0, 1, 1), Detection()], "has format none, but"),
    ],
)
def test_locations_in_another_format_are_refused(payload, message):
    with pytest.raises(GraphRunError, match=message):
        transformed(payload, "PIXEL_DETECTIONS")


def test_the_size_of_the_image_comes_with_the_detections():
    with pytest.raises(GraphRunError, match=r"has no packet, but detections of 'in_.' are transformed"):
        transformed([relative(0, 0, 1, 1)], "PIXEL_DETECTIONS", size=None)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        (["DETECTION", "DETECTIONS"], ["PIXEL_DETECTION"], "but exactly one is needed"),
        (["DETECTION"], [], "the transformed detections go to no output, but all must be of one kind"),
        (["DETECTION"], ["PIXEL_DETECTION", "RELATIVE_DETECTION"], "but all must be of one kind"),
        (["DETECTIONS"], ["PIXEL_DETECTION"], "the only output is PIXEL_DETECTION, but DETECTIONS may hold"),
    ],
)
def test_ports_that_do_not_fit_are_refused(inputs, outputs, message):
    feeds = {tag: [] for tag in [*inputs, "IMAGE_SIZE"]}
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(DetectionTransformationCalculator, feeds, outputs=outputs)


@pytest.mark.reference(
    "calculators/util/detection_transformation_calculator_test.cc",
    "DetectionsTransformationCalculatorTest.ConvertBoundingBoxToRelativeBoundingBox",
    "DetectionsTransformationCalculatorTest.ConvertRelativeBoundingBoxToBoundingBox",
    "DetectionsTransformationCalculatorTest.ConvertSingleDetection",
)
@pytest.mark.parametrize(
    ("given", "kind", "expected"),
    [
        (
            [in_pixels(100, 200, 400, 300), in_pixels(0, 0, 2000, 1000)],
            "RELATIVE",
            [relative(0.05, 0.2, 0.2, 0.3), relative(0, 0, 1, 1)],
        ),
        (
            [relative(0.1, 0.2, 0.3, 0.4), relative(0, 0, 1, 1)],
            "PIXEL",
            [in_pixels(200, 200, 600, 400), in_pixels(0, 0, 2000, 1000)],
        ),
        (relative(0.05, 0.2, 0.2, 0.3), "PIXEL", [in_pixels(100, 200, 400, 300)]),
    ],
)
def test_boxes_in_an_image_of_2000_by_1000_pixels(given, kind, expected):
    lists = [f"{kind}_DETECTIONS", f"{kind}_DETECTION_LIST"]
    is_one = isinstance(given, Detection)

    some, listed, *one = transformed(
        given,
        *lists,
        *([f"{kind}_DETECTION"] if is_one else []),
        tag="DETECTION" if is_one else "DETECTIONS",
        size=(2000, 1000),
    )

    assert some == list(listed.detection) == expected
    assert one == expected[: len(one)]


@pytest.mark.reference(
    "calculators/util/detection_transformation_calculator_test.cc",
    "DetectionsTransformationCalculatorTest.EmptyDetection",
    "DetectionsTransformationCalculatorTest.EmptyDetections",
)
@pytest.mark.parametrize("form", ["DETECTION", "DETECTIONS"])
def test_a_size_without_detections_gives_nothing(form):
    feeds = {form: [], "IMAGE_SIZE": [(0, (2000, 1000))]}

    run = run_calculator(DetectionTransformationCalculator, feeds, outputs=[f"PIXEL_{form}"])

    assert run.outputs[f"PIXEL_{form}"] == []


@pytest.mark.reference(
    "calculators/util/detection_transformation_calculator_test.cc",
    "DetectionsTransformationCalculatorTest.MissingImageSize",
    "DetectionsTransformationCalculatorTest.WrongOutputType",
)
@pytest.mark.parametrize(
    ("inputs", "output", "message"),
    [
        # without a size and with the wrong output: the error names the second
        (["DETECTIONS"], "PIXEL_DETECTION", "the only output is PIXEL_DETECTION, but DETECTIONS may hold"),
        (["DETECTIONS"], "PIXEL_DETECTIONS", "IMAGE_SIZE"),
        (["DETECTIONS", "IMAGE_SIZE"], "PIXEL_DETECTION", "the only output is PIXEL_DETECTION, but DETEC"),
    ],
)
def test_several_detections_need_a_size_and_an_output_that_holds_them(inputs, output, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(DetectionTransformationCalculator, {tag: [] for tag in inputs}, outputs=[output])


@pytest.mark.reference(
    "calculators/util/detection_transformation_calculator_test.cc",
    "DetectionsTransformationCalculatorTest.WrongLocationDataFormat",
)
def test_a_location_that_is_the_whole_image_is_refused():
    given = Detection(location_data={"format": LocationData.GLOBAL})

    with pytest.raises(GraphRunError, match="has format GLOBAL, but"):
        transformed(given, "PIXEL_DETECTION", tag="DETECTION", size=(2000, 1000))


# --- DetectionClassificationsMergerCalculator --------------------------------------------------------


def merged(detection, *classes, is_listed=True):
    feeds = {
        "INPUT_DETECTION": [(1, detection)] if detection is not None else [],
        "CLASSIFICATION_LIST": [(1, ClassificationList(classification=classes))] if is_listed else [],
    }
    run = run_calculator(DetectionClassificationsMergerCalculator, feeds, outputs=["OUTPUT_DETECTION"])
    return run.outputs["OUTPUT_DETECTION"][0].payload


ANIMAL = relative(0, 0, 1, 1, label=["animal"], label_id=[3], score=[0.9], display_name=["Animal"])


def test_classes_replace_labels_and_the_place_stays():
    found = merged(
        ANIMAL,
        {"index": 5, "score": 0.5, "label": "cat", "display_name": "Cat"},
        {"index": 6, "score": 0.25, "label": "dog", "display_name": "Dog"},
    )

    new = {"label": ["cat", "dog"], "label_id": [5, 6], "score": [0.5, 0.25], "display_name": ["Cat", "Dog"]}
    assert found == relative(0, 0, 1, 1, **new)
    assert ANIMAL.label == ["animal"]


def test_classes_without_names_leave_none_and_no_classes_change_nothing():
    assert merged(ANIMAL, {"index": 5, "score": 0.5}) == relative(0, 0, 1, 1, label_id=[5], score=[0.5])
    assert merged(ANIMAL) == ANIMAL


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([{"score": 1}], "1 of 1 classes to merge have no index, but each needs one"),
        ([{"index": 1, "score": 1}, {"index": 1}], "1 of 2 classes to merge have no score"),
        (
            [{"index": 1, "score": 1, "label": "a"}, {"index": 1, "score": 1}],
            "1 of 2 classes to merge have a label, but",
        ),
        (
            [{"index": 1, "score": 1, "display_name": "a"}, {"index": 1, "score": 1}],
            "1 of 2 classes to merge have a display_name",
        ),
    ],
)
def test_incomplete_classes_are_refused(classes, message):
    with pytest.raises(GraphRunError, match=message):
        merged(ANIMAL, *classes)


ENTITY = in_pixels(50, 60, 70, 80, label=["entity"], label_id=[1], score=[0.9], display_name=["Entity"])


@pytest.mark.reference(
    "calculators/util/detection_classifications_merger_calculator_test.cc",
    "DetectionClassificationsMergerCalculator.SucceedsWithNoClassification",
    "DetectionClassificationsMergerCalculator.SucceedsWithLabelsAndDisplayNames",
    "DetectionClassificationsMergerCalculator.SucceedsWithoutLabelsAndDisplayNames",
)
@pytest.mark.parametrize("names", [["Dog", "Fox"], [], None])
def test_a_detection_in_pixels_gets_the_names_of_all_classes_or_of_none(names):
    if names is None:
        assert merged(ENTITY) == ENTITY
        return
    classes = [{"index": 11, "score": 0.5}, {"index": 12, "score": 0.4}]
    for one, name in zip(classes, names, strict=False):
        one |= {"label": name.lower(), "display_name": name}

    found = merged(ENTITY, *classes)

    labels = [name.lower() for name in names]
    new = {"label": labels, "display_name": names, "label_id": [11, 12], "score": [0.5, 0.4]}
    assert found == in_pixels(50, 60, 70, 80, **new)


@pytest.mark.reference(
    "calculators/util/detection_classifications_merger_calculator_test.cc",
    "DetectionClassificationsMergerCalculator.FailsWithMissingIndex",
    "DetectionClassificationsMergerCalculator.FailsWithMissingScore",
    "DetectionClassificationsMergerCalculator.FailsWithInconsistentNumberOfLabels",
    "DetectionClassificationsMergerCalculator.FailsWithInconsistentNumberOfDisplayNames",
)
@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([{"score": 0.5, "label": "dog"}], "1 of 1 classes to merge have no index"),
        ([{"index": 11, "label": "dog"}], "1 of 1 classes to merge have no score"),
        (
            [
                {"index": 11, "score": 0.5, "label": "dog", "display_name": "Dog"},
                {"index": 12, "score": 0.4, "display_name": "Fox"},
            ],
            "1 of 2 classes to merge have a label, but",
        ),
        (
            [
                {"index": 11, "score": 0.5, "label": "dog"},
                {"index": 12, "score": 0.4, "label": "fox", "display_name": "Fox"},
            ],
            "1 of 2 classes to merge have a display_name",
        ),
    ],
)
def test_names_of_only_some_classes_are_an_invalid_argument(classes, message):
    with pytest.raises(GraphRunError, match=message) as caught:
        merged(ENTITY, *classes)

    assert caught.value.code.name == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("detection", "is_listed", "missing"),
    [(None, True, "in_0"), (ANIMAL, False, "in_1")],
)
def test_both_come_together(detection, is_listed, missing):
    with pytest.raises(GraphRunError, match=rf"input '{missing}' has no packet at timestamp 1, so"):
        merged(detection, is_listed=is_listed)


# --- PassThroughOrEmptyDetectionVectorCalculator -----------------------------------------------------


def test_ticks_without_detections_give_an_empty_list():
    found = [Detection(score=[0.5])]
    feeds = {"VECTOR": [(1, found), (4, [])], "TICK": [(1, "a"), (2, "b"), (3, "c")]}

    run = run_calculator(PassThroughOrEmptyDetectionVectorCalculator, feeds, outputs=["VECTOR"])

    assert [(int(p.timestamp), p.payload) for p in run.outputs["VECTOR"]] == [
        (1, found),
        (2, []),
        (3, []),
        (4, []),
    ]
    assert run.outputs["VECTOR"][0].payload is found


@pytest.mark.reference(
    "calculators/util/pass_through_or_empty_detection_vector_calculator_test.cc",
    "PassThroughOrEmptyDetectionVectorCalculatorTest.PassThrough",
    "PassThroughOrEmptyDetectionVectorCalculatorTest.OrEmptyVector",
)
@pytest.mark.parametrize(
    ("vector", "ticks", "expected"),
    [
        ({1: [], 2: [Detection(detection_id=1000)]}, [1, 2], {1: [], 2: [Detection(detection_id=1000)]}),
        (
            {1: [Detection(detection_id=1000)], 5: []},
            [1, 2, 3, 4],
            {1: [Detection(detection_id=1000)], 2: [], 3: [], 4: []},
        ),
    ],
)
def test_ticks_become_lists_as_soon_as_it_is_known_that_there_is_no_other(vector, ticks, expected):
    graph, seen = (
        CalculatorGraph("""
            input_stream: "detections" input_stream: "tick" output_stream: "out"
            node {
              calculator: "PassThroughOrEmptyDetectionVectorCalculator"
              input_stream: "VECTOR:detections" input_stream: "TICK:tick" output_stream: "VECTOR:out"
            }
        """),
        {},
    )
    graph.observe_output_stream("out", lambda _, packet: seen.update({int(packet.timestamp): packet.payload}))
    graph.start_run()
    for at in ticks:
        graph.add_packet_to_input_stream("tick", Packet("tick", at))
    for at, found in vector.items():
        graph.add_packet_to_input_stream("detections", Packet(found, at))
    graph.wait_until_idle(60)

    assert seen == expected
    graph.cancel()
