"""What a rule has found in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from penstock_lint.edit import Edit


@attrs.frozen(order=True)
class Finding:
    """What a rule has found in a file."""

    #: As it was given.
    file: str
    #: `line`, `column`: counted from 1; 0 where the graph has no lines.
    line: int
    column: int
    #: `code`, `name`: of the rule.
    code: str
    name: str
    #: Name of the node, or "".
    node: str
    #: What will happen.
    what: str
    #: What to do.
    cure: str
    #: Mends it; None where a person has to decide.
    edit: Edit | None = attrs.field(default=None, repr=False, eq=False, order=False)

    def __str__(self) -> str:
        position = f":{self.line}:{self.column}" if self.line else ""
        return f"{self.file}{position}: {self.code} {self.name}: {self.what}; {self.cure}"
