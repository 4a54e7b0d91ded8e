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
from typing import TYPE_CHECKING, Any, Final

import attrs
import pluggy

from penstock.claims import KINDS, check_name, check_option, check_target
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from penstock.runtime.graph import CalculatorGraph

#: Name of the entry point group, and of the project as pluggy knows it.
PROJECT: Final = "penstock"

hookspec = pluggy.HookspecMarker(PROJECT)
#: Marks a function of a plugin as the implementation of the hook that has its name.
hookimpl = pluggy.HookimplMarker(PROJECT)


def _names(value: Mapping[str, object]) -> Mapping[str, Any]:
    """Return a read-only copy."""
    try:
        return MappingProxyType(dict(value))
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"components {value!r}: must map names to targets") from error


def _check_targets(_: object, field: attrs.Attribute[Any], value: Mapping[str, object]) -> None:
    what = _KIND_OF[field.name]
    for name, target in value.items():
        check_name(what, name)
        check_target(f"{what} {name!r}", target)


def _check_options(_: object, __: object, value: Mapping[str, object]) -> None:
    for full_name, data in value.items():
        is_extension = isinstance(data, tuple)
        if is_extension and len(data) != 3:  # type: ignore[arg-type]  # noqa: PLR2004  # counted in the message
            raise InvalidArgumentError(
                f"option {full_name!r}: {data!r} must be (extendee, extension number, 'module:Message'), or "
                "'module:Message' alone"
            )
        check_option(full_name, *option_data(data))


_KIND_OF: Final = {field: kind for kind, field in KINDS.items()}


def option_data(said: object) -> tuple[Any, Any, Any]:
    """Return extendee, extension number and target of what `Components.options` says of one name."""
    return said if isinstance(said, tuple) else (None, None, said)


def _targets() -> Any:  # noqa: ANN401  # attrs fields have the type of what they hold
    return attrs.field(factory=dict, converter=_names, validator=_check_targets)


@attrs.frozen(kw_only=True)
class Components:
    """What a plugin brings, as data: name to "module:attribute" (or the object itself).

    The mappings are copied and cannot be changed afterwards. Targets are imported when their name
    is used, so that a plugin costs next to nothing until then.

    Attributes:
        calculators: classes, subclasses of `penstock.Calculator`.
        input_stream_handlers, output_stream_handlers, executors: classes or factories.
        subgraphs: graphs under the name that other graphs use them by: "package:file.pbtxt" for a graph
            file that the package holds, or a subclass of `penstock.Subgraph`. The name counts, whatever
            `type` the graph has.
        services: `penstock.ServiceKey` objects.
        options: full message name → "module:Message", for options that graphs give as `node_options`; or
            → (extendee, extension number, "module:Message") for those that are extensions too, as in
            `{"penstock.GateOptions": ("penstock.CalculatorOptions", 2617, "my_pack.gate_pb2:GateOptions")}`.
            A protobuf message class, or an attrs class: then the name is "my_pack.GateOptions", whatever
            module of the package it is in. Those that a calculator names in its `Options` are found
            without being declared here, as soon as a graph has that calculator.

    Raises:
        InvalidArgumentError: a name, a target or the data of an option is not what it must be.
    """

    calculators: Mapping[str, object] = _targets()
    input_stream_handlers: Mapping[str, object] = _targets()
    output_stream_handlers: Mapping[str, object] = _targets()
    executors: Mapping[str, object] = _targets()
    subgraphs: Mapping[str, object] = _targets()
    services: Mapping[str, object] = _targets()
    options: Mapping[str, str | type | tuple[str, int, str | type]] = attrs.field(
        factory=dict, converter=_names, validator=_check_options
    )

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


@attrs.frozen
class DoctorCheck:
    """One thing that a plugin looked at when asked how it is.

    Attributes:
        what: the thing, in a few words: "EGL device", "FFmpeg libraries".
        is_well: whether it is as the plugin needs it.
        detail: what was found: a version, a device name, an error's message.
        cure: what to do where it is not well; "" where nothing can be done or need be.
    """

    what: str
    is_well: bool
    detail: str = ""
    cure: str = ""


@hookspec
def penstock_components() -> Components:  # type: ignore[empty-body]  # a specification
    """Return what this plugin brings.

    Called once in a process, when plugins are loaded: at the first look-up of a name in the default
    registry. Must import nothing heavy. A plugin whose implementation raises, or returns anything
    but a `Components`, is reported as failed and contributes nothing, also no other hook.
    """


@hookspec
def penstock_cli(group: Any) -> None:  # noqa: ANN401  # a click.Group; click is no dependency of the core
    """Add commands to the `penstock` command.

    Called once for each start of the command line, after plugins are loaded and before arguments
    are parsed, with the click group. One that raises is reported; the other commands work.
    """


@hookspec
def penstock_doctor() -> Iterable[DoctorCheck]:  # type: ignore[empty-body]  # a specification
    """Look at what this plugin needs from the machine, and say what is there.

    Called when somebody asks (`penstock doctor`); may import and probe what it likes, and may take
    seconds. One that raises counts as a check that is not well.
    """


@hookspec
def penstock_run_started(graph: CalculatorGraph) -> None:
    """Take note that a run of a graph starts.

    Called for each run of a graph that uses the default registry, on the thread that starts it,
    before any node opens and without a lock. One that raises is logged, and the run goes on.
    """


@hookspec
def penstock_run_ended(graph: CalculatorGraph, error: BaseException | None) -> None:
    """Take note that a run of a graph has ended.

    Called once for each run whose start was announced, after all nodes are closed and all observers
    drained, without a lock; from which thread is not promised. `error` is what the run ended with,
    or None. One that raises is logged, and the run's result stays what it is.
    """
