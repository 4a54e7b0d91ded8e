"""The edge overlay with a heavy filter in pure Python, on threads and in four worker processes.

    python examples/heavy_filter.py [--frames 60] [--workers 4]

The filter keeps an edge pixel only where enough of its neighbours are edges too. Written as a loop over
pixels it takes long, and threads do not help: only one of them runs Python code at a time. One word in the
graph moves the node into worker processes, where as many run as there are processors; frames get there
through shared memory, and the painted frames come out the same and in the same order. The script runs both
ways and prints how many frames each has done in a second.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

import penstock
from penstock_formats import ImageFormat, ImageFrame

GRAPH = """
max_queue_size: 8
output_stream: "painted"
executor {{ name: "filter" type: "{executor}" options {{ {options} }} }}
node {{
  calculator: "VideoDecoderCalculator"
  output_stream: "VIDEO:frame"
  node_options {{
    [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] {{
      test_pattern {{ width: 960 height: 540 frames: {frames} }}
    }}
  }}
}}
node {{ calculator: "ColorConvertCalculator" input_stream: "RGB_IN:frame" output_stream: "GRAY_OUT:gray" }}
node {{ calculator: "CannyEdgeCalculator" input_stream: "VIDEO:gray" output_stream: "VIDEO:edges" }}
node {{
  calculator: "KeepLines"  executor: "filter"  max_in_flight: {in_flight}
  input_stream: "EDGES:edges"  output_stream: "OUT:lines"
}}
node {{
  calculator: "ImageOverlayCalculator"
  input_stream: "VIDEO:frame"
  input_stream: "MASK:lines"
  output_stream: "VIDEO:painted"
}}
"""
THREADS = "[penstock.ThreadPoolExecutorOptions.ext] {{ num_threads: {count} }}"
PROCESSES = "[penstock_processes.ProcessExecutorOptions.ext] {{ num_processes: {count} }}"


@penstock.register_calculator
@penstock.calculator
def keep_lines(edges: ImageFrame) -> ImageFrame:
    """Return the edges (GRAY8, 0 or 255) that have at least two neighbours."""
    height, width = edges.array.shape
    flat = edges.array.tobytes()  # a loop over bytes is faster than one over an array
    kept = np.zeros((height, width), np.uint8)
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            at = y * width + x
            if flat[at]:
                above, below = at - width, at + width
                beside = flat[at - 1], flat[at + 1]
                around = (*flat[above - 1 : above + 2], *beside, *flat[below - 1 : below + 2])
                kept[y, x] = 255 if sum(map(bool, around)) > 1 else 0
    return ImageFrame(kept, ImageFormat.GRAY8)


def run(executor: str, options: str, frames: int, in_flight: int) -> tuple[float, list[int]]:
    """Run the graph; return frames per second, and the sum of the pixels of each painted frame."""
    text = GRAPH.format(executor=executor, options=options, frames=frames, in_flight=in_flight)
    sums: list[int] = []
    with penstock.CalculatorGraph(text) as graph:
        graph.observe_output_stream("painted", lambda _, packet: sums.append(int(packet.payload.array.sum())))
        graph.run()  # workers start, and everything is loaded once
        sums.clear()
        begin = perf_counter()
        graph.run()
        spent = perf_counter() - begin
    return len(sums) / spent, sums


def main() -> None:
    """Run both ways, and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--frames", type=int, default=60, help="of the test pattern (60)")
    parser.add_argument("--workers", type=int, default=4, help="threads or processes, and calls at once (4)")
    given = parser.parse_args()
    count = given.workers
    on_threads, one = run("ThreadPoolExecutor", THREADS.format(count=count), given.frames, count)
    in_workers, other = run("ProcessExecutor", PROCESSES.format(count=count), given.frames, count)
    print(f"{count} threads: {on_threads:.1f} frames/s")
    print(f"{count} workers: {in_workers:.1f} frames/s")
    print("the frames are the same, in the same order" if one == other else "the frames differ")


if __name__ == "__main__":  # workers import this file
    main()
