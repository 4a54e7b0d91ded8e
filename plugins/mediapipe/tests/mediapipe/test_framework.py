"""The names of MediaPipe's framework: what each does, and which builtin exception it raises, is MediaPipe's.

The expected values were obtained by running the same lines with mediapipe 0.10.21.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from google.protobuf import text_format

import penstock_mediapipe as mp
from penstock_mediapipe.framework import calculator_pb2
from penstock_mediapipe.framework.formats import detection_pb2, landmark_pb2
from penstock_mediapipe.python import packet_creator, packet_getter, resource_util
from penstock_mediapipe.python._framework_bindings import calculator_graph, image_frame, timestamp

PASSING = """
    input_stream: "in" output_stream: "out"
    node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }"""
GATE = """
    input_stream: "in" input_stream: "allow" output_stream: "out"
    node {
      calculator: "GateCalculator" input_stream: "in" input_stream: "ALLOW:allow" output_stream: "out"
    }"""
SRGB = mp.ImageFormat.SRGB
PIXELS = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)


# --- timestamps and packets ---------------------------------------------------------------------------


def test_the_modules_have_the_paths_that_programs_import():
    assert calculator_graph.CalculatorGraph is mp.CalculatorGraph
    assert image_frame.ImageFrame is mp.ImageFrame
    assert timestamp.Timestamp is mp.Timestamp
    assert packet_creator is mp.packet_creator
    assert packet_getter is mp.packet_getter
    assert resource_util is mp.resource_util
    for name in [
        "CalculatorGraph",
        "GraphInputStreamAddMode",
        "Image",
        "ImageFormat",
        "ImageFrame",
        "Packet",
        "Timestamp",
        "ValidatedGraphConfig",
    ]:
        assert getattr(mp.python, name) is getattr(mp, name)
    assert calculator_pb2.CalculatorGraphConfig.DESCRIPTOR.name == "CalculatorGraphConfig"


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("body_rig", "JointList"),
        ("classification", "ClassificationList"),
        ("detection", "DetectionList"),
        ("image_file_properties", "ImageFileProperties"),
        ("image_format", "ImageFormat"),
        ("landmark", "NormalizedLandmarkList"),
        ("location_data", "LocationData"),
        ("matrix_data", "MatrixData"),
        ("rect", "NormalizedRect"),
        ("time_series_header", "TimeSeriesHeader"),
        ("annotation.rasterization", "Rasterization"),
    ],
)
def test_messages_are_imported_from_where_mediapipe_has_them(module, message):
    found = import_module(f"penstock_mediapipe.framework.formats.{module}_pb2")
    made = getattr(found, message)()
    assert made.DESCRIPTOR.name == message


def test_timestamps_compare_with_ints_and_have_names():
    assert mp.Timestamp(5) == 5
    assert mp.Timestamp(5) < 6 <= mp.Timestamp(6)
    assert mp.Timestamp(3) != None  # noqa: E711  # the comparison is tested
    assert mp.Timestamp.from_seconds(1.5) == 1_500_000
    assert mp.Timestamp(1_500_000).seconds() == 1.5
    assert mp.Timestamp(15).microseconds() == 15
    assert mp.Timestamp.UNSTARTED.value == -(2**63) + 1
    assert mp.Timestamp.DONE.value == 2**63 - 1
    assert repr(mp.Timestamp(5)) == "<mediapipe.Timestamp with value: 5>"
    assert repr(mp.Timestamp.UNSET) == "<mediapipe.Timestamp with value: UNSET>"
    assert mp.Timestamp(5).is_range_value()
    assert not mp.Timestamp(5).is_special_value()
    assert mp.Timestamp.MIN.is_special_value()
    assert mp.Timestamp.POSTSTREAM.is_allowed_in_stream()
    assert not mp.Timestamp.UNSET.is_allowed_in_stream()
    with pytest.raises(TypeError):
        mp.Timestamp(1.5)


def test_packets_have_timestamps_and_tell_their_type():
    packet = packet_creator.create_int(5)

    assert packet.timestamp == mp.Timestamp.UNSET
    assert packet.at(3).timestamp == 3
    assert packet.at(mp.Timestamp(4)).timestamp == 4
    assert repr(packet.at(3)) == "<mediapipe.Packet with timestamp: 3 and C++ type: int>"
    assert repr(mp.Packet()) == "<mediapipe.Packet with timestamp: UNSET and no data>"
    assert mp.Packet().is_empty()
    packet.timestamp = 7
    assert packet.timestamp == 7
    with pytest.raises(TypeError):
        packet.at(1.5)


@pytest.mark.parametrize(
    ("name", "value", "type_name", "get"),
    [
        ("string", "xy", "string", "str"),
        ("string", b"\xd0\xd0", "string", "bytes"),
        ("bool", True, "bool", "bool"),
        ("int", 42, "int", "int"),
        ("int8", -128, "signed char", "int"),
        ("int16", 32767, "short", "int"),
        ("int32", -(2**31), "int", "int"),
        ("int64", 2**63 - 1, "int64_t", "int"),
        ("uint8", 255, "unsigned char", "uint"),
        ("uint16", 65535, "unsigned short", "uint"),
        ("uint32", 2**32 - 1, "unsigned int", "uint"),
        ("uint64", 2**64 - 1, "uint64_t", "uint"),
        ("float", 0.25, "float", "float"),
        ("double", 0.1, "double", "float"),
        ("int_vector", [1, -2], "::std::vector<int>", "int_list"),
        ("bool_vector", [True, False], "::std::vector<bool>", "bool_list"),
        ("float_vector", [0.5, -1.0], "::std::vector<float>", "float_list"),
        ("string_vector", ["a", "b"], "::std::vector<std::string>", "str_list"),
        ("int_vector", [], "::std::vector<int>", "int_list"),
        ("int_vector", [True], "::std::vector<int>", "int_list"),
        ("float", 1e300, "float", "float"),
    ],
)
def test_a_getter_returns_what_its_creator_took(name, value, type_name, get):
    packet = getattr(packet_creator, f"create_{name}")(value)

    assert f"C++ type: {type_name}>" in repr(packet)
    wanted = float("inf") if value == 1e300 else value
    assert getattr(packet_getter, f"get_{get}")(packet) == wanted


def test_text_may_be_bytes():
    mixed = packet_creator.create_string_vector(["ä", "ö".encode()])
    raw = packet_creator.create_string(bytearray(b"ab"))

    assert packet_getter.get_str_list(mixed) == ["ä", "ö"]
    assert packet_getter.get_bytes(raw) == b"ab"


def test_floats_are_rounded_to_32_bits_and_doubles_are_not():
    assert packet_getter.get_float(packet_creator.create_float(0.1)) == float(np.float32(0.1))
    assert packet_getter.get_float_list(packet_creator.create_float_vector([0.1])) == [float(np.float32(0.1))]


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("int", 1.5, TypeError),
        ("int", "1", TypeError),
        ("int", 2**31, OverflowError),
        ("int8", 200, OverflowError),
        ("int8", -129, OverflowError),
        ("uint8", -1, OverflowError),
        ("bool", 1, TypeError),
        ("string", 1, TypeError),
        ("float", "a", TypeError),
        ("float_vector", [1, 2], TypeError),
        ("float_array", [1.0, 2], TypeError),
        ("int_vector", [1.5], TypeError),
        ("bool_vector", [1], TypeError),
        ("string_vector", "ab", TypeError),
        ("int_vector", {}, TypeError),
        ("int_vector", iter([1]), TypeError),
        ("int_array", b"a", TypeError),
        ("float_vector", [True], TypeError),
        ("image_frame_vector", {}, TypeError),
        ("packet_vector", [1], TypeError),
        ("string_to_packet_map", {"a": 1}, TypeError),
        ("string_to_packet_map", [1], TypeError),
        ("matrix", "a", TypeError),
        ("matrix", [1, "a"], TypeError),
        ("image_vector", [1], TypeError),
        ("proto", 1, TypeError),
        ("proto_vector", [], NotImplementedError),
        ("matrix", np.zeros((1, 1, 1)), TypeError),
        ("image_frame", PIXELS, ValueError),
    ],
)
def test_a_creator_refuses_other_types(name, value, error):
    with pytest.raises(error):
        getattr(packet_creator, f"create_{name}")(value)


@pytest.mark.parametrize(
    ("get", "packet"),
    [
        ("str", packet_creator.create_int(5)),
        ("int", packet_creator.create_bool(True)),
        ("int", packet_creator.create_uint8(1)),
        ("uint", packet_creator.create_int(1)),
        ("int", mp.Packet()),
        ("float", packet_creator.create_int(1)),
        ("bool", packet_creator.create_int(1)),
        ("int_list", packet_creator.create_float_vector([1.0])),
        ("float_list", mp.Packet()),
        ("matrix", packet_creator.create_int(1)),
        ("proto", packet_creator.create_int(1)),
        ("proto_list", packet_creator.create_int_vector([1])),
        ("proto_list", mp.Packet()),
        ("image", packet_creator.create_image_frame(PIXELS, image_format=SRGB)),
        ("image_frame", packet_creator.create_image(PIXELS, image_format=SRGB)),
        ("packet_list", packet_creator.create_int_vector([1])),
        ("str_to_packet_dict", packet_creator.create_int(1)),
    ],
)
def test_a_getter_refuses_other_types_with_a_value_error(get, packet):
    with pytest.raises(ValueError, match="was asked for"):
        getattr(packet_getter, f"get_{get}")(packet)


def test_packets_of_packets_matrices_and_messages():
    one = packet_creator.create_int(1).at(0)
    listed = packet_getter.get_packet_list(packet_creator.create_packet_vector([one]))
    named = packet_getter.get_str_to_packet_dict(packet_creator.create_string_to_packet_map({"a": one}))
    matrix = packet_getter.get_matrix(packet_creator.create_matrix(np.array([[1, 2], [3, 4]])))
    column = packet_getter.get_matrix(packet_creator.create_matrix(np.array([1.0, 2.0])))
    detection = detection_pb2.Detection(label=["face"], score=[0.5])
    read = packet_getter.get_proto(packet_creator.create_proto(detection))

    assert repr(listed) == "[<mediapipe.Packet with timestamp: 0 and C++ type: int>]"
    assert packet_getter.get_int(named["a"]) == 1
    assert matrix.tolist() == [[1, 2], [3, 4]]
    assert matrix.dtype == np.float32
    assert column.shape == (2, 1)
    assert read == detection
    assert read is not detection


def test_lists_of_messages_are_copies():
    hands = [landmark_pb2.NormalizedLandmarkList()]
    hands[0].landmark.add(x=0.5)
    packet = mp.Packet.of(mp.Packet().core.__class__(hands))

    read = packet_getter.get_proto_list(packet)

    assert read == hands
    assert read[0] is not hands[0]


# --- images -------------------------------------------------------------------------------------------


def test_an_image_frame_is_read_only_and_indexed_by_row_column_and_channel():
    frame = mp.ImageFrame(image_format=SRGB, data=PIXELS)

    assert (frame.width, frame.height, frame.channels, frame.byte_depth) == (3, 2, 3, 1)
    assert frame.image_format == SRGB
    assert not frame.is_empty()
    assert frame[1, 2, 0] == PIXELS[1, 2, 0]
    assert (frame.numpy_view() == PIXELS).all()
    assert not frame.numpy_view().flags.writeable
    with pytest.raises(IndexError):
        frame[5, 0, 0]
    with pytest.raises(IndexError):
        frame[0, 0]
    with pytest.raises(RuntimeError, match="3 channels of uint8"):
        mp.ImageFrame(image_format=SRGB, data=PIXELS.astype(np.float32))


def test_a_writable_array_is_copied_and_a_read_only_one_is_shared():
    writable = PIXELS.copy()
    copied = packet_creator.create_image_frame(writable, image_format=SRGB)
    writable[:] = 0
    still = PIXELS.copy()
    still.flags.writeable = False
    shared = packet_creator.create_image_frame(still, image_format=SRGB)

    assert (packet_getter.get_image_frame(copied).numpy_view() == PIXELS).all()
    assert np.shares_memory(packet_getter.get_image_frame(shared).numpy_view(), still)


def test_images_pass_through_packets_and_refuse_another_format():
    image = mp.Image(image_format=SRGB, data=PIXELS)
    packet = packet_creator.create_image(image)
    several = packet_creator.create_image_vector([image, image])

    assert not image.uses_gpu()
    assert (packet_getter.get_image(packet).numpy_view() == PIXELS).all()
    assert [one.height for one in packet_getter.get_image_list(several)] == [2, 2]
    with pytest.raises(ValueError, match="the packet is to have GRAY8"):
        packet_creator.create_image(image, image_format=mp.ImageFormat.GRAY8)
    with pytest.raises(ValueError, match="copy is for packets of arrays"):
        packet_creator.create_image(image, copy=True)


def test_an_image_is_read_from_a_file(tmp_path):
    import cv2

    cv2.imwrite(str(tmp_path / "one.png"), PIXELS[:, :, ::-1])

    image = mp.Image.create_from_file(str(tmp_path / "one.png"))

    assert image.image_format == SRGB
    assert (image.numpy_view() == PIXELS).all()
    with pytest.raises(RuntimeError, match="cannot be read"):
        mp.Image.create_from_file(str(tmp_path / "none.png"))


# --- graphs -------------------------------------------------------------------------------------------


def test_the_documented_example_of_a_graph():
    """The steps of the reference's page "MediaPipe Python framework": make, observe, run, feed, close."""
    graph = mp.CalculatorGraph(graph_config=PASSING)
    output_packets = []
    graph.observe_output_stream(
        "out", lambda stream, packet: output_packets.append((stream, mp.packet_getter.get_str(packet)))
    )

    graph.start_run()
    graph.add_packet_to_input_stream("in", mp.packet_creator.create_string("abc").at(0))
    graph.add_packet_to_input_stream("in", mp.packet_creator.create_string("def").at(1))
    graph.close()

    assert output_packets == [("out", "abc"), ("out", "def")]


