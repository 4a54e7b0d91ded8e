"""`SolutionBase`: a graph as a Python object whose `process` takes an image and returns the results."""

from __future__ import annotations

import threading
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from penstock import CalculatorGraph, Packet
from penstock.config import CalculatorGraphConfig, build_plan
from penstock.errors import FailedPreconditionError, InvalidArgumentError, PenstockError
from penstock.packs import default_registry
from penstock.types import OptionTypes
from penstock_mediapipe import resource_util
from penstock_mediapipe.calculator_params import set_calculator_params
from penstock_mediapipe.message_names import core_config
from penstock_mediapipe.model_places import read_graph_file
from penstock_mediapipe.packet_data_type import PacketDataType, content_of, payload_of
from penstock_mediapipe.python_errors import as_graph_errors, behind
from penstock_tensors import RESOURCES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from google.protobuf.message import Message

    from penstock.lowlevel import Plan
    from penstock_tensors import ResourceFinder

__all__ = [
    "ExtraSettings",
    "PacketDataType",
    "SolutionBase",
    "SolutionOutputs",
]


#: Microseconds between two calls of `process`: 30 frames per second.
_STEP: Final = 33_333
_ANY: Final = "any type"
#: Calculators whose options the reference's solutions lose: they pass the expanded graph through Python,
#: which keeps options of imported messages only. These calculators then run with their defaults; landmarks of
#: poses and masks differ visibly from those of the graph file.
_WITHOUT_OPTIONS: Final = frozenset(
    ("RefineLandmarksFromHeatmapCalculator", "SegmentationSmoothingCalculator", "VisibilityCopyCalculator")
)


class SolutionOutputs(SimpleNamespace):
    """The results of one call: an attribute for each output stream; None where nothing came."""

    @property
    def _fields(self) -> tuple[str, ...]:
        return tuple(vars(self))


class ExtraSettings:
    """Settings of the graph that a solution runs.

    Args:
        disallow_service_default_initialization: taken for programs that give it, and without effect: nothing
            of a solution's graph is made by default.
    """

    def __init__(self, disallow_service_default_initialization: bool = False) -> None:  # noqa: FBT001, FBT002
        self.disallow_service_default_initialization = disallow_service_default_initialization


