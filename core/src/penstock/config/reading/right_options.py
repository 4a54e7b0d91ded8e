"""What to write instead of an option that stands in a graph file outside of its message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.near_names import near_names
from penstock.shown import quoted

if TYPE_CHECKING:
    from penstock.config.options.option_types import OptionTypes

#: Part of a graph → the kind of component that it names, and the message that its options extend.
_KINDS: Final = {
    "node": ("calculator", "penstock.CalculatorOptions"),
    "executor": ("executor", "penstock.MediaPipeOptions"),
}
_NODE: Final = "penstock.CalculatorGraphConfig.Node"
#: How options are written: packed, and as an extension.
_TEXT: Final = ("node_options {{ [type.googleapis.com/{}] {{ {} }} }}", "options {{ [{}.ext] {{ {} }} }}")


def right_options(  # noqa: PLR0913, PLR0917  # what a file has at one place
    message: str,
    field: str,
    given: str,
    part: str,
    name: str,
    types: OptionTypes,
    forms: tuple[str, str] = _TEXT,
) -> str:
    """Return how an error goes on about a field that a message does not have; "" where it is no option.

    The field is `given` with its value, in a `part` of the graph ("node"); `name` is the name of the part's
    component, whose options `types` finds. The `forms` are those of packed options and of an extension, with
    places for the name of the options and for the field.
    """
    kind, extended = _KINDS.get(part, ("", ""))
    if not kind or not name or message not in (extended, _NODE, "google.protobuf.Any"):
        return ""
    for options, (is_extension, fields) in types.of_component(kind, name, extended).items():
        near = [field] if field in fields or message == _NODE else near_names(field, fields, 1)
        if near and near[0] in fields:
            written = " ".join(given.split()).replace(field, near[0], 1)
            return f"; write {forms[is_extension].format(options, written)}"
        if message != _NODE:
            return f"; the options of {quoted(name)} are {options}, which has {', '.join(fields)}"
    return "" if message == _NODE else f"; 'penstock show {name}' says how its options are written"