def test_a_message_a_file_and_a_validated_graph_make_the_same_graph(tmp_path):
    message = text_format.Parse(PASSING, calculator_pb2.CalculatorGraphConfig())
    path = tmp_path / "graph.binarypb"
    path.write_bytes(message.SerializeToString())
    validated = mp.ValidatedGraphConfig()
    assert not validated.initialized()
    assert validated.text_config == ""
    validated.initialize(graph_config=message)

    graphs = [
        mp.CalculatorGraph(graph_config=message),
        mp.CalculatorGraph(binary_graph_path=str(path)),
        mp.CalculatorGraph(validated_graph_config=validated),
    ]

    assert {graph.text_config for graph in graphs} == {validated.text_config}
    assert {graph.binary_config for graph in graphs} == {validated.binary_config}
    with pytest.raises(RuntimeError, match="once"):
        validated.initialize(graph_config=message)


def test_a_graph_is_given_in_exactly_one_way(tmp_path):
    with pytest.raises(ValueError, match="neither"):
        mp.CalculatorGraph()
    with pytest.raises(ValueError, match="both"):
        mp.CalculatorGraph(graph_config=PASSING, binary_graph_path="x")
    with pytest.raises(FileNotFoundError):
        mp.CalculatorGraph(binary_graph_path=str(tmp_path / "none.binarypb"))
    with pytest.raises(RuntimeError, match="xxx"):
        mp.CalculatorGraph(graph_config="xxx")
    with pytest.raises(RuntimeError, match="Nobody"):
        mp.CalculatorGraph(graph_config=PASSING.replace("PassThroughCalculator", "Nobody"))


