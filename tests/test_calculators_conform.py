"""Every calculator of every official pack keeps what all calculators promise.

Those of contrib are asked by their own tests, where their wheels are installed.
What cannot be fed with anything random of the declared types has an entry in one of two tables: how to feed
it, or why it is not fed. An entry that nothing needs any more fails.
"""

from __future__ import annotations

import io
import os
import re
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image as Pillow

from penstock import Packet
from penstock.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    GraphConfigError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
)
from penstock.plugins.default_registry import default_registry
from penstock_calculators.messages.packet_resampler_pb2 import PacketResamplerCalculatorOptions
from penstock_calculators.messages.packet_thinner_pb2 import PacketThinnerCalculatorOptions
from penstock_calculators.watching.shadow_pairs import ShadowPair
from penstock_formats import (
    Detection,
    Image,
    ImageFormat,
    ImageFrame,
    JointList,
    LocationData,
    Matrix,
    NormalizedLandmarkList,
    SequenceExample,
    Tensor,
    TimeSeriesHeader,
)
from penstock_formats.array_adapters import DlpackTensor
from penstock_gpu import GlContext, GpuBuffer, GpuUnavailableError
from penstock_gpu.messages.scaler_pb2 import GlScalerCalculatorOptions
from penstock_image.messages.image_encoder_pb2 import OpenCvImageEncoderCalculatorResults
from penstock_image.messages.scale_image_pb2 import ScaleImageCalculatorOptions
from penstock_tensors import Anchor, ModelMetadata, TokenizerMetadata, TokenizerMetadataKind
from penstock_tensors.messages.lapped_tensor_buffer_pb2 import LappedTensorBufferCalculatorOptions
from penstock_testing import ConformanceError, check_calculator
from penstock_testing.payloads import maker_of

pytestmark = pytest.mark.heavy

#: Few: each feed is run four times, and most calculators are many names of one class.
SEEDS = range(14)

_USUAL = default_registry()
CONTRIBUTED = {
    f"penstock-{file.parent.name}" for file in Path(__file__).parent.parent.glob("contrib/*/pyproject.toml")
}


def _gray(random, at):
    return ImageFrame(np.frombuffer(random.randbytes(6 * 8), np.uint8).reshape(6, 8), ImageFormat.GRAY8)


def _pixels(random, at):
    return _gray(random, at).array


def _drawn(random, at):
    return Pillow.fromarray(_pixels(random, at))


def _png(random, at):
    return cv2.imencode(".png", _gray(random, at).array)[1].tobytes()


def _photo(random, at):
    """Return the file of a photo whose EXIF data tell the focal length."""
    lens = Pillow.Exif()
    lens.get_ifd(0x8769).update({0x920A: random.uniform(1, 9), 0xA405: random.randrange(10, 99)})
    file = io.BytesIO()
    Pillow.new("L", (8, 6)).save(file, "jpeg", exif=lens)
    return file.getvalue()


def _size(random, at):
    return random.randrange(1, 640), random.randrange(1, 480)


def _padding(random, at):
    return tuple(random.uniform(0, 0.4) for _ in range(4))


def _matrix_of_16(random, at):
    return tuple(float(random.randrange(-9, 10)) + 0.5 * (i % 5 == 0) for i in range(16))


def _mask(random, at):
    return Image(ImageFrame(np.array([random.random() for _ in range(6 * 8)], np.float32).reshape(6, 8)))


def _boxes(random, at):
    made = [Detection(detection_id=random.choice([None, 1, 2])) for _ in range(random.randrange(4))]
    for one in made:
        one.location_data.format = LocationData.RELATIVE_BOUNDING_BOX
        box = one.location_data.relative_bounding_box
        box.xmin, box.ymin, box.width, box.height = random.random(), random.random(), 1, 1
    return made


def _tracked(random, at):
    """Return boxes of tracks, each once."""
    return [
        one
        for i in range(1, random.randrange(1, 5))
        for one in _boxes(random, at)[:1]
        if one.MergeFrom(Detection(detection_id=i, label=["car"], score=[0.5])) is None
    ]


