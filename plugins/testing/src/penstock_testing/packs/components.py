"""What a pack brings, by name: whether each name is free, and stands for something of the right kind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from penstock import Calculator, InputStreamHandler, ServiceKey
from penstock.errors import NameClashError, PenstockError, PluginError, UnknownNameError
from penstock.packs import default_registry
from penstock.packs import calculator_of_entry, official_packs, entry_spelling
from penstock.types import is_attrs_options
from penstock_testing.packs.metadata import canonical
from penstock_testing.packs.report import PackFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from penstock import Components, Registry
    from penstock.packs import Discovered
    from penstock.types import OptionEntry

#: Kinds that graphs name in the same field.
_NODES: Final = ("calculator", "subgraph")
#: The extendee of packed options.
_PACKED: Final = "google.protobuf.Any"
_CAMEL_CASE: Final = re.compile(r"(\w+\.)*[A-Z]\w*")
#: Kinds whose names are in camel case; a service's is a variable.
_IN_CAMEL_CASE: Final = (
    "calculator",
    "subgraph",
    "input stream handler",
    "output stream handler",
    "executor",
)


def homes(components: Components) -> set[str]:
    """Return the modules that components are in, whether they are given by name or as objects."""
    places = [entry_spelling(target) for _, _, target in components.by_kind()]
    options = [said[2] if isinstance(said, tuple) else said for said in components.options.values()]
    places += [entry_spelling(target) for target in options]
    return {place.partition(":")[0] for place in places}


def load(kind: str, name: str, registry: Registry) -> tuple[object, PackFault | None]:
    """Return the target of a name, imported, or the fault that it cannot be imported."""
    subject = f"{kind} {name!r}"
    try:
        thing = registry.find(kind, name)
    except PenstockError as error:
        return None, PackFault(subject, _unusable(error, subject))
    wrong = _wrong_kind(kind, thing)
    return thing, PackFault(subject, f"{registry.origin(kind, name).target!r} is {wrong}") if wrong else None


def check_name(kind: str, name: str, components: Components, record: Discovered) -> Iterator[PackFault]:
    """Yield what is wrong with a name itself."""
    subject = f"{kind} {name!r}"
    if kind in _IN_CAMEL_CASE and not _CAMEL_CASE.fullmatch(name):
        yield PackFault(
            subject, "names of a pack's components are in camel case, as in 'GateCalculator'", is_warning=True
        )
    for alike in _NODES if kind in _NODES else (kind,):
        official = official_packs().get(alike, {}).get(name)
        if official is not None and canonical(official) != canonical(record.distribution):
            yield PackFault(
                subject,
                f"a component of the official pack {official}, a {alike}, has that name; choose another",
            )
    if kind == "subgraph" and name in components.calculators:
        yield PackFault(
            subject, "the pack has a calculator of that name too, which graphs cannot reach; rename one"
        )


def check_registered_once(name: str) -> Iterator[PackFault]:
    """Yield a fault where importing a calculator's module has registered it in the process as well."""
    try:
        is_twice = default_registry().origin("calculator", name).distribution is None
    except NameClashError:
        is_twice = True
    except UnknownNameError:
        is_twice = False
    if is_twice:
        yield PackFault(
            f"calculator {name!r}",
            "importing the component's module registers it a second time, and graphs that name it are "
            "refused; leave @register_calculator to programs, a pack's plugin module names it already",
        )


def check_option(entry: OptionEntry) -> Iterator[PackFault]:
    """Yield what is wrong with an options message: it cannot be imported, or its place is another."""
    subject = f"option {entry.full_name!r}"
    try:
        message = entry.load()
        if is_attrs_options(message):
            _derive(message, entry)
            return
    except PenstockError as error:
        yield PackFault(subject, _unusable(error, subject))
        return
    if entry.extendee in (None, _PACKED):  # graphs give it in `node_options` alone
        return
    places = _extensions(message.DESCRIPTOR) if hasattr(message, "DESCRIPTOR") else []
    if (entry.extendee, entry.number) not in places:
        found = ", ".join(f"number {number} of {extendee!r}" for extendee, number in places) or "no extension"
        yield PackFault(
            subject,
            f"its class is {found}, the plugin module says number {entry.number} of "
            f"{entry.extendee!r}; graph files that name it would not be read: correct one",
        )


