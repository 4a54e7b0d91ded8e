"""The two graphs of the demo, on the CPU and on the GPU, and what is changed in them for one run."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from penstock import Registry
    from penstock.config import CalculatorGraphConfig

#: The stream of finished pictures: `ImageFrame`s on the CPU, `GpuBuffer`s on the GPU.
FINISHED: Final = "painted"
#: The calculator that a graph on the GPU cannot do without.
PAINTER: Final = "GlOverlayCalculator"
#: Frames of a camera that may wait before a node: what waits is shown late.
_LIVE_QUEUE: Final = 1
_DECODER_OPTIONS: Final = "penstock.VideoDecoderCalculatorOptions"


def graph_text(*, on_gpu: bool = False) -> str:
    """Return the graph file that the demo runs."""
    name = "edge_overlay_gpu.pbtxt" if on_gpu else "edge_overlay.pbtxt"
    return resources.files("penstock_cli").joinpath(name).read_text(encoding="utf-8")


def demo_config(
    registry: Registry,
    *,
    on_gpu: bool = False,
    frames: int | None = None,
    camera: int | None = None,
    writes: bool = True,
) -> CalculatorGraphConfig:
    """Return a graph of the demo, changed as asked.

    Args:
        registry: has the decoder's options.
        on_gpu: which of the two.
        frames: length of the test pattern, 0 for endless; None: as the graph says.
        camera: index of the camera to read in place of the pattern; None: no camera.
        writes: False leaves out all that comes after the finished pictures.
    """
    from penstock.config import read_graph  # brings protobuf

    config = read_graph(graph_text(on_gpu=on_gpu), registry)
    if frames is not None or camera is not None:
        _set_source(config, registry, frames, camera)
    if not writes:
        _cut_behind(config, FINISHED)
    return config


def _set_source(
    config: CalculatorGraphConfig, registry: Registry, frames: int | None, camera: int | None
) -> None:
    entry = registry.option(_DECODER_OPTIONS)
    options: Any = entry.load()() if entry is not None else None
    for packed in (packed for node in config.node for packed in node.node_options):
        if options is None or not packed.Unpack(options):
            continue
        if camera is not None:
            options.ClearField("test_pattern")
            options.camera_index = camera
            config.max_queue_size = _LIVE_QUEUE
        elif frames is not None:
            options.test_pattern.frames = frames
        packed.Pack(options)


def _cut_behind(config: CalculatorGraphConfig, stream: str) -> None:
    """Remove every node that reads `stream`, or what such a node writes, in the order of the flow."""
    from penstock_cli.loading import name_in  # so that this module imports nothing heavy

    gone = {stream}
    for node in list(config.node):
        if gone.intersection(map(name_in, node.input_stream)):
            gone.update(map(name_in, node.output_stream))
            config.node.remove(node)
