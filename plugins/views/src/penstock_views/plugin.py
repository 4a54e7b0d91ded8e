"""What penstock-views brings, as names; nothing is imported until it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock import Components, hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping


@hookimpl
def penstock_components() -> Components:
    """Return the components by name."""
    return Components(tracers={"ChromeTracer": "penstock_views.traces.profiling:ConfiguredTrace"})


@hookimpl
def penstock_mimebundle(config: Any, plain: str) -> Mapping[str, str]:
    """Return what a notebook shows of a graph: a drawing and the text, or the text alone."""
    from penstock_views.draw.notebook import mimebundle  # for notebooks only
    from penstock_views.draw.reading import read_drawing

    return mimebundle(lambda: read_drawing(config), plain)
