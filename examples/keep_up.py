"""Every frame of a camera shown at once, beside a model that is too slow for it.

    python examples/keep_up.py

The limiter drops frames before the model does any work for them. The model has a thread of its own. The
cloner repeats its newest result at each frame, and the node that draws gets both. Which frames the model
sees depends on timing, as always with live data; the ledger says how many it did not see.
"""

from __future__ import annotations

import time

import penstock


@penstock.register_calculator
@penstock.calculator
def detect(frame: int) -> str:
    """Return what is in a frame; a pause replaces the model."""
    time.sleep(0.05)
    return f"box {frame}"


@penstock.register_calculator
@penstock.calculator
def draw(frame: int, boxes: str | None) -> str:
    """Return a frame with the newest boxes drawn into it."""
    return f"{frame}: {boxes or 'no box'}"


GRAPH = """
input_stream: "camera"
output_stream: "boxes"
output_stream: "shown"
executor {
  name: "model"
  type: "ThreadPoolExecutor"
  options { [penstock.ThreadPoolExecutorOptions.ext] { num_threads: 1 } }
}
node {
  calculator: "FlowLimiterCalculator"
  input_stream: "camera"
  input_stream: "FINISHED:boxes"
  input_stream_info { tag_index: "FINISHED" back_edge: true }
  output_stream: "chosen"
}
node { calculator: "Detect" input_stream: "FRAME:chosen" output_stream: "OUT:boxes" executor: "model" }
# Takes packets as they come: no frame waits for the next result.
node {
  calculator: "PacketClonerCalculator"
  input_stream: "boxes"
  input_stream: "TICK:camera"
  output_stream: "last_boxes"
  input_stream_handler { input_stream_handler: "ImmediateInputStreamHandler" }
}
node {
  calculator: "Draw"
  input_stream: "FRAME:camera"
  input_stream: "BOXES:last_boxes"
  output_stream: "OUT:shown"
}
"""


def play(graph: penstock.CalculatorGraph, frames: int = 8) -> None:
    """Feed the graph as a camera does, 50 frames a second; return when all of them are shown."""
    graph.start_run()
    began = time.monotonic()
    for number in range(frames):
        graph.add_packet_to_input_stream("camera", penstock.Packet(number, 20_000 * number))
        time.sleep(max(began + 0.02 * (number + 1) - time.monotonic(), 0))  # a camera at work
    graph.close()


def main() -> None:
    """Print each frame as it is shown, and how many the model did not see."""
    graph = penstock.CalculatorGraph(GRAPH)
    graph.observe_output_stream("shown", lambda _, packet: print(packet.payload))
    play(graph)
    for drop in graph.ledger().drops:
        print(f"not seen by the model: {drop.count} ({drop.reason})")


if __name__ == "__main__":
    main()