def _derive(cls: type, entry: OptionEntry) -> None:
    """Have the message of an attrs class made, at the place that the plugin module declares.

    Raises:
        InvalidArgumentError: graph files cannot give such a class, or the place is taken.
    """
    from penstock.types import extension_class, message_class  # protobuf

    if entry.extendee in (None, _PACKED) or entry.number is None:
        message_class(cls)
    else:
        extension_class(cls, entry.extendee, entry.number)


def _extensions(descriptor: Any) -> list[tuple[str, int]]:
    """Return (full name of the extended message, number) of each extension of a message's type."""
    declared = [*descriptor.extensions, *descriptor.file.extensions_by_name.values()]
    return [
        (field.containing_type.full_name, field.number)
        for field in declared
        if field.message_type == descriptor
    ]


def _unusable(error: PenstockError, subject: str) -> str:
    if isinstance(error, PluginError) and error.__cause__ is not None:
        cause = error.__cause__
        return (
            f"it cannot be imported: {type(cause).__name__}: {cause}; correct what the plugin module says, "
            "or declare and install what is missing"
        )
    return str(error).removeprefix(f"{subject}: ").removeprefix(f"{subject} ")


def _wrong_kind(kind: str, thing: object) -> str:
    """Return what is wrong with the target of a name of a kind, and what to do; "" where it is right."""
    is_right, words = _MUST_BE[kind]
    return "" if is_right(thing) else words


def _is_class_of(base: type) -> Callable[[object], bool]:
    return lambda thing: isinstance(thing, type) and issubclass(thing, base)


def _has(method: str) -> Callable[[object], bool]:
    return lambda thing: callable(getattr(thing, method, None))


def _makes_policies(thing: object) -> bool:
    return issubclass(thing, InputStreamHandler) if isinstance(thing, type) else callable(thing)


#: Kind → whether an object is of it, and the words of the fault where not.
_MUST_BE: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "calculator": (_is_class_of(Calculator), "no calculator; derive it from penstock.Calculator"),
    "input stream handler": (
        _makes_policies,
        "no input stream handler; derive it from penstock.InputStreamHandler",
    ),
    "output stream handler": (callable, "neither a class nor a factory; name one"),
    "executor": (
        _has("create"),
        "no executor: it has no create(options, defaults); derive it from penstock.Executor",
    ),
    "subgraph": (
        lambda thing: isinstance(thing, Path) or _has("get_config")(thing),
        "no subgraph; name a graph file as 'package:file.pbtxt', or a subclass of penstock.Subgraph",
    ),
    "tracer": (callable, "no tracer of graphs; name a function that returns a penstock.tracing.OwnTrace"),
    "service": (
        lambda thing: isinstance(thing, ServiceKey),
        "no key of a service; name a penstock.ServiceKey",
    ),
    "graph reader": (
        lambda thing: _has("message")(thing) and (_has("text")(thing) or _has("value")(thing)),
        "no graph reader: it needs message(...), and text(...) or value(...); see penstock.readers.GraphReader",
    ),
    "layer": (
        lambda thing: (
            _has("plan")(thing) or all(_has(name)(thing) for name in ("set_options", "swap", "reset"))
        ),
        "no layer: see penstock.lowlevel.FailureLayer and SteeringLayer",
    ),
    "codec": (
        lambda thing: all(_has(name)(thing) for name in ("takes", "schema", "encode", "decode")),
        "no codec: it needs takes(...), schema(...), encode(...) and decode(...); see penstock_record.Codec",
    ),
    "adapter": (
        lambda thing: callable(thing) and calculator_of_entry(thing) is not thing,
        "no adapter; name a function that @penstock.calculator has decorated",
    ),
}
