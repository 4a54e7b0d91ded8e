"""Detections to and from supervision and Ultralytics, and supervision's annotators in a graph."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from interop_results import HEIGHT, MISSING, NAMES, PIXELS, SIZE, TWO, WIDTH, Results, found, plain

import penstock
from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError
from penstock_detect import from_supervision, from_ultralytics, to_supervision, to_ultralytics
from penstock_formats import Detection, ImageFormat, ImageFrame

# --- supervision ----------------------------------------------------------------------------------------


@pytest.fixture
def supervision():
    return pytest.importorskip("supervision", reason=MISSING)


def test_supervision_gets_pixels_classes_names_and_tracks(supervision):
    made = to_supervision(TWO, *SIZE)

    assert isinstance(made, supervision.Detections)
    np.testing.assert_allclose(made.xyxy, [[20, 20, 80, 60], [100, 50, 150, 100]], atol=1e-4)
    assert made.confidence.tolist() == [0.75, 0.5]
    assert made.class_id.tolist() == [2, 1]
    assert made.tracker_id.tolist() == [7, 9]
    assert made["class_name"].tolist() == ["cat", "dog"]


@pytest.mark.parametrize("detections", [TWO, [found()], [], [found(label="")]])
def test_detections_come_back_from_supervision_as_they_were(supervision, detections):
    del supervision

    back = from_supervision(to_supervision(detections, *SIZE), *SIZE)

    assert list(map(plain, back)) == list(map(plain, detections))


def test_tracks_are_left_out_where_one_detection_has_none(supervision):
    del supervision

    assert to_supervision([TWO[0], found()], *SIZE).tracker_id is None


def test_a_bare_supervision_detections_has_a_score_of_1(supervision):
    (one,) = from_supervision(supervision.Detections(xyxy=np.array([[0.0, 0, 100, 50]])), *SIZE)

    assert plain(one) == ([0, 0, 0.5, 0.5], [], [], 1, None, [])


def test_masks_get_the_size_of_the_image(supervision):
    del supervision
    small = np.zeros((10, 20), np.uint8)
    small[2:6, 2:8] = 255

    made = to_supervision([found()], *SIZE, masks=[ImageFrame(small, ImageFormat.GRAY8)])

    assert made.mask.shape == (1, HEIGHT, WIDTH)
    assert made.mask[0, 20:60, 20:80].all()
    assert made.mask.sum() == 40 * 60


def test_wrong_payloads_for_supervision_say_what_is_expected(supervision):
    del supervision

    with pytest.raises(
        InvalidArgumentError,
        match=r"made of a supervision\.Detections, but the payload is a 'list'",
    ):
        from_supervision([], *SIZE)
    with pytest.raises(InvalidArgumentError, match="0 masks for supervision, but 1 detections"):
        to_supervision([found()], *SIZE, masks=[])
    with pytest.raises(InvalidArgumentError, match="format GLOBAL, but columns take a relative bounding box"):
        to_supervision([Detection(score=[1])], *SIZE)
    with pytest.raises(InvalidArgumentError, match="0 x 5 pixels"):
        to_supervision([], 0, 5)


@penstock.register_calculator
@penstock.calculator
def only_large(there: object) -> object:
    return there[there.area > 2450]


def test_a_function_over_supervision_stands_between_two_calculators(supervision):
    del supervision
    graph = """
    input_stream: "frame" input_stream: "found" output_stream: "left"
    node { calculator: "DetectionsToSupervisionCalculator" input_stream: "DETECTIONS:found"
      input_stream: "IMAGE:frame" output_stream: "SUPERVISION:there" }
    node { calculator: "OnlyLarge" input_stream: "there" output_stream: "large" }
    node { calculator: "SupervisionToDetectionsCalculator" input_stream: "SUPERVISION:large"
      input_stream: "IMAGE:frame" output_stream: "DETECTIONS:left" }"""

    frame = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    packets = {"frame": [(5, frame), (6, frame)], "found": [(5, TWO), (6, [])]}

    outputs = penstock.run(graph, packets)["left"]

    assert [int(packet.timestamp) for packet in outputs] == [5, 6]
    assert [list(map(plain, packet.payload)) for packet in outputs] == [[plain(TWO[1])], []]


def drawing(*annotators, extra=""):
    entries = " ".join(f"annotator: '{one}'" for one in annotators)
    return f"""
    input_stream: "frame" input_stream: "found" input_stream: "masks" output_stream: "drawn"
    node {{ calculator: "SupervisionAnnotatorCalculator" input_stream: "IMAGE:frame"
      input_stream: "DETECTIONS:found" {extra} output_stream: "IMAGE:drawn"
      node_options {{ [type.googleapis.com/penstock_detect.SupervisionAnnotatorCalculatorOptions] {{
        {entries} }} }} }}"""


def drawn(graph, *frames, masks=None):
    """Return the pixels that are drawn for some lists of detections, on grey images."""
    grey = ImageFrame(np.full((HEIGHT, WIDTH, 3), 90, np.uint8), ImageFormat.SRGB)
    packets = {
        "frame": [(i, grey) for i in range(len(frames))],
        "found": [(i, one) for i, one in enumerate(frames)],
        "masks": [(i, masks) for i in range(len(frames))] if masks else [],
    }
    return [packet.payload.array for packet in penstock.run(graph, packets)["drawn"]]


def test_a_box_is_drawn_in_its_colour_red_first(supervision):
    del supervision

    (pixels,) = drawn(drawing('BoxAnnotator(color="#ff2000", thickness=3)'), [found()])

    assert pixels[20, 50].tolist() == [255, 32, 0]
    assert pixels[40, 20].tolist() == [255, 32, 0]
    assert (pixels[25:55, 26:74] == 90).all()
    assert (pixels[:, 85:] == 90).all()


def test_nothing_found_leaves_the_image_as_it_is(supervision):
    del supervision

    (pixels,) = drawn(drawing("BoxAnnotator", "LabelAnnotator", "TraceAnnotator"), [])

    assert (pixels == 90).all()


def test_labels_have_track_name_and_score(supervision, monkeypatch):
    texts = []
    annotate = supervision.LabelAnnotator.annotate

    def remembered(self, scene, detections, labels):
        texts.append(labels)
        return annotate(self, scene, detections, labels)

    monkeypatch.setattr(supervision.LabelAnnotator, "annotate", remembered)
    detections = [TWO[0], found(label="", detection_id=8)]

    (pixels,) = drawn(drawing("LabelAnnotator(text_scale=0.4)"), detections)

    assert texts == [["#7 cat 0.75", "#8 2 0.75"]]
    assert not (pixels == 90).all()


def test_a_trace_remembers_where_a_track_was(supervision):
    del supervision
    graph = drawing('TraceAnnotator(trace_length=10, thickness=2, color_lookup="TRACK")')
    places = [[found(0.1 * i, 0.4, 0.1, 0.2, detection_id=1)] for i in range(6)]

    pixels = drawn(graph, *places)

    assert (pixels[0] == 90).all()
    assert (pixels[-1][50, 25:100] != 90).any(axis=1).all()
    assert all((one == 90).all() for one in drawn(graph, [found()], [found(0.5)]))


def test_masks_are_drawn_where_they_are_connected(supervision):
    del supervision
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    mask[10:30, 40:90] = 255
    graph = drawing("MaskAnnotator(opacity=1.0)", extra='input_stream: "MASKS:masks"')

    (pixels,) = drawn(graph, [found()], masks=[ImageFrame(mask, ImageFormat.GRAY8)])

    assert ((pixels != 90).any(axis=2) == (mask > 0)).all()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (
            "IconAnnotator",
            "annotator is 'IconAnnotator', but must be one of BackgroundOverlayAnnotator, Blur",
        ),
        ("BoxAnnotator(3)", "must be a name, or a name with arguments such as BoxAnnotator"),
        ("BoxAnnotator(thickness=open(1))", "must be a name, or a name with arguments"),
        ('__import__("os")', "must be a name, or a name with arguments"),
        ("x" * 2000, "but must be one of"),
        ("MaskAnnotator", "which draws masks, but MASKS is not connected"),
    ],
)
def test_an_annotator_that_cannot_be_is_refused_when_the_graph_is_loaded(entry, words):
    with pytest.raises(GraphConfigError, match=words):
        penstock.CalculatorGraph(drawing(entry.replace('"', '\\"')))


def test_arguments_that_an_annotator_does_not_take_are_refused(supervision):
    del supervision

    with pytest.raises(
        GraphRunError, match=r"BoxAnnotator refuses it: .*unexpected keyword argument 'thick'"
    ):
        drawn(drawing("BoxAnnotator(thick=3)"), [])


def test_an_image_of_another_format_is_refused(supervision):
    del supervision
    grey = ImageFrame(np.zeros((4, 4), np.uint8), ImageFormat.GRAY8)

    with pytest.raises(GraphRunError, match="format GRAY8, but the node takes SRGB"):
        penstock.run(drawing("BoxAnnotator"), {"frame": [(0, grey)], "found": [], "masks": []})


def test_without_supervision_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "supervision", None)

    with pytest.raises(penstock.errors.FailedPreconditionError, match=r"penstock-detect\[supervision\]"):
        to_supervision([], *SIZE)


# --- Ultralytics ----------------------------------------------------------------------------------------


class Tensor:
    """What torch's tensors are to `from_ultralytics`: NumPy cannot read them before they are on the CPU."""

    def __init__(self, array, is_here=False):
        self._array, self._is_here = np.asarray(array), is_here

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self._array, is_here=True)

    def __array__(self, dtype=None, copy=None):
        if not self._is_here:
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        return self._array.astype(dtype or self._array.dtype)


