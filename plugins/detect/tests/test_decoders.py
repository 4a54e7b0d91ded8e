"""Each layout of outputs: loops in plain Python find the same detections."""

from __future__ import annotations

import numpy as np
import pytest
from detector_models import (
    CELLS,
    CLASSES,
    DETECTING,
    HEIGHT,
    LABELS,
    TASKS,
    TOLD,
    WIDTH,
    mean_colours,
    outputs_of,
)  # fmt: skip
from plain_decoders import DECODERS, OVERLAPPING, best_of, unpadded

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import ImageFormat, ImageFrame, Tensor

LEAST = 0.3
OVERLAP = 0.6
PADDING = (0.125, 0.25, 0.125, 0.0)
OPTIONS = "[type.googleapis.com/penstock_detect.{}Options]"


def decode(arrays, options, padding=None, output="DETECTIONS"):
    """Return what the calculator makes of some outputs."""
    given = OPTIONS.format("DetectorDecoderCalculator")
    graph = f"""
    input_stream: "tensors" {'input_stream: "padding"' if padding else ""} output_stream: "out"
    node {{
      calculator: "DetectorDecoderCalculator"
      input_stream: "TENSORS:tensors" {'input_stream: "LETTERBOX_PADDING:padding"' if padding else ""}
      output_stream: "{output}:out"
      node_options {{ {given} {{
        input_width: {WIDTH} input_height: {HEIGHT} {options} }} }}
    }}"""
    inputs = {"tensors": [(0, [Tensor(one) for one in arrays])]}
    if padding:
        inputs["padding"] = [(0, padding)]
    (packet,) = penstock.run(graph, inputs)["out"]
    return packet.payload


def numbers(detection):
    """Return a detection as the plain decoders write it."""
    location = detection.location_data
    box = location.relative_bounding_box
    points = [
        (one.x, one.y, one.score) if one.HasField("score") else (one.x, one.y)
        for one in location.relative_keypoints
    ]
    edges = (box.xmin, box.ymin, box.xmin + box.width, box.ymin + box.height)
    (number,), (score,) = detection.label_id, detection.score
    return {"class": number, "score": score, "box": edges, "points": points}


def assert_equal(detections, expected):
    """Compare detections, in any order where scores are equal."""

    def flat(one):
        points = [number for point in one["points"] for number in point]
        return [one["class"], one["score"], *one["box"], *points]

    def key(row):
        return (round(-row[1], 4), *(round(number, 3) for number in row[2:4]))

    mine = sorted((flat(numbers(one)) for one in detections), key=key)
    theirs = sorted(map(flat, expected), key=key)
    assert len(mine) == len(theirs)
    assert len(theirs) > 2, "the test has too few detections to say anything"
    np.testing.assert_allclose(mine, theirs, atol=1e-5, rtol=1e-5)
    scores = [one.score[0] for one in detections]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("layout", DETECTING)
@pytest.mark.parametrize("padding", [None, PADDING], ids=["whole", "letterbox"])
def test_a_layout_is_decoded_as_by_a_plain_loop(layout, padding):
    arrays = list(outputs_of(layout).values())
    labels = " ".join(f'label: "{one}"' for one in LABELS)

    found = decode(arrays, f"layout: {layout} min_score: {LEAST} {labels}", padding)

    expected = [unpadded(one, padding or (0, 0, 0, 0)) for one in DECODERS[layout](arrays, LEAST)]
    assert_equal(found, expected)
    assert {one.label[0] for one in found} <= set(LABELS)


@pytest.mark.parametrize("layout", DETECTING)
def test_an_image_without_detections_gives_an_empty_list(layout):
    arrays = list(outputs_of(layout).values())
    labels = " ".join(f'label: "{one}"' for one in LABELS)

    assert decode(arrays, f'layout: {layout} min_score: 1 classes: "7" {labels}', PADDING) == []


@pytest.mark.parametrize("layout", TOLD)
def test_a_file_is_told_run_and_decoded(layout, model):
    outputs = outputs_of(layout, seed=1)
    path = model(
        outputs,
        metadata={"names": str(dict(enumerate(LABELS))), **TASKS.get(layout, {})},
        sizes=layout == "LABELS_BOXES_SCORES",
    )

    found = detect(path, size=(WIDTH, HEIGHT))

    expected = list(DECODERS[layout](list(outputs.values()), LEAST))
    assert_equal(found, best_of(expected, OVERLAP) if layout in OVERLAPPING else expected)
    assert all(one.label[0] == LABELS[one.label_id[0]] for one in found)


