"""TensorConverterCalculator and TfLiteConverterCalculator: every value of an image, and where it lies."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Image, ImageFormat, ImageFrame, Matrix, Tensor
from penstock_tensors.inputs.tensor_converter import TensorConverterCalculator, TfLiteConverterCalculator
from penstock_tensors.messages.tensor_converter_pb2 import (
    TensorConverterCalculatorOptions,
    TfLiteConverterCalculatorOptions,
)
from penstock_testing import run_calculator

OPTIONS = {
    TensorConverterCalculator: TensorConverterCalculatorOptions,
    TfLiteConverterCalculator: TfLiteConverterCalculatorOptions,
}
BOTH = list(OPTIONS)
RGBA = np.array([[[0, 1, 2, 3], [50, 100, 150, 200]], [[253, 254, 255, 9], [7, 77, 177, 27]]], np.uint8)
#: Options, and what version 0.10.21 of the reference made of RGBA by them, each rounded to 32 bits.
OF_THE_REFERENCE = [
    (
        {},
        (
            "-1.0 -0.9921568632125854 -0.9843137264251709 -0.6078431010246277 -0.21568620204925537 "
            "0.17647063732147217 0.9843138456344604 0.992156982421875 1.0 -0.9450980424880981 "
            "-0.3960784077644348 0.38823533058166504"
        ),
    ),
    (
        {
            "output_tensor_float_range": {"min": 0.3, "max": 17.7},
            "flip_vertically": True,
            "max_num_channels": 4,
        },
        (
            "17.56352996826172 17.631765365600586 17.700000762939453 0.914117693901062 0.7776471376419067 "
            "5.5541181564331055 12.37764835357666 2.142353057861328 0.30000001192092896 0.368235319852829 "
            "0.436470627784729 0.5047059059143066 3.7117650508880615 7.123530387878418 10.535295486450195 "
            "13.947060585021973"
        ),
    ),
    (
        {
            "use_custom_normalization": True,
            "custom_div": 127.3,
            "custom_sub": 0.77,
            "max_num_channels": 1,
            "output_tensor_float_range": {"min": 0, "max": 1},
        },
        "-0.7699999809265137 -0.3772270381450653 1.2174311876296997 -0.7150117754936218",
    ),
    (
        {"zero_center": False},
        (
            "0.0 0.003921568859368563 0.007843137718737125 0.19607844948768616 0.3921568989753723 "
            "0.5882353186607361 0.9921569228172302 0.9960784912109375 1.0 0.027450982481241226 "
            "0.3019607961177826 0.6941176652908325"
        ),
    ),
]


def converted(calculator, payload, tag="IMAGE", output="TENSORS", **options):
    run = run_calculator(  # by its name, since the older one's input policy is of another pack
        calculator.__name__, {tag: [(3, payload)]}, outputs=[output], options=OPTIONS[calculator](**options)
    )
    (packet,) = run.outputs[output]
    assert packet.timestamp == 3
    (tensor,) = packet.payload if output != "TENSOR" else (packet.payload,)
    assert type(tensor) is Tensor
    return tensor.array


@pytest.mark.parametrize("calculator", BOTH)
@pytest.mark.parametrize(("options", "numbers"), OF_THE_REFERENCE)
def test_values_are_those_of_the_reference_bit_by_bit(calculator, options, numbers):
    found = converted(calculator, ImageFrame(RGBA, ImageFormat.SRGBA), **options)

    assert found.dtype == np.float32
    assert found.ravel().tolist() == list(map(float, numbers.split()))


LEADING = {TensorConverterCalculator: (1,), TfLiteConverterCalculator: ()}


@pytest.mark.parametrize("calculator", BOTH)
@pytest.mark.parametrize(
    ("frame", "most", "channels"),
    [
        (ImageFrame(RGBA, ImageFormat.SRGBA), 3, 3),
        (ImageFrame(RGBA, ImageFormat.SRGBA), 4, 4),
        (ImageFrame(RGBA[:, :, :3].copy(), ImageFormat.SRGB), 4, 3),
        (ImageFrame(RGBA[:, :, :3].copy(), ImageFormat.SRGB), 1, 1),
        (ImageFrame(RGBA[:, :, 1].copy(), ImageFormat.GRAY8), 3, 1),
        (ImageFrame(RGBA[:, :, 1].astype(np.float32), ImageFormat.VEC32F1), 3, 1),
    ],
)
def test_shape_and_channels(calculator, frame, most, channels):
    found = converted(calculator, frame, max_num_channels=most)

    assert found.shape == (*LEADING[calculator], 2, 2, channels)
    kept = frame.array.reshape(2, 2, -1)[:, :, :channels].astype(np.float32)
    assert np.array_equal(found.reshape(kept.shape), kept * np.float32(2 / 255) - np.float32(1))


def test_floats_are_scaled_like_bytes():
    pixels = np.array([[-1.5, 0.25], [3, 300]], np.float32)

    found = converted(TensorConverterCalculator, ImageFrame(pixels, ImageFormat.VEC32F1))

    # of a run of the reference
    assert found.ravel().tolist() == [
        -1.0117647647857666,
        -0.998039186000824,
        -0.9764705896377563,
        1.3529412746429443,
    ]


@pytest.mark.parametrize("calculator", BOTH)
@pytest.mark.parametrize(("by_rows", "numbers"), [(False, [1, 4, 2, 5, 3, 6]), (True, [1, 2, 3, 4, 5, 6])])
def test_a_matrix_is_laid_down_column_by_column_or_row_by_row(calculator, by_rows, numbers):
    matrix = Matrix(np.array([[1, 2, 3], [4, 5, 6]], np.float32))

    found = converted(calculator, matrix, "MATRIX", row_major_matrix=by_rows)

    assert found.ravel().tolist() == numbers
    assert found.shape[-3:] == (2, 3, 1)


def test_an_image_handle_and_each_output_will_do():
    frame = ImageFrame(RGBA, ImageFormat.SRGBA)

    as_list = converted(TensorConverterCalculator, Image(frame))
    single = converted(TensorConverterCalculator, frame, output="TENSOR")
    other = converted(TfLiteConverterCalculator, Image(frame), output="TENSORS_GPU")

    assert np.array_equal(as_list, single)
    assert np.array_equal(as_list[0], other)


class OnGpu:
    """An image on the GPU, as the pack for the GPU has them."""

    format, width, height = ImageFormat.SRGBA, 2, 2

    def frame(self):
        return ImageFrame(RGBA, ImageFormat.SRGBA)

    def read_view(self, view):
        raise NotImplementedError


def test_an_image_on_the_gpu_is_copied_and_never_quantized():
    found = converted(
        TfLiteConverterCalculator, OnGpu(), "IMAGE_GPU", "TENSORS_GPU", use_quantized_tensors=True
    )

    assert found.ravel().tolist() == list(map(float, OF_THE_REFERENCE[0][1].split()))


def test_quantized_tensors_have_the_bytes_as_they_are():
    found = converted(
        TfLiteConverterCalculator,
        ImageFrame(RGBA, ImageFormat.SRGBA),
        use_quantized_tensors=True,
        flip_vertically=True,
    )

    assert found.dtype == np.uint8
    assert np.array_equal(found, RGBA[:, :, :3])
    assert not np.shares_memory(found, RGBA)


@pytest.mark.parametrize(
    ("frame", "options", "words"),
    [
        (
            ImageFrame(np.zeros((2, 2), np.uint16), ImageFormat.GRAY16),
            {},
            "format GRAY16, but the input frames of tensors may be",
        ),
        (
            ImageFrame(np.zeros((2, 2), np.float32), ImageFormat.VEC32F1),
            {"use_quantized_tensors": True},
            "format VEC32F1, but the input frames of tensors may be SRGBA, SRGB and GRAY8",
        ),
    ],
)
def test_other_images_are_refused(frame, options, words):
    with pytest.raises(GraphRunError, match=words):
        converted(TfLiteConverterCalculator, frame, **options)


@pytest.mark.parametrize("calculator", BOTH)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"output_tensor_float_range": {"min": 1, "max": 1}}, "from 1 to 1, but min must be below max"),
        ({"max_num_channels": 2}, "max_num_channels is 2, but must be 1, 3 or 4"),
        (
            {"use_custom_normalization": True, "custom_div": 0},
            "custom_div is 0, but values are divided by it",
        ),
    ],
)
def test_options_that_make_no_tensor_are_refused(calculator, options, words):
    with pytest.raises(GraphConfigError, match=words):
        converted(calculator, None, **options)


def test_an_image_is_not_turned_in_two_ways():
    with pytest.raises(GraphConfigError, match="both flip_vertically and gpu_origin of the converter are"):
        converted(TensorConverterCalculator, None, flip_vertically=False, gpu_origin="TOP_LEFT")


@pytest.mark.parametrize(
    ("inputs", "outputs", "words"),
    [
        ([], ["TENSORS"], "none of the input ports IMAGE, IMAGE_GPU, MATRIX, but exactly one"),
        (["IMAGE", "MATRIX"], ["TENSORS"], "IMAGE and MATRIX of the input"),
        (["IMAGE"], ["TENSORS", "TENSOR"], "TENSORS and TENSOR of the output"),
    ],
)
def test_ports_that_do_not_fit_are_refused(inputs, outputs, words):
    with pytest.raises(GraphConfigError, match=words):
        run_calculator(TensorConverterCalculator, {tag: [] for tag in inputs}, outputs=outputs)


def test_the_older_one_keeps_only_the_newest_of_waiting_packets():
    """With one thread, which the test holds, three images wait before the node may take one."""
    graph, seen = (
        penstock.CalculatorGraph("""
            input_stream: "in" output_stream: "out" executor { name: "" type: "ApplicationThreadExecutor" }
            node {
              calculator: "TfLiteConverterCalculator" input_stream: "MATRIX:in" output_stream: "TENSORS:out"
            }
        """),
        [],
    )
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet))
    graph.start_run()
    for i in range(4):
        graph.add_packet_to_input_stream("in", penstock.Packet(Matrix(np.full((1, 1), i, np.float32)), i))
    graph.close(60)

    assert [(int(p.timestamp), p.payload[0].array.item()) for p in seen] == [(3, 3)]
