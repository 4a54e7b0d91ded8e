"""The directive `film` shows the film of the front page, which `street_film` makes.

    ```{film}
    ```

Git holds no film: each build makes it from a real run, when the pages are written.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from docutils import nodes
from docutils.parsers.rst import Directive
from street_film import SIZE, write_film

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_PLACE: Final = "_static/street.mp4"
#: More would keep readers waiting: bytes.
_MOST: Final = 2_000_000
_LABEL: Final = "A street with cars and people: boxes follow them, and a line counts what crosses it."


class FilmDirective(Directive):
    """Replaces the directive by the film, which plays without sound, again and again."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the film's element."""
        width, height = SIZE
        return [
            nodes.raw(
                text=(
                    f'<video src="{_PLACE}" width="{width}" height="{height}" aria-label="{_LABEL}"'
                    ' style="max-width: 100%; height: auto" autoplay loop muted playsinline controls></video>'
                ),
                format="html",
            )
        ]


def _make(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    film = Path(app.outdir) / _PLACE
    film.parent.mkdir(parents=True, exist_ok=True)
    write_film(film)
    if film.stat().st_size > _MOST:
        raise ValueError(f"the film has {film.stat().st_size} bytes, but must have at most {_MOST}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive, and make the film at the end."""
    app.add_directive("film", FilmDirective)
    app.connect("build-finished", _make)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
