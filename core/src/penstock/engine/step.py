"""`Step`: one call of a method of a node's calculator.

It is prepared (waits in a ready queue), runs, and is completed exactly once. It is the context itself, since
the two live and are used together; a second object would cost 0.2 us in each step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.engine.calculator import CalculatorContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.engine.input_port import Input
    from penstock.engine.node import Node
    from penstock.engine.output_port import Output
    from penstock.port_collection import Ports


class Step(CalculatorContext):
    """One call of one method: a token that is completed exactly once, and what the method sees."""

    __slots__ = ("call", "in_port", "in_ports", "is_done", "is_running", "out_ports", "words")

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        #: What is called with this step: `open`, `process` or `close` of the node's invoker.
        self.call: Callable[[Step], object] = node.open
        #: `in_ports`, `out_ports`: the ports of `inputs` and `outputs` as tuples.
        self.in_ports: tuple[Input, ...] = ()
        #: The only one of `in_ports`; None where there are others or none.
        self.in_port: Input | None = None
        self.out_ports: tuple[Output, ...] = ()
        #: Taken and not yet completed.
        self.is_running = False
        #: Completed and waiting for earlier steps of its node (with max_in_flight).
        self.is_done = False
        #: What the error of a call that failed says; "" before, and when the guard has dealt with it.
        self.words = ""

    def connect(self, inputs: Ports[Input], outputs: Ports[Output]) -> None:
        """Give the step its ports; called once."""
        self.inputs = inputs
        self.outputs = outputs
        self.in_ports = inputs.items
        self.in_port = inputs.items[0] if len(inputs.items) == 1 else None
        self.out_ports = outputs.items
