"""The text of a graph file while it is edited: its tree, in parts that are read again only where they change.

The form of the graph says where a part begins: in graph text where a line begins with `node {`. What a part
holds does not depend on the others, so that a key costs the reading of one node, however many there are, and
a bracket that is open in one node breaks no other.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.readers import tokens_of
from penstock_editor.forms import TEXT
from penstock_editor.lines import TextLines
from penstock_format import Block, Field, Scalar, TreeMistake

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock_editor.cursor import Cursor
    from penstock_editor.forms import Form
    from penstock_format import Document, Piece

#: Field → what its strings name, and whether a node that has the field writes it.
_NAMING: Final = {
    "input_stream": ("stream", False),
    "output_stream": ("stream", True),
    "input_side_packet": ("side packet", False),
    "output_side_packet": ("side packet", True),
}
#: The field of a failure policy that names the stream to which the node's failures are written.
ERROR_STREAM: Final = "error_stream"


class Name(NamedTuple):
    """One place where a stream, side packet, executor or calculator is named."""

    #: "stream", "side packet", "executor" or "calculator".
    kind: str
    name: str
    #: Whether it is made here: written by a node, an input of the graph, or a declared executor.
    is_origin: bool
    #: `start`, `end`: of the name without its tag, in the whole text.
    start: int
    end: int
    #: The field that names it.
    field: str
    #: The tag before it, with an index if there is one; "" for none.
    tag: str
    #: The offset of the node that it is in; -1 for the graph's own.
    node: int

    def moved(self, by: int) -> Name:
        """Return the same name in a part that stands elsewhere."""
        node = self.node + by if self.node >= 0 else -1
        return self._replace(start=self.start + by, end=self.end + by, node=node)


class Part:
    """A piece of the text, with places of its own."""

    def __init__(self, text: str, document: Document) -> None:
        self.text: Final = text
        self.root: Final[Block] = document.root
        self.mistakes: Final[list[TreeMistake]] = document.mistakes
        self.names: Final[tuple[Name, ...]] = tuple(_names(document.root))
        #: What `colours` has made of this part, for any place of it; None before it was asked.
        self.encoded: tuple[tuple[int, int], tuple[int, int], list[int]] | None = None
        #: Whether there are rules of a template.
        self.has_rules: Final = "%" in text and any(one.text == "%" for one in tokens_of(text))


class GraphText(TextLines):
    """One version of a graph's text. Never changes.

    Args:
        text: of the graph; lines end as they do.
        before: the version before, whose parts are used again; None for none.
        form: how the graph is written.
    """

    def __init__(self, text: str, before: GraphText | None = None, form: Form = TEXT) -> None:
        super().__init__(text)
        self.form: Final = form
        known = {} if before is None or before.form is not form else before.known
        cuts = form.split(text)
        #: Part → where it begins, and its role.
        self.starts: Final = [one.start for one in cuts]
        self.roles: Final = [one.role for one in cuts]
        ends = [*self.starts[1:], len(text)]
        keys = [
            (role, text[start:end]) for role, start, end in zip(self.roles, self.starts, ends, strict=True)
        ]
        #: Role and text → part.
        self.known: Final[dict[tuple[str, str], Part]] = {}
        for key in keys:
            if key not in self.known:
                role, piece = key
                self.known[key] = known.get(key) or Part(piece, form.read(piece, role))
        self.parts: Final = [self.known[key] for key in keys]

    # --- places -------------------------------------------------------------------------------------

    def part_at(self, offset: int) -> tuple[int, Part]:
        """Return where the part at an offset begins, and the part."""
        number = max(bisect_right(self.starts, offset) - 1, 0)
        return self.starts[number], self.parts[number]

    def cursor(self, offset: int) -> Cursor:
        """Return what may be written at an offset."""
        number = max(bisect_right(self.starts, offset) - 1, 0)
        return self.form.cursor(self.text, offset, self.starts[number], self.roles[number])

    # --- what it says -------------------------------------------------------------------------------

    @cached_property
    def is_template(self) -> bool:
        """Whether there may be rules of a template, whose streams are not known."""
        return any(one.has_rules for one in self.known.values())

    @cached_property
    def mistakes(self) -> list[TreeMistake]:
        """What no graph text may have, in the order of the text."""
        found = [
            TreeMistake(one.start + start, one.end + start, one.words)
            for start, part in zip(self.starts, self.parts, strict=True)
            for one in part.mistakes
        ]
        return self.form.mistakes(self.text, found)

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], list[tuple[int, Name]]]:
        """Kind and name → where the part begins that names it, and the name in the part."""
        found: dict[tuple[str, str], list[tuple[int, Name]]] = {}
        for start, part in zip(self.starts, self.parts, strict=True):
            for one in part.names:
                found.setdefault((one.kind, one.name), []).append((start, one))
        return found

    def named(self, kind: str) -> list[str]:
        """Return what is named of a kind, in the order of the text."""
        return [name for of_kind, name in self._by_name if of_kind == kind]

    def places(self, kind: str, name: str) -> list[Name]:
        """Return the places where something is named, in the order of the text."""
        return [one.moved(start) for start, one in self._by_name.get((kind, name), ())]

    def is_made(self, kind: str, name: str) -> bool:
        """Return whether something is made in this text."""
        return any(one.is_origin for _, one in self._by_name.get((kind, name), ()))

    @cached_property
    def package(self) -> str:
        """The package of the graph, before which its names are looked up; "" for none."""
        return next((text for part in self.parts if (text := part.root.text_of("package"))), "")

    def name_at(self, offset: int) -> Name | None:
        """Return the name at an offset, or that ends there."""
        start, part = self.part_at(offset)
        at = offset - start
        found = next((one for one in part.names if one.start <= at <= one.end), None)
        return None if found is None else found.moved(start)

    def tag_at(self, offset: int) -> Name | None:
        """Return the entry of a node or of the graph whose tag is at an offset, or ends there."""
        start, part = self.part_at(offset)
        for one in part.names:
            tag = one.tag.partition(":")[0]
            begin = start + one.start - len(one.tag) - 1
            if tag and begin <= offset <= begin + len(tag):
                return one.moved(start)
        return None

    def calculator_at(self, node: int) -> str:
        """Return the calculator of the node that begins at an offset; "" for none."""
        start, part = self.part_at(node)
        named = (
            one.name
            for one in part.names
            if one.kind == "calculator" and one.node >= 0 and one.node + start == node
        )
        return next(named, "")

    def fields(self) -> Iterator[tuple[int, Field]]:
        """Yield the graph's fields, each with the number to add to its places."""
        for start, part in zip(self.starts, self.parts, strict=True):
            for entry in part.root.entries:
                if isinstance(entry, Field):
                    yield start, entry


