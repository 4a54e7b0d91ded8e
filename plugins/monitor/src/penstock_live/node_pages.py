"""`NodePages`: what the page says of one node beside its numbers: its options, and its calculator's page."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any, Final

from penstock.access import redacted
from penstock.error_text import did_you_mean
from penstock.errors import NotFoundError, words_of

if TYPE_CHECKING:
    from penstock_views.describe import Description

#: Characters of a calculator's text.
_LONGEST: Final = 20_000
#: Fields of options whose values are secrets, as a graph file writes them.
_SECRET: Final = re.compile(
    r'''(\b\w*(?:password|passwd|passphrase|token|secret|credential|api_?key)\w*:\s*)"(?:[^"\\]|\\.)*"''',
    re.IGNORECASE,
)


class NodePages:
    """Pages of the nodes of one graph, made when they are first asked for.

    Args:
        config: the graph as it was checked, in binary form.
    """

    def __init__(self, config: bytes) -> None:
        from penstock.config import CalculatorGraphConfig
        from penstock.readers import numbered_nodes

        message = CalculatorGraphConfig.FromString(config)
        names = numbered_nodes([node.name or node.calculator for node in message.node])
        self._nodes: Final[dict[str, Any]] = dict(zip(names, message.node, strict=True))
        self._lock: Final = threading.Lock()
        self._made: Final[dict[str, dict[str, Any]]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes, in the order of the graph."""
        return tuple(self._nodes)

    def of(self, name: str) -> dict[str, Any]:
        """Return the page of a node, as JSON can hold it.

        `calculator` is the registered name, `config` the node as a graph file writes it, with its options and
        without passwords; `summary`, `body`, `distribution` and `ports` are the calculator's, and `unknown`
        says why these are not there.

        Raises:
            NotFoundError: the graph has no such node; names the most similar one.
        """
        if name not in self._nodes:
            hint = did_you_mean(name, list(self._nodes), 1)
            raise NotFoundError(f"there is no page of a node {name!r}{hint}", node=name)
        with self._lock:
            if name not in self._made:
                self._made[name] = self._page(self._nodes[name])
            return self._made[name]

    def _page(self, node: Any) -> dict[str, Any]:
        from penstock.packs import default_registry
        from penstock_views.describe import describe

        registry = default_registry()
        page = {"calculator": node.calculator, "config": _text(node, registry)}
        try:
            return page | _described(describe(node.calculator, registry, "calculator"))
        except Exception as error:  # noqa: BLE001  # a calculator's module is imported: the page says what it raised
            return page | {"unknown": f"the page of {node.calculator} cannot be shown: {words_of(error)}"}


def type_of(config: bytes) -> str:
    """Return the `type` of a graph in binary form, which is its name; "" where it has none."""
    from penstock.config import CalculatorGraphConfig

    return str(CalculatorGraphConfig.FromString(config).type)


def _text(node: Any, registry: Any) -> str:
    from penstock.config import to_text

    return without_secrets(to_text(node, registry).strip())


def without_secrets(text: str) -> str:
    """Return graph text without passwords in addresses, and without the values of fields that are secrets."""
    return _SECRET.sub(r'\1"***"', redacted(text))


def _described(found: Description) -> dict[str, Any]:
    ports = {
        "in": found.inputs,
        "out": found.outputs,
        "side in": found.input_side_packets,
        "side out": found.output_side_packets,
    }
    return {
        "distribution": found.distribution,
        "summary": found.summary,
        "body": found.body[:_LONGEST],
        "ports": [
            f"{where} {port.tag or f'number {port.index}'}: {port.type}"
            for where, of in ports.items()
            for port in of
        ],
    }
