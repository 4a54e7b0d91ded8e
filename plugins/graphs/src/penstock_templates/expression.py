"""What stands between two percent signs of a template: read into a `TemplateExpression`.

    rule        = "param" NAME [":" expression] | "for" "(" NAME ":" expression ")" | "if" "(" expression ")"
                | "end"
    expression  = operand { operator operand }, grouped by strength, equal ones from the left
    operand     = literal | NAME | "(" expression ")"
                | function "(" [expression { ("," | ":") expression }] ")"

A literal keeps its text: whether "2" is a number depends on where it is used. The number of arguments of each
function is checked here, so that every expression that was read can be evaluated. Operators, functions and
strengths are those of MediaPipe `tool/template_parser`; `range` is ours.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.config.calculator_graph_template_pb2 import TemplateExpression
from penstock.error_text import quoted
from penstock.limits import current
from penstock.readers import GraphReaderError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Operator → how weakly it binds. Source: MediaPipe `tool/template_parser`, after C.
_WEAKNESS: Final = {
    ".": 1, "*": 3, "/": 3, "+": 4, "-": 4, ">": 6, "<": 6, ">=": 6, "<=": 6,
    "==": 7, "!=": 7, "&&": 11, "||": 12,
}  # fmt: skip
_WEAKEST: Final = 12
#: Function → the number of its arguments; None is any number. Without a bracket after it, such a name is that
#: of a param. The reference does not have `range`.
_FUNCTIONS: Final[dict[str, int | None]] = {
    "min": 2, "max": 2, "concat": 2, "lowercase": 1, "uppercase": 1, "size": 1, "!": 1,
    "dict": None, "list": None, "range": 1,
}  # fmt: skip
_FOR_FIELDS: Final = ("param", "for", "if")

_TOKEN: Final = re.compile(
    r"""(?P<skip>\s+|\#[^\n]*)
      | (?P<string>"(?:[^"\\\n]++|\\.)*+"|'(?:[^'\\\n]++|\\.)*+')
      | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<mark>[=!<>]=|&&|\|\||"(?:[^"\\\n]++|\\.)*+|'(?:[^'\\\n]++|\\.)*+|.)""",
    re.ASCII | re.DOTALL | re.VERBOSE,
)
_ESCAPE: Final = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class RuleError(GraphReaderError):
    """A rule that cannot be followed, or that stands where none can."""


class Rule(NamedTuple):
    """A rule that was read, and the offset after its second percent sign."""

    expression: TemplateExpression
    end: int

    @property
    def op(self) -> str:
        """What the rule does: "for", "if", "param" or "end"; or the outermost operation of a value."""
        return self.expression.op


class _Token(NamedTuple):
    kind: str
    text: str
    offset: int


class _Read(NamedTuple):
    """A part of an expression, and how deep it is."""

    expression: TemplateExpression
    depth: int = 1


def read_value(text: str, start: int) -> Rule:
    """Read the rule that gives a field its value.

    Args:
        text: a whole template.
        start: offset of the first percent sign.

    Raises:
        RuleError: the rule is no expression, or has no second percent sign.
    """
    reader = _Reader(text, start)
    expression = reader.expression(_WEAKEST).expression
    return Rule(expression, reader.close())


def read_directive(text: str, start: int) -> Rule:
    """Read the rule that stands where a field may: "param", "for", "if" or "end". As `read_value`."""
    reader = _Reader(text, start)
    expression = reader.directive()
    return Rule(expression, reader.close())


def unquoted(literal: str) -> str:
    """Return the text of a string literal, whose escapes are those of graph text."""
    return _ESCAPE.sub(_unescaped, literal[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    octal, hexadecimal, code, plain = match.groups()
    if octal is not None:
        return chr(int(octal, 8))
    if hexadecimal is not None or code is not None:
        return chr(int(hexadecimal or code, 16))
    return _ESCAPED.get(plain, plain)


class _Reader:
    """Reads one rule from its first percent sign on."""

    def __init__(self, text: str, start: int) -> None:
        self._start = start
        self._tokens = _tokens(text, start + 1)
        self._depth = 0
        self._token = next(self._tokens)
        self._after = next(self._tokens, self._token)

    # --- whole rules ----------------------------------------------------------------------------

    def directive(self) -> TemplateExpression:
        word = self._token
        if word.text == "end":
            self._take()
            return TemplateExpression(op="end")
        if word.kind != "name" or word.text not in _FOR_FIELDS:
            self._fail("'param', 'for', 'if' or 'end'", "a value stands behind the name of its field")
        self._take()
        if word.text == "param":
            return self._declaration()
        return self._loop() if word.text == "for" else self._condition()

    def close(self) -> int:
        """Take the second percent sign; return the offset after it."""
        if self._token.text != "%":
            self._fail("an operator or '%'")
        return self._token.offset + 1

    def _declaration(self) -> TemplateExpression:
        made = TemplateExpression(op="param")
        made.arg.add(param=self._name("the param's name"))
        if self._token.text == ":":
            self._take()
            made.arg.append(self.expression(_WEAKEST).expression)
        return made

    def _loop(self) -> TemplateExpression:
        self._expect("(")
        made = TemplateExpression(op="for")
        made.arg.add(param=self._name("a name for each element"))
        if self._token.text not in (":", ","):
            self._fail("':' and a list")
        self._take()
        made.arg.append(self.expression(_WEAKEST).expression)
        self._expect(")")
        return made

    def _condition(self) -> TemplateExpression:
        self._expect("(")
        made = TemplateExpression(op="if", arg=[self.expression(_WEAKEST).expression])
        self._expect(")")
        return made

    # --- expressions ----------------------------------------------------------------------------

    def expression(self, weakest: int) -> _Read:
        """Read operands and the operators between them that bind no weaker than `weakest`."""
        left = self._operand()
        while _WEAKNESS.get(self._token.text, _WEAKEST + 1) <= weakest and self._token.kind == "mark":
            operator = self._take()
            if operator.text == ".":
                right = self._field_name()
            else:
                right = self.expression(_WEAKNESS[operator.text] - 1)
            left = self._made(operator, [left, right])
        return left

    def _operand(self) -> _Read:
        token = self._token
        if token.kind in ("string", "number"):
            self._take()
            literal = _literal(token) if token.kind == "string" else token.text
            return _Read(TemplateExpression(op="literal", param=literal))
        if token.text == "(":
            self._take()
            inner = self._nested()
            self._expect(")")
            return self._made(_Token("", "paren", token.offset), [inner])
        if token.text == "!" or (token.kind == "name" and self._after.text == "("):
            return self._function()
        if token.kind != "name":
            cure = "write 0 - x for -x" if token.text == "-" else ""
            self._fail("a value", cure)
        self._take()
        return _Read(TemplateExpression(param=token.text))

    def _field_name(self) -> _Read:
        """Read the key after a dot. A name is the key itself, not a param."""
        if self._token.kind == "string":
            return _Read(TemplateExpression(op="literal", param=_literal(self._take())))
        return _Read(TemplateExpression(param=self._name("the name of a dict's item")))

    def _function(self) -> _Read:
        if self._token.text in _FOR_FIELDS:
            self._fail("a value", "it stands before a field, not behind its name")
        function = self._take()
        if function.text not in _FUNCTIONS:
            known = ", ".join(_FUNCTIONS)
            raise RuleError(
                function.offset, f"expressions have no function {quoted(function.text)}; there are {known}"
            )
        self._expect("(")
        arguments: list[_Read] = []
        while self._token.text != ")":
            if arguments:
                if self._token.text not in (",", ":"):
                    self._fail("',' or ')'")
                self._take()
            arguments.append(self._nested())
        self._take()
        self._check_count(function, len(arguments))
        return self._made(function, arguments)

    @staticmethod
    def _check_count(function: _Token, count: int) -> None:
        wanted = _FUNCTIONS[function.text]
        if wanted is not None and count != wanted:
            raise RuleError(
                function.offset,
                f"{quoted(function.text)} has {_arguments(count)} in this expression; it takes {wanted}",
            )
        if function.text == "dict" and count % 2:
            raise RuleError(
                function.offset,
                f"'dict' has {_arguments(count)} in this expression; it takes a value for each key, "
                "dict(key: value, ...)",
            )

    def _nested(self) -> _Read:
        self._depth += 1
        self._check_depth(self._depth, self._token)
        inner = self.expression(_WEAKEST)
        self._depth -= 1
        return inner

    def _made(self, operator: _Token, operands: list[_Read]) -> _Read:
        depth = 1 + max((one.depth for one in operands), default=0)
        self._check_depth(depth, operator)
        made = TemplateExpression(op=operator.text, arg=[one.expression for one in operands])
        return _Read(made, depth)

    @staticmethod
    def _check_depth(depth: int, token: _Token) -> None:
        most = current().depth
        if depth > most:
            raise RuleError(
                token.offset,
                f"the expression has more than {most} operations inside one another; declare a param for a "
                "part of it",
            )

    # --- tokens ---------------------------------------------------------------------------------

    def _take(self) -> _Token:
        taken = self._token
        self._token = self._after
        self._after = next(self._tokens, self._after)
        return taken

    def _expect(self, text: str) -> None:
        if self._token.text != text:
            self._fail(f"{text!r}")
        self._take()

    def _name(self, what: str) -> str:
        if self._token.kind != "name":
            self._fail(what)
        return self._take().text

    def _fail(self, expected: str, cure: str = "") -> None:
        token = self._token
        if token.kind == "end":
            raise RuleError(
                self._start,
                "the template's expression, or rule, begins at this '%', and no second '%' ends it",
            )
        found = "the end of the rule" if token.text == "%" else quoted(token.text)
        raise RuleError(token.offset, f"found {found}, expected {expected}" + (f"; {cure}" if cure else ""))


def _tokens(text: str, start: int) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text, start):
        if match.lastgroup != "skip":
            yield _Token(str(match.lastgroup), match.group(), match.start())
    yield _Token("end", "", len(text))


def _literal(token: _Token) -> str:
    literal = unquoted(token.text)
    try:
        literal.encode()
    except UnicodeEncodeError as error:
        raise RuleError(
            token.offset,
            f"this string of the expression has {literal[error.start]!r}, half of a character; write the "
            "character itself",
        ) from error
    return literal


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"
