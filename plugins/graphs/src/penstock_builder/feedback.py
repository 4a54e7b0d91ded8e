"""What the application gets of a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock_builder.wires import LoopStream, Stream


class Feedback:
    """A loop. Made by `Graph.feedback`."""

    def __init__(self, stream: Stream, back: LoopStream) -> None:
        #: What nodes read of it.
        self.stream = stream
        self._back = back

    def connect(self, stream: Stream) -> Stream:
        """Say which stream goes round; return it. Inputs that read the loop become back edges.

        Raises:
            InvalidArgumentError: it belongs to another graph, is a loop's own, or has a type that a
                reader does not take.
            AlreadyExistsError: the loop is connected. Nothing changes.
        """
        return self._back.connect(stream)
