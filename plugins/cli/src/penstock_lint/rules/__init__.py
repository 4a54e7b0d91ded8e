"""The rules, by what they look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock_lint.rules import executors, interface, joins, limiters

if TYPE_CHECKING:
    from penstock_lint.rule import Rule

#: Our own rules, by code.
RULES: Final[dict[str, Rule]] = {
    rule.code: rule for rule in (*joins.RULES, *limiters.RULES, *executors.RULES, *interface.RULES)
}
