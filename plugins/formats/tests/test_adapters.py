"""Arrays, Pillow's images and tensors where graphs take images; images where functions read arrays."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import penstock
from penstock.errors import InvalidArgumentError, PacketTypeError
from penstock_formats import Image, ImageFormat, ImageFrame


@penstock.register_calculator
@penstock.calculator
def frame_of_adapter_tests(frame: ImageFrame) -> ImageFrame:
    return frame


@penstock.register_calculator
@penstock.calculator
def image_of_adapter_tests(image: Image) -> Image:
    return image


@penstock.register_calculator
@penstock.calculator
def array_of_adapter_tests(array: np.ndarray) -> NDArray[np.uint8]:
    return array


FRAME, IMAGE, ARRAY = "FrameOfAdapterTests", "ImageOfAdapterTests", "ArrayOfAdapterTests"


def graph(*calculators: str) -> str:
    nodes = [
        f'node {{ calculator: "{name}" input_stream: "s{i}" output_stream: "s{i + 1}" }}'
        for i, name in enumerate(calculators)
    ]
    return f'input_stream: "s0" output_stream: "s{len(nodes)}" ' + "\n".join(nodes)


def through(payload: object, *calculators: str) -> Any:
    name = f"s{len(calculators)}"
    return penstock.run(graph(*calculators), {"s0": [(7, payload)]})[name][0].payload


@pytest.mark.parametrize(
    ("shape", "dtype", "kind"),
    [
        ((4, 6), np.uint8, ImageFormat.GRAY8),
        ((4, 6, 1), np.uint8, ImageFormat.GRAY8),
        ((4, 6, 3), np.uint8, ImageFormat.SRGB),
        ((4, 6, 4), np.uint8, ImageFormat.SRGBA),
        ((4, 6), np.uint16, ImageFormat.GRAY16),
        ((4, 6, 3), np.uint16, ImageFormat.SRGB48),
        ((4, 6), np.float32, ImageFormat.VEC32F1),
    ],
)
@pytest.mark.parametrize("calculator", [FRAME, IMAGE])
def test_a_graph_input_of_images_takes_arrays_without_a_copy(shape, dtype, kind, calculator) -> None:
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    made = through(array, calculator)
    assert type(made).__name__ == {FRAME: "ImageFrame", IMAGE: "Image"}[calculator]
    assert made.format is kind
    assert np.shares_memory(np.asarray(made), array)
    assert np.array_equal(np.asarray(made), array.reshape(made.array.shape))


def test_a_function_reads_an_image_as_an_array_and_returns_one_as_an_image() -> None:
    frame = ImageFrame(np.arange(24, dtype=np.uint8).reshape(2, 4, 3))
    made = through(frame, FRAME, ARRAY, IMAGE, ARRAY, FRAME)
    assert isinstance(made, ImageFrame)
    assert made.format is ImageFormat.SRGB
    assert np.shares_memory(made.array, frame.array)


def test_the_picture_of_the_graph_shows_where() -> None:
    text = penstock.CalculatorGraph(graph(FRAME, ARRAY)).text_config
    assert 'name: "s1_as_ndarray"' in text
    assert 'calculator: "ImageFrameToArrayCalculator"' in text


def test_a_graph_whose_types_agree_gets_no_node() -> None:
    assert penstock.CalculatorGraph(graph(FRAME, FRAME)).text_config.count("calculator:") == 2


def test_a_graph_that_needs_no_adapter_looks_for_none(monkeypatch) -> None:
    def fail(*given: object) -> object:
        raise AssertionError(f"an adapter is looked for: {given}")

    for name in ("find_adapter", "adaptable"):
        monkeypatch.setattr(f"penstock.adapters.{name}", fail)
    monkeypatch.setattr("penstock.runtime.adding_packets.InputAdapters.adapted", fail)
    frame = ImageFrame(np.zeros((2, 2, 3), np.uint8), ImageFormat.SRGB)

    with penstock.CalculatorGraph(graph(FRAME, FRAME) + " max_queue_size: 1") as made:
        seen: list[object] = []
        made.observe_output_stream("s2", lambda _name, packet: seen.append(packet.payload))
        made.start_run()
        for i in range(20):
            made.add_packet_to_input_stream("s0", penstock.Packet(frame, penstock.Timestamp(i)))
        made.close_all_input_streams()
        made.wait_until_done()

    assert seen == [frame] * 20


def test_a_throttled_graph_input_and_an_event_loop_take_arrays_too() -> None:
    array = np.zeros((2, 2, 3), np.uint8)
    graph_ = penstock.CalculatorGraph(f"max_queue_size: 1 {graph(FRAME, FRAME, FRAME)}")
    seen: list[object] = []
    graph_.observe_output_stream("s3", lambda _, packet: seen.append(packet.payload))
    graph_.start_run()
    for at in range(200):
        graph_.add_packet_to_input_stream("s0", penstock.Packet(array, at))
    graph_.close_all_input_streams()
    graph_.wait_until_done(20)
    assert [type(one) for one in seen] == [ImageFrame] * 200

    async def feed() -> list[object]:
        graph_ = penstock.CalculatorGraph(graph(FRAME))
        found: list[object] = []
        graph_.observe_output_stream("s1", lambda _, packet: found.append(packet.payload))
        async with graph_.running() as running:
            await running.add("s0", penstock.Packet(array, 0))
            running.close_inputs() if hasattr(running, "close_inputs") else None
        return found

    assert [type(one) for one in asyncio.run(feed())] == [ImageFrame]


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (
            np.zeros((4, 4, 7), np.uint8),
            r"ArrayToImageFrameCalculator refuses it: an array of \(4, 4, 7\) uint8 is no image frame",
        ),
        (np.zeros((4, 4), np.int64), r"an array of \(4, 4\) int64 is no image frame"),
        ("text", "holds a 'str', but the stream carries .*ImageFrame; adapters take .*numpy.ndarray"),
    ],
)
def test_what_no_adapter_takes_is_refused_with_what_can_be_and_the_run_goes_on(payload, words) -> None:
    run = penstock.CalculatorGraph(graph(FRAME))
    run.start_run()
    with pytest.raises(PacketTypeError, match=words) as raised:
        run.add_packet_to_input_stream("s0", penstock.Packet(payload, 5))
    assert (raised.value.stream, raised.value.timestamp) == ("s0", 5)
    run.add_packet_to_input_stream("s0", penstock.Packet(np.zeros((4, 4), np.uint8), 5))
    run.close_all_input_streams()
    run.wait_until_done(20)


def test_a_late_array_is_dropped_or_moved_as_a_late_image_is() -> None:
    array = np.zeros((4, 4), np.uint8)
    for mode, expected in (("DROP", [5]), ("CLAMP", [5, 6])):
        seen: list[int] = []
        run = penstock.CalculatorGraph(graph(FRAME))
        run.set_late_packet_mode("s0", mode)
        run.observe_output_stream("s1", lambda _, packet, seen=seen: seen.append(int(packet.timestamp)))
        run.start_run()
        for at in (5, 3):
            run.add_packet_to_input_stream("s0", penstock.Packet(array, at))
        run.close_all_input_streams()
        run.wait_until_done(20)
        assert seen == expected
        assert run.ledger().adds_up


def test_payloads_of_other_packs_are_no_images_though_they_hand_out_their_memory() -> None:
    from penstock_formats import Matrix

    with pytest.raises(PacketTypeError, match="holds a 'Matrix'"):
        through(Matrix(np.zeros((2, 2), np.float32)), FRAME)


def test_blue_first_is_said_by_an_option() -> None:
    text = """
        input_stream: "a" output_stream: "b" output_stream: "c"
        node { calculator: "ArrayToImageFrameCalculator" input_stream: "a" output_stream: "b"
          node_options {
            [type.googleapis.com/penstock_formats.ArrayToImageFrameCalculatorOptions] { colours: "%s" } } }
        node { calculator: "ImageFrameToArrayCalculator" input_stream: "b" output_stream: "c"
          node_options {
            [type.googleapis.com/penstock_formats.ImageFrameToArrayCalculatorOptions] { colours: "BGR" } } }
    """
    array = np.arange(8, dtype=np.uint8).reshape(1, 2, 4)
    outputs = penstock.run(text % "BGR", {"a": [(0, array)]})
    assert outputs["b"][0].payload.array.tolist() == [[[2, 1, 0, 3], [6, 5, 4, 7]]]
    assert outputs["c"][0].payload.tolist() == array.tolist()
    with pytest.raises(penstock.errors.GraphRunError, match='must be "RGB" or "BGR"'):
        penstock.run(text % "GBR", {"a": [(0, array)]})
    with pytest.raises(penstock.errors.GraphRunError, match="has no colours for an adapter to turn round"):
        penstock.run(text % "BGR", {"a": [(0, array[..., 0])]})


class Tensor:
    """What another library has: memory that only DLPack hands out."""

    def __init__(self, array: NDArray[Any], device: tuple[int, int] = (1, 0)) -> None:
        self._array = array
        self._device = device

    def __dlpack__(self, **asked: Any) -> object:
        if self._device != (1, 0):
            raise BufferError("the memory is on another device")
        return self._array.__dlpack__(**asked)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


@pytest.mark.parametrize("calculator", [FRAME, IMAGE])
def test_tensors_of_other_libraries_are_taken_without_a_copy(calculator) -> None:
    array = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    made = through(Tensor(array), calculator)
    assert made.format is ImageFormat.SRGB
    assert np.shares_memory(np.asarray(made), array)


def test_a_tensor_elsewhere_or_with_channels_first_is_refused() -> None:
    with pytest.raises(PacketTypeError, match="copy it to main memory first"):
        through(Tensor(np.zeros((2, 2), np.uint8), (2, 0)), FRAME)
    with pytest.raises(PacketTypeError, match=r"an array of \(3, 2, 5\) uint8 is no image frame"):
        through(Tensor(np.zeros((3, 2, 5), np.uint8)), FRAME)


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "I;16", "F"])
@pytest.mark.parametrize("calculator", [FRAME, IMAGE])
def test_images_of_pillow_go_in_and_come_out(mode, calculator) -> None:
    pillow = pytest.importorskip("PIL.Image")
    seen = []

    def turn(image):
        seen.append(image.mode)
        return image.transpose(pillow.Transpose.FLIP_LEFT_RIGHT)

    turn.__annotations__ = {"image": pillow.Image, "return": pillow.Image}
    penstock.register_calculator("TurnOfAdapterTests")(penstock.calculator("TurnOfAdapterTests")(turn))
    image = pillow.new(mode, (3, 2))
    image.putpixel((0, 1), 9 if mode in {"L", "I;16", "F"} else (9, 8, 7, 6)[: len(mode)])
    made = np.asarray(through(image, calculator, "TurnOfAdapterTests", calculator))
    assert seen == [mode]
    assert made[1, 0].any() == (mode == "RGBA" and made[1, 0, 3] > 0)
    assert made[1, 2].tolist() == (9 if made.ndim == len("HW") else [9, 8, 7, 6][: made.shape[2]])


def test_a_mode_of_pillow_that_is_no_frame_says_what_to_do() -> None:
    pillow = pytest.importorskip("PIL.Image")
    with pytest.raises(PacketTypeError, match=r"mode 'P' is no frame.*image.convert\('RGB'\)"):
        through(pillow.new("P", (2, 2)), FRAME)


def test_a_format_that_pillow_lacks_says_what_to_do() -> None:
    pytest.importorskip("PIL.Image")
    from penstock_formats.pillow import image_frame_to_pillow

    with pytest.raises(InvalidArgumentError, match="no mode for SBGRA"):
        image_frame_to_pillow(ImageFrame(np.zeros((2, 2, 4), np.uint8), ImageFormat.SBGRA))