def test_types_of_streams_and_side_packets_are_told():
    validated = mp.ValidatedGraphConfig()
    validated.initialize(
        graph_config="""
            input_stream: "tick" input_side_packet: "name" output_stream: "out"
            node { calculator: "PassThroughCalculator" input_stream: "tick" output_stream: "out" }
            node {
              calculator: "GateCalculator"
              input_stream: "out" input_side_packet: "ALLOW:name" output_stream: "o"
            }"""
    )

    assert validated.registered_side_packet_type_name("name") == "bool"
    with pytest.raises(RuntimeError, match="nothing in the validated graph says"):
        validated.registered_stream_type_name("tick")
    with pytest.raises(ValueError, match="no stream 'nobody'"):
        validated.registered_stream_type_name("nobody")
    with pytest.raises(ValueError, match="no side packet 'nobody'"):
        validated.registered_side_packet_type_name("nobody")


def test_the_timestamp_is_the_packets_or_the_argument():
    graph = mp.CalculatorGraph(graph_config=PASSING)
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.timestamp.value))
    graph.start_run()
    graph.add_packet_to_input_stream("in", packet_creator.create_int(1), timestamp=7)
    graph.add_packet_to_input_stream(
        stream="in", packet=packet_creator.create_int(1).at(1), timestamp=mp.Timestamp(8)
    )
    with pytest.raises(ValueError, match="no timestamp"):
        graph.add_packet_to_input_stream("in", packet_creator.create_int(1))
    graph.wait_until_idle()
    graph.close_input_stream("in")
    graph.wait_until_done()

    assert seen == [7, 8]


