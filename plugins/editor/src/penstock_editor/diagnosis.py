"""Finds faults in a graph file: quickly, from its tree, and in full, as `penstock validate` and `lint` do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from penstock.config import build_plan
from penstock.error_text import near_names
from penstock.errors import GraphConfigError, PenstockError, UnknownNameError
from penstock.readers import end_of_field, place_words
from penstock_editor.forms import JSON
from penstock_lint import lint_graph

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from penstock import Registry
    from penstock_editor.graph_text import GraphText, Name
    from penstock_editor.knowledge import Knowledge
    from penstock_lint import Finding

_MEANT: Final = re.compile(r"did you mean '([^']+)'")
#: How many remarks of one kind are made.
_MOST: Final = 200


@dataclass(frozen=True)
class Cure:
    """A change that mends something."""

    title: str
    #: `start`, `end`, `text`: the piece that is replaced, and the new text.
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Remark:
    """One thing that is wrong, or looks so."""

    start: int
    end: int
    words: str
    #: "error" or "warning".
    level: str
    #: Of the rule; "" for none.
    code: str = ""
    cures: tuple[Cure, ...] = ()


def quick(graph: GraphText, knowledge: Knowledge, own: Collection[str] = ()) -> list[Remark]:
    """Return what can be said without loading the graph: mistakes of the text, names that nothing has.

    Args:
        graph: the graph, broken or not.
        knowledge: of the installed components.
        own: calculators that may exist although nothing has registered them.
    """
    found = [Remark(one.start, max(one.end, one.start + 1), one.words, "error") for one in graph.mistakes]
    return [
        *found[:_MOST],
        *_unknown(graph, knowledge, own),
        *([] if graph.is_template else _unwritten(graph)),
    ]


def full(
    graph: GraphText, registry: Registry, path: Path | None = None, own: Collection[str] = ()
) -> list[Remark]:
    """Return the faults of a graph, or, where it has none, what the rules of `penstock lint` find.

    Args:
        graph: without mistakes of its text; others are reported one at a time.
        registry: finds components, subgraphs beside the file included.
        path: of the file; None for none.
        own: calculators that may exist although nothing has registered them; a graph that has some is not
            looked at by the rules.
    """
    text = graph.text.replace("\r\n", " \n")  # the same places
    if graph.form is not JSON:
        return _full(graph, text, registry, path, own)
    with TemporaryDirectory(prefix="penstock-editor-") as folder:  # JSON is read from files
        file = Path(folder) / "graph.json"
        file.write_bytes(text.encode("utf-8", "replace"))
        return _full(graph, file, registry, file, own)


def _full(
    graph: GraphText, source: str | Path, registry: Registry, path: Path | None, own: Collection[str]
) -> list[Remark]:
    try:
        build_plan(source, registry)
    except GraphConfigError as error:
        faults = [one for one in error.faults if not _is_of_own(one, own)]
        return [_fault(graph, one, path) for one in faults[:_MOST]]
    except PenstockError as error:
        return [] if _is_of_own(error, own) else [_fault(graph, error, path)]
    return [_finding(graph, one) for one in lint_graph(source, registry=registry)[:_MOST]]


def _is_of_own(error: PenstockError, own: Collection[str]) -> bool:
    return isinstance(error, UnknownNameError) and error.name in own


# --- from the tree ----------------------------------------------------------------------------------


def _unknown(graph: GraphText, knowledge: Knowledge, own: Collection[str]) -> Iterator[Remark]:
    package = graph.package
    for name in graph.named("calculator"):
        uses = [one for one in graph.places("calculator", name) if one.node >= 0]
        if name in own or not uses or knowledge.is_known(name, package):
            continue
        meant = knowledge.near(name)
        words = f"no calculator {name!r} is registered{_did_you_mean(meant)}"
        for one in uses[:_MOST]:
            yield Remark(one.start, one.end, words, "error", cures=_written_so(one, meant))


def _unwritten(graph: GraphText) -> Iterator[Remark]:
    missing = [name for name in graph.named("stream") if not graph.is_made("stream", name)][:_MOST]
    made = [name for name in graph.named("stream") if graph.is_made("stream", name)] if missing else []
    for name in missing:
        meant = near_names(name, made)
        for one in graph.places("stream", name):
            if one.node >= 0:
                words = f"nothing writes stream {name!r}{_did_you_mean(meant)}"
                yield Remark(one.start, one.end, words, "error", cures=_written_so(one, meant))


def _did_you_mean(meant: Sequence[str]) -> str:
    return f" (did you mean {', '.join(map(repr, meant))}?)" if meant else ""


def _written_so(one: Name, meant: Sequence[str]) -> tuple[Cure, ...]:
    return tuple(Cure(f"write {near!r}", one.start, one.end, near) for near in meant)


# --- in full ----------------------------------------------------------------------------------------


def _fault(graph: GraphText, error: PenstockError, path: Path | None) -> Remark:
    position = None if error.line is None or error.column is None else (error.line, error.column)
    words = str(error).removeprefix(place_words(error.file, position))
    if position is None or (error.file is not None and (path is None or error.file != str(path))):
        return Remark(0, 0, str(error), "error")
    start = _offset(graph, *position)
    end = _end(graph, start)
    cures = []
    wrong = error.name if isinstance(error, UnknownNameError) else error.stream
    meant = error.near if isinstance(error, UnknownNameError) else tuple(_MEANT.findall(words))
    if wrong:
        found = re.compile(rf"(?<=[\"':]){re.escape(wrong)}(?=[\"'])").search(
            graph.text, start, end_of_field(graph.text, start)
        )
        if found is not None:
            cures = [Cure(f"write {near!r}", found.start(), found.end(), near) for near in meant]
            start, end = found.span()
    return Remark(start, end, words, "error", cures=tuple(cures))


def _finding(graph: GraphText, found: Finding) -> Remark:
    start = _offset(graph, found.line, found.column) if found.line else 0
    end = _end(graph, start) if found.line else 0
    words = f"{found.what}; {found.cure}"
    cures = []
    is_text = graph.form is not JSON  # the mends and comments of rules are graph text
    if found.edit is not None and is_text:
        cures.append(Cure(f"mend {found.code} {found.name}", *found.edit))
    if found.line and found.code != "PS001" and is_text:
        line = graph.lines[graph.line_of(start)]
        indent = graph.text[line:start] if not graph.text[line:start].strip() else ""
        comment = f"{indent}# penstock: ignore[{found.code}] say why\n"
        cures.append(Cure(f"ignore {found.code} here, and say why", line, line, comment))
    return Remark(start, end, words, "warning", found.code, tuple(cures))


def _offset(graph: GraphText, line: int, column: int) -> int:
    if not 0 < line <= len(graph.lines):
        return len(graph.text)
    return min(graph.lines[line - 1] + column - 1, len(graph.text))


def _end(graph: GraphText, start: int) -> int:
    """Return where the marked text ends: with the field, or with its first line."""
    line_end = graph.text.find("\n", start)
    line_end = len(graph.text) if line_end < 0 else line_end
    return max(min(end_of_field(graph.text, start), line_end), start)
