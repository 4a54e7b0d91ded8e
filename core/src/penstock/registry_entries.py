"""The entries of a registry: the owner of a claim, what it claims, and the import on first use.

A claim says that a name stands for "module:attribute", or for an object that is there already. A
claim never changes, except its target, which becomes the object once it has been imported.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any, Final

from penstock.attrs_options import LARGEST_NUMBER, attrs_name, is_attrs_options
from penstock.errors import InvalidArgumentError, NameClashError, PluginError
from penstock.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable
    from pathlib import Path

#: The kinds of names, as error messages write them, and the field of `Components` that has them.
KINDS: Final[Mapping[str, str]] = {
    "calculator": "calculators",
    "input stream handler": "input_stream_handlers",
    "output stream handler": "output_stream_handlers",
    "executor": "executors",
    "tracer": "tracers",
    "subgraph": "subgraphs",
    "service": "services",
    "graph reader": "graph_readers",
    "layer": "layers",
    "codec": "codecs",
    "adapter": "adapters",
}
_TARGET: Final = r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*"
#: What the target of a subgraph ends with where it is a file of a package and no attribute of a module.
_GRAPH_FILES: Final = (".pbtxt", ".textproto", ".binarypb", ".pb", ".json")
_NAME: Final = r"[^\s.]+(\.[^\s.]+)*"


def check_entry_name(what: str, name: object) -> None:
    """Accept a name that can be registered.

    Raises:
        InvalidArgumentError: it is no str, empty, has blanks, or begins or ends with a dot.
    """
    if not isinstance(name, str) or not re.fullmatch(_NAME, name):
        raise InvalidArgumentError(f"{what}: registry entry name {name!r} must be 'Name' or 'package.Name'")


def check_target(what: str, target: object) -> None:
    """Accept what a name can stand for: any object, or a str "module:attribute" ("package:file.pbtxt").

    Raises:
        InvalidArgumentError: it is None, or a str of another form.
    """
    if target is None or (isinstance(target, str) and not re.fullmatch(_TARGET, target)):
        raise InvalidArgumentError(
            f"{what}: the registry entry's target {target!r} must be 'module:attribute' or the object"
        )


def check_option(full_name: object, extendee: object, number: object, target: object) -> None:
    """Accept the data of options; see `OptionEntry`.

    Raises:
        InvalidArgumentError: one of them is not what it must be; the message says which.
    """
    check_entry_name("option", full_name)
    what = f"option {full_name!r}"
    if extendee is not None or number is not None:
        check_entry_name(f"{what}: extendee", extendee)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 < number <= LARGEST_NUMBER:
            raise InvalidArgumentError(
                f"{what}: the entry's extension number {number!r} must be an int from 1 to {LARGEST_NUMBER}"
            )
    if not isinstance(target, str) and not is_attrs_options(target):
        raise InvalidArgumentError(
            f"{what}: the registry entry's target {target!r} must be a str 'module:Message', or an attrs "
            "class"
        )
    check_target(what, target)


class Origin(NamedTuple):
    """The provider of a name."""

    #: As pip knows it; None for what was registered in this process.
    distribution: str | None
    #: Name of the entry point; None likewise.
    plugin: str | None
    #: "module:attribute", or what an object calls itself.
    target: str

    @property
    def owner(self) -> str:
        """The provider as a user should read it."""
        if self.plugin is not None:
            return f"{self.distribution or 'no distribution'} (plugin {self.plugin!r}, {self.target})"
        return f"{self.distribution or 'this process'} ({self.target})"

    def is_same_owner(self, other: Origin) -> bool:
        """Return whether both come from one plugin of one distribution, or from this process."""
        return (self.distribution, self.plugin) == (other.distribution, other.plugin)


class Claim:
    """What one owner says a name stands for."""

    __slots__ = ("origin", "target")

    def __init__(self, origin: Origin, target: object) -> None:
        #: The owner.
        self.origin = origin
        #: "module:attribute", or the object; `load` replaces the one by the other.
        self.target = target

    def load(self, kind: str, name: str) -> object:
        """Return the object, imported on first use; for a subgraph "package:file.pbtxt" the path of the file.

        Raises:
            PluginError: the import failed, there is no such file, or a calculator is no class. A later
                call tries again.
        """
        target = self.target
        if kind == "subgraph" and isinstance(target, str) and target.endswith(_GRAPH_FILES):
            target = _graph_file(f"{kind} {name!r}", target, self.origin)
        elif isinstance(target, str):
            target = load_target(f"{kind} {name!r}", target, self.origin)
        if kind == "calculator":
            target = calculator_of_entry(target)
            if not isinstance(target, type):
                raise PluginError(
                    f"{kind} {name!r}: {self.origin.owner} gives {target!r}, which is no class; decorate a "
                    "function with @penstock.calculator"
                )
        self.target = target
        return target


class OptionEntry(NamedTuple):
    """Options that a plugin declares as data, so that finding them imports nothing."""

    #: The full name of the message, "penstock.ColorOptions"; for an attrs class as `attrs_name`.
    full_name: str
    #: Full name of the message that they extend, "penstock.CalculatorOptions"; None where graphs give them as
    #: `node_options` only.
    extendee: str | None
    #: The number of the extension field; None likewise.
    number: int | None
    #: "module:Message" or "module:AttrsClass"; or the attrs class.
    target: str | type
    #: Its owner.
    origin: Origin
    #: Another entry with this name, or with this number of this extendee, or None.
    rival: OptionEntry | None = None

    def load(self) -> Any:
        """Import and return the message class, or the attrs class.

        Importing a message makes its extension known to protobuf.

        Raises:
            NameClashError: another plugin declares the same name or number.
            PluginError: the import fails, or gives something else. A later call tries again.
        """
        what = f"option {self.full_name!r}"
        if self.rival is not None:
            of_both = "" if self.rival.full_name == self.full_name else f": its number {self.number}"
            raise clash(f"{what}{of_both}", self.origin, self.rival.origin)
        message: Any = self.target
        if isinstance(message, str):
            message = load_target(what, message, self.origin)
        descriptor = getattr(message, "DESCRIPTOR", None)
        found = attrs_name(message) if is_attrs_options(message) else getattr(descriptor, "full_name", None)
        if found != self.full_name:
            gives = "no message" if found is None else f"the message {found!r}"
            raise PluginError(f"{what}: {self.origin.owner} gives {gives}; correct that registry entry")
        return message


def calculator_of_entry(target: object) -> object:
    """Return the class that `@penstock.calculator` has made of a function or class, else `target`."""
    # Its own attribute: a subclass of a decorated class is another one.
    made: object = getattr(target, "__dict__", {}).get("calculator")
    is_made = hasattr(made, "get_contract") and not hasattr(target, "get_contract")
    return made if is_made else target


def entry_spelling(target: object) -> str:
    """Return "module:attribute" for an object that has such a place, else its repr."""
    if isinstance(target, str):
        return target
    name = getattr(target, "__qualname__", None)
    return repr(target) if name is None else f"{getattr(target, '__module__', None)}:{name}"


def clash(what: str, one: Origin, other: Origin) -> NameClashError:
    """Return the error for a name that two owners claim."""
    plugin = other.plugin or one.plugin
    cure = f", or block a plugin: PENSTOCK_BLOCK_PLUGINS={plugin}" if plugin else ""
    return NameClashError(f"{what} is claimed by {one.owner} and by {other.owner}; rename one{cure}")


def _graph_file(what: str, target: str, origin: Origin) -> Path:
    """Return the path of a graph file that a package holds as data.

    Raises:
        PluginError: the package cannot be imported, or has no such file.
    """
    import importlib.resources  # only subgraphs that are files of a package need it
    from pathlib import Path

    package, _, name = target.partition(":")
    try:
        place = importlib.resources.files(package) / name
        path = Path(str(place))
        if not path.is_file() and place.is_file():
            path = _copied(place)
    except (Exception, SystemExit) as error:
        raise _unusable(what, origin, error) from error
    if not path.is_file():
        raise PluginError(
            f"{what}: {origin.owner} cannot provide it: package {package!r} has no file {name!r}; "
            "put it beside the package's modules, where its wheel takes it along"
        )
    return path


def _copied(place: Traversable) -> Path:
    """Return a copy of a file in an archive, as of zipapp; it is there until the process ends."""
    import atexit
    import importlib.resources

    keeper = importlib.resources.as_file(place)
    path = keeper.__enter__()  # left at exit
    atexit.register(keeper.__exit__, None, None, None)
    return path


def load_target(what: str, target: str, origin: Origin) -> object:
    """Import "module:attribute".

    Raises:
        PluginError: whatever the import raised, `SystemExit` included, as its cause.
    """
    module, _, attribute = target.partition(":")
    try:
        found: object = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        raise _unusable(what, origin, error) from error
    return found


def _unusable(what: str, origin: Origin, error: BaseException) -> PluginError:
    return PluginError(
        f"{what}: {origin.owner} cannot provide it: {type(error).__name__}: {error}; "
        "repair or install what is missing, or block the plugin"
    )
