"""Calculators of the pack in graphs of their own, in each way that they can work."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import penstock
from penstock.config import CalculatorGraphConfig
from penstock.packs import default_registry
from penstock_formats import ImageFrame
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.service import GPU, GpuResources
from penstock_testing.run import as_message, set_options

PATIENCE_S = 60


class HeaderSink(penstock.Calculator):
    """Records the header of a stream."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.input_side_packets["SINK"].set(list)

    def open(self, cc):
        cc.input_side_packets["SINK"].payload.append(cc.input.header.payload)

    def process(self, cc):
        pass


class Runner:
    """Runs a calculator with given resources; `is_on` says whether these have GL."""

    def __init__(self, resources):
        self.resources = resources
        self.is_on = resources.is_on

    def __call__(  # noqa: PLR0913  # what a node can have
        self, calculator, inputs, outputs=("VIDEO",), *, options=(), side_packets=None, headers=None
    ):
        """Return `outputs`: port → packets, and `headers`: port → header or None.

        Inputs are port → (timestamp, payload) pairs; an array stands for a GpuBuffer of it.
        """
        registry = default_registry().child()
        registry.add("calculator", "UnderTest", calculator)
        registry.add("calculator", "HeaderSink", HeaderSink)
        stream_in = {port: f"in_{i}" for i, port in enumerate(inputs)}
        stream_out = {port: f"out_{i}" for i, port in enumerate(outputs)}
        sides = {port: f"side_{i}" for i, port in enumerate(side_packets or {})}
        config = CalculatorGraphConfig(input_stream=stream_in.values())
        node = config.node.add(
            calculator="UnderTest",
            name="under_test",
            input_stream=[_entry(*item) for item in stream_in.items()],
            output_stream=[_entry(*item) for item in stream_out.items()],
            input_side_packet=[_entry(*item) for item in sides.items()],
        )
        for one in options if isinstance(options, (list, tuple)) else [options]:
            set_options(node, as_message(one, registry))
        sinks = {stream: [] for stream in stream_out.values()}
        for stream in sinks:
            config.node.add(
                calculator="HeaderSink", input_stream=[stream], input_side_packet=[f"SINK:sink_{stream}"]
            )
        given = {sides[port]: value for port, value in (side_packets or {}).items()}
        given.update({f"sink_{stream}": sink for stream, sink in sinks.items()})
        graph = penstock.CalculatorGraph(config, side_packets=given, registry=registry)
        graph.set_service(GPU, self.resources)
        seen = {stream: [] for stream in sinks}
        for stream in seen:
            graph.observe_output_stream(stream, lambda name, packet: seen[name].append(packet))
        graph.start_run(stream_headers={stream_in[port]: one for port, one in (headers or {}).items()})
        try:
            events = [(at, stream_in[port], one) for port, items in inputs.items() for at, one in items]
            for at, stream, payload in sorted(events, key=lambda event: event[0]):
                one = GpuBuffer.of_array(payload) if isinstance(payload, np.ndarray) else payload
                graph.add_packet_to_input_stream(stream, penstock.Packet(one, at))
            graph.close_all_input_streams()
            graph.wait_until_done(PATIENCE_S)
        except BaseException:
            graph.cancel()
            raise
        return SimpleNamespace(
            outputs={port: seen[stream] for port, stream in stream_out.items()},
            headers={port: next(iter(sinks[stream]), None) for port, stream in stream_out.items()},
        )

    def image(self, calculator, inputs, output="VIDEO", **named):
        """Return the output for one image in each input, as an array (H, W, channels)."""
        found = self(calculator, {port: [(7, one)] for port, one in inputs.items()}, (output,), **named)
        (packet,) = found.outputs[output]
        assert packet.timestamp == 7
        return array_of(packet)


def array_of(packet):
    payload = packet.payload
    if isinstance(payload, ImageFrame):
        return payload.array
    assert isinstance(payload, GpuBuffer)
    return payload.array()


def _entry(port, stream):
    if isinstance(port, int):
        return stream
    return f"{port}:{stream}" if ":" in port else f"{port}:0:{stream}"


@pytest.fixture(scope="module")
def _resources():
    """Return resources by way, made when a test first needs them."""
    made = {}

    def find(way):
        if way not in made:
            made[way] = GpuResources("off") if way == "numpy" else GpuResources("require", api=way)
        return made[way]

    yield find
    for one in made.values():
        assert one.close()


def _runner(request, resources, way):
    if way != "numpy":
        request.getfixturevalue("gl_available")
    return Runner(resources(way))


@pytest.fixture(params=["gl", "gles", "numpy"])
def run(request, _resources):
    """Run calculators in one of the ways."""
    return _runner(request, _resources, request.param)


@pytest.fixture(params=["gl", "gles"])
def run_shader(request, _resources):
    """Run calculators in either API of GL."""
    return _runner(request, _resources, request.param)


@pytest.fixture
def run_gl(request, _resources):
    """Run calculators in desktop GL."""
    return _runner(request, _resources, "gl")


@pytest.fixture
def run_numpy(request, _resources):
    """Run calculators without GL."""
    return _runner(request, _resources, "numpy")


@pytest.fixture
def random():
    return np.random.default_rng(2025)