def test_bounds_come_as_empty_packets_where_they_are_asked_for():
    graph = mp.CalculatorGraph(graph_config=GATE)
    seen = []
    graph.observe_output_stream(
        "out",
        lambda _, packet: seen.append((packet.timestamp.value, packet.is_empty())),
        observe_timestamp_bounds=True,
    )
    graph.start_run()
    for time, allow in ((1, True), (2, False)):
        graph.add_packet_to_input_stream("in", packet_creator.create_int(time).at(time))
        graph.add_packet_to_input_stream("allow", packet_creator.create_bool(allow).at(time))
        graph.wait_for_observed_output()
    graph.close()

    assert seen[:2] == [(1, False), (2, True)]


def test_what_fails_in_a_run_is_told_and_raised():
    graph = mp.CalculatorGraph(graph_config=GATE)
    graph.start_run()
    assert not graph.has_error()
    assert graph.get_combined_error_message() == ""
    with pytest.raises((ValueError, RuntimeError), match="bool"):
        graph.add_packet_to_input_stream("allow", packet_creator.create_int(1).at(0))
    with pytest.raises((ValueError, RuntimeError)):
        graph.add_packet_to_input_stream("nobody", packet_creator.create_int(1).at(1))


def test_calls_at_the_wrong_time_raise_runtime_errors():
    graph = mp.CalculatorGraph(graph_config=PASSING)

    with pytest.raises(RuntimeError, match="start_run"):
        graph.add_packet_to_input_stream("in", packet_creator.create_int(1).at(0))
    with pytest.raises(RuntimeError):
        graph.wait_until_idle()
    with pytest.raises(RuntimeError, match="nobody"):
        graph.observe_output_stream("nobody", print)
    with pytest.raises(RuntimeError, match="nobody"):
        graph.get_output_side_packet("nobody")
    with pytest.raises(TypeError, match="packet_creator"):
        graph.start_run({"x": 1})


