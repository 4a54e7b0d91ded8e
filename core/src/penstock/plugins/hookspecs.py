"""What a plugin can bring and which hooks it can implement.

A plugin is a distribution with one entry point in the group `penstock`, naming a small module that
imports nothing heavy:

    from penstock import Components, hookimpl

    @hookimpl
    def penstock_components() -> Components:
        return Components(calculators={"GateCalculator": "my_pack.gate:GateCalculator"})

Hooks run when things load and when runs start and end, never for a packet. An implementation may
leave out arguments that it does not need. Hook wrappers are refused: each implementation is called
on its own, so that one that fails takes no other down.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol

import pluggy

from penstock.errors import InvalidArgumentError
from penstock.registry import KINDS
from penstock.registry_entries import check_name, check_option, check_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from penstock.plugins.doctor import DoctorCheck


class RunningGraph(Protocol):
    """What the hooks of a run may use of its graph, which is a `penstock.CalculatorGraph`.

    A protocol, because the graph calls the hooks: this module does not import the graph.

    Attributes:
        text_config: the checked config as graph text.
        input_streams, output_streams: the names of the graph inputs, and of the graph outputs that
            something produces.
        is_running: whether a run is under way.
        counters: of the graph: `<node>-<counter>` → value, over all runs.
    """

    @property
    def text_config(self) -> str: ...  # noqa: D102  # see above
    @property
    def input_streams(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def output_streams(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def is_running(self) -> bool: ...  # noqa: D102
    @property
    def counters(self) -> dict[str, int]: ...  # noqa: D102

    def why(self) -> object:
        """Return why the run does not go on; `str()` of it is the story in words."""

    def snapshot(self) -> Any:
        """Return where the run stands, as data; see `penstock.explain.Snapshot`."""

    def ledger(self) -> Any:
        """Return where every packet of the run went; see `penstock.explain.Ledger`."""


#: Name of the entry point group, and of the project as pluggy knows it.
PROJECT: Final = "penstock"

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})

hookspec = pluggy.HookspecMarker(PROJECT)
#: Marks a function of a plugin as the implementation of the hook that has its name.
hookimpl = pluggy.HookimplMarker(PROJECT)


def _names(value: Mapping[str, object]) -> Mapping[str, Any]:
    """Return a read-only copy."""
    try:
        return MappingProxyType(dict(value))
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"the hook's components {value!r}: must map names to targets") from error


def _checked_targets(kind: str, given: Mapping[str, object]) -> Mapping[str, Any]:
    found = _names(given)
    for name, target in found.items():
        check_name(kind, name)
        check_target(f"{kind} {name!r}", target)
    return found


def _checked_options(given: Mapping[str, object]) -> Mapping[str, Any]:
    found = _names(given)
    for full_name, data in found.items():
        is_extension = isinstance(data, tuple)
        if is_extension and len(data) != 3:  # noqa: PLR2004  # counted in the message
            raise InvalidArgumentError(
                f"the hook's option {full_name!r}: {data!r} must be (extendee, extension number, "
                "'module:Message'), or 'module:Message' alone"
            )
        check_option(full_name, *option_data(data))
    return found


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
    __slots__ = (*KINDS.values(), "options")

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

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: what a plugin brings does not change."""
        raise AttributeError(f"components of a hook are never changed; make new ones with {name!r}")

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
        """Yield (kind, name, target) for all but options, kinds in the order of `claims.KINDS`."""
        for kind, field in KINDS.items():
            for name, target in getattr(self, field).items():
                yield kind, name, target

    def counts(self) -> dict[str, int]:
        """Return how many of each kind there are, "option" included; kinds without any left out."""
        counts = {kind: len(getattr(self, field)) for kind, field in KINDS.items()}
        counts["option"] = len(self.options)
        return {kind: count for kind, count in counts.items() if count}


@hookspec
def penstock_components() -> Components:  # type: ignore[empty-body]  # a specification
    """Return what this plugin brings.

    Called once in a process, when plugins are loaded: at the first look-up of a name in the default
    registry. Must import nothing heavy. A plugin whose implementation raises, or returns anything
    but a `Components`, is reported as failed and contributes nothing, also no other hook.
    """


@hookspec
def penstock_cli(group: Any) -> None:
    """Add commands to the `penstock` command.

    Called once for each start of the command line, after plugins are loaded and before arguments
    are parsed, with the click group. One that raises is reported; the other commands work.
    """


@hookspec
def penstock_doctor() -> Iterable[DoctorCheck]:  # type: ignore[empty-body]  # a specification
    """Look at what this plugin needs from the machine, and say what is there.

    Called by `penstock doctor`; may import and probe anything, and may take seconds.
    One that raises counts as a failed check.
    """


@hookspec
def penstock_run_options(command: Any) -> None:
    """Add options to `penstock run` and `penstock demo`.

    Called once for each of them, after `penstock_cli`, with the click command: append to its `params`.
    While it runs, `click.get_current_context().params` has the values, also in `penstock_run_prepared`.
    One that raises, or adds an option that is there already, is reported; its options are missing.
    """


@hookspec
def penstock_run_prepared(graph: Any) -> None:
    """Add tracers and observers to a graph, a `penstock.CalculatorGraph`, before a run starts.

    Called as `penstock_run_started`, but before anything of the run is made. What is added stays for later
    runs of the graph. If the start then fails, no other hook is called.
    """


@hookspec
def penstock_run_started(graph: RunningGraph) -> None:
    """Take note that a run of a graph starts.

    Called for each run of a graph that uses the default registry, on the thread that starts it,
    before any node opens and without a lock. Other threads see the run only after that. One that raises is
    logged, and the run goes on.
    """


@hookspec
def penstock_run_ended(graph: RunningGraph, error: BaseException | None) -> None:
    """Take note that a run of a graph has ended.

    Called once for each run whose start was announced, after all nodes are closed and all observers
    drained, without a lock; from which thread is not promised. `error` is what the run ended with,
    or None. One that raises is logged, and the run's result stays what it is.
    """


@hookspec
def penstock_lint() -> Iterable[Any]:  # type: ignore[empty-body]  # a specification
    """Bring rules of `penstock lint`, each a `penstock_lint.Rule` with a code of its own.

    Called when a graph is linted. One that raises, or a code that is there already, is reported; the other
    rules are looked at.
    """


@hookspec(firstresult=True)
def penstock_mimebundle(config: Any, plain: str) -> Mapping[str, str] | None:
    """Draw a graph for a notebook.

    Called when a notebook shows a graph, on the thread that asks, with the checked CalculatorGraphConfig
    message, which must not be changed, and the text that the notebook shows without a drawing. Returns
    MIME type → content; None where this plugin draws nothing: then the next one is called. One that raises
    is logged, and the next one is called.
    """
