"""The reference running graphs of its own wheel, frame by frame; see `door.py`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ["GLOG_minloglevel"] = "3"  # noqa: SIM112  # its name; set before the import, which logs

import mediapipe
import numpy as np
from door import MOVING, STEP, Timing, check, moved
from mediapipe.python import packet_creator, packet_getter
from mediapipe.python._framework_bindings import calculator_graph, image_frame, resource_util

_SIDE_PACKETS = {bool: packet_creator.create_bool, int: packet_creator.create_int}


def frames(  # noqa: PLR0913  # the settings of a case
    *, graph: str, output: str, picture: str, side: dict[str, Any], frames: int, found: int, parallel: bool
) -> dict[str, float]:
    """Measure the reference with a graph of its wheel; it has no graph for `parallel`."""
    del parallel
    root = Path(mediapipe.__file__).parent.parent
    resource_util.set_resource_dir(str(root))
    running = calculator_graph.CalculatorGraph(binary_graph_path=str(root / graph))
    seen: list[tuple[int, int]] = []

    def see(_name: str, packet: Any) -> None:
        seen.append((packet.timestamp.value, len(packet_getter.get_proto_list(packet))))

    running.observe_output_stream(output, see)
    running.start_run({name: _SIDE_PACKETS[type(value)](value) for name, value in side.items()})
    pixels = np.load(picture)

    def image_of(number: int) -> Any:
        shown = moved(pixels, number)
        return packet_creator.create_image_frame(data=shown, image_format=image_frame.ImageFormat.SRGB)

    still = image_of(MOVING)

    def frame(number: int) -> None:
        image = image_of(number) if number < MOVING else still
        running.add_packet_to_input_stream("image", image.at(number * STEP))
        running.wait_until_idle()

    timing = Timing(frames)
    timing.run(frame)
    running.close()
    check(seen, frames, found)
    return timing.figures()
