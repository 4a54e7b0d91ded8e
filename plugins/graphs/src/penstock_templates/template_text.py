"""The text of a template, read into rules, a graph with placeholders, and the places of both.

protobuf reads the graph text itself. Here its brackets and names are followed, as far as rules need it, and
every rule is taken out. What remains is ordinary graph text in which everything is where it was:

    % for (i : range(3)) % node { name: % i % } % end %
                           node { name: "1" }

A field that does not repeat may have several values where it stands inside "for" or "if". So its value is
taken out too and read as a fragment of its own.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import attrs

from penstock.limits import current
from penstock.readers import Spot, Token, tokens_of
from penstock_templates import field_values
from penstock_templates.expression import Rule, RuleError, read_directive, read_value, unquoted
from penstock_templates.rule_paths import KEY, Step, spelled_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.readers import Message, ReaderFindType

_OPENING: Final = {"{": "}", "<": ">"}
#: Keys of a map's entries until their values are known: no two entries may have the same key.
_PLACEHOLDERS: Final = string.digits[1:] + string.ascii_letters


@attrs.frozen(eq=False)
class Fragment:
    """The text of one field that is read apart from the graph."""

    #: Position of the outermost rule around the field.
    rule: int
    #: Its descriptor.
    field: field_values.Field
    #: Ordinary text of that field alone.
    text: str
    #: Where the field begins in the whole text.
    offset: int
    #: Where the field and the fields inside it stand.
    spot: Spot


@attrs.frozen(eq=False)
class TemplateText:
    """What one pass over the text of a template found."""

    #: TemplateExpressions with path and type, without values, in the order of the text.
    rules: list[Message]
    #: Where each rule begins.
    offsets: list[int]
    #: Ordinary graph text, in which everything has the line and column that it had.
    text: str
    #: The fields that are not in `text`.
    fragments: list[Fragment]
    #: Where the fields of `text` stand.
    root: Spot
    #: Where the text cannot be followed any further, or None. protobuf reports why.
    lost: int | None
    #: Place of a bracket that nothing closes, or None.
    unclosed: int | None
    #: Where a rule for an unknown field begins, or None. protobuf reports why, except for groups.
    unfound: int | None

    def check(self) -> None:
        """Raise RuleError where protobuf took the text, and the rules in it could not be followed."""
        if self.lost is not None:
            raise RuleError(self.lost, "the text of the template cannot be followed from here on")
        if self.unfound is not None:
            raise RuleError(self.unfound, "a rule in the text of the template cannot stand inside a group")


def scan_template(text: str, graph: Any, find: ReaderFindType) -> TemplateText:
    """Read the text of a template.

    Args:
        text: with our package's names.
        graph: the descriptor of CalculatorGraphConfig.
        find: finds the types that the text names.

    Raises:
        RuleError: a rule cannot be read, or stands where no rule can.
    """
    scan = _Scan(text, find)
    root = Spot(0)
    lost = unclosed = None
    try:
        scan.body(_Scope(graph, (), root), None)
    except _LostError as error:
        lost, unclosed = error.offset, error.unclosed
    unfound = (entry.offset for entry in scan.rules if any(one.number == 0 for one in entry.path or ()))
    return TemplateText(
        [entry.finished() for entry in scan.rules],
        [entry.offset for entry in scan.rules],
        scan.buffer.rendered(0, len(text)),
        scan.fragments,
        root,
        lost,
        unclosed,
        next(unfound, None),
    )


class _LostError(Exception):
    """The text cannot be followed from here on. The bracket around this place may be unclosed."""

    def __init__(self, offset: int, unclosed: int | None = None) -> None:
        super().__init__(offset)
        self.offset = offset
        self.unclosed = unclosed


@attrs.define(eq=False)
class _Place:
    """A step of a path. It may get its key later: the key of a map's entry stands inside the entry."""

    number: int
    index: int
    key: str | None = None
    key_type: int | None = None


