"""Two live sensors in an asyncio application: their readings go in and alarms come out, as they happen.

    python examples/live.py

Each sensor is a task that awaits its device and then `run.add`, which awaits room in the graph. The graph
joins the readings of one time; a class keeps a running mean. `async for` yields a row at each timestamp.
Leaving the block ends the run; an exception in any of the tasks cancels it.
"""

from __future__ import annotations

import asyncio

import penstock

DARK = 50.0  # lux


@penstock.register_calculator
@penstock.calculator
class Alarm:
    """Writes a packet where the loudness is far above its mean while it is dark."""

    def __init__(self) -> None:
        self._mean: float | None = None

    def process(self, loudness: float, lux: float) -> str | None:
        """Return words for a packet, or None for no packet."""
        mean = loudness if self._mean is None else self._mean
        self._mean = mean + 0.3 * (loudness - mean)
        return "intruder?" if loudness > 1.5 * mean and lux < DARK else None


GRAPH = """
input_stream: "microphone"
input_stream: "light"
output_stream: "microphone"
output_stream: "alarm"
node {
  calculator: "Alarm"
  input_stream: "LOUDNESS:microphone"
  input_stream: "LUX:light"
  output_stream: "OUT:alarm"
}
"""
READINGS = {
    "microphone": (30.0, 32.0, 31.0, 80.0, 30.0, 85.0),
    "light": (400.0, 390.0, 20.0, 18.0, 300.0, 320.0),
}


async def feed(run: penstock.Running, stream: str, every_s: float) -> None:
    """Read a sensor, and add each reading at its time; end the stream when the sensor is off."""
    for number, reading in enumerate(READINGS[stream]):
        await asyncio.sleep(every_s)  # the device
        await run.add(stream, reading, 100_000 * number)
    run.graph.close_input_stream(stream)


async def listen(graph: penstock.CalculatorGraph) -> None:
    """Run the graph, and print each row."""
    async with graph.running() as run, asyncio.TaskGroup() as tasks:
        rows = graph.rows("microphone", "alarm")
        tasks.create_task(feed(run, "microphone", 0.01))
        tasks.create_task(feed(run, "light", 0.015))
        async for row in rows:
            print(f"{row.timestamp.seconds:.1f} s  {row['microphone']:.0f} dB  {row['alarm'] or ''}".rstrip())


def play(graph: penstock.CalculatorGraph) -> None:
    """Run the graph from code that has no event loop."""
    asyncio.run(listen(graph))


if __name__ == "__main__":
    play(penstock.CalculatorGraph(GRAPH))
