"""The search of the documentation finds calculators by the words that people use."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.plugins.default_registry import default_registry
from penstock_views.describe import describe

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "_extensions"))
try:
    from search_words import keywords_of, stem, words_of
finally:
    del sys.path[0]


def is_found(query, name):
    """Return whether the search, which wants all words of a query, finds the page of a calculator."""
    description = describe(name, default_registry())
    page = words_of(f"{name} {description.summary} {description.body}")
    return {stem(word) for word in query.split()} <= page | words_of(
        " ".join(keywords_of(name, description.summary))
    )


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("resize image", "ImageTransformationCalculator"),
        ("crop region", "ImageCroppingCalculator"),
        ("grayscale", "LuminanceCalculatorCpu"),
        ("blur", "BilateralFilterCalculator"),
        ("contours", "CannyEdgeCalculator"),
        ("webcam", "VideoDecoderCalculator"),
        ("read mp4", "VideoDecoderCalculator"),
        ("save video", "VideoEncoderCalculator"),
        ("rtsp camera", "LiveVideoCalculator"),
        ("surveillance", "LiveVideoCalculator"),
        ("draw text", "OpenCvPutTextCalculator"),
        ("draw bounding boxes", "DetectionOverlayCalculator"),
        ("count people", "ZonesCalculator"),
        ("sort tracker", "TrackerCalculator"),
        ("heat map", "HeatMapCalculator"),
        ("fft", "SpectrogramCalculator"),
        ("downsample audio", "ResampleTimeSeriesCalculator"),
        ("throttle", "FlowLimiterCalculator"),
        ("fps", "PacketThinnerCalculator"),
        ("synchronize streams", "PacketInnerJoinCalculator"),
        ("hold last", "PacketClonerCalculator"),
        ("combine lists", "ConcatenateFloatVectorCalculator"),
        ("foreach", "BeginLoopDetectionCalculator"),
        ("choose", "SwitchMuxCalculator"),
        ("neural network", "InferenceCalculatorCpu"),
        ("onnx model", "OnnxInferenceCalculator"),
        ("duplicate boxes", "NonMaxSuppressionCalculator"),
        ("rosbag", "RosBagSourceCalculator"),
        ("publish", "MqttSinkCalculator"),
        ("http post", "WebhookSinkCalculator"),
        ("png photo", "PictureSourceCalculator"),
        ("numpy", "ArrayToImageFrameCalculator"),
        ("measure latency", "PacketLatencyCalculator"),
    ],
)
def test_a_calculator_is_found_by_other_words_for_what_it_does(query, name):
    assert is_found(query, name)


def test_words_of_the_page_itself_are_no_keywords():
    words = keywords_of(
        "ScaleImageCalculator", "Crop each frame to a range of aspect ratios, and scale it to a size."
    )

    assert {"resize", "shrink"} <= set(words)
    assert not {"scale", "crop"} & set(words)


def test_what_has_nothing_to_do_with_a_word_is_not_found_by_it():
    assert not is_found("resize", "PacketClonerCalculator")
    assert not is_found("webcam", "WavSinkCalculator")