@attrs.define(eq=False)
class _RuleEntry:
    """A rule, and the path to its field as soon as the path is known."""

    rule: Rule
    offset: int
    path: tuple[_Place, ...] | None = None
    field_type: int = 0

    def finished(self) -> Message:
        expression: Message = self.rule.expression
        if self.path is not None:
            steps = [Step(place.number, place.index, place.key) for place in self.path]
            expression.path = spelled_path(steps)
            expression.field_type = self.field_type
            expression.key_type.extend(one.key_type for one in self.path if one.key_type is not None)
        return expression


@attrs.define(eq=False)
class _Scope:
    """The inside of one message."""

    #: The descriptor of the message; None where its type is unknown, which protobuf reports.
    descriptor: Any
    #: From the graph.
    path: tuple[_Place, ...]
    #: Where its fields stand.
    spot: Spot
    #: field's name → how many values of it there were.
    counts: dict[str, int] = attrs.field(factory=dict)
    #: The step to the message where it is the entry of a map.
    entry: _Place | None = None
    #: The keys of the entries of its maps so far, placeholders included. An entry has the list of the message
    #: around it.
    keys: list[str] = attrs.field(factory=list)

    def count(self, name: str) -> int:
        """Return how many values of a field there were, and count one more."""
        before = self.counts.get(name, 0)
        self.counts[name] = before + 1
        return before


class _Named(NamedTuple):
    """The name of a field, and its descriptor, or that of the packed message."""

    name: str
    offset: int
    field: field_values.Field | None
    packed: Any


