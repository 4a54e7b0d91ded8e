"""Graphs with mistakes: the project's own graphs, changed at random, in every form that the loader takes.

A mutant depends on the corpus, a seed and a number, so that each can be made again. The corpus is every graph
of the repository: graph files, the strings of its Python files, the code blocks of its pages. Where a folder
of further graphs is there, they belong to it too.
"""

from __future__ import annotations

import ast
import copy
import json
import random
import re
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from google.protobuf.message import Message as AnyMessage

from penstock.attrs_options import attrs_name, is_attrs_options, options_classes
from penstock.config import read_definition, to_binary, to_json
from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.config.options.option_types import OptionTypes
from penstock.errors import PenstockError
from penstock.plugins.default_registry import default_registry
from penstock.registry_entries import calculator_of_entry
from penstock_templates import GraphTemplate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from penstock.registry import Registry

#: Longer ones are left out: few mistakes need them, and each takes long to load.
_LONGEST: Final = 20_000
_LOOKS_LIKE_GRAPH: Final = re.compile(r"calculator\s*:|\bnode\s*:?\s*\{|input_stream\s*:")
_CODE_BLOCK: Final = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)

_TOKEN: Final = re.compile(
    r"""\s+|\#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_]\w*|[0-9.+-][\w.+-]*|.""",
    re.DOTALL,
)

_DIGITS: Final = "1" * 5000
_NUMBERS: Final = (
    "0", "-1", "1", "2", "10000", "100000", "2147483647", "2147483648", "-2147483649", "9223372036854775807",
    "9223372036854775808", "18446744073709551616", "1e308", "1e999", "nan", "inf", "-inf", "0x7fffffff", "0x",
    "07", "1_000", "--1", ".5", "1.", "1e-400", _DIGITS,
)  # fmt: skip
_STRINGS: Final = (
    "", "\ud800", "\udcff", "\0", "\\0", "\\377", "\\xff", "\\ud800", "\\U00110000", "\\", "é", "𝒳", "\u202e",
    "\r", "a b", "a" * 5000, ":x", "x:", "A:x", "A:0:x", "A:1:x", "A:10000:x", "A:10001:x",
    f"A:{_DIGITS}:x", f"a/{_DIGITS}:x", "a:b", "Ext::x/y:z", "%", "../../etc/passwd", "/dev/zero",
    "mediapipe.X", "penstock.", ".",
    "[penstock.X.ext]", "type.googleapis.com/", "os:system", "__class__", "{}", "{0.__class__}", "%s", "\n",
)  # fmt: skip
_MARKS: Final = ("{", "}", "[", "]", "<", ">", ":", ",", ";", "%", '"', "'", "#", "/", "\\", "(", ")", "-")
_BRACKETS: Final = (
    ("{", "}"), ("[", "]"), ("(", ")"), ("<", ">"), ("node {", "}"), ("options {", "}"), ('{"node":', "}"),
)  # fmt: skip
_EXPRESSIONS: Final = (
    "% end %", "% param p : 1 %", "% param p : concat(p, p) %", "% for (i : range(3)) %", "% for (i : p) %",
    "% for (i : range(1e9)) %", "% if (p > 1) %", "% if (1 / 0) %", "% p + 1 %", "% p * p %", "% p.x %",
    "% concat(p, p) %", "% size(p) %", "% min(p, 'a') %", "% max(1, 2) %", "% lowercase(p) %", "% !p %",
    "% dict(a: 1, b: list()) %", "% list(1, 'a', dict()) %", "% range(-1) %", "% range(nan) %",
    "% 1e308 * 10 %", "% 0 / 0 %", "% 1e999 %", "% '\\ud800' %", "% '\\377' %", "% uppercase('\\xff') %",
    f"% {'(' * 80} 1 %",
    f"% {_DIGITS} %", "% p == p %", "% 1 - 'a' %", "% 5 / 2 %", "%%", "% % %",
)  # fmt: skip
_DEPTHS: Final = (2, 50, 99, 101, 1000, 10_000)


