"""Mends what napoleon makes of our docstrings, so that they can stay plain English in the source.

It works on the lines that napoleon returns:

- "The drops: stream, place and reason" of a property stays a sentence; napoleon takes its beginning for a
  type.
- So does "What `run` takes: text or a path" below "Returns:".
- `inputs, outputs: the ports` describes both; Sphinx takes the names before the last one for a type.
- "As `start_run`." below "Raises:" names no exception, and becomes a paragraph.
- A plural such as `Packet`s is code and a letter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sphinx.application import Sphinx

#: After napoleon, which has the default of 500.
_PRIORITY: Final = 900
_PLURAL: Final = re.compile(r"(`[^`\n]+`)(?=s\b)")
_SEVERAL: Final = re.compile(r"^(?P<field>:(?:ivar|param)) (?P<names>\w+(?:, \w+)+):")
_NO_EXCEPTION: Final = re.compile(r"^:raises (?P<said>[^:]*\s[^:]*): *$")
_FIELD: Final = re.compile(r"^:\w[^:]*:")


def mended(lines: Iterable[str]) -> list[str]:
    """Return the lines of a docstring in reStructuredText, as napoleon returns them, mended."""
    found = [_PLURAL.sub(r"\1\\ ", line) for line in lines]
    found = [_SEVERAL.sub(lambda s: f"{s['field']} {s['names'].replace(', ', ',')}:", line) for line in found]
    return _without_nameless_errors(_with_whole_sentences(found))


def _with_whole_sentences(lines: list[str]) -> list[str]:
    """Put the beginning of a sentence back, which napoleon has taken for a type."""
    for place, line in enumerate(lines):
        field, _, said = line.partition(" ")
        if field == ":rtype:" and " " in said:
            returns = next(at for at, one in enumerate(lines) if one.startswith(":returns: "))
            lines[returns] = lines[returns].replace(":returns: ", f":returns: {said}: ", 1)
        elif field == ":type:" and said:
            lines[0] = f"{said}: {lines[0]}"
        else:
            continue
        return lines[:place] + lines[place + 1 :]
    return lines


def _without_nameless_errors(lines: list[str]) -> list[str]:
    said = [found["said"] for line in lines if (found := _NO_EXCEPTION.match(line))]
    if not said:
        return lines
    kept = [line for line in lines if not _NO_EXCEPTION.match(line)]
    first = next((at for at, line in enumerate(kept) if _FIELD.match(line)), len(kept))
    return [*kept[:first], "", f"Errors: {' '.join(said)}", "", *kept[first:]]


def _mend(_app: object, _what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    lines[:] = mended(lines)


def _is_left_out(
    _app: object, _what: str, _name: str, obj: object, _is_skipped: object, _options: object
) -> bool | None:
    """Leave out the fields of named tuples, which have no text of their own: the class describes them."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field number") else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Mend each docstring after napoleon."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-skip-member", _is_left_out)
    app.connect("autodoc-process-docstring", _mend, priority=_PRIORITY)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
