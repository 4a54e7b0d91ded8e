"""Expressions of templates, evaluated.

Nothing is raised: a mistake is reported, and the result is None. An expression with a part that is None is
None too, so that one mistake is reported once. All parts of an expression are evaluated, also those after
"&&" and "||". Source of what the operators mean: MediaPipe `tool/template_expander`. Mistakes that MediaPipe
accepts (a list in a sum, a division by zero) are reported here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from penstock.error_text import clipped, near_names, quoted
from penstock.errors import InvalidArgumentError, NotFoundError, PenstockError, ResourceExhaustedError
from penstock_templates.expression_values import (
    Value,
    as_bool,
    as_number,
    as_text,
    described,
    number_in,
)
from penstock_templates.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.readers import Message

#: Operation → the number of its arguments, where it is not 2. Messages may have another number.
_COUNTS: Final = {"paren": 1, "!": 1, "lowercase": 1, "uppercase": 1, "size": 1, "range": 1}
_ANY_COUNT: Final = ("dict", "list")
_FAILED: Final = "the template cannot be evaluated"


class Environment:
    """The values that names have at one place of a template."""

    def __init__(
        self,
        values: dict[str, Value],
        report: Callable[[PenstockError], None],
        usage: Usage | None = None,
    ) -> None:
        """Begin with some values.

        Args:
            values: copied.
            report: called for each mistake.
            usage: counts what the evaluation costs, for several environments together; None for this alone.
        """
        #: Name → value. The expansion changes it.
        self.values: dict[str, Value | None] = dict(values)
        self._report = report
        self._usage = usage or Usage()
        #: Name of a param without a value → what is reported. To find similar names takes long.
        self._unknown: dict[str, str] = {}

    def evaluate(self, expression: Message) -> Value | None:
        """Return the value of an expression, or None where there is a mistake.

        Raises:
            ResourceExhaustedError: the templates of the graph take more than a limit allows.
        """
        self._usage.step()
        try:
            return self._usage.counted(self._evaluated(expression))
        except ResourceExhaustedError:
            raise
        except PenstockError as error:
            self._report(error)
            return None

    def is_true(self, expression: Message) -> bool:
        """Return whether a condition holds; one with a mistake does not."""
        value = self.evaluate(expression)
        try:
            return value is not None and as_bool(value, "'if'")
        except PenstockError as error:
            self._report(error)
            return False

    def elements(self, expression: Message) -> list[Value]:
        """Return the elements that a loop goes over; none where there is a mistake."""
        value = self.evaluate(expression)
        if value is None or isinstance(value, list):
            return value or []
        cure = ", for example range(n)" if isinstance(value, float) else ""
        self._report(
            InvalidArgumentError(
                f"{_FAILED}: the expression of 'for' must be a list{cure}, not {described(value)}"
            )
        )
        return []

    def _evaluated(self, expression: Message) -> Value | None:
        op = expression.op
        if op == "literal":
            return str(expression.param)
        if not op:
            return self._param(expression.param)
        if op == "." and len(expression.arg) == 2:  # noqa: PLR2004  # a dict and a key
            return _item(self.evaluate(expression.arg[0]), expression.arg[1].param)
        operands = [self.evaluate(one) for one in expression.arg]
        known = [one for one in operands if one is not None]
        _check(op, len(operands))
        if len(known) < len(operands):
            return None
        return self._range(known[0]) if op == "range" else _applied(op, known)

    def _range(self, value: Value) -> Value:
        count = as_number(value, "'range'")
        if not (count.is_integer() and count >= 0):
            raise InvalidArgumentError(
                f"{_FAILED}: 'range' takes a whole number from 0 on, not {described(count)}"
            )
        self._usage.step(int(count))
        return [float(i) for i in range(int(count))]

    def _param(self, name: str) -> Value | None:
        if name in self.values:
            return self.values[name]
        if name not in self._unknown:
            near = near_names(name, self.values, 1)
            meant = f" ({quoted(near[0])} has one)" if near else ""
            self._unknown[name] = (
                f"param {quoted(name)} has no value and no default{meant}; give it to expand() or "
                "with_arguments() of a GraphTemplate, or in the TemplateSubgraphOptions of the node"
            )
        raise NotFoundError(self._unknown[name])


def _check(op: str, count: int) -> None:
    if op not in _OPERATIONS and op != "range":
        raise InvalidArgumentError(f"{_FAILED}: there is no operation {quoted(op)}")
    wanted = _COUNTS.get(op, 2)
    if op not in _ANY_COUNT and count != wanted:
        raise InvalidArgumentError(f"{_FAILED}: {op!r} has {count} arguments; it takes {wanted}")


def _applied(op: str, operands: list[Value]) -> Value:
    result = _OPERATIONS[op](*operands)
    return float(result) if isinstance(result, (bool, int)) else result


def _item(container: Value | None, key: str) -> Value | None:
    if container is None:
        return None
    if not isinstance(container, dict):
        raise NotFoundError(
            f"{_FAILED}: field {quoted(key)} is asked of {described(container)}, which is no dict"
        )
    if key not in container:
        has = clipped(", ".join(container)) or "no items"
        raise NotFoundError(f"{_FAILED}: field {quoted(key)} is missing; the dict has {has}")
    return container[key]


# --- the operations ---------------------------------------------------------------------------------


def _sum(left: Value, right: Value) -> Value:
    numbers = number_in(left), number_in(right)
    if numbers[0] is not None and numbers[1] is not None:
        return numbers[0] + numbers[1]
    return as_text(left, "'+'") + as_text(right, "'+'")


def _quotient(left: Value, right: Value) -> Value:
    dividend, divisor = as_number(left, "'/'"), as_number(right, "'/'")
    if divisor == 0:
        raise InvalidArgumentError(f"{_FAILED}: {described(dividend)} is divided by zero")
    return dividend / divisor


def _order(left: Value, right: Value) -> float:
    """Return a number below, equal to or above 0. Numbers are compared as numbers, other values as text."""
    numbers = number_in(left), number_in(right)
    if numbers[0] is not None and numbers[1] is not None:
        difference = numbers[0] - numbers[1]
        # As in the reference: two infinities are equal, and NaN equals every number.
        return 0 if math.isnan(difference) else difference
    texts = as_text(left, "a comparison"), as_text(right, "a comparison")
    return (texts[0] > texts[1]) - (texts[0] < texts[1])


def _dict(*operands: Value) -> Value:
    if len(operands) % 2:
        raise InvalidArgumentError(
            f"{_FAILED}: 'dict' has {len(operands)} arguments; it takes a value for each key"
        )
    pairs = zip(operands[::2], operands[1::2], strict=True)
    made: dict[str, Value] = {}
    for key, value in pairs:
        made.setdefault(as_text(key, "a key of 'dict'"), value)
    return made


def _size(value: Value) -> float:
    if not isinstance(value, (list, dict)):
        raise InvalidArgumentError(f"{_FAILED}: 'size' takes a list or a dict, not {described(value)}")
    return len(value)


_OPERATIONS: Final[dict[str, Callable[..., Value]]] = {
    "paren": lambda value: value,
    "+": _sum,
    "-": lambda left, right: as_number(left, "'-'") - as_number(right, "'-'"),
    "*": lambda left, right: as_number(left, "'*'") * as_number(right, "'*'"),
    "/": _quotient,
    ">": lambda left, right: _order(left, right) > 0,
    "<": lambda left, right: _order(left, right) < 0,
    ">=": lambda left, right: _order(left, right) >= 0,
    "<=": lambda left, right: _order(left, right) <= 0,
    "==": lambda left, right: _order(left, right) == 0,
    "!=": lambda left, right: _order(left, right) != 0,
    "&&": lambda left, right: as_bool(left, "'&&'") and as_bool(right, "'&&'"),
    "||": lambda left, right: as_bool(left, "'||'") or as_bool(right, "'||'"),
    "!": lambda value: not as_bool(value, "'!'"),
    "min": lambda left, right: min(as_number(left, "'min'"), as_number(right, "'min'")),
    "max": lambda left, right: max(as_number(left, "'max'"), as_number(right, "'max'")),
    "concat": lambda left, right: as_text(left, "'concat'") + as_text(right, "'concat'"),
    "lowercase": lambda value: _ascii(as_text(value, "'lowercase'"), str.lower),
    "uppercase": lambda value: _ascii(as_text(value, "'uppercase'"), str.upper),
    "dict": _dict,
    "list": lambda *values: list(values),
    "size": _size,
}


def _ascii(text: str, change: Callable[[str], str]) -> str:
    """Change ASCII letters only, as the reference does."""
    return "".join(change(letter) if letter.isascii() else letter for letter in text)
