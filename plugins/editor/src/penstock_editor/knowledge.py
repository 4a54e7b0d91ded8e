"""What is known about components and options: asked of the registry, and kept."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from penstock.config import CalculatorGraphConfig
from penstock.error_text import near_names
from penstock.errors import PenstockError
from penstock.log import get_logger, place
from penstock.readers import own_name
from penstock.types import OptionTypes
from penstock_views.describe import describe

if TYPE_CHECKING:
    from penstock import Registry
    from penstock_views.describe import Description, PortInfo

_logger: Final = get_logger(__name__)
#: What fields hold, when they are packed messages.
_ANY: Final = "google.protobuf.Any"
_PORTS: Final = {
    "input_stream": "inputs",
    "output_stream": "outputs",
    "input_side_packet": "input_side_packets",
    "output_side_packet": "output_side_packets",
}


class Knowledge:
    """Asks one registry. Not for several threads at once."""

    def __init__(self, registry: Registry) -> None:
        self.registry: Final = registry
        self._types: Final = OptionTypes(registry)
        self._near: dict[str, list[str]] = {}
        self._origins: dict[tuple[str, str], str] = {}
        self._described: dict[str, Description | None] = {}

    def describe(self, name: str, kind: str | None = None) -> Description | None:
        """Return what is known about a component; None where it is not registered or cannot be imported."""
        if name not in self._described:
            try:
                self._described[name] = describe(name, self.registry, kind)
            except PenstockError:
                self._described[name] = None
            except Exception:  # of a component's own code: it says so in the log, and typing goes on
                _logger.exception("%r cannot be described", name, extra=place())
                self._described[name] = None
        return self._described[name]

    def is_known(self, name: str, package: str) -> bool:
        """Return whether a node can name this calculator or subgraph."""
        return any(self.registry.has(kind, name, package) for kind in ("calculator", "subgraph"))

    def near(self, name: str) -> list[str]:
        """Return the calculators and subgraphs that a misspelt name may mean, best first."""
        if name not in self._near:
            known = [*self.registry.names("calculator"), *self.registry.names("subgraph")]
            self._near[name] = near_names(name, known)
        return self._near[name]

    def origin(self, kind: str, name: str) -> str:
        """Return the distribution that has a component; "" for none."""
        if (kind, name) not in self._origins:
            is_known = self.registry.has(kind, name)
            self._origins[kind, name] = (
                (self.registry.origin(kind, name).distribution or "") if is_known else ""
            )
        return self._origins[kind, name]

    def ports(self, calculator: str, field: str) -> tuple[PortInfo, ...]:
        """Return the ports of a calculator that a field of its node connects; none for an unknown one."""
        found = self.describe(calculator) if calculator and field in _PORTS else None
        return () if found is None else getattr(found, _PORTS[field])

    def port_type(self, calculator: str, field: str, tag: str) -> str:
        """Return the type of a port as a user reads it; "" where it is not known."""
        name = tag.partition(":")[0]
        return next((one.type for one in self.ports(calculator, field) if one.tag == name), "")

    def message(self, path: tuple[str, ...]) -> Any:
        """Return the descriptor of the message at the end of a path from the graph; None for none."""
        found: Any = CalculatorGraphConfig.DESCRIPTOR
        for name in path:
            if name.startswith("["):
                found = self._named(name)
            else:
                field = found.fields_by_name.get(name)
                found = None if field is None else field.message_type
            if found is None:
                return None
        return found

    def options_of(self, calculator: str, field: str) -> list[str]:
        """Return the names, in brackets, of the messages that the options of a node may have."""
        found = self.describe(calculator) if calculator else None
        if found is None:
            return []
        if field == "options":
            return [f"[{one.name}.ext]" for one in found.options if one.extension]
        return [f"[type.googleapis.com/{one.name}]" for one in found.options]

    def source_of(self, name: str) -> tuple[Path, int] | None:
        """Return the file of a calculator or subgraph, and its line, from 0; None where it has none."""
        for kind in ("calculator", "subgraph"):
            if self.registry.has(kind, name):
                return _source(self._found(kind, name))
        return None

    def _found(self, kind: str, name: str) -> object:
        try:
            return self.registry.find(kind, name)
        except PenstockError:
            return None
        except Exception:  # as in `describe`
            _logger.exception("%r cannot be imported", name, extra=place())
            return None

    def _named(self, bracketed: str) -> Any:
        """Return the descriptor of an extension's or a packed message's type."""
        written = bracketed.strip("[]").rpartition("/")[2]
        name = own_name(written.removesuffix(".ext"))
        try:
            self._types.load(name)
            return self._types.FindMessageTypeByName(name)
        except (PenstockError, KeyError):
            return None


def is_packed(descriptor: Any) -> bool:
    """Return whether a message is one that holds others by their names."""
    return descriptor is not None and descriptor.full_name == _ANY


def _source(thing: object) -> tuple[Path, int] | None:
    if isinstance(thing, Path):
        return thing, 0
    code: Any = inspect.unwrap(thing) if callable(thing) else type(thing)
    try:
        file = inspect.getsourcefile(code)
        line = inspect.getsourcelines(code)[1]
    except (OSError, TypeError):
        return None
    return (Path(file), max(line - 1, 0)) if file else None