def _names(root: Block) -> Iterator[Name]:
    for entry in root.entries:
        if isinstance(entry, Field):
            yield from _of_field(entry)


def _of_field(field: Field) -> Iterator[Name]:
    if field.name in _NAMING:
        kind, is_output = _NAMING[field.name]
        yield from _entries(field, kind, is_origin=not is_output, node=-1)
    elif field.name == "type":
        yield from _entries(field, "calculator", is_origin=True, node=-1)
    elif field.name == "executor":
        for block in (one.value for one in single(field) if isinstance(one.value, Block)):
            for name in block.fields("name"):
                yield from _entries(name, "executor", is_origin=True, node=-1)
    elif field.name == "node":
        for one in single(field):
            if isinstance(one.value, Block):
                yield from _of_node(one.value, one.start)


def single(field: Field) -> list[Field]:
    """Return a field, or the elements of its list as fields."""
    items: list[Field] | None = getattr(field.value, "items", None)
    return [field] if items is None else items


def _of_node(block: Block, node: int) -> Iterator[Name]:
    for field in block.entries:
        if not isinstance(field, Field):
            continue
        if field.name in _NAMING:
            kind, is_output = _NAMING[field.name]
            yield from _entries(field, kind, is_origin=is_output, node=node)
        elif field.name in {"calculator", "executor"}:
            yield from _entries(field, field.name, is_origin=False, node=node)
        elif field.name == "failure" and isinstance(field.value, Block):
            for named in field.value.fields(ERROR_STREAM):
                yield from _entries(named, "stream", is_origin=True, node=node)


def _entries(field: Field, kind: str, *, is_origin: bool, node: int) -> Iterator[Name]:
    """Yield the names of a field's strings; strings in pieces or with escapes are left out."""
    for one in single(field):
        value = one.value
        if isinstance(value, Scalar) and value.is_string and len(value.pieces) == 1:
            found = _entry(value.pieces[0], value.string)
            if found is not None:
                tag, name, start = found
                yield Name(kind, name, is_origin, start, start + len(name), field.name, tag, node)


def _entry(piece: Piece, string: str) -> tuple[str, str, int] | None:
    if "\\" in string:
        return None
    tag, _, name = string.rpartition(":")
    return (tag, name, piece.start + 1 + len(string) - len(name)) if name else None
