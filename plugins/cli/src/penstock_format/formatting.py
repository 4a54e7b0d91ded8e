"""Graph text to the same graph text in the one layout, checked before it is returned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.config import read_definition
from penstock.errors import GraphParseError, InternalError
from penstock.readers import Places, Spot
from penstock.types import OptionTypes
from penstock_format import layout
from penstock_format.tree import Block, Comment, Field, Items, Rule, Scalar
from penstock_format.tree_reader import read_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock import Registry
    from penstock_format.tree import Document


def formatted(text: str, registry: Registry, *, label: str | None = None) -> str:
    """Return graph text, or the text of a template, in the one layout.

    Comments and the order of everything stay. The result means the same: it is read before it is returned,
    and compared with the text field by field, and as a message. Options that no installed pack has are
    compared field by field only. Lines end as the first one of the text does.

    Args:
        text: of a graph that can be read; whether it can run does not matter.
        registry: finds the options.
        label: what stands for the file's name in errors.

    Raises:
        GraphParseError: the text is no graph; has the place.
        PenstockError: as `penstock.config.read_graph`.
        InternalError: the result would not be the same graph; please report the text.
    """
    newline = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
    before = text.replace("\r\n", "\n")
    document = read_tree(before)
    message = _message(before, registry, label)
    if document.mistakes:  # protobuf takes what we do not
        first = document.mistakes[0]
        line, column = Places(label, before, Spot(0)).line_and_column(first.start) or (1, 1)
        raise GraphParseError(
            f"{label or '<text>'}:{line}:{column}: {first.words}", file=label, line=line, column=column
        )
    after = layout.laid_out(document)
    if after != before:
        _check(document, after, registry, label, message)
    return after.replace("\n", newline)


def formatted_unchecked(text: str) -> str | None:
    """Return graph text in the one layout, or None where it cannot be followed. Nothing is checked."""
    document = read_tree(text)
    return None if document.mistakes else layout.laid_out(document)


def _check(document: Document, after: str, registry: Registry, label: str | None, message: Any) -> None:
    """Raise InternalError where the new text is not the same graph, or would change again."""
    again = read_tree(after)
    where = f"{label or '<text>'}: the layout would change "
    wrong = ""
    if again.mistakes or list(_shape(document.root)) != list(_shape(again.root)):
        wrong = "what the graph says"
    elif sorted(_comments(document.root)) != sorted(_comments(again.root)):
        wrong = "a comment"
    elif layout.laid_out(again) != after:
        wrong = "if it were made again"
    elif _message(after, registry, label) != message:
        wrong = "the graph that is read"
    if wrong:
        raise InternalError(
            f"{where}{wrong}; this is a bug of the formatter, please report it with the file, which is as it "
            "was"
        )


def _message(text: str, registry: Registry, label: str | None) -> bytes:
    """Return the graph of a text as bytes, without options that no installed pack has.

    Raises:
        GraphParseError: the text is no graph.
    """
    found = read_definition(text, registry, label=label, types=OptionTypes(registry))
    for unread in getattr(found, "unread", ()):
        if unread.error.__cause__ is not None:  # else no installed pack has the options
            raise unread.error
    graph: Any = getattr(found, "message", None) or found.graph  # type: ignore[union-attr]  # of a definition
    data: bytes = graph.SerializePartialToString(deterministic=True)
    return data


def _shape(value: Any) -> Iterator[object]:
    """Yield what a value says, without layout and comments."""
    if isinstance(value, Scalar):
        yield ("string" if value.is_string else "word", value.string)
        return
    yield "[" if isinstance(value, Items) else "{"
    for one in value.items if isinstance(value, Items) else value.entries:
        if isinstance(one, Rule):
            yield one.text
        else:
            yield one.name
            yield from _shape(one.value)
    yield "end"


def _comments(value: Any) -> Iterator[str]:
    """Yield the comments of a value and of its fields."""
    if isinstance(value, Scalar):
        for piece in value.pieces:
            yield from _texts(piece.comments)
    if not isinstance(value, Block | Items):
        return
    yield from (value.opening, *_texts(value.closing))
    for one in value.items if isinstance(value, Items) else value.entries:
        yield from (*_texts(one.comments), one.trailing)
        if isinstance(one, Field):
            yield from _comments(one.value)


def _texts(comments: list[Comment]) -> list[str]:
    return [one.text for one in comments]