def _patches(random, at):
    """Return a frame whose texture goes to the right, two pixels at the most from any to any other."""
    texture = np.random.default_rng(5).integers(0, 256, (16, 16), np.uint8).repeat(4, 0).repeat(4, 1)
    return ImageFrame(np.roll(texture, random.randrange(3), 1), ImageFormat.GRAY8)


def _box_in_patches(random, at):
    made = Detection(detection_id=random.randrange(9), score=[random.uniform(0.2, 1)])
    made.location_data.format = LocationData.RELATIVE_BOUNDING_BOX
    box = made.location_data.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = random.random(), 0.25, 0.5, 0.5
    return made


def _landmarks_of(name):
    """Return a maker of as many landmarks as a calculator takes."""

    def made(random, at):
        count = 468 if name.startswith("UpdateFace") else 10
        return NormalizedLandmarkList(landmark=[{"x": random.random(), "y": 0.5} for _ in range(count)])

    return made


#: The landmarks of both eyes.
_EYES = {
    "NEW_EYE_LANDMARKS": lambda random, at: NormalizedLandmarkList(landmark=[{"x": random.random()}] * 142)
}


def _tensors(*shapes):
    def made(random, at):
        numbers = np.random.default_rng(random.randrange(2**32))
        return [Tensor(numbers.normal(size=shape).astype(np.float32)) for shape in shapes]

    return made


def _text_model(name):
    """Return what a model says to a calculator that makes its inputs of text."""
    words = {"v": b"<PAD> 0\n<UNKNOWN> 1"}
    if name.startswith("Regex"):
        return ModelMetadata(
            first_tokenizer=TokenizerMetadata(TokenizerMetadataKind.REGEX, "v", " "), files=words
        )
    inputs = "ids mask segment_ids" if name.startswith("Bert") else "inp_text res_context res_text"
    return ModelMetadata(
        tuple(inputs.split()), TokenizerMetadata(TokenizerMetadataKind.BERT, "v"), files=words
    )


def _tensor(*shape, kind=np.float32):
    def made(random, at):
        return Tensor(
            np.array([random.randrange(9) for _ in range(int(np.prod(shape)))], kind).reshape(shape)
        )

    return made


def _encoded(random, at):
    return OpenCvImageEncoderCalculatorResults(encoded_image=_png(random, at), width=8, height=6)


def _record(random, at):
    """Return a record with some images and numbers."""
    made = SequenceExample()
    made.context.feature["clip/data_path"].bytes_list.value.append(b"street.mp4")
    made.context.feature["image/frame_rate"].float_list.value.append(random.random())
    lists = made.feature_lists.feature_list
    for time in range(random.randrange(4)):
        lists["image/timestamp"].feature.add().int64_list.value.append(time)
        lists["image/encoded"].feature.add().bytes_list.value.append(random.randbytes(3))
        lists["SPEED/feature/timestamp"].feature.add().int64_list.value.append(3 * time)
        lists["SPEED/feature/floats"].feature.add().float_list.value.append(random.random())
    return made


def _three_or_more(name):
    """Return a maker of what a Split calculator takes apart: as much as its example needs, or more."""
    declared = _USUAL.find("calculator", name).container.type
    make = maker_of((declared,), {})

    def made(random, at):
        while True:
            payload = make(random, at)
            elements = payload if isinstance(payload, list) else [e for _, e in payload.ListFields()][:1]
            if len(elements if isinstance(payload, list) else (elements or [[]])[0]) >= 3:
                return payload

    return made


_TENSORS = """
node {
  calculator: "AudioToTensorCalculator"  input_stream: "AUDIO:in"  input_stream: "SAMPLE_RATE:rate"
  output_stream: "TENSORS:out"
  options {
    [penstock.AudioToTensorCalculatorOptions.ext] {
      num_channels: 1 num_samples: 5 target_sample_rate: 8000 %s
    }
  }
}
"""
_SERIES = (
    r"(Average|Sum)\w+AcrossChannels|Covariance|(Divide|Subtract)\w*Mean\w*|ElementwiseSquare|Energy|"
    "FirstHalfSlicer|FlattenPacket|L2\\w+|Mean|MelSpectrum|Mfcc|PeakNormalize|ReverseChannelOrder|"
    "StabilizedLog|StandardDeviation"
)


