"""The directive `timeline` draws what a node with some input policy sees of a few packets, from a real run.

    ```{timeline} InnerJoin
    frames  10=A 20=B 30=C
    boxes   10=a      30=c
    ```

Each line of the body is an input of one node: its stream, and packets as timestamp=payload. The
argument is the node's policy. In each call the node writes the payloads of its inputs, at the call's
timestamp, to a stream `sees`; an input without a packet is a dash. `:options:` are the options of the
policy, as graph text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import Directive, directives

import penstock
from penstock.plugins.default_registry import default_registry
from penstock_testing.timeline import picture

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.application import Sphinx

_LINE: Final = re.compile(r"(?P<stream>\w+)\s+(?P<packets>(?:-?\d+=\S+\s*)*)$")
_PACKET: Final = re.compile(r"(-?\d+)=(\S+)")


class SeesCalculator(penstock.Calculator):
    """Writes the payloads of each call, as text."""

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Declare any inputs, and one output."""
        for port in cc.inputs:
            port.set_any()
        cc.outputs[0].set(str)

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Write the payloads, one after the other."""
        seen = ["–" if port.is_empty() else str(port.payload) for port in cc.inputs]
        cc.output.add(" ".join(seen), cc.input_timestamp)


#: The width of a diagram, in pixels: that of the theme's pages.
_WIDTH: Final = 720.0


def diagram_of(policy: str, options: str, lines: list[str]) -> str:
    """Return a diagram of these packets at a node with this policy, as SVG.

    Raises:
        ValueError: a line is not a stream and its packets.
        penstock.PenstockError: the run could not start, or failed.
    """
    feed = {}
    for line in lines:
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ValueError(f"{line!r}: must be a stream and its packets, as in 'frames 10=A 20=B'")
        feed[match["stream"]] = [(int(t), payload) for t, payload in _PACKET.findall(match["packets"])]
    inputs = " ".join(f'input_stream: "{name}"' for name in feed)
    given = f"options {{ {options} }}" if options else ""
    handler = f'input_stream_handler {{ input_stream_handler: "{policy}" {given} }}'
    graph = f'{inputs} node {{ calculator: "SeesCalculator" {inputs} output_stream: "sees" {handler} }}'
    registry = default_registry().child()
    registry.add("calculator", "SeesCalculator", SeesCalculator)
    label = f"what a node with the policy {policy} sees"
    return picture(graph, feed, registry=registry, label=label, width=_WIDTH)


class TimelineDirective(Directive):
    """Replaces the directive by the diagram."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar[dict[str, Callable[[str], Any]] | None] = {"options": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return the diagram."""
        lines = [line for line in self.content if line.strip()]
        try:
            svg = diagram_of(self.arguments[0], self.options.get("options", ""), lines)
        except (ValueError, RuntimeError, LookupError) as error:
            raise self.error(f"timeline: {error}") from error
        return [nodes.raw(text=f'<figure class="timeline">{svg}</figure>', format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("timeline", TimelineDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
