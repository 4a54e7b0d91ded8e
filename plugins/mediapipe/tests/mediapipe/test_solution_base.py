"""`SolutionBase` with small graphs, which need no model."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from google.protobuf import text_format

from penstock_formats import Detection, DetectionList, NormalizedLandmarkList, TimeSeriesHeader
from penstock_mediapipe.framework import calculator_pb2
from penstock_mediapipe.solution_base import PacketDataType, SolutionBase

PASSING = """
input_stream: "in"
output_stream: "out"
node { name: "pass" calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }
"""
THRESHOLD = """
input_stream: "score"
output_stream: "flag"
node {
  name: "threshold"
  calculator: "ThresholdingCalculator"
  input_stream: "FLOAT:score"
  output_stream: "FLAG:flag"
  %s
}
"""
OPTIONS = "options { [mediapipe.ThresholdingCalculatorOptions.ext] { threshold: 0.5 } }"
NODE_OPTIONS = (
    "node_options { [type.googleapis.com/mediapipe.ThresholdingCalculatorOptions] { threshold: 0.5 } }"
)
RECTS = """
input_stream: "detection"
output_stream: "rect"
node {
  calculator: "DetectionsToRectsCalculator"
  input_stream: "DETECTION:detection"
  output_stream: "NORM_RECT:rect"
}
"""
CLIPPED = """
input_stream: "in"
output_stream: "out"
node {
  calculator: "ClipDetectionVectorSizeCalculator"
  input_stream: "in"
  output_stream: "out"
  input_side_packet: "size"
}
"""


def passing(kind):
    return SolutionBase(graph_config=PASSING, stream_type_hints={"in": kind, "out": kind})


def thresholding(options=OPTIONS, **params):
    return SolutionBase(
        graph_config=THRESHOLD % options,
        calculator_params={key.replace("__", "."): value for key, value in params.items()},
    )


# --- process ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("STRING", "a"),
        ("BOOL", True),
        ("INT", 3),
        ("FLOAT", 1.5),
        ("INT_LIST", [1, 2]),
        ("BOOL_LIST", [True, False]),
        ("FLOAT_LIST", [0.5, 2.0]),
    ],
)
def test_values_come_out_as_they_went_in(kind, value):
    with passing(PacketDataType[kind]) as solution:
        assert solution.process({"in": value}).out == value


@pytest.mark.parametrize(
    ("kind", "value", "wanted"),
    [
        ("INT", "a", "an int"),
        ("INT", 1.5, "an int"),
        ("BOOL", 1, "True or False"),
        ("FLOAT", "a", "a number"),
        ("STRING", 1, "a str"),
        ("INT_LIST", "12", "a list"),
        ("INT_LIST", [1.5], "an int"),
        ("PROTO", 1, "a protobuf message"),
        ("IMAGE_FRAME", "a", "a NumPy array"),
    ],
)
def test_a_value_of_another_type_is_refused_and_the_solution_goes_on(kind, value, wanted):
    with passing(PacketDataType[kind]) as solution:
        with pytest.raises(TypeError, match=f"the input 'in'.*packet data type takes {wanted}"):
            solution.process({"in": value})
        assert solution.process({}).out is None


def test_an_int_of_more_than_32_bits_is_refused():
    with passing(PacketDataType.INT) as solution, pytest.raises(OverflowError, match="32 bits"):
        solution.process({"in": 2**31})


def test_floats_are_those_of_32_bits():
    with passing(PacketDataType.FLOAT) as solution:
        assert solution.process({"in": 0.1}).out == float(np.float32(0.1))


def test_what_did_not_come_is_none_and_not_what_came_before():
    with passing(PacketDataType.INT) as solution:
        assert solution.process({"in": 3}).out == 3
        results = solution.process({})

    assert results.out is None
    assert results._fields == ("out",)


def test_messages_are_copied_in_and_out():
    given = NormalizedLandmarkList()
    given.landmark.add(x=0.5)
    with passing(PacketDataType.PROTO) as solution:
        found = solution.process({"in": given}).out

    assert found == given
    assert found is not given


def test_lists_of_messages_are_not_taken():
    with (
        passing(PacketDataType.PROTO_LIST) as solution,
        pytest.raises(NotImplementedError, match="PROTO_LIST type is not supported"),
    ):
        solution.process({"in": []})


def test_sounds_come_out_as_they_went_in():
    samples = np.array([[0.5, -0.5, 1]], np.float32)
    with passing(PacketDataType.AUDIO) as solution:
        assert np.array_equal(solution.process({"in": samples}).out, samples)
        with pytest.raises(TypeError, match="packet data type takes a NumPy array"):
            solution.process({"in": [1]})


@pytest.mark.parametrize("kind", [PacketDataType.IMAGE_FRAME, PacketDataType.IMAGE])
def test_a_writable_image_is_copied_and_a_read_only_one_is_shared(kind):
    image = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    kept = image.copy()
    with passing(kind) as solution:
        copied = solution.process(image).out
        image[:] = 0
        assert np.array_equal(copied, kept)

        kept.flags.writeable = False
        shared = solution.process(kept).out

    assert np.shares_memory(shared, kept)
    assert not copied.flags.writeable
    assert not shared.flags.writeable


def test_an_image_seen_backwards_is_given_as_it_is_seen():
    image = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    with passing(PacketDataType.IMAGE_FRAME) as solution:
        assert np.array_equal(solution.process(image[:, ::-1, ::-1]).out, image[:, ::-1, ::-1])


@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 4), (4, 5, 1), (2, 4, 5, 3)])
def test_an_image_without_three_channels_is_refused(shape):
    with (
        passing(PacketDataType.IMAGE_FRAME) as solution,
        pytest.raises(ValueError, match=r"must have the shape \(height, width, 3\)"),
    ):
        solution.process(np.zeros(shape, np.uint8))


def test_an_image_of_floats_is_refused():
    with passing(PacketDataType.IMAGE_FRAME) as solution, pytest.raises(TypeError, match=r"float32.*uint8"):
        solution.process(np.zeros((4, 5, 3), np.float32))


def test_an_input_that_the_graph_does_not_have_is_refused():
    with passing(PacketDataType.INT) as solution, pytest.raises(KeyError, match="no input stream 'foo'"):
        solution.process({"foo": 3})


def test_one_image_for_a_graph_with_two_inputs_is_refused():
    graph = PASSING.replace('input_stream: "in"\n', 'input_stream: "in"\ninput_stream: "more"\n', 1)
    hints = dict.fromkeys(("in", "more", "out"), PacketDataType.IMAGE_FRAME)
    with (
        SolutionBase(graph_config=graph, stream_type_hints=hints) as solution,
        pytest.raises(ValueError, match="2 input streams; give a dict of 'in', 'more'"),
    ):
        solution.process(np.zeros((4, 5, 3), np.uint8))


def test_a_solution_may_be_used_by_another_thread_than_the_one_that_made_it():
    found = []
    with passing(PacketDataType.INT) as solution:
        thread = threading.Thread(target=lambda: found.append(solution.process({"in": 3}).out))
        thread.start()
        thread.join(20)
        assert solution.process({"in": 4}).out == 4

    assert found == [3]


def test_threads_that_share_a_solution_get_the_results_of_their_own_values():
    wrong = []
    barrier = threading.Barrier(8)

    def call(first):
        barrier.wait(10)
        for value in range(first, first + 100):
            found = solution.process({"in": value}).out
            if found != value:
                wrong.append((value, found))

    with passing(PacketDataType.INT) as solution:
        threads = [threading.Thread(target=call, args=(1000 * number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()

    assert wrong == []


def test_calls_beside_reset_and_close_return_their_own_results_or_say_that_it_is_closed():
    outcomes = []
    begun = threading.Semaphore(0)

    def call(first):
        try:
            for value in range(first, first + 100_000):
                assert solution.process({"in": value}).out == value
                begun.release()
        except ValueError as error:
            outcomes.append(str(error))

    solution = passing(PacketDataType.INT)
    threads = [threading.Thread(target=call, args=(1_000_000 * number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        assert begun.acquire(timeout=10)
        solution.reset()
    solution.close()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()

    assert outcomes == ["this solution is closed, so it cannot process; make another one"] * 3


def test_a_calculator_that_fails_is_a_runtime_error():
    located = Detection()
    located.location_data.format = located.location_data.RELATIVE_BOUNDING_BOX
    box = located.location_data.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = 0.25, 0.25, 0.5, 0.5
    solution = SolutionBase(graph_config=RECTS)

    assert solution.process({"detection": located}).rect.x_center == 0.5
    with pytest.raises(RuntimeError, match="DetectionsToRectsCalculator") as caught:
        solution.process({"detection": Detection()})
    assert not isinstance(caught.value, ValueError)


def test_a_calculator_that_cannot_open_is_said_when_the_solution_is_made():
    with pytest.raises(RuntimeError, match="ClipDetectionVectorSizeCalculator"):
        SolutionBase(graph_config=CLIPPED, side_inputs={"size": 0})


# --- the end and a new beginning ----------------------------------------------------------------------


def test_a_closed_solution_can_neither_process_nor_be_closed_again():
    solution = passing(PacketDataType.INT)
    solution.close()

    with pytest.raises(ValueError, match="closed"):
        solution.process({"in": 3})
    with pytest.raises(ValueError, match="closed already"):
        solution.close()
    solution.reset()


def test_after_reset_a_solution_goes_on():
    with passing(PacketDataType.INT) as solution:
        solution.process({"in": 3})
        solution.reset()
        assert solution.process({"in": 4}).out == 4


# --- the graph ----------------------------------------------------------------------------------------


def test_exactly_one_of_path_and_graph_is_needed():
    with pytest.raises(
        ValueError, match=r"exactly one of 'binary_graph_path' or 'graph_config'. .neither given"
    ):
        SolutionBase()
    with pytest.raises(ValueError, match=r"exactly one of .* .both given"):
        SolutionBase("a.binarypb", graph_config=PASSING)


def test_a_graph_that_is_not_one_is_a_runtime_error():
    with pytest.raises(RuntimeError, match=r"Failed to parse .*bad"):
        SolutionBase(graph_config="bad {")


def test_streams_of_unknown_type_ask_for_a_hint():
    with pytest.raises(
        RuntimeError, match=r'find the type for stream "in". .*carries; say it in the type hints'
    ):
        SolutionBase(graph_config=PASSING)


def test_outputs_are_those_that_are_named():
    with SolutionBase(graph_config=THRESHOLD % OPTIONS, outputs=["score"]) as solution:
        assert vars(solution.process({"score": 0.75})) == {"score": 0.75}


def test_an_output_that_the_graph_does_not_have_is_refused():
    with pytest.raises(ValueError, match="no stream 'nope'"):
        SolutionBase(graph_config=THRESHOLD % OPTIONS, outputs=["nope"])


def test_a_side_packet_that_no_node_takes_is_refused():
    with pytest.raises(ValueError, match="no node of the solution takes a side packet 'nope'"):
        SolutionBase(graph_config=THRESHOLD % OPTIONS, side_inputs={"nope": 1})


def test_a_graph_message_is_taken_and_not_changed():
    from penstock.config import read_graph
    from penstock.packs import default_registry

    message = read_graph(THRESHOLD % OPTIONS, default_registry())
    before = message.SerializeToString(deterministic=True)

    with SolutionBase(graph_config=message, calculator_params={"threshold.threshold": 0.9}) as solution:
        assert solution.process({"score": 0.75}).flag is False
    assert message.SerializeToString(deterministic=True) == before


# --- options ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", ["", OPTIONS, NODE_OPTIONS])
def test_an_option_is_set_however_the_graph_writes_its_options(options):
    with thresholding(options, threshold__threshold=0.9) as solution:
        assert [solution.process({"score": score}).flag for score in (0.75, 0.95)] == [False, True]


def test_without_params_the_graph_keeps_its_options():
    with thresholding() as solution:
        assert solution.process({"score": 0.75}).flag is True


@pytest.mark.parametrize("options", [OPTIONS, NODE_OPTIONS])
def test_none_clears_an_option(options):
    with thresholding(options, threshold__threshold=None) as solution:
        assert solution.process({"score": 0.25}).flag is True


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("threshold", "has 0 dots"),
        ("a.b.c", "has 2 dots"),
        ("treshold.threshold", "node 'treshold'.*similar names: 'threshold'"),
        ("threshold.foo", "sets 'foo' of node 'threshold', but its options are: .*threshold"),
    ],
)
def test_a_key_that_names_no_option_is_refused(key, message):
    with pytest.raises(ValueError, match=message):
        SolutionBase(graph_config=THRESHOLD % OPTIONS, calculator_params={key: 0.5})


def test_a_node_of_another_calculator_is_refused():
    with pytest.raises(ValueError, match="a PassThroughCalculator, but may set only the options of"):
        SolutionBase(
            graph_config=PASSING,
            calculator_params={"pass.threshold": 0.5},
            stream_type_hints=dict.fromkeys(("in", "out"), PacketDataType.INT),
        )


def test_a_node_with_options_and_node_options_is_refused():
    with pytest.raises(ValueError, match="options and node_options"):
        thresholding(OPTIONS + NODE_OPTIONS, threshold__threshold=0.5)


def test_a_value_of_another_type_than_the_option_is_refused():
    with pytest.raises(TypeError, match="sets 'threshold' of node 'threshold' to 'high'"):
        thresholding(threshold__threshold="high")


def test_graph_options_are_made_from_paths():
    detection = Detection()
    solution = passing(PacketDataType.INT)

    made = solution.create_graph_options(
        detection, {"location_data.relative_bounding_box.xmin": 0.5, "score": [0.25, 0.75], "track_id": "a"}
    )
    solution.close()

    assert made is detection
    assert made.location_data.relative_bounding_box.xmin == 0.5
    assert list(made.score) == [0.25, 0.75]
    assert made.track_id == "a"


# --- graphs of MediaPipe's own tests -------------------------------------------------------------------

TWO_TRANSFORMATIONS = """
input_stream: 'image_in'
output_stream: 'image_out'
node {
  calculator: 'ImageTransformationCalculator'
  input_stream: 'IMAGE:image_in'
  output_stream: 'IMAGE:transformed_image_in'
}
node {
  calculator: 'ImageTransformationCalculator'
  input_stream: 'IMAGE:transformed_image_in'
  output_stream: 'IMAGE:image_out'
}
"""
GATED_TRANSFORMATIONS = """
input_stream: 'image_in'
%s
output_stream: 'image_out'
node {
  calculator: 'ImageTransformationCalculator'
  input_stream: 'IMAGE:image_in'
  %s
  output_stream: 'IMAGE:transformed_image_in'
}
node {
  name: 'SignalGate'
  calculator: 'GateCalculator'
  input_stream: 'transformed_image_in'
  input_side_packet: 'ALLOW:allow_signal'
  output_stream: 'image_out_to_transform'
}
node {
  calculator: 'ImageTransformationCalculator'
  input_stream: 'IMAGE:image_out_to_transform'
  %s
  output_stream: 'IMAGE:image_out'
}
"""
SIDE_PACKETS = "input_side_packet: 'allow_signal' input_side_packet: 'rotation_degrees'"
ROTATION = "input_side_packet: 'ROTATION_DEGREES:rotation_degrees'"
ONE_TRANSFORMATION = """
input_stream: 'image_in'
output_stream: 'image_out'
node {
  name: 'ImageTransformation'
  calculator: 'ImageTransformationCalculator'
  input_stream: 'IMAGE:image_in'
  output_stream: 'IMAGE:image_out'
  %s
}
"""
TEN = "output_width: 10 output_height: 10"
TEN_OPTIONS = f"options: {{ [mediapipe.ImageTransformationCalculatorOptions.ext] {{ {TEN} }} }}"
TEN_NODE_OPTIONS = f"""
  node_options: {{
    [type.googleapis.com/mediapipe.ImageTransformationCalculatorOptions] {{ {TEN} }}
  }}"""
#: Leaves an image as it is.
OWN_SIZE = {"ImageTransformation.output_width": 0, "ImageTransformation.output_height": 0}
SMALL = np.arange(27, dtype=np.uint8).reshape(3, 3, 3)


def as_message(text):
    return text_format.Parse(text, calculator_pb2.CalculatorGraphConfig())


def assert_gives_back_an_image(**arguments):
    with SolutionBase(**arguments) as solution:
        outputs, again = solution.process(SMALL), solution.process({"image_in": SMALL})
    assert np.array_equal(outputs.image_out, SMALL)
    assert np.array_equal(again.image_out, SMALL)


@pytest.mark.reference(
    "python/solution_base_test.py", "SolutionBaseTest.test_invalid_initialization_arguments"
)
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {
            "graph_config": calculator_pb2.CalculatorGraphConfig(),
            "binary_graph_path": "no_such.binarypb",
        },
    ],
)
def test_neither_or_both_of_path_and_message_are_refused(arguments):
    words = "Must provide exactly one of 'binary_graph_path' or 'graph_config'."
    with pytest.raises(ValueError, match=words):
        SolutionBase(**arguments)


@pytest.mark.reference("python/solution_base_test.py", "SolutionBaseTest.test_invalid_config")
@pytest.mark.parametrize(
    ("graph_streams", "node_streams", "error", "words"),
    [
        ("", "input_stream: 'in'", RuntimeError, "does not have a corresponding output stream."),
        ("", "input_stream: 'in' input_stream: 'in2'", ValueError, "must use matching tags and indexes."),
        (
            "input_stream: 'in' output_stream: 'out'",
            "input_stream: 'in'",
            RuntimeError,
            'Unable to find the type for stream "in".',
        ),
    ],
)
def test_a_graph_that_cannot_be_a_solution_is_refused(graph_streams, node_streams, error, words):
    graph = f"""
        {graph_streams}
        node {{ calculator: 'PassThroughCalculator' {node_streams} output_stream: 'out' }}"""
    with pytest.raises(error, match=words):
        SolutionBase(graph_config=as_message(graph))


def ids_of_detections(tag):
    return as_message(f"""
        input_stream: 'input_detections'
        output_stream: 'output_detections'
        node {{
          calculator: 'DetectionUniqueIdCalculator'
          input_stream: '{tag}:input_detections'
          output_stream: '{tag}:output_detections'
        }}""")


@pytest.mark.reference("python/solution_base_test.py", "SolutionBaseTest.test_valid_input_data_type_proto")
def test_detections_of_one_message_are_numbered():
    given = DetectionList(detection=[Detection(score=[0.5]), Detection(score=[0.8])])
    with SolutionBase(graph_config=ids_of_detections("DETECTION_LIST")) as solution:
        found = solution.process({"input_detections": given}).output_detections.detection

    assert list(found) == [Detection(score=[0.5], detection_id=1), Detection(score=[0.8], detection_id=2)]


@pytest.mark.reference(
    "python/solution_base_test.py", "SolutionBaseTest.test_invalid_input_data_type_proto_vector"
)
def test_a_list_of_detections_is_not_taken():
    words = "SolutionBase can only process non-proto-list data. PROTO_LIST type is not supported."
    with (
        SolutionBase(graph_config=ids_of_detections("DETECTIONS")) as solution,
        pytest.raises(NotImplementedError, match=words),
    ):
        solution.process({"input_detections": Detection(score=[0.5])})


@pytest.mark.reference("python/solution_base_test.py", "SolutionBaseTest.test_valid_input_data_type_audio")
def test_sound_with_a_header_is_resampled():
    graph = """
        input_side_packet: "audio_header"
        input_stream: 'input_audio'
        output_stream: 'output_audio'
        node {
          calculator: "AddHeaderCalculator"
          input_side_packet: "HEADER:audio_header"
          input_stream: "DATA:input_audio"
          output_stream: "input_audio_with_header"
        }
        node {
          calculator: "ResampleTimeSeriesCalculator"
          input_stream: "input_audio_with_header"
          output_stream: "output_audio"
          options {
            [mediapipe.ResampleTimeSeriesCalculatorOptions.ext] {
              resampler_type: RESAMPLER_RATIONAL_FACTOR
              target_sample_rate: 16000.0
              check_inconsistent_timestamps: false
              resampler_rational_factor_options { radius_factor: 17.0 }
            }
          }
        }"""
    with SolutionBase(
        graph_config=as_message(graph),
        side_inputs={"audio_header": TimeSeriesHeader(sample_rate=16_000, num_channels=1)},
        stream_type_hints=dict.fromkeys(("input_audio", "output_audio"), PacketDataType.AUDIO),
        side_packet_type_hints={"audio_header": PacketDataType.PROTO},
    ) as solution:
        results = solution.process({"input_audio": np.ones((1, 16_000), np.float32)})

    assert vars(results).keys() == {"output_audio"}
    assert results.output_audio.shape[0] == 1
    assert np.array_equal(results.output_audio[:, 1000:2000], np.ones((1, 1000)))


@pytest.mark.reference("python/solution_base_test.py", "SolutionBaseTest.test_invalid_input_image_data")
def test_an_image_of_four_channels_is_refused_with_mediapipes_words():
    with (
        SolutionBase(graph_config=as_message(TWO_TRANSFORMATIONS)) as solution,
        pytest.raises(ValueError, match=r"Input image must contain three channel rgb data\."),
    ):
        solution.process(np.arange(36, dtype=np.uint8).reshape(3, 3, 4))


@pytest.mark.reference(
    "python/solution_base_test.py",
    "SolutionBaseTest.test_solution_process",
    "SolutionBaseTest.test_solution_reset",
)
@pytest.mark.parametrize(
    ("graph", "side_inputs"),
    [
        (TWO_TRANSFORMATIONS, None),
        (
            GATED_TRANSFORMATIONS % (SIDE_PACKETS, ROTATION, ROTATION),
            {"allow_signal": True, "rotation_degrees": 0},
        ),
    ],
    ids=["without side packets", "with side packets"],
)
def test_an_image_passes_transformations_also_after_resets(graph, side_inputs):
    assert_gives_back_an_image(graph_config=as_message(graph), side_inputs=side_inputs)
    with SolutionBase(graph_config=as_message(graph), side_inputs=side_inputs) as solution:
        for _ in range(20):
            assert np.array_equal(solution.process(SMALL).image_out, SMALL)
            solution.reset()


@pytest.mark.reference("python/solution_base_test.py", "SolutionBaseTest.test_invalid_calculator_options")
def test_options_of_a_gate_cannot_be_set():
    graph = GATED_TRANSFORMATIONS % ("", "", "")
    words = "Modifying the calculator options of SignalGate is not supported."
    with pytest.raises(ValueError, match=words):
        SolutionBase(
            graph_config=as_message(graph), calculator_params={"SignalGate.invalid_field": "I am invalid"}
        )


@pytest.mark.reference(
    "python/solution_base_test.py", "SolutionBaseTest.test_calculator_has_both_options_and_node_options"
)
def test_options_written_twice_cannot_be_set():
    graph = as_message(ONE_TRANSFORMATION % (TEN_OPTIONS + TEN_NODE_OPTIONS))
    with pytest.raises(ValueError, match=r"has both options and node_options fields\."):
        SolutionBase(graph_config=graph, calculator_params=OWN_SIZE)


@pytest.mark.reference(
    "python/solution_base_test.py",
    "SolutionBaseTest.test_modifying_calculator_proto2_options",
    "SolutionBaseTest.test_modifying_calculator_proto3_node_options",
    "SolutionBaseTest.test_adding_calculator_options",
)
@pytest.mark.parametrize("options", [TEN_OPTIONS, TEN_NODE_OPTIONS, ""])
def test_the_size_of_an_image_can_be_set_however_the_options_are_written(options):
    graph = as_message(ONE_TRANSFORMATION % options)
    assert_gives_back_an_image(graph_config=graph, calculator_params=OWN_SIZE)
    if options:
        with SolutionBase(graph_config=graph) as solution:
            assert solution.process(SMALL).image_out.shape == (10, 10, 3)


@pytest.mark.reference("python/solution_base_test.py", "SolutionBaseTest.test_solution_stream_type_hints")
@pytest.mark.parametrize("kind", [PacketDataType.IMAGE, PacketDataType.IMAGE_FRAME])
def test_a_hint_says_which_of_two_types_an_image_is(kind):
    graph = as_message("""
        input_stream: 'union_type_image_in'
        output_stream: 'image_type_out'
        node {
          calculator: 'ToImageCalculator'
          input_stream: 'IMAGE:union_type_image_in'
          output_stream: 'IMAGE:image_type_out'
        }""")
    with SolutionBase(graph_config=graph, stream_type_hints={"union_type_image_in": kind}) as solution:
        for _ in range(20):
            assert np.array_equal(solution.process(SMALL).image_type_out, SMALL)


# --- names of types -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("string", "STRING"),
        ("str", "STRING"),
        ("int64_t", "INT"),
        ("::std::vector<int>", "INT_LIST"),
        ("list[float]", "FLOAT_LIST"),
        ("::mediapipe::Matrix", "AUDIO"),
        ("::mediapipe::ImageFrame", "IMAGE_FRAME"),
        ("penstock_formats.image.Image", "IMAGE"),
        ("::std::vector<::mediapipe::Image>", "IMAGE_LIST"),
        ("::mediapipe::NormalizedRect", "PROTO"),
        ("list[penstock_formats.messages.detection_pb2.Detection]", "PROTO_LIST"),
        ("OneOf<::mediapipe::Image, ::mediapipe::ImageFrame>", "IMAGE"),
        ("OneOf<::foo::Bar, ::mediapipe::ImageFrame>", "IMAGE_FRAME"),
        ("foo.Bar | int", "INT"),
    ],
)
def test_the_kind_of_a_type_is_found_by_its_name(name, kind):
    assert PacketDataType.from_registered_name(name) is PacketDataType[kind]


def test_a_type_that_solutions_cannot_carry_is_a_key_error():
    with pytest.raises(KeyError, match="::foo::Bar"):
        PacketDataType.from_registered_name("::foo::Bar")