def _header(channels=3, rate=16000.0):
    return TimeSeriesHeader(
        sample_rate=rate, num_channels=channels, num_samples=4, packet_rate=100, audio_sample_rate=16000
    )


def _mono(random, at):
    return Matrix(np.array([[random.uniform(-9, 9) for _ in range(4)]], np.float32))


_SHARD = """
node {
  calculator: "ShardCalculator"  input_stream: "KEY:in"  input_stream: "in"
  output_stream: "SHARD:0:a"  output_stream: "SHARD:1:b"  output_stream: "SHARD:2:c"
  node_options {
    [type.googleapis.com/penstock_shards.ShardCalculatorOptions] { bound_interval_us: %d }
  }
}
"""
#: Names that match → how to feed them, given the name.
FEEDS = {
    r"Split\w+|MovableSplit\w+": lambda name: {"payloads": {0: _three_or_more(name)}},
    # images of other formats, annotations without a shape, detections without a box
    r"AnnotationOverlayCalculator": lambda name: {"may_raise": InvalidArgumentError},
    r"(DetectionOverlay|DetectionsToJson|Tracker|TrackTails)Calculator": lambda name: {
        "may_raise": InvalidArgumentError
    },
    r"BoxFlowCalculator": lambda name: {"payloads": {ImageFrame: _patches, Detection: _box_in_patches}},
    r"(Zones|TrackSpeed)Calculator": lambda name: {
        "payloads": {"DETECTIONS": _tracked, "IMAGE_SIZE": lambda random, at: (640, 480)}
    },
    r"HeatMapCalculator": lambda name: {"payloads": {"DETECTIONS": _tracked}},
    # settled timestamps use up ticks of the loop
    r"BeginLoop\w+": lambda name: {"depends_on_arrival": True},
    # ticks as above; items that come apart are refused
    r"BeginItemLoopCalculator": lambda name: {"depends_on_arrival": True, "may_raise": InternalError},
    r"EndItemLoopCalculator": lambda name: {"may_raise": InternalError},  # batches of another size
    r"CallbackCalculator": lambda name: {"side_packets": {"CALLBACK": lambda packet: None}},
    r"CannyEdgeCalculator|ColorMapCalculator|SobelEdgesCalculatorCpu": lambda name: {
        "payloads": {ImageFrame: _gray}
    },
    r"GlScalerCalculator": lambda name: {
        "payloads": {
            "ROTATION": lambda random, at: random.choice([-90, 0, 180, 450]),
            "OUTPUT_DIMENSIONS": lambda random, at: (random.randrange(1, 9), random.randrange(1, 9)),
            "OPTIONS": lambda random, at: GlScalerCalculatorOptions(output_scale=random.choice([1, 2])),
        },
    },
    # more or fewer scores than labels; landmarks without their scale
    r"(Detections|Labels|Landmarks)ToRenderDataCalculator": lambda name: {"may_raise": InvalidArgumentError},
    # regions without area
    r"ImageToTensorCalculator": lambda name: {"may_raise": InvalidArgumentError},
    # arrays, tensors and Pillow's images of any kind
    r"(Array|Dlpack|Pillow)ToImage(Frame)?Calculator": lambda name: {
        "payloads": {np.ndarray: _pixels, DlpackTensor: _pixels, Pillow.Image: _drawn},
        "may_raise": InvalidArgumentError,
    },
    r"DetectorDecoderCalculator": lambda name: {
        "payloads": {"TENSORS": _tensors((1, 6, 5)), "LETTERBOX_PADDING": _padding}
    },
    r"ImageOverlayCalculator": lambda name: {"payloads": {"MASK": _gray}},
    r"ImageTransformationCalculator": lambda name: {
        "prestream": ["VIDEO_PRESTREAM"],
        "payloads": {
            "ROTATION_DEGREES": lambda random, at: random.choice([-90, 0, 180, 450]),
            "OUTPUT_DIMENSIONS": lambda random, at: (random.randrange(1, 9), random.randrange(1, 9)),
        },
    },
    r"OpenCvEncodedImageToImageFrameCalculator": lambda name: {"payloads": {bytes: _png}},
    r"ImageFilePropertiesCalculator": lambda name: {
        "payloads": {bytes: _photo},
    },
    r"ScaleImageCalculator": lambda name: {
        "prestream": ["VIDEO_HEADER", "OVERRIDE_OPTIONS"],
        "payloads": {
            "OVERRIDE_OPTIONS": lambda random, at: ScaleImageCalculatorOptions(
                target_width=random.randrange(1, 9)
            )
        },
        "may_raise": InvalidArgumentError,  # a frame before the options
    },
    r"CountingSourceCalculator": lambda name: {
        "side_packets": {"ERROR_ON_OPEN": False},
        "payloads": {int: lambda random, at: random.randrange(1, 9)},
        "may_raise": Exception,
    },
    r"Get\w+VectorItemCalculator": lambda name: {"may_raise": InvalidArgumentError},  # an index outside
    # matrices of three rows, which for spectra are no squares always
    rf"({_SERIES})Calculator": lambda name: {"headers": {0: _header()}, "may_raise": InvalidArgumentError},
    r"SummarySaiToPitchogramCalculator": lambda name: {
        "headers": {0: _header(channels=1)},
        "payloads": {Matrix: _mono},
    },
    # at the ends of time no time is left for further frames
    r"(Rational\w+|ResampleTimeSeries|Spectrogram(Float)?|TimeSeriesFramer)Calculator": lambda name: {
        "headers": {0: _header(channels=1, rate=200.0)},
        "payloads": {Matrix: _mono, "TARGET_SAMPLE_RATE": lambda random, at: random.choice([50.0, 1000.0])},
        "side_packets": {"FRAME_DURATION": 0.025, "FRAME_OVERLAP": 0.015} if "Spectro" in name else {},
        "ends_of_time": False,
        "may_raise": InvalidArgumentError,  # a packet at PRESTREAM
    },
    r"AudioToTensorCalculator": lambda name: {
        "wiring": [_TENSORS % more for more in ("", "stream_mode: false", "flush_mode: PROCEED_AS_USUAL")],
        "payloads": {Matrix: _mono, "SAMPLE_RATE": lambda random, at: 16000.0},
        "ends_of_time": False,
        "may_raise": InvalidArgumentError,  # a packet before the rate, or at POSTSTREAM, or that goes back
    },
    r"TensorsToAudioCalculator": lambda name: {"payloads": {"TENSORS": _tensors((2, 160))}},
    r"TwoTapFirFilterCalculator": lambda name: {"headers": {"INPUT": _header()}},
    # times that no reference has, and bools of one stream only
    r"(ClockLatency|Logic)Calculator": lambda name: {"may_raise": InvalidArgumentError},
    r"ClockTimestampCalculator": lambda name: {
        "wiring": 'node { calculator: "ClockTimestampCalculator" input_stream: "a" output_stream: "b" '
        'input_side_packet: "CLOCK:clock" }',
        "side_packets": {"CLOCK": lambda: 5.0},
    },
    r"PacketLatencyCalculator": lambda name: {
        "wiring": 'node { calculator: "PacketLatencyCalculator" input_stream: "a" output_stream: "b" '
        'input_stream: "REFERENCE_SIGNAL:c" input_side_packet: "CLOCK:clock" }',
        "side_packets": {"CLOCK": lambda: 5.0},
    },
    # another number of labels than of streams
    r"PacketFrequencyCalculator": lambda name: {"may_raise": InvalidArgumentError},
    r"LocalFileContentsCalculator": lambda name: {"side_packets": {"FILE_PATH": __file__}},
    r"LocalFilePatternContentsCalculator": lambda name: {
        "side_packets": {"FILE_DIRECTORY": str(Path(__file__).parent), "FILE_SUFFIX": "test_tree.py"}
    },
    r"MatrixMultiplyCalculator": lambda name: {"side_packets": {0: Matrix(np.ones((2, 3), np.float32))}},
    r"MuxCalculator": lambda name: {"payloads": {"SELECT": lambda random, at: random.randrange(2)}},
    # lists of other lengths, or empty ones
    r"LandmarksToLabelledDetectionsCalculator|PeopleResultsCalculator": lambda name: {
        "may_raise": InvalidArgumentError
    },
    r"PacketResamplerCalculator": lambda name: {
        "prestream": ["VIDEO_HEADER"],
        "ends_of_time": False,  # it would fill the time between
        "may_raise": InvalidArgumentError,  # POSTSTREAM is no time to resample to
        "payloads": {
            "OPTIONS": lambda random, at: PacketResamplerCalculatorOptions(frame_rate=random.choice([1, 30]))
        },
    },
    r"PacketThinnerCalculator": lambda name: {
        "payloads": {
            "OPTIONS": lambda random, at: PacketThinnerCalculatorOptions(
                period=random.choice([1, 7, 50_000])
            ),
            "PERIOD": lambda random, at: random.choice([2, 100]),
        },
    },
    r"RealTimeFlowLimiterCalculator": lambda name: {
        "side_packets": {"MAX_IN_FLIGHT": 2},
        "may_raise": FailedPreconditionError,  # FINISHED without anything in flight
    },
    # its example has the text in its options, and a text comes in one way only
    r"ShaderCalculator": lambda name: {
        "wiring": 'node { calculator: "ShaderCalculator" input_stream: "VIDEO:picture" '
        'input_side_packet: "FRAGMENT:text" output_stream: "VIDEO:drawn" }',
        "side_packets": {
            "FRAGMENT": "void main() { gl_FragColor = texture(video, sample_coordinate).gbra; }"
        },
        "may_raise": GpuUnavailableError,
    },
    # its example names a model, which is not here
    r"ResourceProviderCalculator": lambda name: {
        "wiring": 'node { calculator: "ResourceProviderCalculator" input_side_packet: "RESOURCE_ID:name" '
        'output_side_packet: "RESOURCE:file" }',
        "side_packets": {"RESOURCE_ID": __file__},
    },
    r"ShadowDiffCalculator": lambda name: {
        "payloads": {
            "PAIR": lambda random, at: ShadowPair(
                (Packet(random.randrange(2), at),),
                (Packet(random.randrange(2), at),),
                random.choice(["", "failed"]),
            )
        }
    },
    # each packet has a key
    r"ShardCalculator": lambda name: {
        "wiring": [_SHARD % interval for interval in (0, 3, -1)],
        "payloads": {0: lambda random, at: random.choice("abcdefgh")},
    },
    # packets of two shards at one timestamp
    r"ShardMergeCalculator": lambda name: {"may_raise": InvalidArgumentError},
    r"SidePacketsToStreamsCalculator": lambda name: {
        "payloads": {list[Packet]: lambda random, at: [Packet(random.random(), t) for t in range(3)]}
    },
    r"StreamToSidePacketCalculator": lambda name: {"may_raise": AlreadyExistsError},  # a second packet
    # sizes of images are above 0, and points of detections and boxes have a number
    r"((AlignmentPoints|DetectionsTo|HandDetectionsFromPoseTo)Rects|FaceToRect)Calculator": lambda name: {
        "payloads": {"IMAGE_SIZE": _size},
        "may_raise": InvalidArgumentError,
    },
    r"(HandLandmarksToRect|LandmarksSmoothing|RectTransformation|RoiTracking)Calculator": lambda name: {
        "payloads": {"IMAGE_SIZE": _size},
        "may_raise": InvalidArgumentError,
    },
    r"LandmarkProjectionCalculator": lambda name: {"payloads": {"IMAGE_DIMENSIONS": _size}},
    # these need certain numbers of points, landmarks or scores
    r"(FilterDetection|FrameAnnotationToRect|Landmark(Visibility|s(Refinement|ToDetection))|"
    r"Lift2DFrameAnnotationTo3D|Visibility(Copy|Smoothing))Calculator": lambda name: {
        "may_raise": InvalidArgumentError
    },
    # locations in another form than boxes of fractions; labels without scores
    r"(DetectionLetterboxRemoval|DetectionProjection|NonMaxSuppression)Calculator": lambda name: {
        "payloads": {"LETTERBOX_PADDING": _padding, "PROJECTION_MATRIX": _matrix_of_16},
        "may_raise": InvalidArgumentError,
    },
    r"LandmarkLetterboxRemovalCalculator": lambda name: {"payloads": {"LETTERBOX_PADDING": _padding}},
    # singular ones
    r"InverseMatrixCalculator": lambda name: {
        "payloads": {"MATRIX": _matrix_of_16},
        "may_raise": InvalidArgumentError,
    },
    # a second list that is not as long, or has no packet; locations in pixels; other numbers of landmarks
    r"(AlignHandToPoseInWorld|LandmarksTransformation|DetectionClassificationsMerger|DetectionsDeduplicate|"
    r"Filter\w+Collection|RectProjection|SetJointsVisibility|SetLandmarkVisibility)Calculator": lambda name: {
        "may_raise": InvalidArgumentError
    },
    r"(DetectionTransformation|FilterDetections|Multi\w*LandmarksSmoothing|RectToRenderScale)"
    r"Calculator": lambda name: {
        "payloads": {"IMAGE_SIZE": _size},
        "may_raise": InvalidArgumentError,
    },
    r"LandmarksToTensorCalculator": lambda name: {
        "payloads": {"IMAGE_SIZE": _size},
        "may_raise": InvalidArgumentError,  # landmarks without the size of their image
    },
    # certain numbers of landmarks, and the size of the image with them
    r"(IrisToDepth|IrisToRenderData|UpdateFaceLandmarks)Calculator": lambda name: {
        "payloads": {NormalizedLandmarkList: _landmarks_of(name), "IMAGE_SIZE": _size, **_EYES},
        "may_raise": InvalidArgumentError,
    },
    r"FaceLandmarksToRenderDataCalculator": lambda name: {"may_raise": InvalidArgumentError},  # no scale
    r"VideoPreStreamCalculator": lambda name: {
        "prestream": ["VIDEO_PRESTREAM"],
        "may_raise": InvalidArgumentError,  # headers without a rate
    },
    r"AssociationDetectionCalculator": lambda name: {"payloads": {list[Detection]: _boxes}},
    r"CombineJointsCalculator": lambda name: {
        "wiring": 'node { calculator: "CombineJointsCalculator" input_stream: "JOINTS:0:a" '
        'input_stream: "JOINTS:1:b" output_stream: "JOINTS:all" '
        "options { [penstock.CombineJointsCalculatorOptions.ext] { num_joints: 3 default_joint {} "
        "joints_mapping { idx: [0, 2] } joints_mapping { idx: [2, 1] } } } }",
        "may_raise": InvalidArgumentError,  # another number of inputs than of mappings
        "payloads": {JointList: lambda random, at: JointList(joint=[{"visibility": random.random()}] * 2)},
    },
    # its example names a file, which is not here
    r"TimedBoxListIdToLabelCalculator": lambda name: {
        "wiring": 'node { calculator: "TimedBoxListIdToLabelCalculator" input_stream: "boxes" '
        'output_stream: "labeled" options { [penstock.TimedBoxListIdToLabelCalculatorOptions.ext] '
        f'{{ label_map_path: "{Path(__file__)}" }} }} }}',
    },
    r"WarpAffineCalculator(Cpu)?": lambda name: {
        "payloads": {"MATRIX": _matrix_of_16, "OUTPUT_SIZE": lambda random, at: (random.randrange(1, 9), 5)},
    },
    r"WarpAffineCalculatorGpu": lambda name: {
        "payloads": {
            "IMAGE": lambda random, at: GpuBuffer.of_frame(_gray(random, at)),
            "MATRIX": _matrix_of_16,
            "OUTPUT_SIZE": lambda random, at: (random.randrange(1, 9), 5),
        },
    },
    r"SegmentationSmoothingCalculator": lambda name: {"payloads": {Image: _mask}},
    # a number of landmarks that is not the heatmap's
    r"RefineLandmarksFromHeatmapCalculator": lambda name: {
        "payloads": {"TENSORS": _tensors((1, 4, 5, 2))},
        "may_raise": InvalidArgumentError,
    },
    r"(TfLite)?TensorsToClassificationCalculator": lambda name: {"payloads": {"TENSORS": _tensors((1, 1))}},
    r"TensorsToDetectionsCalculator": lambda name: {
        "side_packets": {"ANCHORS": [Anchor(x_center=0.5, y_center=0.5, h=1, w=1)] * 896},
        "payloads": {"TENSORS": _tensors((1, 896, 16), (1, 896, 1))},
    },
    r"TfLiteTensorsToDetectionsCalculator": lambda name: {
        "side_packets": {"ANCHORS": [Anchor(x_center=0.5, y_center=0.5, h=1, w=1)] * 2034},
        "payloads": {"TENSORS": _tensors((1, 2034, 4), (1, 2034, 91))},
    },
    r"(TfLite)?TensorsToFloatsCalculator": lambda name: {"payloads": {"TENSORS": _tensors((1, 1), (1, 2))}},
    r"(TfLite)?TensorsToLandmarksCalculator": lambda name: {"payloads": {"TENSORS": _tensors((1, 63))}},
    r"TensorToJointsCalculator": lambda name: {
        "payloads": {"TENSOR": lambda random, at: _tensors((339,))(random, at)[0]}
    },
    r"TensorsDequantizationCalculator": lambda name: {
        "payloads": {"TENSORS": lambda random, at: [Tensor(np.frombuffer(random.randbytes(6), np.uint8))]}
    },
    r"VectorToTensorCalculator": lambda name: {
        "payloads": {"VECTOR": lambda random, at: [random.random() for _ in range(3)]}
    },
    r"FeedbackTensorsCalculator": lambda name: {
        "payloads": {"FEEDBACK_TENSORS": _tensors((1, 64))},
        "may_raise": InvalidArgumentError,  # inputs without feedback, after the first time
    },
    r"(Bert|Regex|UniversalSentenceEncoder)PreprocessorCalculator": lambda name: {
        "side_packets": {"METADATA_EXTRACTOR": _text_model(name)}
    },
    r"TensorsToSegmentationCalculator": lambda name: {
        "payloads": {"TENSORS": _tensors((1, 4, 5, 1)), "OUTPUT_SIZE": _size}
    },
    r"TfLiteTensorsToSegmentationCalculator": lambda name: {"payloads": {"TENSORS": _tensors((512, 512, 2))}},
    r"StringToSequenceExampleCalculator": lambda name: {
        "payloads": {bytes: lambda random, at: _record(random, at).SerializeToString()}
    },
    r"UnpackMediaSequenceCalculator": lambda name: {"payloads": {SequenceExample: _record}},
    r"PackMediaSequenceCalculator": lambda name: {
        "payloads": {OpenCvImageEncoderCalculatorResults: _encoded},
        "may_raise": NotFoundError,  # an input without packets
    },
    # tensors of other shapes or types; empty lists
    r"LappedTensorBufferCalculator": lambda name: {
        "payloads": {
            Tensor: _tensor(2, 3),
            "BUFFER_SIZE": lambda random, at: random.randrange(3, 6),
            "OVERLAP": lambda random, at: random.randrange(-2, 3),
            "TIMESTAMP_OFFSET": lambda random, at: random.randrange(3),
            "CALCULATOR_OPTIONS": lambda random, at: LappedTensorBufferCalculatorOptions(buffer_size=3),
        }
    },
    r"ObjectDetectionTensorsToDetectionsCalculator": lambda name: {
        "payloads": {
            "BOXES": _tensor(3, 4),
            "SCORES": _tensor(3),
            "CLASSES": _tensor(3),
            "LABELMAP": lambda random, at: {number: f"class {number}" for number in range(9)},
            "NUM_DETECTIONS": lambda random, at: Tensor(np.array([random.randrange(4)], np.int32)),
        },
        "may_raise": InvalidArgumentError,  # one of them is missing
    },
    r"TensorToImageFrameCalculator": lambda name: {"payloads": {Tensor: _tensor(2, 3)}},
    r"TensorToMatrixCalculator": lambda name: {
        "payloads": {Tensor: _tensor(2, 3)},
        "may_raise": InvalidArgumentError,  # a reference without a tensor
    },
    r"TensorToVectorIntCalculator": lambda name: {"payloads": {Tensor: _tensor(3, kind=np.int32)}},
    r"TensorToVectorStringCalculator": lambda name: {
        "payloads": {np.ndarray: lambda random, at: np.array([str(random.randrange(9)) for _ in range(3)])}
    },
    r"Vector\w+ToTensorCalculator": lambda name: {"may_raise": InvalidArgumentError},
    r"StringTo\w+": lambda name: {"payloads": {str: lambda random, at: str(random.randrange(100))}},
}