def test_queues_and_what_full_ones_do_can_be_set():
    graph = mp.CalculatorGraph(graph_config=PASSING)
    assert graph.max_queue_size == 100
    assert graph.graph_input_stream_add_mode == mp.GraphInputStreamAddMode.WAIT_TILL_NOT_FULL

    graph.max_queue_size = 3
    graph.graph_input_stream_add_mode = mp.GraphInputStreamAddMode.ADD_IF_NOT_FULL

    assert graph.max_queue_size == 3
    assert graph.graph_input_stream_add_mode == mp.GraphInputStreamAddMode.ADD_IF_NOT_FULL


def test_side_packets_go_in_and_come_out():
    graph = mp.CalculatorGraph(graph_config=PASSING + 'input_side_packet: "given"')
    graph.start_run({"given": packet_creator.create_int(5)})
    graph.close()

    assert packet_getter.get_int(graph.get_output_side_packet("given")) == 5


@pytest.fixture
def resource_dir(models):
    mp.resource_util.set_resource_dir(str(models))
    yield
    mp.resource_util.set_resource_dir("")


@pytest.mark.usefixtures("resource_dir")
def test_a_shipped_graph_finds_hands_as_the_reference_does(picture, recorded):
    path = "mediapipe/modules/hand_landmark/hand_landmark_tracking_cpu.binarypb"
    config = calculator_pb2.CalculatorGraphConfig.FromString(mp.resource_util.finder().find(path).data)
    graph = mp.CalculatorGraph(graph_config=config)
    hands = {}

    def see(_stream, packet):
        hands[packet.timestamp.value] = packet_getter.get_proto_list(packet)

    graph.observe_output_stream("multi_hand_landmarks", see)
    graph.start_run(
        {
            "num_hands": packet_creator.create_int(2),
            "model_complexity": packet_creator.create_int(1),
            "use_prev_landmarks": packet_creator.create_bool(True),
        }
    )
    frame = packet_creator.create_image_frame(picture("hands_two"), image_format=SRGB)
    graph.add_packet_to_input_stream("image", frame.at(0))
    graph.close()

    expected = recorded("hands_two", "multi_hand_landmarks")[0]["list"]
    assert len(hands[0]) == len(expected) == 2
    for hand, known in zip(hands[0], expected, strict=True):
        found = [(one.x, one.y, one.z) for one in hand.landmark]
        np.testing.assert_allclose(found, [(p["x"], p["y"], p["z"]) for p in known["landmark"]], atol=1e-5)


