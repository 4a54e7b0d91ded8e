"""The input policy of multiplexers: a control stream selects the one data stream to wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import NOT_READY, READY_FOR_CLOSE, InputStreamHandler
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import DONE, show
from penstock_stream_handlers.tag_index import reading_node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input
    from penstock.lowlevel import InputStream

#: The ledger's reason for data packets that no control packet selected.
NOT_SELECTED: Final = "not selected"


class MuxInputStreamHandler(InputStreamHandler):
    """Makes the node ready at each control packet, when the data stream that it selects is settled there.

    The control stream is the node's last input, in the order of tags (INPUT before SELECT, whatever
    the order in the graph); its packets hold the number of a data stream, an int from 0. The node
    waits for the selected stream alone, and sees the control packet and the selected stream's packet
    of the same timestamp, if there is one. Data packets up to that timestamp that were not selected are
    dropped; the bounds of other streams never delay the node::

        INPUT:0  . 1000 .   .   .
        INPUT:1  a .    .   800 .
        SELECT   0 0    1   1   done
        at       1 2    3   4   close
        sees     0 0    1   1
                 - 1000 -   800         a is dropped

    The node closes when the control stream is done, whatever the others hold. The input sets do not
    depend on the order of arrival.

    Source of the rules: MediaPipe `framework/stream_handler/mux_input_stream_handler.cc`.
    """

    def prepare(self, inputs: Sequence[InputStream]) -> None:
        """Get ready for a run.

        Raises:
            InvalidArgumentError: there is no data stream beside the control stream.
        """
        super().prepare(inputs)
        if len(self.inputs) == 1:
            node, only = reading_node(self.inputs).name, self.inputs[0].name
            raise InvalidArgumentError(
                f"node {node!r}: the last input is the control stream, but {only!r} is the only one; "
                "connect at least one data stream before it",
                node=node,
                stream=only,
            )

    def look(self) -> int:
        """Return the control packet's timestamp if its stream is settled there, else NOT_READY.

        READY_FOR_CLOSE when the control stream is done. Drops data packets before the control stream.

        Raises:
            InvalidArgumentError: a control packet holds anything but the number of a data stream.
        """
        control = self.inputs[-1]
        t = control.head_or_bound()
        self._drop_below(t)
        if control.queue:
            # a queued data packet is not before t, so the stream's bound is past t with it too
            if self.inputs[self._selected()].bound > t:
                return t
        elif t == DONE:
            return READY_FOR_CLOSE
        self.waits_at = t
        return NOT_READY

    def blocking(self) -> Sequence[InputStream]:
        """Return the control stream, or the stream that its oldest packet selects."""
        control = self.inputs[-1]
        return [self.inputs[self._selected()] if control.queue else control]

    def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:
        """Take the control packet and the selected stream's at `timestamp`; drop the others up to there."""
        data, control = inputs[self._selected()], inputs[-1]
        control.fill(control.stream.pop())
        data.fill(data.stream.pop_at(timestamp))
        self._drop_below(timestamp + 1)

    def _selected(self) -> int:
        """Return which data stream the oldest control packet selects."""
        control = self.inputs[-1]
        packet = control.queue[0]
        value, count = packet.payload, len(self.inputs) - 1
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count:
            return value
        node = reading_node(self.inputs).name
        raise InvalidArgumentError(
            f"node {node!r}: control stream {control.name!r} holds {value!r} at {show(packet.stamp)}, but "
            f"must hold the number of a data stream, an int from 0 to {count - 1}",
            node=node,
            stream=control.name,
            timestamp=packet.stamp,
        )

    def _drop_below(self, timestamp: int) -> None:
        for stream in self.inputs[:-1]:
            stream.drop_below(timestamp, NOT_SELECTED)
