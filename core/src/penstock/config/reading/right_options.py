"""The line that would be right, for options that stand in a graph file outside of a message of options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from penstock.near_names import near_names

if TYPE_CHECKING:
    from penstock.config.options.types import OptionTypes

_NODE: Final = "penstock.CalculatorGraphConfig.Node"
#: The message in which the options of a component are extensions, by the component's kind.
EXTENDED: Final = {"calculator": "penstock.CalculatorOptions", "executor": "penstock.MediaPipeOptions"}
#: Letters of a value that an error repeats, and fields that it lists.
_LONGEST: Final = 60
_FEW: Final = 8


def right_options(  # noqa: PLR0913, PLR0917  # what a file has at one place
    message: str, field: str, value: str | None, kind: str, name: str, package: str, types: OptionTypes
) -> str:
    """Return what to write instead of a field that a message does not have; "" where that is not known.

    Args:
        message: full name of the message that the field is written in.
        field: its name.
        value: what follows the name in graph text: ": 3". None for JSON.
        kind, name: of the component around it, such as "calculator" and "GateCalculator".
        package: of the graph.
        types: finds options.
    """
    extended = EXTENDED[kind]
    if message not in (extended, _NODE, "google.protobuf.Any"):
        return ""
    fields_of = types.of_component(kind, name, package)
    for options, fields in fields_of.items():
        near = near_names(field, fields, 1) if field not in fields and message != _NODE else []
        for found in [field] * (field in fields) or near:
            return f"; write {_line(options, found, value, types.extends(options, extended))}"
    if message == _NODE:
        return ""
    for options, fields in fields_of.items():
        return f"; the options of {name!r} are {options}, which has {', '.join(fields[:_FEW])}"
    line = _line("package.Options", field, value, kind == "executor")
    return f"; options are in a message of their own, as in {line}; see penstock show {name}"


def _line(options: str, field: str, value: str | None, is_extension: bool) -> str:
    if value is None:
        if is_extension:
            return f'"options": {{"[{options}.ext]": {{"{field}": ...}}}}'
        return f'"node_options": [{{"@type": "type.googleapis.com/{options}", "{field}": ...}}]'
    given = field + (re.sub(r"\s+", " ", value) if len(value) <= _LONGEST else ": ...")
    if is_extension:
        return f"options {{ [{options}.ext] {{ {given} }} }}"
    return f"node_options {{ [type.googleapis.com/{options}] {{ {given} }} }}"