@pytest.mark.parametrize("kind", [np.asarray, Tensor])
def test_results_of_ultralytics_become_detections(kind):
    boxes = np.array([[20, 20, 80, 60, 7, 0.75, 2], [100, 50, 150, 100, 9, 0.5, 1]], np.float32)
    points = np.array([[[20, 10, 0.5]], [[100, 50, 0.25]]], np.float32)

    made = from_ultralytics(Results(PIXELS, "", NAMES, boxes, points, kind))

    expected = [plain(one) for one in TWO]
    assert [plain(one)[:5] for one in made] == [one[:5] for one in expected]
    assert [plain(one)[5] for one in made] == [[(0.1, 0.1, 0.5)], [(0.5, 0.5, 0.25)]]


def test_results_without_detections_and_without_tracks():
    none = Results(PIXELS, "", NAMES, np.zeros((0, 6), np.float32), np.zeros((0, 17, 3), np.float32))
    one = Results(PIXELS, "", {}, np.array([[0, 0, 100, 50, 0.5, 4]], np.float32))

    assert from_ultralytics(none) == []
    assert [plain(each) for each in from_ultralytics(one)] == [([0, 0, 0.5, 0.5], [], [4], 0.5, None, [])]


def test_the_calculator_reads_results_at_their_timestamps():
    graph = """
    input_stream: "results" output_stream: "found"
    node { calculator: "UltralyticsToDetectionsCalculator" input_stream: "RESULTS:results"
      output_stream: "DETECTIONS:found" }"""
    one = Results(PIXELS, "", NAMES, np.array([[20, 20, 80, 60, 0.75, 2]], np.float32))

    outputs = penstock.run(graph, {"results": [(3, one), (8, one)]})["found"]

    assert [int(packet.timestamp) for packet in outputs] == [3, 8]
    assert [plain(each) for each in outputs[1].payload] == [plain(found())]
    with pytest.raises(GraphRunError, match="a 'list', but must be a Results of Ultralytics"):
        penstock.run(graph, {"results": [(0, [one])]})


