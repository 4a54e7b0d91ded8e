"""What the pack contributes, by name; none of its modules is imported until a graph uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Components, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import DoctorCheck


@hookimpl
def penstock_components() -> Components:
    """Name the calculators, under Penstock's names and the reference's, and their options messages."""
    decoder = "penstock_video.decoder:VideoDecoderCalculator"
    encoder = "penstock_video.encoder:VideoEncoderCalculator"
    return Components(
        calculators={
            "OpenCvVideoDecoderCalculator": decoder,
            "OpenCvVideoEncoderCalculator": encoder,
            "VideoDecoderCalculator": decoder,
            "VideoEncoderCalculator": encoder,
            "VideoPreStreamCalculator": "penstock_video.pre_stream:VideoPreStreamCalculator",
        },
        options={
            "penstock.VideoDecoderCalculatorOptions": (
                "penstock.CalculatorOptions",
                20200,
                "penstock_video.video_decoder_calculator_pb2:VideoDecoderCalculatorOptions",
            ),
            "penstock.OpenCvVideoEncoderCalculatorOptions": (
                "penstock.CalculatorOptions",
                207936763,
                "penstock_video.opencv_video_encoder_calculator_pb2:OpenCvVideoEncoderCalculatorOptions",
            ),
            "penstock.VideoPreStreamCalculatorOptions": (
                "penstock.CalculatorOptions",
                151386123,
                "penstock_video.video_pre_stream_calculator_pb2:VideoPreStreamCalculatorOptions",
            ),
        },
    )


@hookimpl
def penstock_doctor() -> Iterable[DoctorCheck]:
    """Check the FFmpeg libraries and their encoders."""
    from penstock_video.health import checks  # only when the doctor runs

    return checks()