class Mutant(NamedTuple):
    """One graph with mistakes, as it is given to the loader."""

    #: What kind of graph it is: "text", "text file", "JSON", "binary", "object" and others.
    form: str
    #: Text, bytes of a file, or an object.
    source: Any
    #: What the file's name ends with; "" where the graph is given as an object.
    suffix: str = ""
    #: Whether it is given as the subgraph of another graph.
    is_inner: bool = False
    #: What a template is given for its params; None where it is given none.
    arguments: dict[str, Any] | None = None
    #: Name → graph that the graph may use.
    subgraphs: Mapping[str, Any] = MappingProxyType({})


class Corpus(NamedTuple):
    """The graphs that mutants are made of, in every form, and the pieces that are put into them."""

    #: Graph text, templates among them.
    texts: tuple[str, ...]
    #: Those that are templates.
    templates: tuple[str, ...]
    #: Serialized graphs.
    messages: tuple[bytes, ...]
    #: Serialized templates.
    binary_templates: tuple[bytes, ...]
    #: Graphs as JSON has them.
    values: tuple[Any, ...]
    #: Every word and string of the texts.
    words: tuple[str, ...]
    #: Calculators, each with the messages of options that it takes.
    options: tuple[tuple[str, Any], ...]


# --- the corpus ---------------------------------------------------------------------------------------


def read_corpus(folders: Iterable[Path]) -> Corpus:
    """Return the graphs of some folders, in an order that depends on nothing but them."""
    texts = dict.fromkeys(
        text
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if not any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts)
        for text in _texts_of(path)
        if 0 < len(text) <= _LONGEST
    )
    registry = default_registry()
    templates, messages, binary_templates, values = [], [], [], []
    for text in texts:
        try:
            found: Any = read_definition(text, registry)
            if hasattr(found, "arguments_of"):
                templates.append(text)
                message = GraphTemplate.from_text(text, registry).to_message()
                binary_templates.append(message.SerializePartialToString(deterministic=True))
                continue
            messages.append(to_binary(found.message))
            values.append(json.loads(to_json(found.message, registry)))
        except PenstockError:
            continue  # a text with mistakes is a good text here, and has no other form
    descriptors = [CalculatorGraphConfig.DESCRIPTOR, *CalculatorGraphConfig.DESCRIPTOR.nested_types]
    names = [field.name for one in descriptors for field in one.fields]
    pieces = (piece for text in texts for piece in _TOKEN.findall(text) if len(piece) > 1 and piece.strip())
    words = tuple(dict.fromkeys((*names, *pieces)))
    return Corpus(
        tuple(texts),
        tuple(templates),
        tuple(messages),
        tuple(binary_templates),
        tuple(values),
        words,
        tuple(_options_in(registry)),
    )


def _options_in(registry: Registry) -> Iterator[tuple[str, Any]]:
    """Yield the calculators that take options, each with their message class."""
    types = OptionTypes(registry)
    for name in registry.names("calculator"):
        found = registry.find("calculator", name)  # from now on its options are known
        for options in options_classes(calculator_of_entry(found)):
            full = attrs_name(options) if is_attrs_options(options) else options.DESCRIPTOR.full_name
            yield name, types.message_class(full)


def _texts_of(path: Path) -> Iterator[str]:
    """Yield the graphs in a file."""
    if path.suffix in {".pbtxt", ".textproto"}:
        yield path.read_text("utf-8", errors="replace")
    elif path.suffix == ".md":
        yield from filter(_LOOKS_LIKE_GRAPH.search, _CODE_BLOCK.findall(path.read_text("utf-8")))
    elif path.suffix == ".json":
        try:
            value = json.loads(path.read_bytes())
        except json.JSONDecodeError:  # FlatBuffers writes keys without quotes, and such files hold no graphs
            return
        yield from filter(_LOOKS_LIKE_GRAPH.search, _strings_of(value))
    elif path.suffix == ".py":
        source = path.read_text("utf-8")
        if _LOOKS_LIKE_GRAPH.search(source):  # else, as in most files, to parse it would only take time
            yield from filter(_LOOKS_LIKE_GRAPH.search, _strings_in(source))


