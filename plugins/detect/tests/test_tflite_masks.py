"""Masks of .tflite files: prototypes in both orders of axes, and what tells which one it is."""

from __future__ import annotations

import json

import numpy as np
import pytest
from detector_models import HEIGHT, LABELS, WIDTH, outputs_of
from plain_decoders import DECODERS, OVERLAPPING, best_of
from test_decoders import OVERLAP, assert_equal, detect
from test_masks import NAMES, plain_mask

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_detect.outputs.masks import MaskAxes, axes_of
from penstock_detect.resizing import Resize, place_of
from penstock_formats import Detection, LocationData, Tensor

PACKED = {"metadata.json": json.dumps({"names": dict(enumerate(LABELS)), "task": "segment"})}
LAYOUTS = ["YOLO_V8_SEGMENT", "YOLO_V5_SEGMENT", "YOLO_END_TO_END_SEGMENT"]
#: What TensorFlow's exports take, and what those without TensorFlow take.
NHWC, NCHW = (1, HEIGHT, WIDTH, 3), (1, 3, HEIGHT, WIDTH)
SIZE = (WIDTH, HEIGHT)


def exported(outputs, layout, shape):
    """Return outputs as an export with such an input has them."""
    rows = outputs["output0"].copy()
    if shape == NHWC or layout != "YOLO_END_TO_END_SEGMENT":
        columns = rows.swapaxes(1, 2) if layout == "YOLO_V8_SEGMENT" else rows  # a view
        columns[..., 0:4:2] /= WIDTH
        columns[..., 1:4:2] /= HEIGHT
    masks = outputs["masks"]
    return {"output0": rows, "masks": masks.transpose(0, 2, 3, 1).copy() if shape == NHWC else masks}


def assert_masks(masks, detections, layout, outputs, place):
    """Compare masks with the results of loops in plain Python over the outputs of an .onnx file."""
    assert len(masks) == len(detections) > 2
    table = outputs["output0"][0].T if layout == "YOLO_V8_SEGMENT" else outputs["output0"][0]
    for one, mask in zip(detections, masks, strict=True):
        logits = np.einsum("k,khw->hw", table[one.mask_row, -4:], outputs["masks"][0])
        expected = plain_mask(logits, one.location_data.relative_bounding_box, place)
        assert np.count_nonzero(mask.array != expected) <= 1  # a value of almost 0 may fall on either side
    assert any(mask.array.any() for mask in masks)


