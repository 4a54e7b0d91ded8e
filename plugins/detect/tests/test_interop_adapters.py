"""What supervision and Ultralytics find goes wherever a graph takes detections."""

from __future__ import annotations

import subprocess
import sys
import types

import numpy as np
import pytest
from interop_results import MISSING, NAMES, PIXELS, SIZE, TWO, Results, found, plain

import penstock
from penstock.errors import GraphConfigError, PacketTypeError
from penstock_detect import from_supervision, to_supervision
from penstock_detect.interop.adapters import supervision_to_detections
from penstock_formats import Detection, LocationData


class OfUltralytics(Results):
    """A Results under the name that the library has for it."""


OfUltralytics.__module__, OfUltralytics.__qualname__ = "ultralytics.engine.results", "Results"


@penstock.register_calculator
@penstock.calculator
def labels_of_adapter_tests(detections: list[Detection]) -> list[str]:
    return [one.label[0] for one in detections]


@penstock.register_calculator
@penstock.calculator
def detected_of_adapter_tests(row: int) -> OfUltralytics:
    return OfUltralytics(PIXELS, "", NAMES, np.array([[20, 20, 80, 60, 0.75, row]], np.float32))


TRACKED = """
input_stream: "found" output_stream: "followed"
node {
  calculator: "TrackerCalculator" input_stream: "DETECTIONS:found" output_stream: "DETECTIONS:followed"
}"""
LABELS = """
input_stream: "in" output_stream: "labels"
node { calculator: "DetectedOfAdapterTests" input_stream: "in" output_stream: "results" }
node { calculator: "LabelsOfAdapterTests" input_stream: "results" output_stream: "labels" }"""


def test_a_graph_input_of_detections_takes_results_of_ultralytics():
    row = np.array([[20, 20, 80, 60, 0.75, 2], [100, 50, 150, 100, 0.5, 1]], np.float32)
    results = OfUltralytics(PIXELS, "", NAMES, row)

    packets = penstock.run(TRACKED, {"found": [(0, results), (40_000, results)]})["followed"]

    assert [[one.detection_id for one in packet.payload] for packet in packets] == [[1, 2]] * 2
    assert plain(packets[0].payload[0])[:4] == plain(found())[:4]


def test_a_function_that_returns_results_is_read_by_one_that_takes_detections():
    graph = penstock.CalculatorGraph(LABELS)

    assert 'calculator: "UltralyticsAdapterCalculator"' in graph.text_config
    outputs = penstock.run(LABELS, {"in": [(0, 1), (1, 2)]})["labels"]
    assert [packet.payload for packet in outputs] == [["dog"], ["cat"]]


def test_a_stream_of_another_list_is_not_adapted():
    @penstock.register_calculator
    @penstock.calculator
    def numbers_of_adapter_tests(numbers: list[int]) -> int:
        return len(numbers)

    with pytest.raises(GraphConfigError, match="convert it in between"):
        penstock.CalculatorGraph(LABELS.replace("LabelsOf", "NumbersOf"))


def test_results_of_a_classifier_say_why_they_are_refused():
    with pytest.raises(PacketTypeError, match=r"UltralyticsAdapterCalculator refuses it: .*has no boxes"):
        penstock.run(TRACKED, {"found": [(0, OfUltralytics(PIXELS, "", NAMES))]})


def test_what_cannot_be_adapted_is_an_error_that_says_what_can():
    words = r"adapters take supervision.detection.core.Detections, ultralytics.engine.results.Results"
    with pytest.raises(PacketTypeError, match=words):
        penstock.run(TRACKED, {"found": [(0, "a text")]})


def test_a_graph_input_takes_what_supervision_has():
    supervision = pytest.importorskip("supervision", reason=MISSING)
    assert f"{supervision.Detections.__module__}.Detections" == "supervision.detection.core.Detections"

    packets = penstock.run(
        TRACKED, {"found": [(0, to_supervision(TWO, *SIZE)), (1, supervision.Detections.empty())]}
    )

    assert [len(packet.payload) for packet in packets["followed"]] == [2, 0]


def test_boxes_of_supervision_are_in_whole_pixels():
    given = types.SimpleNamespace(
        xyxy=np.array([[20.4, 20.6, 80.2, 60.0]]),
        confidence=np.array([0.75]),
        class_id=np.array([2]),
        tracker_id=np.array([7]),
        data={"class_name": np.array(["cat"])},
    )

    (one,) = supervision_to_detections(given)

    place = one.location_data
    assert place.format == LocationData.BOUNDING_BOX
    box = place.bounding_box
    assert (box.xmin, box.ymin, box.width, box.height) == (20, 21, 60, 39)
    assert (one.label[0], one.label_id[0], one.score[0], one.detection_id) == ("cat", 2, 0.75, 7)
    exact = from_supervision(given, *SIZE)[0].location_data.relative_bounding_box
    assert exact.xmin == pytest.approx(20.4 / SIZE[0])


def test_neither_library_is_imported():
    """Installing the pack, listing its components and loading a graph of detections imports none of them."""
    program = (
        "import sys, penstock\n"
        f"penstock.CalculatorGraph({TRACKED!r})\n"
        "import penstock_detect.interop.adapters\n"
        "print([name for name in ('supervision', 'ultralytics', 'torch') if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )

    assert result.stdout == "[]\n"