def _strings_in(source: str) -> Iterator[str]:
    """Yield the strings in Python code, with "x" for what an f-string computes."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "x" for part in node.values]
            yield "".join(map(str, parts))


def _strings_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings_of(one)


# --- mutants ------------------------------------------------------------------------------------------


def mutant(corpus: Corpus, seed: int, number: int) -> Mutant:
    """Return the mutant of a number."""
    return _Mutation(corpus, random.Random(f"{seed}:{number}")).mutant()  # noqa: S311  # it can be made again


class _Mutation:
    """Makes one mutant."""

    def __init__(self, corpus: Corpus, chance: random.Random) -> None:
        self._corpus = corpus
        self._chance = chance

    def mutant(self) -> Mutant:
        forms: Sequence[Callable[[], Mutant]] = (
            self._text, self._text, self._text_file, self._template, self._template_with_arguments,
            self._binary, self._binary_template, self._json, self._json_text, self._object, self._message,
            self._odd, self._options, self._subgraphs,
        )  # fmt: skip
        made: Mutant = self._one(forms)()
        return made._replace(is_inner=made.arguments is None and self._perhaps(10))

    # --- the forms ------------------------------------------------------------------------------------

    def _text(self) -> Mutant:
        return Mutant("text", self._changed_text(self._one(self._corpus.texts)))

    def _text_file(self) -> Mutant:
        text = self._changed_text(self._one(self._corpus.texts)).encode("utf-8", errors="surrogatepass")
        return Mutant("text file", self._changed_bytes(text), self._one((".pbtxt", ".textproto")))

    def _template(self) -> Mutant:
        return Mutant("template", self._changed_text(self._one(self._corpus.templates)))

    def _template_with_arguments(self) -> Mutant:
        text = self._one(self._corpus.templates)
        if self._perhaps(50):
            text = self._changed_text(text)
        params = re.findall(r"%\s*param\s+(\w+)", text) or ["p"]
        arguments = {name: self._odd_value(2) for name in params if self._perhaps(70)}
        return Mutant("template with arguments", text, arguments=arguments)

    def _binary(self) -> Mutant:
        return Mutant("binary", self._changed_message(CalculatorGraphConfig), self._one((".binarypb", ".pb")))

    def _binary_template(self) -> Mutant:
        data = self._changed_bytes(self._one(self._corpus.binary_templates))
        return Mutant("binary template", data, self._one((".template.binarypb", ".template.pb")))

    def _json(self) -> Mutant:
        text = json.dumps(self._changed_value(self._one(self._corpus.values), is_json=True))
        return Mutant("JSON", text.encode(), ".json")

    def _json_text(self) -> Mutant:
        text = json.dumps(self._changed_value(self._one(self._corpus.values), is_json=True), indent=1)
        return Mutant("JSON", self._changed_text(text).encode("utf-8", errors="surrogatepass"), ".json")

    def _object(self) -> Mutant:
        return Mutant("object", self._changed_value(self._one(self._corpus.values), is_json=False))

    def _message(self) -> Mutant:
        message = CalculatorGraphConfig()
        try:
            message.ParseFromString(self._changed_message(CalculatorGraphConfig))
        except Exception:  # noqa: BLE001  # bytes that are no message have the form "binary"
            message.ParseFromString(self._one(self._corpus.messages))
        return Mutant("message", message)

    def _options(self) -> Mutant:
        """Return nodes with options of their calculators, with odd values; `option_value` copies some."""
        message = CalculatorGraphConfig(input_stream=["a"])
        for _ in range(self._one((1, 1, 2))):
            calculator, kind = self._one(self._corpus.options)
            node = message.node.add(calculator=calculator, output_stream=["b"])
            node.input_stream.append(self._one(("a", "IMAGE:a", "VIDEO:a", "DATA:a", "A:a", "ITEM:a")))
            for holder in (node.node_options, message.graph_options):
                options = kind()
                for _ in range(self._one((1, 2, 3))):
                    self._change_field(options)
                holder.add().Pack(options)
            if self._perhaps(50):
                names = [*kind.DESCRIPTOR.fields_by_name, "options", "0", "1", "x", "Ext::x", ""]
                one, other = (
                    "/".join(self._chance.choices(names, k=self._one((1, 1, 2, 3)))) for _ in range(2)
                )
                node.option_value.append(f"{one}:{self._one((one, other))}")
            packed = self._one((*node.node_options, *message.graph_options))
            if self._perhaps(30):
                packed.value = self._changed_bytes(packed.value)
        return Mutant("options", message.SerializePartialToString(), ".binarypb")

    def _subgraphs(self) -> Mutant:
        """Return a graph that uses a subgraph that uses another, and so on; the last is any graph."""
        depth, width = self._one((1, 2, 5, 10, 30, 70)), self._one((1, 1, 2, 3))
        name = self._one(("S0", "S1", f"S{depth}", "PassThroughCalculator"))  # the last may use the first
        texts = {f"S{i}": self._using(f"S{i + 1}", width) for i in range(depth)}
        texts[f"S{depth}"] = self._using(name, width) if self._perhaps(50) else self._one(self._corpus.texts)
        changed = f"S{self._chance.randrange(depth + 1)}"
        texts[changed] = self._changed_text(texts[changed])
        return Mutant("subgraphs", self._using("S0", 1), subgraphs=texts)

    @staticmethod
    def _using(name: str, count: int) -> str:
        node = 'node {{ calculator: "{}" input_stream: "s{}" output_stream: "s{}" }}\n'
        nodes = "".join(node.format(name, i, i + 1) for i in range(count))
        return f'input_stream: "s0"\noutput_stream: "s{count}"\n{nodes}'

    def _odd(self) -> Mutant:
        """Return what is no graph, or an object that says that it is one."""
        odd: Any = self._odd_value(3)
        paths = (
            "a\0b.pbtxt",
            "\ud800.json",
            "a" * 300 + ".pbtxt",
            "",
            ".",
            "/",
            "/proc/self/mem.pb",
            ".json",
        )
        if self._perhaps(30):
            odd = Path(self._one(paths))
        elif self._perhaps(30):
            odd = _Given(odd)
        return Mutant("object", odd)

    # --- text -----------------------------------------------------------------------------------------

    def _changed_text(self, text: str) -> str:
        for _ in range(self._one((1, 1, 1, 2, 2, 3, 5, 8))):
            changes = (
                self._tokens, self._tokens, self._tokens, self._lines, self._nested, self._ruled, self._cut,
                self._spliced,
            )  # fmt: skip
            change: Callable[[str], str] = self._chance.choice(changes)
            text = change(text)[: 5 * _LONGEST]
        return text

    def _tokens(self, text: str) -> str:
        """Return text of which one token was replaced, taken out, doubled or exchanged with another."""
        tokens = _TOKEN.findall(text)
        if not tokens:
            return self._piece()
        at = self._chance.randrange(len(tokens))
        meaningful = [i for i, token in enumerate(tokens) if token.strip()]
        if meaningful:
            at = self._one(meaningful)
        match self._one(("remove", "insert", "double", "exchange", "replace", "alike", "alike")):
            case "remove":
                del tokens[at]
            case "insert":
                tokens.insert(at, self._piece())
            case "double":
                tokens.insert(at, tokens[at])
            case "exchange":
                other = self._chance.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case "alike" if tokens[at][0] in "\"'":
                tokens[at] = f"{tokens[at][0]}{self._one(_STRINGS)}{tokens[at][0]}"
            case "alike" if tokens[at][0].isdigit():
                tokens[at] = self._one(_NUMBERS)
            case _:
                tokens[at] = self._piece()
        return "".join(tokens)

    def _piece(self) -> str:
        words = self._corpus.words
        piece: str = self._one(self._one((_NUMBERS, _STRINGS, _MARKS, _EXPRESSIONS, words, words)))
        return f'"{piece}"' if piece in _STRINGS else piece

    def _lines(self, text: str) -> str:
        """Return text of which some lines were doubled, taken out, moved or mixed with those of another."""
        lines = text.splitlines(keepends=True) or [""]
        start = self._chance.randrange(len(lines))
        end = min(len(lines), start + self._one((1, 1, 2, 5, 20)))
        part = lines[start:end]
        match self._one(("remove", "double", "shuffle", "mix", "rule")):
            case "remove":
                del lines[start:end]
            case "double":
                lines[start:start] = part * self._one((1, 1, 2, 10, 100))
            case "shuffle":
                self._chance.shuffle(part)
                lines[start:end] = part
            case "mix":
                others = self._one(self._corpus.texts).splitlines(keepends=True)
                at = self._chance.randrange(len(others))
                lines[start:start] = others[at : at + len(part)]
            case _:
                lines.insert(start, f"{self._one(_EXPRESSIONS)}\n")
        return "".join(lines)

    def _nested(self, text: str) -> str:
        """Return text with a part in many brackets."""
        start, end = sorted(self._chance.randrange(len(text) + 1) for _ in range(2))
        left, right = self._one(_BRACKETS)
        depth = self._one(_DEPTHS)
        closed = right * (depth if self._perhaps(80) else depth - 1)
        return f"{text[:start]}{left * depth}{text[start:end]}{closed}{text[end:]}"

    def _ruled(self, text: str) -> str:
        """Return text inside of loops or conditions, or with params that grow."""
        if self._perhaps(20):
            growing = "".join(f"% param p{i + 1} : concat(p{i}, p{i}) %\n" for i in range(self._one((3, 30))))
            return f'% param p0 : "a" %\n{growing}{text}\ntype: % p3 %'
        rule = self._one(
            ("% for (i : range(3)) %", "% for (i : range(10000)) %", "% for (i : p) %", "% if (1) %")
        )
        count = self._one((1, 1, 2, 3, 65))
        return f"{count * rule}\n{text}\n{count * '% end %'}"

    def _cut(self, text: str) -> str:
        at = self._chance.randrange(len(text) + 1)
        return text[:at] if self._perhaps(70) else text[at:]

    def _spliced(self, text: str) -> str:
        other = self._one(self._corpus.texts)
        at, from_there = (self._chance.randrange(len(one) + 1) for one in (text, other))
        return f"{text[:at]}{other[from_there:]}"

    # --- bytes ----------------------------------------------------------------------------------------

    def _changed_bytes(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(self._one((0, 1, 1, 2, 4, 16))):
            at = self._chance.randrange(len(changed) + 1)
            size = self._one((1, 1, 2, 8, 64))
            match self._one(("flip", "replace", "remove", "double", "end", "fill")):
                case "flip" if at < len(changed):
                    changed[at] ^= 1 << self._chance.randrange(8)
                case "replace":
                    changed[at : at + size] = self._chance.randbytes(size)
                case "remove":
                    del changed[at : at + size]
                case "double":
                    changed[at:at] = changed[at : at + size] * self._one((1, 2, 50))
                case "end":
                    del changed[at:]
                case _:
                    changed[at : at + size] = b"\xff" * size
        return bytes(changed)

    def _changed_message(self, kind: Any) -> bytes:
        """Return a serialized graph of which fields were changed, added or taken out, or its bytes."""
        message = kind()
        message.ParseFromString(self._one(self._corpus.messages))
        for _ in range(self._one((0, 1, 1, 2, 4))):
            self._change_field(message)
        data: bytes = message.SerializePartialToString()
        if self._perhaps(50):
            for _ in range(self._one((1, 2))):  # a string of the same length keeps the structure
                word = self._one([*re.findall(rb"[\w.:/]{3,}", data), b"node"])
                data = data.replace(word, self._chance.randbytes(len(word)), 1)
            return data
        return self._changed_bytes(data)

    def _change_field(self, message: Any) -> None:
        inner = [
            one
            for _, value in message.ListFields()
            for one in (value if hasattr(value, "add") else [value])
            if isinstance(one, AnyMessage)
        ]
        if inner and self._perhaps(80):
            self._change_field(self._one(inner))
            return
        if not message.DESCRIPTOR.fields:
            return
        field = self._one(message.DESCRIPTOR.fields)
        if self._perhaps(20):
            message.ClearField(field.name)
            return
        value: Any = getattr(message, field.name)
        if field.message_type is not None:
            made = value.add() if hasattr(value, "add") else value
            if hasattr(made, "SetInParent"):
                made.SetInParent()
            return
        # Not with lone surrogates: protobuf crashes where an enum is given such a name.
        texts = [text for text in _STRINGS if text.isascii() or text.isprintable()]
        odd = self._one((*map(int, _NUMBERS[:12]), 1.5, True, b"\xff\xfe", *texts))
        try:
            if hasattr(value, "append"):
                value.append(odd)
            else:
                setattr(message, field.name, odd)
        except (TypeError, ValueError, OverflowError):
            return  # the field takes no such value: the message stays as it is

    # --- JSON and objects -----------------------------------------------------------------------------

    def _changed_value(self, value: Any, *, is_json: bool) -> Any:
        value = copy.deepcopy(value)
        for _ in range(self._one((1, 1, 2, 4))):
            places = list(_places_in(value))
            if not places:
                return self._odd_value(0 if is_json else 3)
            holder, key = self._one(places)
            odd = self._odd_value(0 if is_json else 2)
            match self._one(("remove", "copy", "rename", "nest", "replace", "replace")):
                case "remove":
                    del holder[key]
                case "copy":
                    holder[key] = copy.deepcopy(self._one([part[at] for part, at in places]))
                case "rename" if isinstance(holder, dict):
                    holder[self._odd_key(is_json=is_json)] = holder.pop(key)
                case "rename":
                    holder.append(odd)
                case "nest":
                    holder[key] = self._deep(holder[key])
                case _:
                    holder[key] = odd
        return value

    def _deep(self, value: Any) -> Any:
        for _ in range(self._one((1, 40, 90))):
            value = [value] if self._perhaps(30) else {"node": value}
        return value

    def _odd_key(self, *, is_json: bool) -> Any:
        keys = ("@type", "[penstock.X.ext]", "value", *_STRINGS, self._one(self._corpus.words).strip("\"'"))
        return self._one(
            keys if is_json else (*keys, 1, None, 1.5, (1, 2), b"node", True, PurePosixPath("a"))
        )

    def _odd_value(self, oddity: int) -> Any:
        """Return a value: one that JSON has where the oddity is 0, else any Python object."""
        plain: tuple[Any, ...] = (
            None, True, False, 0, -1, 1.5, 2**31, 2**63, 2**64, 10**400, 1e308, float("nan"), float("inf"),
            [], {}, [[]], [{}], {"@type": 1}, {"@type": "x"}, {"@type": "\ud800"}, {"@type": None},
            {"value": 1}, [None],
            self._one(_STRINGS), self._one(_NUMBERS[:-1]), self._one(self._corpus.words).strip("\"'"),
        )  # fmt: skip
        if self._perhaps(10):
            return copy.deepcopy(self._one(self._corpus.values))
        if not oddity or self._perhaps(40):
            return self._one(plain)
        cycle: dict[str, Any] = {"calculator": "x"}
        cycle["node"] = [cycle]
        objects = (
            (), (1, "a"), b"x", bytearray(b"\xff"), {1, 2}, object(), int, Mutant, 1j, range(3), {1: 2},
            {None: 1},
            {"node": ({"calculator": "x"},)}, cycle, iter([1]), lambda: None, Path("a"), _Given(1), _Given,
            CalculatorGraphConfig, CalculatorGraphConfig.Node(), _Text("node {}"),
        )  # fmt: skip
        return self._one(objects)

    def _one(self, of: Sequence[Any]) -> Any:
        return self._chance.choice(of)

    def _perhaps(self, percent: int) -> bool:
        return self._chance.randrange(100) < percent


class _Given:
    """An object that says that it is a graph."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph

    def to_config(self) -> Any:
        return self.graph


class _Text(str):
    """A str of a class of its own."""

    __slots__ = ()


def _places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each place inside a value, as the object that has it and its key there."""
    work, seen = [value], set[int]()
    while work:
        one = work.pop()
        if not isinstance(one, (dict, list)) or id(one) in seen:
            continue
        seen.add(id(one))
        for key in list(one) if isinstance(one, dict) else range(len(one)):
            yield one, key
            work.append(one[key])
