"""`penstock show GRAPH --access`: what the nodes of a graph touch outside of it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from penstock import CalculatorGraph
from penstock_cli.existing_files import existing_file
from penstock_cli.graphs.show_graph import is_graph
from penstock_cli.loading import load
from penstock_cli.subgraph_files import subgraphs_of


def show_access(name: str, *, as_text: bool) -> None:
    """Print what each node of a graph file touches, as its contract says it; nothing is run.

    Raises:
        click.ClickException: it is no graph file, cannot be read, or cannot run.
    """
    if not is_graph(name):
        raise click.UsageError(
            f"penstock show --access is for graph files, but {name!r} is the name of a component"
        )
    file = existing_file(Path(name), "graph file")
    found = load(lambda: CalculatorGraph(file, subgraphs=subgraphs_of(file))).access()
    if as_text:
        nodes = {
            node: [touch._asdict() for touch in touches]  # a method of named tuples
            for node, touches in found.items()
        }
        click.echo(json.dumps(nodes, indent=2))
        return
    if not found:
        click.echo("no node says that it touches a file, an address, a device or a program")
    for node, touches in found.items():
        click.echo(node)
        for touch in touches:
            click.echo(f"  {touch}" + (f" ({touch.source})" if touch.what else ""))
