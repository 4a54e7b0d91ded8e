"""The program that lays out one drawing: reads it, or what makes it, pickled, and writes SVG."""

from __future__ import annotations

import pickle
import sys
from typing import TYPE_CHECKING

from penstock.errors import UnavailableError
from penstock_views.draw.painter import ACROSS
from penstock_views.draw.svg import svg

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_views.draw.drawing import Drawing


def main() -> None:
    """Read, draw and write."""
    given: Drawing | Callable[[], Drawing]
    given = pickle.loads(sys.stdin.buffer.read())  # noqa: S301  # of the process that started this
    drawing = given() if callable(given) else given
    try:
        sys.stdout.buffer.write(svg(drawing, marked=True, across=ACROSS in sys.argv[1:]).encode())
    except UnavailableError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
