"""`penstock show NAME`: describes a registered component, as text or as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from penstock.errors import UnknownNameError
from penstock.packs import KINDS
from penstock_cli.failures import WrongUsage
from penstock_cli.wording import plural
from penstock_views.describe import describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from penstock import Registry
    from penstock_views.describe import Description, OptionField, OptionMessage, PortInfo

#: Columns where stdout is no terminal.
_PAGE_WIDTH: Final = 110
#: Headings over the ports, by attribute of a description.
_PORTS: Final = {
    "inputs": "input streams",
    "outputs": "output streams",
    "input_side_packets": "input side packets",
    "output_side_packets": "output side packets",
}
_CHOSEN: Final = {
    "calculator": "chosen by the calculator",
    "example": "as in the example; the graph chooses",
    "default": "the default; the graph may name another",
}


def find(name: str, registry: Registry) -> Description:
    """Return the description of a component.

    Raises:
        click.ClickException: no component has that name; suggests similar names or what to install, and
            if a file has that name, how to write its path.
        NameClashError, PluginError: the component exists, but cannot be used.
    """
    try:
        return describe(name, registry)
    except UnknownNameError as error:
        is_file = f"; for the file of that name, write './{name}'" if Path(name).is_file() else ""
        raise WrongUsage(f"{error}{_held(name, registry)}{is_file}") from error


def _held(word: str, registry: Registry) -> str:
    """Return how to list the names that contain a word, or "" if no name does."""
    count = sum(word.casefold() in name.casefold() for kind in KINDS for name in registry.names(kind))
    return f"; penstock list {word} shows {plural(count, 'name')} with it" if word and count else ""


def as_json(description: Description, version: str | None) -> str:
    """Return a description as a JSON object: the fields of `Description`, and its distribution's version."""
    return json.dumps({**description.as_dict(), "version": version}, indent=2)


def print_description(description: Description, version: str | None, source: str | None) -> None:
    """Print a description as text: on a terminal with colours and as wide as the terminal.

    Args:
        description: of a component.
        version: of its distribution; None if it has none.
        source: the module or file of `--import` that registered it; None if none did.
    """
    from rich.console import Console  # rich takes longer to import than all the rest

    console = Console(width=None if sys.stdout.isatty() else _PAGE_WIDTH, highlight=False)
    for part in _parts(description, _provider(description, version, source)):
        console.print(part)


def _parts(description: Description, provider: str) -> Iterator[RenderableType]:
    from rich.text import Text  # docstrings are not markup

    yield Text.assemble(
        (description.name, "bold"),
        f"  {description.kind} of {provider}",
        overflow="fold",
    )
    if description.summary:
        yield Text(description.summary)
    for attribute, heading in _PORTS.items():
        ports: Sequence[PortInfo] = getattr(description, attribute)
        if ports:
            yield _heading(heading)
            yield _table([_port_row(port) for port in ports])
    if description.ports_unknown:
        yield Text(f"\nits ports are not known: {description.ports_unknown}", style="yellow")
    facts = list(_facts(description))
    if facts:
        yield _heading("behaviour")
        yield _table(facts)
    for message in description.options:
        yield _heading(f"options {message.name}{_extension(message)}")
        if message.description:
            yield Text(f"  {message.description}")
        yield _table([_field_row(field) for field in message.fields])
    if description.body:
        yield _heading("description")
        yield Text(_indented(description.body))
    if description.example:
        yield _heading("example" if description.kind != "subgraph" else "graph")
        yield Text(_indented(description.example), style="green")


def _heading(words: str) -> RenderableType:
    from rich.text import Text

    return Text(f"\n{words}", style="bold cyan")


def _table(rows: Sequence[Sequence[str]]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 1, 0, 1))
    for i in range(len(rows[0]) if rows else 0):
        table.add_column(overflow="fold", style="bold" if i == 0 else None, no_wrap=i == 0)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _provider(description: Description, version: str | None, source: str | None) -> str:
    if description.distribution is None:
        return f"{source or 'this process'} ({description.target})"
    return f"{description.distribution} {version or ''}".strip()


def _port_row(port: PortInfo) -> tuple[str, str, str]:
    notes = ["optional"] * port.optional + ["may be repeated"] * port.repeats
    said = port.description
    if notes:
        said = f"{said} ({', '.join(notes)})".strip()
    return port.name, port.type, said


def _facts(description: Description) -> Iterator[tuple[str, str]]:
    policy = description.input_policy
    if policy is None:
        return
    if description.inputs:
        yield "input policy", f"{policy.name} ({_CHOSEN[policy.chosen_by]})"
    offset = description.timestamp_offset
    yield "timestamp offset", "none declared" if offset is None else f"{offset} us"
    if description.processes_bounds:
        yield "timestamp bounds", "also runs at settled timestamps without packets"
    if description.services:
        yield "services", ", ".join(description.services)


def _extension(message: OptionMessage) -> str:
    return "" if message.extension is None else f" (extension {message.extension})"


def _field_row(field: OptionField) -> tuple[str, str, str, str]:
    short = field.type.rpartition(".")[2]  # a message's own name: the heading of its fields has the full one
    kind = f"repeated {short}" if field.repeated else short
    default = "" if field.repeated else "not set"
    if field.required:
        default = "required"
    elif field.default is not None:
        default = f"default {field.default}"
    said = [field.description] if field.description else []
    said += [f"one of {field.oneof}"] if field.oneof else []
    said += [f"{one.name}{f': {one.description}' if one.description else ''}" for one in field.choices]
    return f"{field.name} = {field.number}", kind, default, "\n".join(said)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())