@pytest.mark.parametrize("shape", [NHWC, NCHW], ids=["NHWC", "NCHW"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_boxes_and_masks_are_those_of_plain_loops(layout, shape, lite_model):
    outputs = outputs_of(layout, seed=3)
    path = lite_model(exported(outputs, layout, shape), shape=shape, metadata=PACKED)

    detections = detect(path, size=SIZE)
    masks = detect(path, size=SIZE, output="MASKS")

    expected = list(DECODERS[layout](list(outputs.values()), 0.3))
    assert_equal(detections, best_of(expected, OVERLAP) if layout in OVERLAPPING else expected)
    assert_masks(masks, detections, layout, outputs, place_of(Resize.LETTERBOX, *SIZE, WIDTH, HEIGHT))


def test_prototypes_may_be_the_first_output_and_the_image_in_a_letterbox(lite_model):
    layout, size = "YOLO_V8_SEGMENT", (90, 60)  # 48 x 32 in 64 x 32
    outputs = outputs_of(layout, seed=3)
    turned = dict(reversed(exported(outputs, layout, NHWC).items()))
    path = lite_model(turned, metadata=PACKED)

    detections, masks = (detect(path, size=size, output=one) for one in ("DETECTIONS", "MASKS"))

    assert {(one.width, one.height) for one in masks} == {(48, 32)}
    assert_masks(masks, detections, layout, outputs, place_of(Resize.LETTERBOX, *size, WIDTH, HEIGHT))


# --- which order it is -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "size", "axes"),
    [
        ((1, 32, 160, 160), (640, 640), MaskAxes.NCHW),
        ((1, 160, 160, 32), (640, 640), MaskAxes.NHWC),
        ((1, 32, 96, 160), (640, 384), MaskAxes.NCHW),
        ((1, 96, 160, 32), (640, 384), MaskAxes.NHWC),
        ((1, 80, 80, 32), (640, 640), MaskAxes.NHWC),  # of another stride
        ((1, 32, -1, -1), (640, 640), MaskAxes.NCHW),
    ],
)
def test_the_order_is_told_from_the_aspect_ratio(shape, size, axes):
    assert axes_of(shape, *size) == axes


@pytest.mark.parametrize("usual", [MaskAxes.NCHW, MaskAxes.NHWC])
@pytest.mark.parametrize("shape", [(1, 32, 32, 32), (1, 7, 11, 5)])
def test_a_shape_that_does_not_tell_the_order(shape, usual):
    assert axes_of(shape, 128, 128, usual) == usual


#: One thing in the middle of an input of 32 x 32, and as many prototypes as they have rows and columns. Only
#: the first prototype counts; it is positive in the left half.
ROW = np.array([[[0.25, 0.25, 0.75, 0.75, 0.9, 2, 1, *[0] * 7]]], np.float32)
PROTOTYPES = np.full((1, 8, 8, 8), -1, np.float32)
PROTOTYPES[0, 0, :, :4] = 1


def halves(mask):
    """Return whether the left and the right half of the box are covered."""
    return bool(mask[8:24, 8:15].all()), bool(mask[8:24, 17:24].any())


def test_where_the_shape_does_not_tell_the_order_the_input_does(lite_model):
    last = PROTOTYPES.transpose(0, 2, 3, 1).copy()
    in_pixels = ROW * np.array([32] * 4 + [1] * 10, np.float32)
    tensorflow = lite_model({"rows": ROW, "masks": last}, shape=(1, 32, 32, 3), metadata=PACKED)
    (mask,) = detect(tensorflow, size=(32, 32), output="MASKS")
    assert halves(mask.array) == (True, False)

    torch = lite_model({"rows": in_pixels, "masks": PROTOTYPES}, shape=(1, 3, 32, 32), metadata=PACKED)
    (mask,) = detect(torch, size=(32, 32), output="MASKS")
    assert halves(mask.array) == (True, False)


def test_an_option_says_the_order(model):
    last = PROTOTYPES.transpose(0, 2, 3, 1).copy()
    in_pixels = ROW * np.array([32] * 4 + [1] * 10, np.float32)
    path = model({"rows": in_pixels, "masks": last}, shape=(1, 3, 32, 32), metadata=NAMES)

    (mask,) = detect(path, "mask_axes: NHWC", size=(32, 32), output="MASKS")
    assert halves(mask.array) == (True, False)
    (mask,) = detect(path, size=(32, 32), output="MASKS")
    assert halves(mask.array) != (True, False)


MASKS = """
input_stream: "tensors" input_stream: "detections" {padding} output_stream: "masks"
node {{
  calculator: "DetectorMasksCalculator"
  input_stream: "TENSORS:tensors" input_stream: "DETECTIONS:detections" {more} output_stream: "MASKS:masks"
  node_options {{ [type.googleapis.com/penstock_detect.DetectorMasksCalculatorOptions] {{
    layout: YOLO_END_TO_END_SEGMENT input_width: 32 input_height: 32 {options} }} }}
}}"""
BOX = LocationData(
    format=LocationData.RELATIVE_BOUNDING_BOX,
    relative_bounding_box={"xmin": 0.25, "ymin": 0.25, "width": 0.5, "height": 0.5},
)


def masks_of(options, arrays, padding=None):
    """Return the masks that DetectorMasksCalculator makes of some outputs: arrays, or tensors."""
    inputs = {
        "tensors": [(0, [one if isinstance(one, Tensor) else Tensor(one) for one in arrays])],
        "detections": [(0, [Detection(mask_row=0, location_data=BOX)])],
    }
    given = {"padding": "", "more": ""}
    if padding:
        inputs["padding"] = [(0, padding)]
        given = {
            "padding": 'input_stream: "padding"',
            "more": 'input_stream: "LETTERBOX_PADDING:padding"',
        }
    (packet,) = penstock.run(MASKS.format(options=options, **given), inputs)["masks"]
    return packet.payload


def test_the_calculator_of_masks_takes_both_orders():
    narrow = PROTOTYPES[:, :1]
    row = ROW[..., :7]

    for array in (narrow, narrow.transpose(0, 2, 3, 1)):
        (mask,) = masks_of("", [row, array])
        assert halves(mask.array) == (True, False)
    (mask,) = masks_of("mask_axes: NHWC", [ROW, PROTOTYPES.transpose(0, 2, 3, 1)])
    assert halves(mask.array) == (True, False)


def test_quantized_outputs_are_read_by_their_scale_and_zero_point():
    """The zero points turn the signs of some: as bytes, all prototypes and coefficients are positive."""
    rows, prototypes = (
        np.clip(np.rint(one * 50 + 100), 0, 255).astype(np.uint8) for one in (ROW, PROTOTYPES)
    )
    given = {"scale": 1 / 50, "zero_point": 100}

    (mask,) = masks_of(
        "mask_axes: NHWC", [Tensor(rows, **given), Tensor(prototypes.transpose(0, 2, 3, 1), **given)]
    )

    (other,) = masks_of("mask_axes: NHWC", [ROW, PROTOTYPES.transpose(0, 2, 3, 1)])
    np.testing.assert_array_equal(mask.array, other.array)
    assert mask.array.any()
    assert not mask.array[8:24, 8:24].all()


@pytest.mark.parametrize("shift", [-1e-5, 1e-5])
def test_an_edge_on_a_whole_pixel_is_there_whichever_way_it_was_rounded(shift):
    whole = np.ones((1, 1, 8, 8), np.float32)
    row = np.array([[[0, 0, 0, 0, 0.9, 0, 1]]], np.float32)
    inputs = {"tensors": [(0, [Tensor(row), Tensor(whole)])]}
    box = {"xmin": 0.25 + shift, "ymin": 0.25 - shift, "width": 0.5, "height": 0.5}
    place = LocationData(format=LocationData.RELATIVE_BOUNDING_BOX, relative_bounding_box=box)
    inputs["detections"] = [(0, [Detection(mask_row=0, location_data=place)])]

    (packet,) = penstock.run(MASKS.format(options="", padding="", more=""), inputs)["masks"]

    (mask,) = packet.payload
    assert mask.array[8:24, 8:24].all()
    assert np.count_nonzero(mask.array) == 16 * 16


def test_an_order_of_outputs_that_are_not_there_is_refused():
    with pytest.raises(GraphRunError, match=r"order is \[0, 2\], but the model has 2 output arrays for the"):
        masks_of("order: 0 order: 2", [ROW, PROTOTYPES])


def test_what_was_cut_off_has_no_mask(lite_model):
    with pytest.raises(GraphRunError, match=r"the image was cropped .*set resize to LETTERBOX or STRETCH"):
        masks_of("", [ROW, PROTOTYPES], padding=(-0.5, 0, -0.5, 0))

    layout = "YOLO_V8_SEGMENT"
    path = lite_model(exported(outputs_of(layout), layout, NHWC), metadata=PACKED)
    with pytest.raises(
        GraphConfigError, match=r"output MASKS, but resize is CROP, .*set resize to LETTERBOX"
    ):
        detect(path, "resize: CROP", output="MASKS")
