"""Reads graph text into a `Document`. Broken text is read too, as far as it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.error_text import quoted
from penstock.readers import Token, tokens_of
from penstock_format.tree import Block, Comment, Document, Field, Items, Piece, Rule, Scalar, TreeMistake

if TYPE_CHECKING:
    from penstock_format.tree import Value

_CLOSING: Final = {"{": "}", "<": ">"}
_SEPARATORS: Final = (",", ";")
#: Messages of a graph that no message inside of one has: where a line begins with one, a bracket is missing.
_OF_GRAPHS: Final = ("node", "executor")
_QUOTES: Final = ("'", '"')
#: Deeper text is refused; protobuf's own readers refuse it at about this depth.
_DEEPEST: Final = 100


class _TooDeepError(Exception):
    """The brackets are nested too deep to be followed."""


def read_tree(text: str) -> Document:
    """Read graph text, or that of a template.

    Never fails: what cannot be read is left out of the tree, and is one of the document's mistakes. Where a
    bracket is never closed, it ends before a line that begins with `node {` or `executor {`.

    Raises:
        ResourceExhaustedError: the text has more tokens than the limit "tokens".
    """
    tokens = [*tokens_of(text), Token("end", "", len(text))]
    document, is_whole = _document(text, tokens, mends=False)
    return document if is_whole else _document(text, tokens, mends=True)[0]


def _document(text: str, tokens: list[Token], *, mends: bool) -> tuple[Document, bool]:
    """Return the tree, and whether every bracket is closed."""
    reader = _Reader(text, tokens, mends=mends)
    root = Block(0, end=len(text), is_closed=True)
    try:
        reader.fields(root, None, 0)
    except _TooDeepError:
        at = reader.offset
        reader.mistakes.append(TreeMistake(at, at + 1, "its brackets are nested too deep"))
    root.closing += reader.comments()
    mistakes = sorted(reader.mistakes, key=lambda one: (one.start, one.end))
    return Document(text, root, mistakes), not reader.is_open


class _Reader:
    """One pass over the tokens, by recursion into brackets."""

    def __init__(self, text: str, tokens: list[Token], *, mends: bool) -> None:
        self._text = text
        self._tokens = tokens
        self._mends = mends
        self._next = 0
        self._done = 0
        #: The comments above what comes next.
        self._above: list[Comment] = []
        #: Whether a blank line stands before what comes next.
        self._blank = False
        #: The comment on the line of the token that was taken last.
        self._behind = ""
        self.mistakes: list[TreeMistake] = []
        #: Whether a bracket is never closed.
        self.is_open = False
        self._look_between()

    @property
    def offset(self) -> int:
        """Where the next token begins."""
        return self._peek.offset

    def comments(self) -> list[Comment]:
        """Take the comments before the next token."""
        behind = self._take_behind()
        above, self._above, self._blank = self._above, [], False
        return [Comment(behind, blank_before=False), *above] if behind else above

    # --- fields -------------------------------------------------------------------------------------

    def fields(self, block: Block, closing: str | None, depth: int) -> None:
        """Read fields up to the bracket `closing`, which is taken, or to the end."""
        if depth > _DEEPEST:
            raise _TooDeepError
        while (token := self._peek).kind != "end":
            if token.text == closing:
                self._close(block)
                return
            if closing is not None and self._begins_graph_field(token):
                break
            if token.text == "%":
                block.entries.append(self._directive())
            elif token.kind == "word" or token.text == "[":
                block.entries.append(self._field(depth))
            else:
                self._refuse(token, "the name of a field")
        if closing is not None:
            self._unclosed(block)

    def _field(self, depth: int) -> Field:
        start, blank, comments = self._peek.offset, self._blank, self.comments()
        name = self._name()
        field = Field(name, start, self._done, comments=comments, blank_before=blank, end=self._done)
        has_colon = self._peek.text == ":"
        if has_colon:
            self._take()
        is_list = self._peek.text == "[" and (has_colon or not (self._mends and self._is_new_line()))
        # Comments between the name and the value go above both.
        comments += [Comment(one.text, blank_before=False) for one in self.comments()]
        field.value = self._list(name, depth) if is_list else self._value(name, depth, has_colon=has_colon)
        if field.value is None:
            self._mistake(start, field.name_end, f"field {quoted(name)} has no value")
        self._ended(field)
        return field

    def _ended(self, field: Field) -> None:
        """Note where a field ends, and take the separators and the comment behind it."""
        field.end = self._done
        field.trailing = self._take_behind()
        while self._peek.text in _SEPARATORS:
            self._take()
            field.trailing = field.trailing or self._take_behind()

    def _directive(self) -> Rule:
        start, blank, comments = self._peek.offset, self._blank, self.comments()
        text = self._rule()
        return Rule(text, start, self._done, comments, blank, self._take_behind())

    def _rule(self) -> str:
        """Take a rule with both percent signs, and return its text, on one line."""
        start = self._take().offset
        while (
            self._peek.kind != "end" and self._peek.text != "%" and not self._begins_graph_field(self._peek)
        ):
            self._take()
        if self._peek.text == "%":
            self._take()
        else:
            self._mistake(start, start + 1, "this '%' opens a rule that no second '%' closes")
        return " ".join(line.strip() for line in self._text[start : self._done].split("\n"))

    def _name(self) -> str:
        token = self._take()
        if token.text != "[":
            return token.text
        parts = ["["]
        while self._peek.kind in {"word", "number"} or self._peek.text in {".", "/", "-"}:
            parts.append(self._take().text)
        if self._peek.text == "]":
            parts.append(self._take().text)
        else:
            self._mistake(token.offset, self._done, "the bracket of this name is never closed")
            parts.append("]")
        return "".join(parts)

    # --- values -------------------------------------------------------------------------------------

    def _value(self, name: str, depth: int, *, has_colon: bool = True) -> Value | None:
        token = self._peek
        if token.text in _CLOSING:
            return self._block(depth)
        if token.text == "%":
            return Scalar([Piece(self._rule(), token.offset, [])], on_one_line=True)
        is_cut = token.kind == "mark" and token.text.startswith(_QUOTES)
        if is_cut:
            self._mistake(token.offset, token.offset + len(token.text), "this string is never closed")
        elif token.kind not in {"string", "word", "number"} or self._is_next_field(
            token, has_colon=has_colon
        ):
            return None
        if not has_colon:
            self._mistake(token.offset, token.offset, f"a colon is missing behind {quoted(name)}")
        return self._scalar()

    def _is_next_field(self, token: Token, *, has_colon: bool) -> bool:
        """Return whether a word is the name of the next field, since the one before has no value yet."""
        if token.kind != "word":
            return False
        following = self._tokens[self._next + 1].text
        return not has_colon or following in {":", "{"} or (following == "[" and self._is_new_line())

    def _is_new_line(self) -> bool:
        """Return whether the next token begins a line."""
        return "\n" in self._text[self._done : self.offset]

    def _scalar(self) -> Scalar:
        first = self._take()
        text = first.text
        if text in {"-", "+"} and self._peek.kind in {"word", "number"}:
            text += self._take().text
        pieces = [Piece(text, first.offset, [])]
        while first.kind == "string" and self._peek.kind == "string":
            comments = self.comments()
            token = self._take()
            pieces.append(Piece(token.text, token.offset, comments))
        on_one_line = "\n" not in self._text[first.offset : self._done]
        return Scalar(pieces, on_one_line)

    def _block(self, depth: int) -> Block:
        token = self._take()
        block = Block(token.offset, opening=self._take_behind())
        self.fields(block, _CLOSING[token.text], depth + 1)
        block.on_one_line = "\n" not in self._text[block.start : block.end]
        return block

    def _list(self, name: str, depth: int) -> Items:
        if depth > _DEEPEST:
            raise _TooDeepError
        found = Items(self._take().offset)
        found.opening = self._take_behind()
        while (token := self._peek).kind != "end" and not self._begins_graph_field(token):
            if token.text == "]":
                self._close(found)
                break
            start, blank, comments = token.offset, self._blank, self.comments()
            field = Field(name, start, start, comments=comments, blank_before=blank, end=start)
            field.value = self._value(name, depth + 1)
            if field.value is None:
                if token.text in _CLOSING.values() or token.kind == "word":
                    break
                self._refuse(token, "a value or ']'")
                continue
            found.items.append(field)
            self._ended(field)
        if not found.is_closed:
            self._unclosed(found)
        found.on_one_line = "\n" not in self._text[found.start : found.end]
        return found

    def _close(self, one: Block | Items) -> None:
        one.closing = self.comments()
        self._take()
        one.end, one.is_closed = self._done, True

    # --- tokens -------------------------------------------------------------------------------------

    @property
    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._tokens[self._next]
        self._next += 1
        self._done = token.offset + len(token.text)
        self._look_between()
        return token

    def _look_between(self) -> None:
        """Read the comments and blank lines between the token that was taken and the next one."""
        between = self._text[self._done : self._peek.offset]
        if not between or between == " ":
            return
        lines = between.split("\n")
        first, last = lines[0].strip(), len(lines) - 1
        if first and self._next:
            self._above += [Comment(self._behind, blank_before=False)] if self._behind else []
            self._behind = first
        elif first:
            self._above.append(Comment(first, blank_before=False))
        for number, line in enumerate(lines[1:], 1):
            if stripped := line.strip():
                self._above.append(Comment(stripped, self._blank))
                self._blank = False
            elif number < last:
                self._blank = True

    def _take_behind(self) -> str:
        """Take the comment on the line of the last token; return "" where there is none."""
        behind, self._behind = self._behind, ""
        return behind

    def _begins_graph_field(self, token: Token) -> bool:
        """Return whether a token begins a line with a message that only a graph has, and that is a mend."""
        if not self._mends or token.text not in _OF_GRAPHS:
            return False
        at = token.offset
        following = self._tokens[self._next + 1].text
        return (at == 0 or self._text[at - 1] == "\n") and following in {"{", ":", "<"}

    def _unclosed(self, one: Block | Items) -> None:
        self.is_open = True
        self._mistake(one.start, one.start + 1, "this bracket is never closed")
        one.end = self._done

    def _refuse(self, token: Token, expected: str) -> None:
        end = token.offset + len(token.text)
        self._mistake(token.offset, end, f"found {quoted(token.text)}, expected {expected}")
        self._take()

    def _mistake(self, start: int, end: int, words: str) -> None:
        self.mistakes.append(TreeMistake(start, end, words))