def detect(path, options="", size=(1280, 720), output="DETECTIONS", least=LEAST):
    """Run DetectorSubgraph on one image; return what the output has."""
    (width, height) = size
    image = ImageFrame(np.zeros((height, width, 3), np.uint8), ImageFormat.SRGB)
    graph = f"""
    input_stream: "image" output_stream: "out"
    node {{
      calculator: "DetectorSubgraph" input_stream: "IMAGE:image" output_stream: "{output}:out"
      node_options {{ {OPTIONS.format("DetectorSubgraph")} {{
        model_path: "{path}" min_score: {least} max_overlap: {OVERLAP} {options} }} }}
    }}"""
    (packet,) = penstock.run(graph, {"image": [(0, image)]})["out"]
    return packet.payload


def test_the_letterbox_of_a_file_is_taken_off(model):
    outputs = outputs_of("RTMDET")

    found = detect(model(outputs), size=(400, 400))  # 32 x 32 in 64 x 32

    sides = (0.25, 0.0, 0.25, 0.0)
    expected = [unpadded(one, sides) for one in DECODERS["RTMDET"](list(outputs.values()), LEAST)]
    assert_equal(found, expected)


def test_a_layout_that_is_not_certain_is_asked_for(model):
    path = model(outputs_of("YOLOX"), metadata={"names": str(dict(enumerate(LABELS)))})

    with pytest.raises(GraphConfigError) as caught:
        detect(path)
    assert f"'output' float32 1x{CELLS}x{5 + CLASSES}" in str(caught.value)
    assert "set layout in the options, one of YOLO_V5, " in str(caught.value)

    assert_equal(
        detect(path, "layout: YOLOX", (WIDTH, HEIGHT)),
        best_of(DECODERS["YOLOX"](list(outputs_of("YOLOX").values()), LEAST), OVERLAP),
    )


@pytest.mark.parametrize("layout", ["YOLO_V8", "YOLO_V5"])
def test_rows_that_may_hold_key_points_are_not_guessed(layout, model):
    path = model(outputs_of(layout))  # neither names nor a task

    with pytest.raises(GraphConfigError, match="several layouts have such outputs"):
        detect(path)
    assert len(detect(path, 'label: "a" label: "b" label: "c"')) > 2  # so that 3 classes are known


@pytest.mark.parametrize("layout", ["DETR_ROWS", "DETR_END_TO_END"])
def test_rows_of_a_transformer_are_of_the_stretched_image(layout, model):
    outputs = outputs_of(layout)
    metadata = {"names": str(dict(enumerate(LABELS))), **TASKS[layout]}
    path = model(outputs, metadata=metadata)

    found = detect(path, size=(400, 400))  # a letterbox would have edges
    in_a_letterbox = detect(path, "resize: LETTERBOX", size=(400, 400))

    expected = list(DECODERS[layout](list(outputs.values()), LEAST))
    assert_equal(found, expected)
    assert_equal(in_a_letterbox, [unpadded(one, (0.25, 0.0, 0.25, 0.0)) for one in expected])


@pytest.mark.parametrize(
    ("task", "options", "height", "red"),
    [
        ("classify", "", 32, 1.0),
        ("", "", 32, 1 / 9),
        ("classify", "resize: STRETCH", 32, 1 / 3),
        ("", "resize: CROP", 32, 1.0),
        ("classify", "", 16, 1 / 3),  # it is stretched where the input is no square
        ("classify", "resize: CROP", 16, 1 / 2),
        ("classify", "short_side: 64", 32, 1.0),
    ],
)
def test_a_classifier_of_ultralytics_gets_the_middle_of_the_image(task, options, height, red, tmp_path):
    """The middle of the image is red."""
    names = "{0: 'red', 1: 'green', 2: 'blue'}"
    path = mean_colours(tmp_path / "mean.onnx", height, 32, task=task, names=names)
    image = np.zeros((32, 96, 3), np.uint8)
    image[:, 32:64, 0] = 255

    text = f"""
    input_stream: "image" output_stream: "out"
    node {{ calculator: "DetectorSubgraph" input_stream: "IMAGE:image" output_stream: "CLASSIFICATIONS:out"
      node_options {{ {OPTIONS.format("DetectorSubgraph")} {{
        model_path: "{path}" min_score: 0 pad_value: 0 {options} }} }} }}"""
    (packet,) = penstock.run(text, {"image": [(0, image)]})["out"]

    best = packet.payload.classification[0]
    assert best.label == "red"
    assert best.score == pytest.approx(red, abs=0.03)


