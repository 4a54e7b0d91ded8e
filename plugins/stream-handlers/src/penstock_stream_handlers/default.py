"""The default input policy: all streams of a node in step."""

from __future__ import annotations

from penstock import InputStreamHandler


class DefaultInputStreamHandler(InputStreamHandler):
    """Packets of one timestamp come together, in ascending order, and nothing is dropped.

    The node is ready at the smallest timestamp that is settled on all its streams and has a packet
    on at least one; it closes when all streams are done. What comes out does not depend on the order
    in which packets arrive::

        A       1 . 3 . . bound 6
        B       . 2 3 . 5
        sets    1 2 3 . 5
                A B AB  B

    A stream that sends nothing and advances no bound makes the node wait without limit.
    """