# --- MediaPipe's words, and what a graph does with a packet that it cannot take ---------------------------


@pytest.mark.parametrize(
    ("graph", "error", "words"),
    [
        ('node { calculator: "Nope" }', RuntimeError, 'Unable to find Calculator "Nope"'),
        ('node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }', RuntimeError,
         'Input Stream "in" .*does not have a corresponding output stream.'),
        (PASSING + 'node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }',
         RuntimeError, 'Output Stream "out" defined twice.'),
        (PASSING.replace('"in" o', '"In" o'), RuntimeError, 'TAG:index:name is invalid, "In" does not match'),
        (PASSING.replace('output_stream: "out" }', 'output_stream: "A:out" }'), ValueError,
         "Input and output streams to PassThroughCalculator must use matching tags and indexes."),
        (PASSING.replace(" }", ' executor: "e" }'), ValueError,
         'The executor "e" is not declared in an ExecutorConfig.'),
        (PASSING.replace(" }", ' input_stream_handler { input_stream_handler: "Nope" } }'), RuntimeError,
         '"Nope" is not a registered input stream handler.'),
        ("nodes {}", RuntimeError, "Failed to parse"),
    ],
)  # fmt: skip
def test_a_graph_that_cannot_run_is_refused_with_mediapipes_words_and_exception(graph, error, words):
    with pytest.raises(error, match=words) as caught:
        mp.CalculatorGraph(graph_config=graph)
    assert "[" in str(caught.value)  # what Penstock says


def test_faults_of_several_kinds_are_a_runtime_error_with_the_words_of_each():
    graph = """
        node { calculator: "Nope" }
        node { calculator: "PassThroughCalculator" input_stream: "A:in" output_stream: "out" }"""
    with pytest.raises(RuntimeError, match=r'(?s)find Calculator "Nope".*must use matching tags'):
        mp.CalculatorGraph(graph_config=graph)


