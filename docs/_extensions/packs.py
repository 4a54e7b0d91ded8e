"""The directive `packs` lists the distributions of the workspace, from their own `pyproject.toml`.

    ```{packs} core plugins subgraphs
    ```

The arguments are the places of distributions: directories of the repository. Each row has the
distribution's name, its description, the command that installs it, and its directory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from pack_table import table_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class PacksDirective(Directive):
    """Replaces the directive by the table."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        try:
            lines = table_of(self.arguments[0].split())
        except ValueError as error:
            raise self.error(f"packs: {error}") from error
        container = nodes.container()
        self.state.nested_parse(StringList(lines, source="packs"), self.content_offset, container)
        return container.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("packs", PacksDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
