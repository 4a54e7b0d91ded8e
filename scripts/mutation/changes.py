"""Small changes of a module's code, each of which a test should notice: mutants.

A change replaces the text of one node of the syntax tree, so that all other text, comments and lines stay as
they are. Texts of errors, annotations, decorators and what stands under TYPE_CHECKING are left alone: no
change of behaviour there, or one that is only words. `assert` is left alone too: it says what holds anyway.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Operator of a comparison → the one that takes its place.
_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
#: Operator of a sum or product → the one that takes its place.
_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
#: Names of class and module attributes that only describe.
_DESCRIBING: Final = frozenset({"__slots__", "__all__", "_logger"})


class Change(NamedTuple):
    """One change of one module."""

    #: The kind of change, in a few words.
    kind: str
    #: First line and column of the replaced text, and the end, as in `ast`: columns are bytes of UTF-8.
    line: int
    column: int
    end_line: int
    end_column: int
    #: The new text.
    new: str

    def apply(self, source: str) -> str:
        """Return the changed source, with as many lines as before.

        Raises:
            ValueError: the place is not in the source.
        """
        lines = source.encode().splitlines(keepends=True)
        if not 0 < self.line <= self.end_line <= len(lines):
            raise ValueError(f"line {self.line} is not in a source of {len(lines)} lines")
        head = b"".join(lines[: self.line - 1]) + lines[self.line - 1][: self.column]
        tail = lines[self.end_line - 1][self.end_column :] + b"".join(lines[self.end_line :])
        blank = b"\n" * (self.end_line - self.line)
        text = self.new.encode()
        # a replaced expression may stand in brackets only, where blank lines do no harm
        return (head + text + (tail if not blank else _pushed_down(tail, blank))).decode()

    def old(self, source: str) -> str:
        """Return the replaced text."""
        lines = [line.encode() for line in source.splitlines(keepends=True)][self.line - 1 : self.end_line]
        lines[-1] = lines[-1][: self.end_column]
        lines[0] = lines[0][self.column :]
        return b"".join(lines).decode()


def _pushed_down(tail: bytes, blank: bytes) -> bytes:
    """Put lines after the rest of the line, so that what follows keeps its number."""
    rest, newline, more = tail.partition(b"\n")
    return rest + newline + blank + more


def changes(source: str) -> list[Change]:
    """Return all changes of a module, in the order of their places.

    Raises:
        SyntaxError: the source is no Python.
    """
    found = [change for node in _reached(ast.parse(source)) for change in _of(node)]
    working = [change for change in found if change.new != change.old(source)]
    return sorted(set(working), key=lambda one: (one.line, one.column, one.kind, one.new))


def _reached(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes whose change can show in a run."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params", "bases"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _only_describes(child):
                yield from _reached(child)


def _only_describes(node: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.Import() | ast.ImportFrom() | ast.JoinedStr():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in _DESCRIBING
        case ast.Call(func=ast.Name(id="mypyc_attr" | "ServiceKey" | "TypeVar" | "cast")):
            return True
        case _:
            return False


def _of(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare():
            yield from _of_comparison(node)
        case ast.BoolOp():
            yield from _of_boolean(node)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield _change("operator removed", node, ast.unparse(operand), brackets=True)
        case ast.Constant(value=bool(value)):
            yield _change("constant", node, str(not value))
        case ast.Constant(value=int(value)):
            yield _change("off by one", node, str(value + 1))
        case ast.Constant(value=float(value)):
            yield _change("constant", node, str(2 * value + 1))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            new = ast.BinOp(left, _ARITHMETIC[type(op)](), right)
            yield _change("arithmetic", node, ast.unparse(new), brackets=True)
        case ast.If() | ast.While() | ast.IfExp():
            yield _change("condition negated", node.test, f"not ({ast.unparse(node.test)})", brackets=True)
        case ast.stmt():
            yield from _of_statement(node)


def _of_comparison(node: ast.Compare) -> Iterator[Change]:
    for position, op in enumerate(node.ops):
        ops = [*node.ops]
        ops[position] = _COMPARISONS[type(op)]()
        new = ast.unparse(ast.Compare(node.left, ops, node.comparators))
        yield _change("comparison", node, new, brackets=True)


def _of_boolean(node: ast.BoolOp) -> Iterator[Change]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield _change("and, or", node, ast.unparse(ast.BoolOp(other, node.values)), brackets=True)
    for position in range(len(node.values)):
        rest = [value for at, value in enumerate(node.values) if at != position]
        new = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        yield _change("operand removed", node, ast.unparse(new), brackets=True)


def _of_statement(node: ast.stmt) -> Iterator[Change]:
    match node:
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Delete():
            yield _change("statement removed", node, "pass")
        case ast.Raise():
            yield _change("raise removed", node, "pass")
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield _change("assignment removed", node, "pass")
        case ast.AugAssign(target=target, op=op, value=value):
            yield _change("assignment removed", node, "pass")
            if type(op) in _ARITHMETIC:
                new = ast.AugAssign(target, _ARITHMETIC[type(op)](), value)
                yield _change("arithmetic", node, ast.unparse(new))
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield _change("return None", node, "return None")
        case ast.Continue():
            yield _change("break, continue", node, "break")
        case ast.Break():
            yield _change("break, continue", node, "continue")
        case _:
            return


def _change(kind: str, node: ast.stmt | ast.expr, new: str, *, brackets: bool = False) -> Change:
    assert node.end_lineno is not None  # all nodes that were read have ends  # noqa: S101
    assert node.end_col_offset is not None  # noqa: S101
    return Change(
        kind,
        node.lineno,
        node.col_offset,
        node.end_lineno,
        node.end_col_offset,
        f"({new})" if brackets else new,
    )
