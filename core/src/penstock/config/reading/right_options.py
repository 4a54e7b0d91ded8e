"""What to write instead of an option that stands in a graph file outside of its message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.near_names import near_names

if TYPE_CHECKING:
    from penstock.config.options.types import OptionTypes

#: Part of a graph → the field that names its component, the component's kind, what its options extend.
PARTS: Final = {
    "node": ("calculator", "calculator", "penstock.CalculatorOptions"),
    "executor": ("type", "executor", "penstock.MediaPipeOptions"),
}
_NODE: Final = "penstock.CalculatorGraphConfig.Node"
#: How options are written: packed, and as an extension.
_TEXT: Final = ("node_options {{ [type.googleapis.com/{}] {{ {}{} }} }}", "options {{ [{}.ext] {{ {}{} }} }}")
_JSON: Final = (
    '"node_options": [{{"@type": "type.googleapis.com/{}", "{}": {}}}]',
    '"options": {{"[{}.ext]": {{"{}": {}}}}}',
)


def right_options(  # noqa: PLR0913  # what a file has at one place
    message: str, field: str, value: str | None, *, part: str, name: str, package: str, types: OptionTypes
) -> str:
    """Return how an error goes on about a field that a message does not have; "" where it is no option.

    Args:
        message: full name of the message that the field is written in.
        field: its name.
        value: what follows the name in graph text: ": 3". None for JSON.
        part: of the graph, one of `PARTS`.
        name: of the part's component, as the graph has it.
        package: of the graph.
        types: finds options.
    """
    _, kind, extended = PARTS[part]
    if message not in (extended, _NODE, "google.protobuf.Any"):
        return ""
    for options, fields in types.of_component(kind, name, package).items():
        near = near_names(field, fields, 1) if field not in fields and message != _NODE else [field]
        if near and near[0] in fields:
            form = (_JSON if value is None else _TEXT)[types.extends(options, extended)]
            return f"; write {form.format(options, near[0], value or '...')}"
        if message != _NODE:
            return f"; the options of {name!r} are {options}, which has {', '.join(fields)}"
    return "" if message == _NODE else f"; 'penstock show {name}' says how its options are written"
