"""The two graphs of the demo, on the CPU and on the GPU, and the changes for one run."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from penstock import Registry
    from penstock.config import CalculatorGraphConfig
    from penstock_cli.runs.addresses import Address

#: The stream of finished frames: `ImageFrame`s on the CPU, `GpuBuffer`s on the GPU.
FINISHED: Final = "painted"
#: Whether the graph is the one on the GPU → its stream of the frames that are read.
FRAMES: Final = {False: "frame", True: "decoded"}
#: The calculator that the graph on the GPU needs.
PAINTER: Final = "GlOverlayCalculator"
#: Frames of a camera that may wait before a node: each frame that waits is shown late.
_LIVE_QUEUE: Final = 1
_DECODER_OPTIONS: Final = "penstock.VideoDecoderCalculatorOptions"


def graph_text(*, on_gpu: bool = False) -> str:
    """Return the graph file that the demo runs."""
    name = "edge_overlay_gpu.pbtxt" if on_gpu else "edge_overlay.pbtxt"
    return resources.files("penstock_cli").joinpath(name).read_text(encoding="utf-8")


def demo_config(  # noqa: PLR0913  # an argument for each option
    registry: Registry,
    *,
    on_gpu: bool = False,
    frames: int | None = None,
    camera: int | None = None,
    address: Address | None = None,
    writes: bool = True,
) -> CalculatorGraphConfig:
    """Return a graph of the demo, changed by the arguments.

    Args:
        registry: has the decoder's options.
        on_gpu: the graph on the GPU, else the one on the CPU.
        frames: length of the test pattern, 0 for endless; None: as the graph says.
        camera: index of the camera to read in place of the pattern; None: no camera.
        address: read in place of the pattern; None: no address.
        writes: False leaves out all nodes after the stream of finished frames.
    """
    from penstock.config import read_graph  # imports protobuf

    config = read_graph(graph_text(on_gpu=on_gpu), registry)
    if frames is not None or camera is not None:
        _set_source(config, registry, frames, camera)
    if address is not None:
        from penstock_cli.runs.addresses import read_address

        read_address(config, address)
        if not address.is_recording:
            config.max_queue_size = _LIVE_QUEUE
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
    """Remove every node that reads `stream`, directly or through nodes that do; nodes are in flow order."""
    from penstock_cli.loading import name_in  # here, to keep the import of this module light

    gone = {stream}
    for node in list(config.node):
        if gone.intersection(map(name_in, node.input_stream)):
            gone.update(map(name_in, node.output_stream))
            config.node.remove(node)