def started(graph=PASSING):
    made = mp.CalculatorGraph(graph_config=graph)
    found = []
    made.observe_output_stream("out", lambda _, packet: found.append(packet.timestamp.value))
    made.start_run()
    return made, found


def refused_late(graph, at):
    """Add a packet that is not taken, and return the texts of the errors that later calls raise."""
    graph.add_packet_to_input_stream("in", packet_creator.create_int(1).at(at))
    assert graph.has_error()
    texts = []
    for call in (
        lambda: graph.add_packet_to_input_stream("in", packet_creator.create_int(1).at(99)),
        graph.wait_until_idle,
        graph.wait_until_done,
        graph.close,
    ):
        with pytest.raises(ValueError, match="expected timestamp") as caught:
            call()
        texts.append(str(caught.value))
    return texts


@pytest.mark.parametrize("at", [5, 3, mp.Timestamp.PRESTREAM])
def test_a_timestamp_that_comes_again_ends_the_run_and_the_next_call_raises(at):
    graph, found = started()
    graph.add_packet_to_input_stream("in", packet_creator.create_int(1).at(5))
    graph.wait_until_idle()

    texts = refused_late(graph, at)

    assert found == [5]
    words = 'stream "in". Current minimum expected timestamp is 6 but received'
    assert all(words in text for text in texts)
    assert texts[0].startswith("Graph has errors: ")
    assert all(text.startswith("CalculatorGraph::Run() failed: ") for text in texts[1:])
    assert graph.get_combined_error_message().startswith("INVALID_ARGUMENT: CalculatorGraph::Run() failed: ")


def test_a_packet_for_a_closed_input_ends_the_run():
    graph, _ = started(GATE)  # the other input keeps the run going
    graph.close_input_stream("in")

    texts = refused_late(graph, 5)

    assert all("expected timestamp is Timestamp::Done() but received 5" in text for text in texts)


def test_a_packet_of_another_type_ends_the_run_and_its_call_raises():
    graph, _ = started(GATE)
    with pytest.raises(
        ValueError, match=r'^Graph has errors: Packet type mismatch .* to stream "allow" \[.*bool'
    ):
        graph.add_packet_to_input_stream("allow", packet_creator.create_string("x").at(1))
    assert graph.has_error()
    with pytest.raises(ValueError, match=r"^CalculatorGraph::Run\(\) failed: "):
        graph.wait_until_done()


def test_after_a_run_that_was_ended_the_next_one_is_healthy():
    graph, found = started()
    graph.add_packet_to_input_stream("in", packet_creator.create_int(1).at(5))
    graph.add_packet_to_input_stream("in", packet_creator.create_int(1).at(5))
    with pytest.raises(ValueError, match="expected timestamp is 6 but received 5"):
        graph.wait_until_done()

    found.clear()
    graph.start_run()
    graph.add_packet_to_input_stream("in", packet_creator.create_int(1).at(5))
    graph.close()

    assert found == [5]
    assert not graph.has_error()


@pytest.mark.parametrize("special", [mp.Timestamp.UNSET, mp.Timestamp.UNSTARTED, mp.Timestamp.DONE])
def test_a_timestamp_that_no_packet_has_is_refused_and_the_run_goes_on(special):
    graph, found = started()
    with pytest.raises(
        ValueError, match=r"^Timestamp::\w+\(\) can't be the timestamp of a Packet in a stream"
    ):
        graph.add_packet_to_input_stream("in", packet_creator.create_int(1).at(special))
    graph.add_packet_to_input_stream("in", packet_creator.create_int(1).at(1))
    graph.close()
    assert found == [1]


def test_a_side_packet_that_the_graph_does_not_know_is_ignored():
    graph = mp.CalculatorGraph(graph_config=PASSING)
    graph.start_run({"nobody": packet_creator.create_int(1)})
    graph.close()
    assert not graph.has_error()


