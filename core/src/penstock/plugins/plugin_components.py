"""What a plugin brings, as data: the components that its hook `penstock_components` returns."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import InvalidArgumentError
from penstock.record import NamedTuple
from penstock.registry_entries import KINDS, check_entry_name, check_option, check_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def _names(value: Mapping[str, object]) -> Mapping[str, Any]:
    """Return a read-only copy."""
    try:
        return MappingProxyType(dict(value))
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"the plugin's components {value!r}: must map names to targets") from error


def _checked_targets(kind: str, given: Mapping[str, object]) -> Mapping[str, Any]:
    found = _names(given)
    for name, target in found.items():
        check_entry_name(kind, name)
        check_target(f"{kind} {name!r}", target)
    return found


def _checked_options(given: Mapping[str, object]) -> Mapping[str, Any]:
    found = _names(given)
    for full_name, data in found.items():
        is_extension = isinstance(data, tuple)
        if is_extension and len(data) != 3:  # noqa: PLR2004  # counted in the message
            raise InvalidArgumentError(
                f"the plugin's components: option {full_name!r}: {data!r} must be (extendee, extension "
                "number, 'module:Message'), or 'module:Message' alone"
            )
        check_option(full_name, *option_data(data))
    return found


class Implementation(NamedTuple):
    """A plugin's implementation of one hook."""

    #: Name of the plugin.
    plugin: str
    #: It takes the arguments of the hook that it asks for.
    function: Callable[..., Any]
    #: Their places among the hook's arguments.
    places: tuple[int, ...]

    def call(self, *values: object) -> Any:
        """Call it with all arguments of the hook, in their order."""
        return self.function(*[values[place] for place in self.places])


def option_data(said: object) -> tuple[Any, Any, Any]:
    """Return extendee, extension number and target of what `Components.options` says of one name."""
    return said if isinstance(said, tuple) else (None, None, said)


class Components:
    """What a plugin brings, as data: name to "module:attribute" (or the object itself).

    The mappings are copied and cannot be changed afterwards. A target is imported when its name is used,
    so a plugin takes next to no time until then.

    Raises:
        InvalidArgumentError: a name, a target or the data of an option is not what it must be.
    """

    # A plain class: defining an attrs class would be a quarter of what the first small graph takes.
    __slots__ = (*KINDS.values(), "options", "is_fixed")

    #: Classes, subclasses of `penstock.Calculator`.
    calculators: Mapping[str, object]
    #: `input_stream_handlers`, `output_stream_handlers`, `executors`: classes or factories.
    input_stream_handlers: Mapping[str, object]
    output_stream_handlers: Mapping[str, object]
    executors: Mapping[str, object]
    #: Functions from a graph's `profiler_config` message to a `penstock.tracing.OwnTrace`. The graph's
    #: `trace_enabled` names none: it takes the one called "ChromeTracer".
    tracers: Mapping[str, object]
    #: Graphs under the name that other graphs use them by: "package:file.pbtxt" for a graph file that the
    #: package holds, or a subclass of `penstock.Subgraph`. The name counts, whatever `type` the graph has.
    subgraphs: Mapping[str, object]
    #: `penstock.ServiceKey` objects.
    services: Mapping[str, object]
    #: Objects that read graphs in a form of their own; see `penstock.readers.GraphReader` and `JsonReader`.
    graph_readers: Mapping[str, object]
    #: What stands between a graph and its nodes. A graph asks for two: "failure" carries out the field
    #: `failure` of a node (`penstock.lowlevel.FailureLayer`), "steering" changes nodes of a graph that lives
    #: (`penstock.lowlevel.SteeringLayer`).
    layers: Mapping[str, object]
    #: Objects that write payloads into recordings and read them; see `penstock_record.Codec`.
    codecs: Mapping[str, object]
    #: Functions decorated with `@penstock.calculator` that turn a payload of one type into one of another,
    #: under the full names of both: "numpy.ndarray->my_pack.pictures.Picture"; see `penstock.adapters`. The
    #: calculator of each must be among `calculators`.
    adapters: Mapping[str, object]
    #: Full message name → "module:Message", for options that graphs give as `node_options`; or → (extendee,
    #: extension number, "module:Message") for those that are extensions too, as in `{"penstock.GateOptions":
    #: ("penstock.CalculatorOptions", 2617, "my_pack.gate_pb2:GateOptions")}`. A protobuf message class, or an
    #: attrs class: then the name is "my_pack.GateOptions", whatever module of the package it is in. Those
    #: that a calculator names in its `Options` are found without being declared here, as soon as a graph has
    #: that calculator.
    options: Mapping[str, str | type | tuple[str, int, str | type]]
    #: Whether the plugin brings the same in each process as long as its modules and the distributions stay
    #: the same: then processes may keep the names, and import the plugin only for its hooks. Say False where
    #: it depends on something else, such as an environment variable or a file that it reads.
    is_fixed: bool

    def __init__(  # noqa: PLR0913  # one for each kind
        self,
        *,
        calculators: Mapping[str, object] = _NOTHING,
        input_stream_handlers: Mapping[str, object] = _NOTHING,
        output_stream_handlers: Mapping[str, object] = _NOTHING,
        executors: Mapping[str, object] = _NOTHING,
        tracers: Mapping[str, object] = _NOTHING,
        subgraphs: Mapping[str, object] = _NOTHING,
        services: Mapping[str, object] = _NOTHING,
        graph_readers: Mapping[str, object] = _NOTHING,
        layers: Mapping[str, object] = _NOTHING,
        codecs: Mapping[str, object] = _NOTHING,
        adapters: Mapping[str, object] = _NOTHING,
        options: Mapping[str, str | type | tuple[str, int, str | type]] = _NOTHING,
        is_fixed: bool = True,
    ) -> None:
        given = {
            "calculators": calculators,
            "input_stream_handlers": input_stream_handlers,
            "output_stream_handlers": output_stream_handlers,
            "executors": executors,
            "tracers": tracers,
            "subgraphs": subgraphs,
            "services": services,
            "graph_readers": graph_readers,
            "layers": layers,
            "codecs": codecs,
            "adapters": adapters,
        }
        for kind, field in KINDS.items():
            object.__setattr__(self, field, _checked_targets(kind, given[field]))
        object.__setattr__(self, "options", _checked_options(options))
        object.__setattr__(self, "is_fixed", is_fixed)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: what a plugin brings does not change."""
        raise AttributeError(f"a plugin's components are never changed; make new ones with {name!r}")

    def __eq__(self, other: object) -> bool:
        """Return whether both bring the same."""
        if not isinstance(other, Components):
            return NotImplemented
        return all(getattr(self, field) == getattr(other, field) for field in self.__slots__)

    __hash__ = None  # type: ignore[assignment]  # mappings have none

    def __repr__(self) -> str:
        """Return what there is of each kind."""
        there = [f"{field}={dict(getattr(self, field))!r}" for field in (*KINDS.values(), "options")]
        return f"Components({', '.join(there)})"

    def by_kind(self) -> Iterator[tuple[str, str, object]]:
        """Yield (kind, name, target) for all but options, kinds in the order of `KINDS`."""
        for kind, field in KINDS.items():
            for name, target in getattr(self, field).items():
                yield kind, name, target

    def counts(self) -> dict[str, int]:
        """Return how many of each kind there are, "option" included; kinds without any left out."""
        counts = {kind: len(getattr(self, field)) for kind, field in KINDS.items()}
        counts["option"] = len(self.options)
        return {kind: count for kind, count in counts.items() if count}