class SolutionBase:
    """A graph that is run image by image.

    The graph starts at once and waits for images. It is run on the thread that calls `process`. Several
    threads may share a solution: calls are worked off one after another, each returns the results of its own
    image, and what the solution tracks from image to image is whatever came before in this order. Threads
    that need independent results, or more than one at a time, have a solution each; solutions share nothing.

    Results are as of the reference's solutions, which ignore the options that a graph has for three
    calculators: RefineLandmarksFromHeatmap-, SegmentationSmoothing- and VisibilityCopyCalculators run with
    their defaults. `penstock.CalculatorGraph` runs a graph with all its options.

    Args:
        binary_graph_path: of a .binarypb file, below the places where models are searched; for example
            "mediapipe/modules/hand_landmark/hand_landmark_tracking_cpu.binarypb".
        graph_config: a CalculatorGraphConfig message or graph text, instead.
        calculator_params: "<expanded node name>.<field>" → value of an option; None clears the field. The
            options of ConstantSidePacket-, ImageTransformation-, LandmarksSmoothing-, Logic-, Thresholding-,
            TensorsToDetections- and Lift2DFrameAnnotationTo3DCalculators may be set.
        graph_options: a message for the graph's `graph_options`. It is set on the expanded graph, as in the
            reference: what subgraphs take from these options is not changed by it.
        side_inputs: side packet → value.
        outputs: the streams that make the results; None or none for all graph outputs.
        stream_type_hints: stream → what it carries, for streams whose type the graph does not say.
        side_packet_type_hints: the same for side packets.
        extra_settings: of the graph.

    Raises:
        FileNotFoundError: the graph file was not found; the message has the command that brings it.
        ValueError: not exactly one of path and config is given; the graph cannot run; or an option, a stream
            or a side packet is not there or has a type that cannot be given.
        TypeError: a side packet or an option has a value of another type.
        RuntimeError: the graph cannot start, for example without a model or the models' runtime; or nothing
            says what a stream carries.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # the reference's signature
        self,
        binary_graph_path: str | None = None,
        graph_config: Any = None,
        calculator_params: Mapping[str, Any] | None = None,
        graph_options: Message | None = None,
        side_inputs: Mapping[str, Any] | None = None,
        outputs: Sequence[str] | None = None,
        stream_type_hints: Mapping[str, PacketDataType] | None = None,
        side_packet_type_hints: Mapping[str, PacketDataType] | None = None,
        extra_settings: ExtraSettings | None = None,
    ) -> None:
        del extra_settings  # see its class
        if bool(binary_graph_path) == bool(graph_config):
            given = "both" if graph_config else "neither"
            words = "Must provide exactly one of 'binary_graph_path' or 'graph_config'."
            raise InvalidArgumentError(behind(words, f"{given} given"))
        finder = resource_util.finder()
        if binary_graph_path:
            graph_config = CalculatorGraphConfig.FromString(read_graph_file(binary_graph_path, finder))
        registry = default_registry()
        with as_graph_errors():
            plan = build_plan(core_config(graph_config), registry)
        types = _Types(plan, stream_type_hints or {}, side_packet_type_hints or {})
        config = plan.config
        inputs = [_name_of(port) for port in config.input_stream]
        results = [_name_of(port) for port in outputs or config.output_stream]
        self._inputs: dict[str, PacketDataType] | None = {name: types.of_stream(name) for name in inputs}
        for name in results:
            types.of_stream(name)
        side_packets = {
            name: payload_of(types.of_side_packet(name), value, f"the side packet {name!r}")
            for name, value in (side_inputs or {}).items()
        }
        for node in config.node:
            if node.calculator in _WITHOUT_OPTIONS:
                node.ClearField("options")
        if calculator_params:
            nodes = ((node.name, message) for node, message in zip(plan.nodes, config.node, strict=True))
            set_calculator_params(nodes, calculator_params, OptionTypes(registry))
        if graph_options is not None:
            _set_graph_options(config.graph_options, graph_options)
        if not config.executor and not config.num_threads:
            config.executor.add(type="ApplicationThreadExecutor")  # no switch of threads for each node

        #: Held by the call that works. It guards `_found`, `_simulated_timestamp` and the graph's runs.
        self._turn: Final = threading.Lock()
        self._names = tuple(results)
        self._found: dict[str, Packet] = {}
        self._simulated_timestamp = 0
        self._side_packets = side_packets
        self._graph: CalculatorGraph | None = _graph(config, finder, self._names, self._found.__setitem__)
        self._start(self._graph)

    def process(self, input_data: np.ndarray[Any, Any] | Mapping[str, Any]) -> Any:
        """Give the graph an image, run it until it is idle, and return the results.

        Timestamps are simulated: each call is 33,333 microseconds after the one before. A call waits until
        the calls of other threads have returned.

        Args:
            input_data: a NumPy array of an RGB image of 8 bits per channel, (height, width, 3), for a graph
                with one input; or input stream → image, message or value. A writable array is copied, a
                read-only one is shared.

        Returns:
            An object with an attribute for each output stream, None where the stream sent nothing: images as
            read-only arrays, messages and lists of messages, which belong to the program.

        Raises:
            ValueError: an image does not have three channels, the graph has several inputs and `input_data`
                is one image, or the solution is closed.
            TypeError: a value is of another type than the stream's.
            KeyError: the graph has no such input stream.
            NotImplementedError: a stream carries a list of messages.
            RuntimeError: the graph failed.
        """
        inputs = self._inputs
        if inputs is None:
            raise _closed()
        if isinstance(input_data, np.ndarray):
            if len(inputs) != 1:
                raise InvalidArgumentError(
                    f"one image is given, but the solution has {len(inputs)} input streams; give a dict of "
                    f"{', '.join(map(repr, inputs))}"
                )
            input_data = {next(iter(inputs)): input_data}
        payloads = [(name, _input(inputs, name, value)) for name, value in input_data.items()]
        found = self._run(payloads)
        return SolutionOutputs(
            **{name: content_of(found[name].payload) if name in found else None for name in self._names}
        )

    def _run(self, payloads: Sequence[tuple[str, object]]) -> dict[str, Packet]:
        """Give the graph the payloads of one call, and return stream → packet when it is idle."""
        with self._turn:
            graph = self._graph
            if graph is None:
                raise _closed()
            self._found.clear()
            self._simulated_timestamp += _STEP
            try:
                for name, payload in payloads:
                    graph.add_packet_to_input_stream(name, Packet(payload, self._simulated_timestamp))
                graph.wait_until_idle()
            except PenstockError as error:
                raise _as_runtime_error(error) from error
            return dict(self._found)

    def close(self) -> None:
        """End the graph.

        Raises:
            ValueError: the solution is closed already.
            RuntimeError: the graph failed.
        """
        with self._turn:
            if self._graph is None:
                raise InvalidArgumentError("this solution is closed already; close it once")
            try:
                self._graph.close()
            except PenstockError as error:
                raise _as_runtime_error(error) from error
            self._graph = None
            self._inputs = None

    def reset(self) -> None:
        """Start the graph again: it forgets what it tracked. Without effect on a closed solution.

        Raises:
            RuntimeError: the graph failed.
        """
        with self._turn:
            if self._graph is None:
                return
            try:
                if self._graph.is_running:
                    self._graph.close_all_packet_sources()
                    self._graph.wait_until_done()
            except PenstockError as error:
                raise _as_runtime_error(error) from error
            self._start(self._graph)

    def create_graph_options(self, options_message: Message, values: Any) -> Message:
        """Set fields of a message, and return it.

        Args:
            options_message: is changed.
            values: "field" or "field.field" → value, as a dict or pairs; a list for a repeated field.
        """
        pairs = values.items() if hasattr(values, "items") else values
        for path, value in pairs:
            *around, field = path.split(".")
            message: Any = options_message
            for name in around:
                message = getattr(message, name)
            present = getattr(message, field)
            if hasattr(present, "append"):
                del present[:]
                present.extend(value)
            elif hasattr(present, "CopyFrom"):
                present.CopyFrom(value)
            else:
                setattr(message, field, value)
        return options_message

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _start(self, graph: CalculatorGraph) -> None:
        graph.start_run(self._side_packets)
        try:
            graph.wait_until_idle()  # models are loaded; what is missing is said now
        except PenstockError as error:
            with suppress(PenstockError):  # the same error
                graph.close()
            raise _as_runtime_error(error) from error


class _Types:
    """What the streams and side packets of a graph carry."""

    def __init__(
        self,
        plan: Plan,
        hints: Mapping[str, PacketDataType],
        side_packet_hints: Mapping[str, PacketDataType],
    ) -> None:
        self._plan = plan
        self._hints = hints
        self._side_packet_hints = side_packet_hints

    def of_stream(self, name: str) -> PacketDataType:
        number = self._plan.stream_ids.get(name)
        if number is None:
            raise InvalidArgumentError(f"the solution has no stream {name!r}; name one that it has")
        hint = self._hints.get(name)
        if hint is not None:
            return hint
        words = f'Unable to find the type for stream "{name}".'
        return _data_type(self._plan.streams[number].type_name, f"the stream {name!r}", words)

    def of_side_packet(self, name: str) -> PacketDataType:
        types = [
            port.type_name
            for node in self._plan.nodes
            for port in node.input_side_packets
            if port.name == name
        ]
        if not types:
            raise InvalidArgumentError(f"no node of the solution takes a side packet {name!r}; leave it out")
        hint = self._side_packet_hints.get(name)
        if hint is not None:
            return hint
        known = next((one for one in types if one != _ANY), _ANY)
        words = f'Unable to find the type for side packet "{name}".'
        return _data_type(known, f"the side packet {name!r}", words)


def _data_type(type_name: str, what: str, words: str) -> PacketDataType:
    if type_name == _ANY:
        ours = f"nothing in the graph says what {what} carries; say it in the type hints"
        raise FailedPreconditionError(behind(words, ours))
    try:
        return PacketDataType.from_registered_name(type_name)
    except KeyError:
        raise InvalidArgumentError(
            f"{what} carries {type_name}, which a solution can neither give nor take; leave it out of outputs"
        ) from None


def _input(inputs: Mapping[str, PacketDataType], name: str, value: Any) -> object:
    if name not in inputs:
        raise KeyError(f"the solution has no input stream {name!r}; it has {', '.join(map(repr, inputs))}")
    kind = inputs[name]
    if kind is PacketDataType.PROTO_LIST:
        words = "SolutionBase can only process non-proto-list data. PROTO_LIST type is not supported."
        raise NotImplementedError(behind(words, f"the input stream {name!r} carries a list of messages"))
    return payload_of(kind, value, f"the input {name!r}")


def _closed() -> InvalidArgumentError:
    return InvalidArgumentError("this solution is closed, so it cannot process; make another one")


def _graph(
    config: Any, finder: ResourceFinder, names: tuple[str, ...], note: Callable[[str, Packet], None]
) -> CalculatorGraph:
    graph = CalculatorGraph(config)
    graph.set_service(RESOURCES, finder)
    for name in names:
        graph.observe_output_stream(name, note)
    return graph


def _set_graph_options(graph_options: Any, message: Message) -> None:
    for packed in graph_options:
        if packed.Is(message.DESCRIPTOR):
            merged = type(message)()
            packed.Unpack(merged)
            merged.MergeFrom(message)
            packed.Pack(merged)
            return
    graph_options.add().Pack(message)


def _name_of(port: str) -> str:
    """Return the name in "TAG:index:name"."""
    return port.rpartition(":")[2]


def _as_runtime_error(error: PenstockError) -> RuntimeError:
    return error if isinstance(error, RuntimeError) else RuntimeError(str(error))