#: Names that match → why they are not fed.
NOT_FED = {
    r"(TfLite|Onnx|OnnxBatch)InferenceCalculator": "runs a model of its own tests",
    r"InferenceCalculator(Cpu|Xnnpack)": "runs a model of its own tests",
    r"DetectorMasksCalculator": "takes detections that another node found, as its own tests do",
    r"DetectionsTo(Supervision|Ultralytics)Calculator": "needs another library, as its own tests do",
    r"(Supervision|Ultralytics)(Adapter|ToDetections)Calculator": "takes what another library makes",
    r"SupervisionAnnotatorCalculator": "needs supervision, as its own tests do",
    r"(OpenCv)?VideoDecoderCalculator": "reads a video file, to be made by its own tests",
    r"FaceGeometryPipelineCalculator": "reads the canonical face from a file, which its own tests make",
    r"(Kafka|Mqtt)(Sink|Source)Calculator": "needs a server, as its own tests do",
    r"RosBag(Sink|Source)Calculator": "writes or reads a bag, as its own tests do",
    r"RerunSinkCalculator": "writes a file, as its own tests do",
    r"AudioDecoderCalculator": "reads a sound file, to be made by its own tests",
    r"Tvl1OpticalFlowCalculator": "needs another OpenCV, for which its own tests have a stand-in",
    r"LiveVideoCalculator": "needs a camera, as its own tests do",
    r"MicrophoneSourceCalculator": "needs a sound system, which its own tests play",
    r"Picture(Sink|Source)Calculator": "writes or reads pictures, as its own tests do",
    r"LiveVideoSinkCalculator": "sends frames elsewhere, as its own tests do",
    r"EventFileSinkCalculator": "writes a file, as its own tests do",
    r"WebhookSinkCalculator": "needs a server, as its own tests do",
    r"WavSinkCalculator": "writes a file, as its own tests do",
    r"Mcap(Sink|Source)Calculator": "writes or reads a recording, as its own tests do",
    r"(OpenCv)?VideoEncoderCalculator": "writes a file through a codec that takes frames of its sizes only",
}


