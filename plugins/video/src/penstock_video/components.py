"""The components of penstock_video by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

CALCULATORS: Final[Mapping[str, str]] = {
    "LiveVideoCalculator": "penstock_video.live.live_video:LiveVideoCalculator",
    "LiveVideoSinkCalculator": "penstock_video.streaming.sink:LiveVideoSinkCalculator",
    "OpenCvVideoDecoderCalculator": "penstock_video.decoder:VideoDecoderCalculator",
    "OpenCvVideoEncoderCalculator": "penstock_video.encoder:VideoEncoderCalculator",
    "VideoDecoderCalculator": "penstock_video.decoder:VideoDecoderCalculator",
    "VideoEncoderCalculator": "penstock_video.encoder:VideoEncoderCalculator",
    "VideoPreStreamCalculator": "penstock_video.pre_stream:VideoPreStreamCalculator",
}

OPTIONS: Final[Mapping[str, tuple[str, int, str] | str]] = {
    "penstock.OpenCvVideoEncoderCalculatorOptions": ("penstock.CalculatorOptions", 207936763, "penstock_video.messages.encoder_pb2:OpenCvVideoEncoderCalculatorOptions"),
    "penstock.VideoDecoderCalculatorOptions": ("penstock.CalculatorOptions", 20200, "penstock_video.messages.decoder_pb2:VideoDecoderCalculatorOptions"),
    "penstock.VideoPreStreamCalculatorOptions": ("penstock.CalculatorOptions", 151386123, "penstock_video.messages.pre_stream_pb2:VideoPreStreamCalculatorOptions"),
}
