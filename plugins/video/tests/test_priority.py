import os
import sys
from pathlib import Path

import av.codec
import numpy as np
import pytest

from penstock import CalculatorGraph, Packet
from penstock_formats import ImageFrame

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0,
    reason="only on Linux, and only where the user is root, may a thread become a real-time thread",
)

AV1 = """
input_stream: "frame"
node {
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:frame"
  input_side_packet: "OUTPUT_FILE_PATH:path"
  executor: "EXECUTOR"
  options {
    [penstock.OpenCvVideoEncoderCalculatorOptions.ext] { codec: "av01" width: 64 height: 48 fps: 25 }
  }
}
"""


def policies():
    return {os.sched_getscheduler(int(path.name)) for path in Path("/proc/self/task").iterdir()}


@pytest.mark.skipif("libsvtav1" not in av.codec.codecs_available, reason="this build of libav has no SVT-AV1")
@pytest.mark.parametrize("executor", ["ApplicationThreadExecutor", ""])
def test_an_encoder_of_av1_makes_no_real_time_thread(tmp_path, executor):
    seen = []
    text = AV1.replace('executor: "EXECUTOR"', 'executor: "app"' if executor else "")
    declared = f'executor {{ name: "app" type: "{executor}" }}' if executor else ""

    with CalculatorGraph(declared + text) as graph:
        graph.start_run({"path": str(tmp_path / "a.mp4")})
        graph.add_packet_to_input_stream("frame", Packet(ImageFrame(np.zeros((48, 64, 3), np.uint8)), 0))
        graph.wait_until_idle()
        seen.append(policies())
        graph.close()
    seen.append(policies())

    assert (tmp_path / "a.mp4").stat().st_size > 100
    real_time = {os.SCHED_FIFO, os.SCHED_RR}  # others may be of other libraries, such as Mesa's threads
    assert [one & real_time for one in seen] == [set()] * 2