def test_a_short_side_is_refused_where_nothing_is_cut(model):
    path = model(outputs_of("RTMDET"))

    with pytest.raises(GraphConfigError, match="short_side is 40, but resize is LETTERBOX, which takes no"):
        detect(path, "short_side: 40")


def test_a_task_without_a_layout_is_named(model):
    rows = np.zeros((1, 4 + CLASSES + 1, CELLS), np.float32)
    path = model({"output0": rows}, metadata={"names": str(dict(enumerate(LABELS))), "task": "obb"})

    with pytest.raises(
        GraphConfigError,
        match=r"says the task 'obb', of which no layout is .*classify, detect, pose, segment",
    ):
        detect(path)


def test_outputs_are_put_in_order_where_the_layout_is_told_from_tensors():
    arrays = list(outputs_of("YOLO_V8_SEGMENT").values())

    found = decode(arrays[::-1], f"min_score: {LEAST}")

    assert_equal(found, list(DECODERS["YOLO_V8_SEGMENT"](arrays, LEAST)))


def test_the_order_of_outputs_follows_their_names(model):
    outputs = outputs_of("SSD")
    turned = dict(reversed(list(outputs.items())))

    expected = list(DECODERS["SSD"](list(outputs.values()), LEAST))
    assert_equal(detect(model(turned), size=(WIDTH, HEIGHT)), expected)


def test_a_classifier_gives_the_best_classes_first(model):
    path = model(outputs_of("CLASSES"), metadata={"names": str(dict(enumerate(LABELS)))})

    found = detect(path, output="CLASSIFICATIONS", least=0.2).classification

    assert [(one.index, one.label) for one in found] == [(1, "dog"), (2, "bird")]
    assert [one.score for one in found] == pytest.approx([0.6, 0.3])
    with pytest.raises(GraphConfigError, match="makes CLASSIFICATIONS, TENSORS"):
        detect(path)


def test_softmax_of_a_classifier():
    logits = np.array([[1.0, 3.0, 2.0]], np.float32)

    found = decode([logits], "layout: CLASSES scores: SOFTMAX min_score: 0", output="CLASSIFICATIONS")

    shares = np.exp([3.0, 2.0, 1.0]) / np.exp([3.0, 2.0, 1.0]).sum()
    assert [one.score for one in found.classification] == pytest.approx(shares.tolist())


def test_softmax_of_detr_leaves_out_no_object():
    logits = np.log(np.array([[[0.7, 0.1, 0.2], [0.1, 0.2, 0.7]]], np.float32))
    boxes = np.array([[[0.5, 0.5, 0.2, 0.2], [0.3, 0.3, 0.1, 0.1]]], np.float32)

    (found,) = decode([logits, boxes], "layout: DETR scores: SOFTMAX min_score: 0.5")

    assert found.label_id == [0]
    assert found.score[0] == pytest.approx(0.7)


def test_a_layout_is_told_from_the_first_tensors():
    arrays = list(outputs_of("YOLO_END_TO_END").values())

    found = decode(arrays, f"min_score: {LEAST}")

    assert_equal(found, list(DECODERS["YOLO_END_TO_END"](arrays, LEAST)))


def test_only_the_wanted_classes_count():
    arrays = list(outputs_of("RTMDET").values())
    labels = " ".join(f'label: "{one}"' for one in LABELS)
    given = f'layout: RTMDET min_score: {LEAST} {labels} classes: "bird" classes: "0"'

    found = decode(arrays, given)

    expected = [one for one in DECODERS["RTMDET"](arrays, LEAST) if one["class"] in (0, 2)]
    assert_equal(found, expected)
    with pytest.raises(GraphRunError, match="finds no class 'cow': the classes are 'cat', 'dog', 'bird'"):
        decode(arrays, f'layout: RTMDET {labels} classes: "cow"')