def test_results_of_a_classifier_are_refused():
    with pytest.raises(InvalidArgumentError, match="has no boxes: it is of a classifier"):
        from_ultralytics(Results(PIXELS, "", NAMES))


def test_detections_become_results_and_come_back(monkeypatch):
    module = types.ModuleType("ultralytics.engine.results")
    module.Results = Results
    for name in ("ultralytics", "ultralytics.engine"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    graph = """
    input_stream: "frame" input_stream: "found" output_stream: "results"
    node { calculator: "DetectionsToUltralyticsCalculator" input_stream: "DETECTIONS:found"
      input_stream: "IMAGE:frame" output_stream: "RESULTS:results" }"""
    frame = PIXELS.copy()
    frame[..., 0] = 200  # red

    (packet,) = penstock.run(graph, {"frame": [(0, frame)], "found": [(0, TWO)]})["results"]

    assert packet.payload.names == NAMES
    assert (packet.payload.orig_img[..., 2] == 200).all()
    assert list(map(plain, from_ultralytics(packet.payload))) == list(map(plain, TWO))
    assert from_ultralytics(to_ultralytics([], PIXELS)) == []


def test_without_ultralytics_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "ultralytics", None)
    monkeypatch.delitem(sys.modules, "ultralytics.engine.results", raising=False)

    with pytest.raises(penstock.errors.FailedPreconditionError, match="ultralytics is not installed"):
        to_ultralytics([], PIXELS)
