"""Count how many nodes of the graph files in a folder name a calculator that is installed.

    uv run python scripts/graph_coverage.py FOLDER      a checkout of MediaPipe v0.10.21, say

A node entry is each `calculator: "..."` in a `.pbtxt` file, those inside of a SwitchContainer included. A
name that ends in "Calculator" counts as a calculator; every other name is a subgraph and is counted apart.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final

import click

from penstock.plugins.default_registry import default_registry

_COMMENT: Final = re.compile(r"#.*")
_ENTRY: Final = re.compile(r'\bcalculator\s*:\s*["\']([^"\']+)["\']')


def entries(folder: Path) -> tuple[int, Counter[str]]:
    """Return how many graph files with nodes are below a folder, and how often their nodes name what."""
    files, named = 0, Counter[str]()
    for path in sorted(folder.rglob("*.pbtxt")):
        found = _ENTRY.findall(_COMMENT.sub("", path.read_text("utf-8", errors="replace")))
        files += bool(found)
        named.update(found)
    return files, named


def share(named: Counter[str], known: set[str]) -> str:
    """Return how many entries, and how many names, are known."""
    total = sum(named.values())
    count = sum(number for name, number in named.items() if name in known)
    names = len(named.keys() & known)
    return f"{count:,} of {total:,} entries ({count / max(total, 1):.1%}), {names} of {len(named)} names"


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--missing", type=click.IntRange(0), default=10, show_default=True, help="How many missing names to tell."
)
def main(folder: Path, missing: int) -> None:
    """Count and print."""
    files, named = entries(folder)
    if not files:
        raise click.ClickException(f"no .pbtxt file below {folder} has a node")
    registry = default_registry()
    known = {*registry.names("calculator"), *registry.names("subgraph")}
    calculators = Counter({name: count for name, count in named.items() if name.endswith("Calculator")})
    click.echo(f"{files} graph files, {sum(named.values()):,} node entries")
    click.echo(f"calculators: {share(calculators, known)}")
    click.echo(f"subgraphs: {share(named - calculators, known)}")
    for name, count in [one for one in named.most_common() if one[0] not in known][:missing]:
        click.echo(f"    {count:>4}  {name}")


if __name__ == "__main__":
    main()