def test_classes_that_a_model_counts_from_1():
    arrays = list(outputs_of("RTMDET").values())

    found = decode(arrays, f"layout: RTMDET min_score: {LEAST} first_class: 1")

    expected = [{**one, "class": one["class"] - 1} for one in DECODERS["RTMDET"](arrays, LEAST)]
    assert_equal(found, expected)


def test_the_best_candidates_are_left_and_the_others_are_counted():
    arrays = list(outputs_of("RTMDET").values())
    given = OPTIONS.format("DetectorDecoderCalculator")
    graph = penstock.CalculatorGraph(f"""
    input_stream: "tensors" output_stream: "out"
    node {{
      calculator: "DetectorDecoderCalculator" input_stream: "TENSORS:tensors" output_stream: "DETECTIONS:out"
      node_options {{ {given} {{
        layout: RTMDET input_width: 64 input_height: 32 min_score: 0 max_candidates: 5 }} }}
    }}""")
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.extend(packet.payload))
    with graph:
        graph.start_run()
        graph.add_packet_to_input_stream("tensors", penstock.Packet([Tensor(one) for one in arrays], 0))
        graph.close_all_packet_sources()
        graph.wait_until_done()

    best = sorted(arrays[0][0][:, 4].tolist(), reverse=True)[:5]
    assert [one.score[0] for one in seen] == pytest.approx(best)
    assert "max_candidates is 5" in str(graph.ledger().cuts)
    assert str(CELLS - 5) in str(graph.ledger().cuts)


def test_numbers_that_are_not_finite_are_left_out():
    arrays = [one.copy() for one in outputs_of("RTMDET").values()]
    arrays[0][0, :, 4] = 0.9
    arrays[0][0, 0, 0] = np.inf
    arrays[0][0, 1, 4] = np.nan

    found = decode(arrays, "layout: RTMDET")

    assert len(found) == CELLS - 2


def test_quantized_tensors_stand_for_their_numbers():
    arrays = list(outputs_of("RTMDET").values())
    rows = arrays[0].copy()
    quantized = np.rint(rows / 0.5).astype(np.uint8)  # steps of half a pixel
    dets = Tensor(quantized, scale=0.5, zero_point=0)
    given = OPTIONS.format("DetectorDecoderCalculator")
    graph = f"""
    input_stream: "tensors" output_stream: "out"
    node {{
      calculator: "DetectorDecoderCalculator" input_stream: "TENSORS:tensors" output_stream: "DETECTIONS:out"
      node_options {{ {given} {{ layout: RTMDET input_width: 64 input_height: 32 min_score: 0.3 }} }}
    }}"""
    (packet,) = penstock.run(graph, {"tensors": [(0, [dets, Tensor(arrays[1])])]})["out"]

    expected = [quantized.astype(np.float32) * 0.5, arrays[1]]
    assert_equal(packet.payload, list(DECODERS["RTMDET"](expected, 0.3)))


def test_quantized_tensors_without_a_scale_are_refused():
    arrays = list(outputs_of("RTMDET").values())

    with pytest.raises(GraphRunError, match=r"uint8 1x42x5 without a scale.*export the model with outputs"):
        decode([arrays[0].astype(np.uint8), arrays[1]], "layout: RTMDET")


@pytest.mark.parametrize("layout", [*DETECTING, "CLASSES"])
def test_outputs_of_another_rank_are_refused(layout):
    arrays = [one[..., None] for one in outputs_of(layout).values()]
    output = "CLASSIFICATIONS" if layout == "CLASSES" else "DETECTIONS"

    with pytest.raises(
        GraphRunError, match=rf"(the output arrays .*x1.* do not fit the layout {layout}, which has )"
    ):
        decode(arrays, f"layout: {layout} label: 'a' label: 'b' label: 'c'", output=output)


@pytest.mark.parametrize("layout", [*DETECTING, "CLASSES"])
def test_too_few_outputs_are_refused(layout):
    output = "CLASSIFICATIONS" if layout == "CLASSES" else "DETECTIONS"

    with pytest.raises(
        GraphRunError, match=f"the output arrays .* do not fit the layout {layout}, which has "
    ):
        decode([], f"layout: {layout}", output=output)