#: Calculators that do nothing without OpenGL.
WITHOUT_NUMPY = {"ShaderCalculator"}


def skip_without_opengl():
    try:
        GlContext.create().close()
    except GpuUnavailableError as error:
        if os.environ.get("PENSTOCK_REQUIRE_GL") == "1":
            pytest.fail(f"PENSTOCK_REQUIRE_GL=1, but {error}")
        pytest.skip(f"no OpenGL: {error}")


@cache
def names():
    # other test modules may register calculators of their own in this process
    origins = {name: _USUAL.origin("calculator", name).distribution for name in _USUAL.names("calculator")}
    return [
        name for name, distribution in origins.items() if distribution and distribution not in CONTRIBUTED
    ]


@pytest.fixture(autouse=True)
def opengl_or_numpy(monkeypatch):
    """Let calculators that draw do so with NumPy where there is no OpenGL."""
    is_required = os.environ.get("PENSTOCK_REQUIRE_GL") == "1"
    monkeypatch.setenv("PENSTOCK_GPU", "require" if is_required else "prefer")
    monkeypatch.delenv("PENSTOCK_MEDIAPIPE_MODELS", raising=False)  # what is fed does not depend on it


def entry(table, name):
    return next((value for pattern, value in table.items() if re.fullmatch(pattern, name)), None)


@pytest.mark.parametrize("name", [name for name in names() if entry(NOT_FED, name) is None])
def test_it_keeps_what_all_calculators_promise(name):
    if name in WITHOUT_NUMPY:
        skip_without_opengl()
    arguments = entry(FEEDS, name)

    check_calculator(name, seeds=SEEDS, **(arguments(name) if arguments else {}))


@pytest.mark.parametrize("pattern", [*FEEDS, *NOT_FED])
def test_no_entry_is_there_without_need(pattern):
    name = next((name for name in names() if re.fullmatch(pattern, name)), None)
    assert name is not None, f"no calculator matches {pattern!r}; remove the entry"

    with pytest.raises((ConformanceError, NotFoundError, GraphConfigError)):
        check_calculator(name, seeds=range(24))
