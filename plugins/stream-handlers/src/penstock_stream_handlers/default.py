"""The default input policy: all streams of a node in step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import InputStreamHandler
from penstock.errors import InvalidArgumentError
from penstock_stream_handlers.tag_index import reading_node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.lowlevel import InputStream


class DefaultInputStreamHandler(InputStreamHandler):
    """Delivers the packets of one timestamp together, in ascending order, and drops nothing.

    The node is ready at the smallest timestamp that is settled on all its streams and has a packet
    on at least one; it closes when all streams are done. The input sets do not depend on the order in
    which packets arrive::

        A       1 . 3 . . bound 6
        B       . 2 3 . 5
        sets    1 2 3 . 5
                A B AB  B

    A stream that sends nothing and advances no bound makes the node wait without limit.

    With the option `batch_size` the node waits until that many sets are ready and is then called for one
    after the other; the packets that it writes leave after each call. Until then the bounds of its
    outputs do not pass the first set. The last sets are processed when the streams are done, however few
    they are::

        A       1 2 3 4 5 done
        calls   . 1,2 3,4 5 close       batch_size 2

    This suits a calculator whose calls are cheaper in a row, such as one that keeps a device busy. It
    cannot be combined with `max_in_flight`.
    """

    def prepare(self, inputs: Sequence[InputStream]) -> None:
        """Get ready for a run.

        Raises:
            InvalidArgumentError: `batch_size` is below 1.
        """
        super().prepare(inputs)
        if self.options is None or not inputs or not self.options.are_given():
            return
        from penstock_stream_handlers.messages.default_pb2 import (  # protobuf
            DefaultInputStreamHandlerOptions,
        )

        size = self.options.get(DefaultInputStreamHandlerOptions).batch_size
        if size < 1:
            node = reading_node(self.inputs).name
            raise InvalidArgumentError(
                f"node {node!r}: batch_size {size} of DefaultInputStreamHandler must be at least 1", node=node
            )
        self.batch_size = size
