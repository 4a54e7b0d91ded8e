"""A calculator of your own on a video, in a dozen lines of code: the negative of each frame of in.mp4.

    python own_calculator.py

Decoder, function and encoder run at the same time, each on another frame, and out.mp4 has the times of in.mp4.
"""

# ruff: noqa: E501  # each node in one line
import penstock
from penstock_formats import ImageFrame


@penstock.register_calculator
@penstock.calculator
def negative(frame: ImageFrame) -> ImageFrame:
    """Return the negative of a frame."""
    return ImageFrame(255 - frame.array, frame.format)


graph = penstock.CalculatorGraph("""
    node { calculator: "VideoDecoderCalculator" input_side_packet: "INPUT_FILE_PATH:in" output_stream: "VIDEO:frame" }
    node { calculator: "Negative" input_stream: "FRAME:frame" output_stream: "OUT:negative" }
    node { calculator: "VideoEncoderCalculator" input_side_packet: "OUTPUT_FILE_PATH:out" input_stream: "VIDEO:negative" }""")
graph.start_run({"in": "in.mp4", "out": "out.mp4"})
graph.wait_until_done()
