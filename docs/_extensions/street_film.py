"""Makes the film of the documentation's front page, from a real run.

A street is rendered (`scripts/street.py`), with detections as a model makes them: a little wrong, and some
missed. A graph follows and counts the objects, and draws boxes, tails and counts into the frames. Its last
node is the encoder.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np
import street

import penstock
from penstock_formats import ImageFrame

if TYPE_CHECKING:
    from pathlib import Path

SIZE: Final = (640, 360)
RATE: Final = 12.5
#: Of a film in which cars, a bus and people meet.
_SEED: Final = 5
#: The part of the rendered street that the film shows.
_FROM_S, _TO_S = 3.0, 15.0
_GRAPH: Final = """
input_stream: "frame"
input_stream: "found"
input_side_packet: "path"
node {
  calculator: "TrackerCalculator"
  input_stream: "DETECTIONS:found"
  output_stream: "DETECTIONS:followed"
}
node {
  calculator: "ZonesCalculator"
  input_stream: "DETECTIONS:followed"
  output_stream: "COUNTS:counts"
  node_options { [type.googleapis.com/penstock_detect.ZonesCalculatorOptions] {
    line {
      name: "street" point: LINE_X point: 0.42 point: LINE_X point: 1 direction: "left" direction: "right"
    }
  } }
}
node {
  calculator: "TrackTailsCalculator"
  input_stream: "DETECTIONS:followed"
  output_stream: "RENDER_DATA:tails"
}
node {
  calculator: "AnnotationOverlayCalculator"
  input_stream: "IMAGE:frame"
  input_stream: "tails"
  output_stream: "IMAGE:with_tails"
}
node {
  calculator: "DetectionOverlayCalculator"
  input_stream: "IMAGE:with_tails"
  input_stream: "DETECTIONS:followed"
  output_stream: "IMAGE:with_boxes"
  node_options { [type.googleapis.com/penstock.DetectionOverlayCalculatorOptions] { show_id: true } }
}
node {
  calculator: "ZonesToRenderDataCalculator"
  input_stream: "COUNTS:counts"
  output_stream: "RENDER_DATA:line"
}
node {
  calculator: "AnnotationOverlayCalculator"
  input_stream: "IMAGE:with_boxes"
  input_stream: "line"
  output_stream: "IMAGE:drawn"
}
node {
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:drawn"
  input_side_packet: "OUTPUT_FILE_PATH:path"
  node_options { [type.googleapis.com/penstock.OpenCvVideoEncoderCalculatorOptions] { fps: FPS crf: 28 } }
}
"""


def write_film(path: Path) -> None:
    """Write the film, an .mp4 of 12 s.

    Raises:
        penstock.PenstockError: the run failed; the file is not there, or not complete.
    """
    things = street.things(_TO_S, np.random.default_rng(_SEED))
    found = street.noisy(street.truth_of(things, _TO_S, RATE), _SEED)
    frames = zip(street.pictures(things, _TO_S, RATE, SIZE), found, strict=True)
    text = _GRAPH.replace("LINE_X", str(street.LINE_X)).replace("FPS", str(RATE))
    with penstock.CalculatorGraph(text) as graph:
        graph.start_run({"path": str(path)})
        for number, (pixels, line) in enumerate(islice(frames, round(_FROM_S * RATE), None)):
            at = round(1e6 * number / RATE)
            graph.add_packet_to_input_stream("frame", penstock.Packet(ImageFrame(pixels), at))
            graph.add_packet_to_input_stream("found", penstock.Packet(street.detections(line), at))
        graph.close()
