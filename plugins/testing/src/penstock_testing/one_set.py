"""`OneSetInputStreamHandler`: the input policy of graphs that have no plugin."""

from __future__ import annotations

from penstock import InputStreamHandler


class OneSetInputStreamHandler(InputStreamHandler):
    """All streams in one set: what `DefaultInputStreamHandler` does, for tests of the core alone."""
