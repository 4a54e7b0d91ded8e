"""Format random graphs and the project's graphs with mistakes, and look for graphs that change.

    uv run python scripts/trials/format_graphs.py --graphs 10000
    uv run python scripts/trials/format_graphs.py --graphs 10000 --mutants 2000
    uv run python scripts/trials/format_graphs.py --seed 7 --show 4711     one graph, and its new text
    uv run python scripts/trials/format_graphs.py FOLDER                   each .pbtxt file below a folder

`penstock_format.formatted` reads what it returns, and compares it with its argument: the fields, the
comments, the message. A finding is a graph that can be read and for which that fails, that changes when it is
formatted again, or for which anything but a PenstockError is raised. The exit status is 1 if there is one.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from graph_mutations import mutant, read_corpus
from random_layouts import random_graph

from penstock.config import read_graph
from penstock.errors import InternalError, PenstockError
from penstock.plugins.default_registry import default_registry
from penstock_format import formatted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.registry import Registry

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDERS: Final = ("benchmarks", "contrib", "core", "docs", "examples", "plugins", "subgraphs", "tests")


def verdict(text: str, registry: Registry) -> str:
    """Return what became of a graph: "changed", "as before", "refused", or "finding: ..."."""
    try:
        new = formatted(text, registry)
        if formatted(new, registry) != new:
            return "finding: it changes when it is formatted again"
    except InternalError as error:
        return f"finding: {error}"
    except PenstockError:
        return "refused"
    except Exception as error:  # noqa: BLE001  # that is what is looked for
        return f"finding: {type(error).__name__}: {error}"
    return "as before" if new == text else "changed"


def is_same_message(text: str, registry: Registry) -> bool:
    """Return whether the graph is the same message before and after, as a reader of both sees it."""
    return read_graph(text, registry) == read_graph(formatted(text, registry), registry)


def _texts(folder: Path | None, seed: int, graphs: int, mutants: int) -> Iterator[tuple[str, str]]:
    """Yield name and text of each graph."""
    if folder is not None:
        for path in sorted({*folder.rglob("*.pbtxt"), *folder.rglob("*.textproto")}):
            yield str(path), path.read_text("utf-8", errors="replace")
        return
    for number in range(graphs):
        yield f"graph {number}", random_graph(seed, number)
    if mutants:
        corpus = read_corpus([ROOT / name for name in FOLDERS])
        for number in range(mutants):
            source = mutant(corpus, seed, number).source
            if isinstance(source, str):
                yield f"mutant {number}", source


@click.command(help=__doc__)
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--seed", default=1, show_default=True)
@click.option("--graphs", type=click.IntRange(0), default=1000, show_default=True, help="Random graphs.")
@click.option("--mutants", type=click.IntRange(0), default=0, show_default=True, help="Graphs with mistakes.")
@click.option("--show", type=click.IntRange(0), help="Print one random graph and its new text.")
def main(folder: Path | None, seed: int, graphs: int, mutants: int, show: int | None) -> None:
    """Format and count."""
    registry = default_registry()
    if show is not None:
        text = random_graph(seed, show)
        click.echo(f"{text}\n--------\n{formatted(text, registry)}")
        return
    counts: Counter[str] = Counter()
    for name, text in _texts(folder, seed, graphs, mutants):
        said = verdict(text, registry)
        if folder is None and name.startswith("graph") and said == "refused":
            said = "finding: a graph that can be read is refused"
        elif said == "changed" and name.startswith("graph") and not is_same_message(text, registry):
            said = "finding: another message"
        counts[said.partition(":")[0]] += 1
        if said.startswith("finding"):
            click.echo(f"{name}: {said}")
    click.echo(", ".join(f"{count:,} {what}" for what, count in counts.most_common()) or "no graphs")
    sys.exit(1 if counts["finding"] else 0)


if __name__ == "__main__":
    main()
