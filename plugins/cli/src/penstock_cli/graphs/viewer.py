"""Other ways to show a graph file: what an option of a pack hands to `penstock show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from penstock_cli.failures import WrongUsage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from penstock import Registry

#: Key in `click.Context.meta`: the `Viewer` that shows the graph of `penstock show` in place of its own ways.
VIEWER: Final = "penstock_cli.viewer"


class Viewer(NamedTuple):
    """Shows a graph file in a way of its own."""

    #: The option that asks for it, such as "--watch".
    option: str
    #: Called with the file, what is installed, and whether subgraphs are to be expanded.
    show: Callable[[Path, Registry, bool], None]

    def check(self, name: str, others: Mapping[str, object]) -> None:
        """Refuse what does not go together.

        Args:
            name: what the command is to show.
            others: option → value of the command's own ways; None where it is not given.

        Raises:
            WrongUsage: the name is a component's, or another way to show the graph is given too.
        """
        from penstock_cli.graphs.show_graph import is_graph  # on demand

        if not is_graph(name):
            raise WrongUsage(
                f"the viewer of {self.option} is for graph files, but {name!r} is the name of a component"
            )
        wrong = next((option for option, value in others.items() if value is not None), None)
        if wrong is not None:
            raise WrongUsage(f"the viewer of {self.option} shows the graph in a browser; leave out {wrong}")