class _Buffer:
    """Text with replacements that keep every line and column."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._edits: list[tuple[int, int, str]] = []

    def replace(self, start: int, end: int, by: str = "") -> None:
        """Replace a part by a text that is no longer. The part is after all that were replaced before."""
        lines = self._text[start:end].split("\n")
        if len(lines) == 1:
            self._edits.append((start, end, by.ljust(end - start)))
        else:
            self._edits.append((start, end, by + "\n" * (len(lines) - 1) + " " * len(lines[-1])))

    def take_over(self, other: _Buffer) -> None:
        """Make the replacements of another buffer too. They are after those of this one."""
        self._edits += other._edits

    def rendered(self, start: int, end: int) -> str:
        """Return a part with its replacements."""
        pieces = []
        done = start
        for begin, stop, by in self._edits:
            if begin >= done and stop <= end:
                pieces += [self._text[done:begin], by]
                done = stop
        return "".join((*pieces, self._text[done:end]))


class _Scan:
    """One pass over the tokens, by recursion into brackets."""

    def __init__(self, text: str, find: ReaderFindType) -> None:
        self._text = text
        self._find = find
        self._tokens: Sequence[Token] = tokens_of(text)
        self._next = 0
        self.buffer = _Buffer(text)
        self.rules: list[_RuleEntry] = []
        self.fragments: list[Fragment] = []

    def body(self, scope: _Scope, opening: Token | None) -> None:
        """Read fields and rules up to the bracket that closes `opening`, which is taken, or to the end."""
        closing = None if opening is None else _OPENING[opening.text]
        while (token := self._peek()) is not None:
            if token.text == closing:
                self._next += 1
                return
            if token.text in (",", ";"):
                self._next += 1
            elif token.text == "%":
                self._directives(scope)
            else:
                self._field(scope)
        if opening is not None:
            raise _LostError(len(self._text), opening.offset)

    # --- rules that stand where a field may ------------------------------------------------------

    def _directives(self, scope: _Scope) -> None:
        """Read one declaration, or the rules around one field and that field."""
        first = len(self.rules)
        opened: list[tuple[str, int]] = []
        while (token := self._peek()) is not None and token.text == "%":
            rule = self._rule(read_directive)
            if rule.op == "end":
                what = f"{opened[-1][0]!r} has no field" if opened else "nothing is open that this could end"
                raise RuleError(token.offset, what)
            if rule.op == "param":
                if opened:
                    words = f"a param inside {opened[-1][0]!r}; declare it before, outside of 'for' and 'if'"
                    raise RuleError(token.offset, words)
                return
            opened.append((rule.op, token.offset))
            most = current().depth
            if len(opened) > most:
                words = f"more than {most} rules around one field; join conditions by &&"
                raise RuleError(token.offset, words)
        if token is None or token.text in ("}", ">"):
            raise RuleError(
                opened[-1][1],
                f"{opened[-1][0]!r} has no field in the text of the template; a field and % end % follow it",
            )
        self._field(scope, first)
        for op, offset in reversed(opened):
            self._end(op, offset)

    def _end(self, op: str, offset: int) -> None:
        token = self._peek()
        while token is not None and token.text in (",", ";"):
            self.buffer.replace(token.offset, token.offset + 1)
            self._next += 1
            token = self._peek()
        if token is None:
            raise RuleError(
                offset,
                f"this {op!r} is never ended in the text of the template; write % end % behind its field",
            )
        if token.text != "%" or read_directive(self._text, token.offset).op != "end":
            words = f"{op!r} is for one field; end it with % end %, and open another one for the next field"
            raise RuleError(token.offset, words)
        self._skip(read_directive(self._text, token.offset).end)

    def _rule(self, read: Any, by: str = "") -> Rule:
        token = self._tokens[self._next]
        rule: Rule = read(self._text, token.offset)
        if rule.op != "end":
            self.rules.append(_RuleEntry(rule, token.offset))
        self._skip(rule.end, by)
        return rule

    def _skip(self, end: int, by: str = "") -> None:
        """Take all tokens up to an offset out of the text."""
        start = self._tokens[self._next].offset
        while self._next < len(self._tokens) and self._tokens[self._next].offset < end:
            self._next += 1
        self.buffer.replace(start, end, by)

    def _locate(self, first: int, path: tuple[_Place, ...], field: field_values.Field | None) -> None:
        """Give the rules from `first` on the path of their field."""
        for entry in self.rules[first:]:
            if entry.path is None and entry.rule.op != "param":
                entry.path = path
                entry.field_type = 0 if field is None else field.type

    # --- fields -----------------------------------------------------------------------------------

    def _field(self, scope: _Scope, first: int | None = None) -> None:
        """Read one field.

        Args:
            scope: the message that it is in.
            first: position of the first rule around it; None where there is no rule.
        """
        named = self._name(scope)
        field = named.field
        if first is not None and field is not None and not field_values.is_repeated(field):
            self._apart(scope, named, first)
            return
        if first is not None and named.packed is not None:
            words = f"a rule around what an Any holds; put it around the field that has {named.name}"
            raise RuleError(self.rules[first].offset, words)
        self._assigned(scope, named, scope.spot, first)

    def _apart(self, scope: _Scope, named: _Named, first: int) -> None:
        """Read a field into a fragment, and take it out of the text."""
        outer, self.buffer = self.buffer, _Buffer(self._text)
        inner = Spot(named.offset)
        try:
            self._assigned(scope, named, inner, first)
        except _LostError:
            outer.take_over(self.buffer)
            self.buffer = outer
            raise
        end = self._end_of(self._tokens[self._next - 1])
        text = self.buffer.rendered(named.offset, end)
        self.buffer = outer
        self.buffer.replace(named.offset, end)
        spot = inner.fields[named.name][0]
        self.fragments.append(Fragment(first, named.field, text, named.offset, spot))

    def _assigned(self, scope: _Scope, named: _Named, spot: Spot, first: int | None) -> None:
        """Read what follows a field's name."""
        if self._is_next(":"):
            self._next += 1
        if not self._is_next("["):
            self._value(scope, named, spot.add(named.name, named.offset), first)
            return
        bracket = self._take()
        if first is not None:
            raise RuleError(
                bracket.offset,
                f"the text of the template has a list inside {self.rules[first].rule.op!r}; give one value",
            )
        while not self._is_next("]"):
            if self._is_next(","):
                self._next += 1
                continue
            element = self._peek() or self._lose()
            self._value(scope, named, spot.add(named.name, element.offset), None)
        self._next += 1

    def _value(self, scope: _Scope, named: _Named, spot: Spot, first: int | None) -> None:
        token = self._peek() or self._lose()
        field = named.field
        place = _Place(0 if field is None else field.number, scope.count(named.name))
        if named.packed is not None:
            place = _Place(field_values.ANY_VALUE, 0)
        path = (*scope.path, place)
        before = len(self.rules) if first is None else first
        if token.text == "%":
            self._expression(scope, named, path, before)
            return
        self._locate(before, path, field)
        if token.text in _OPENING:
            self._next += 1
            inside = _Scope(self._inside(named), path, spot)
            if field is not None and field_values.is_map(field):
                inside.entry = place
                inside.keys = scope.keys
            self.body(inside, token)
        else:
            self._scalar(scope, named)

    def _expression(self, scope: _Scope, named: _Named, path: tuple[_Place, ...], first: int) -> None:
        offset = self._tokens[self._next].offset
        if named.packed is not None:
            raise RuleError(
                offset, f"{named.name} in the text of the template is a message; give values to its fields"
            )
        by = self._placeholder(scope, named)
        rule = self._rule(read_value, by)
        if len(by) > rule.end - offset:
            raise RuleError(
                offset,
                f"this rule in the text of the template is shorter than the {by} that stands for it; put "
                "blanks inside",
            )
        self._locate(first, path, named.field)

    def _placeholder(self, scope: _Scope, named: _Named) -> str:
        """Return text that protobuf reads as a value of the field."""
        field = named.field
        if field is None:
            return "1"
        if scope.entry is not None and field.number == KEY:
            key = self._free_key(scope, is_text=field_values.is_text(field))
            self._set_key(scope, field, key)
            return f'"{key}"' if field_values.is_text(field) else key
        if field.message_type is not None:
            return "{}"
        if field.enum_type is not None:
            numbers = field.enum_type.values_by_number
            return str(1 if 1 in numbers else min(numbers, key=lambda number: len(str(number))))
        return '"1"' if field_values.is_text(field) else "1"

    def _scalar(self, scope: _Scope, named: _Named) -> None:
        token = self._take()
        if token.text in ("-", "+") and self._next < len(self._tokens):
            token = self._take()
        if token.kind == "mark":
            raise _LostError(token.offset)
        literals = [token.text]
        # Literals that follow one another are one string.
        while token.kind == "string" and self._next < len(self._tokens):
            if self._tokens[self._next].kind != "string":
                break
            literals.append(self._take().text)
        if scope.entry is not None and named.field is not None and named.field.number == KEY:
            is_text = token.kind == "string"
            key = "".join(map(unquoted, literals)) if is_text else token.text
            self._set_key(scope, named.field, key)

    # --- the keys of maps -------------------------------------------------------------------------

    @staticmethod
    def _set_key(scope: _Scope, field: field_values.Field, key: str) -> None:
        if scope.entry is not None:
            scope.entry.key, scope.entry.key_type = key, field.type
            scope.keys.append(key)

    @staticmethod
    def _free_key(scope: _Scope, *, is_text: bool) -> str:
        candidates: Iterator[str] = iter(_PLACEHOLDERS) if is_text else map(str, range(1, 1000))
        return next((key for key in candidates if key not in scope.keys), "0")

    # --- tokens -----------------------------------------------------------------------------------

    def _name(self, scope: _Scope) -> _Named:
        token = self._take()
        name = token.text
        if name == "[":
            parts = []
            while not self._is_next("]"):
                parts.append(self._take().text)
            self._next += 1
            name = f"[{''.join(parts)}]"
        elif token.kind != "word":
            raise _LostError(token.offset)
        if scope.descriptor is None:
            return _Named(name, token.offset, None, None)
        packed = field_values.packed_type(scope.descriptor, name, self._find)
        field = None if packed is not None else field_values.field_named(scope.descriptor, name)
        return _Named(name, token.offset, field, packed)

    @staticmethod
    def _inside(named: _Named) -> Any:
        if named.packed is not None:
            return named.packed
        return None if named.field is None else named.field.message_type

    @staticmethod
    def _end_of(token: Token) -> int:
        return token.offset + len(token.text)

    def _peek(self) -> Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self) -> Token:
        token = self._peek() or self._lose()
        self._next += 1
        return token

    def _is_next(self, text: str) -> bool:
        token = self._peek()
        if token is None:
            raise _LostError(len(self._text))
        return token.text == text

    def _lose(self) -> NoReturn:
        raise _LostError(len(self._text))
