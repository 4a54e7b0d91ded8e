"""What a notebook shows of a graph: its text, and the drawing that a plugin makes."""

from __future__ import annotations

from typing import Any, Final

from penstock.late_log import LateLogger
from penstock.plugins.default_registry import default_plugin_host

_HOOK: Final = "penstock_mimebundle"
_logger = LateLogger("runtime")


def mimebundle(config: Any, plain: str) -> dict[str, str]:
    """Return what IPython's `_repr_mimebundle_` wants: MIME type → content. Never raises.

    Args:
        config: the CalculatorGraphConfig message of the graph.
        plain: the text for front ends that show no drawing.

    Returns:
        "text/plain", and what the first plugin that draws the graph returns; a plugin that fails is logged.
    """
    try:
        found = default_plugin_host().implementations(_HOOK)
    except Exception as error:  # noqa: BLE001  # a switch of the environment, say; a notebook shows text then
        _logger.debug("the plugins cannot be loaded, the graph is not drawn: %s", error)
        return {"text/plain": plain}
    for implementation in found:
        try:
            drawn = implementation.call(config, plain)
            if drawn is not None:
                return {"text/plain": plain, **drawn}
        except Exception:
            _logger.exception("plugin %r: its hook %s failed", implementation.plugin, _HOOK)
    return {"text/plain": plain}