def test_an_int_of_a_graph_has_any_size():
    graph = mp.CalculatorGraph(
        graph_config="""
        node {
          calculator: "StringToInt64Calculator" input_side_packet: "text" output_side_packet: "number"
        }"""
    )
    graph.start_run({"text": packet_creator.create_string("42")})
    graph.wait_until_done()
    assert packet_getter.get_uint(graph.get_output_side_packet("number")) == 42
    assert packet_getter.get_int(graph.get_output_side_packet("number")) == 42
    with pytest.raises(ValueError, match="doesn't contain uint8, uint16, uint32, or uint64 data"):
        packet_getter.get_uint(packet_creator.create_int(42))


def test_lists_of_image_frames_outlive_their_packet():
    gray = np.full((4, 3), 0.5, np.float32)
    frames = [
        mp.ImageFrame(image_format=SRGB, data=PIXELS),
        mp.ImageFrame(image_format=mp.ImageFormat.VEC32F1, data=gray),
    ]
    packet = packet_creator.create_image_frame_vector(frames).at(100)
    found = packet_getter.get_image_frame_list(packet)
    del packet, frames

    assert [one.image_format for one in found] == [SRGB, mp.ImageFormat.VEC32F1]
    assert np.array_equal(found[0].numpy_view(), PIXELS)
    assert np.array_equal(found[1].numpy_view(), gray)
    with pytest.raises(TypeError, match=r"Item 0 is not an ImageFrame"):
        packet_creator.create_image_frame_vector([None])


@pytest.mark.parametrize("kind", [mp.ImageFrame, mp.Image])
def test_a_view_of_a_contiguous_image_keeps_the_image_alive(kind):
    touching = kind(image_format=SRGB, data=np.zeros((480, 640, 3), np.uint8))
    apart = kind(image_format=SRGB, data=np.zeros((481, 641, 3), np.uint8))
    shared = kind(image_format=SRGB, data=np.zeros((481, 641, 3), np.uint8), copy=False)
    assert (touching.is_contiguous(), apart.is_contiguous(), shared.is_contiguous()) == (True, False, True)

    before = sys.getrefcount(touching)
    views = [touching.numpy_view(), touching.numpy_view()]
    assert sys.getrefcount(touching) == before + 2
    assert np.shares_memory(*views)
    with pytest.raises(ValueError, match="read-only"):
        views[0][0, 0, 0] = 1
    del views
    assert sys.getrefcount(touching) == before

    before = sys.getrefcount(apart)
    view = apart.numpy_view()
    assert sys.getrefcount(apart) == before
    assert np.shares_memory(view, apart.numpy_view())


def test_text_with_mediapipes_names_of_options_makes_a_graph():
    if find_spec("mediapipe") is not None:
        pytest.skip("MediaPipe is installed, and its names are left to it")
    config = text_format.Parse(
        """
        input_stream: "in" output_stream: "out"
        node {
          calculator: "PacketThinnerCalculator" input_stream: "in" output_stream: "out"
          options { [mediapipe.PacketThinnerCalculatorOptions.ext] { thinner_type: ASYNC period: 10 } }
        }""",
        calculator_pb2.CalculatorGraphConfig(),
    )
    graph = mp.CalculatorGraph(graph_config=config)
    found = []
    graph.observe_output_stream("out", lambda _, packet: found.append(packet.timestamp.value))
    graph.start_run()
    for time in (0, 5, 10, 12, 25):
        graph.add_packet_to_input_stream("in", packet_creator.create_int(1).at(time))
    graph.close()

    assert found == [0, 10, 25]


def test_a_missing_stream_or_side_packet_has_mediapipes_words_and_other_errors_have_not():
    graph, _ = started()
    with pytest.raises(RuntimeError, match=r"^observe_output_stream is not possible while the graph runs"):
        graph.observe_output_stream("out", print)
    graph.close()
    with pytest.raises(RuntimeError, match=r'^Unable to attach observer to output stream "nobody" because'):
        graph.observe_output_stream("nobody", print)
    with pytest.raises(RuntimeError, match=r'^Unable to get the output side packet "nobody" because'):
        graph.get_output_side_packet("nobody")
