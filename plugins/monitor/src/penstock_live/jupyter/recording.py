"""`Recording`: a slider over the rows of a recording, in a cell of a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock import Packet, Timestamp
from penstock.errors import UnavailableError
from penstock.packs import default_registry
from penstock_live.jupyter.cards import card, module, style

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise UnavailableError(
        f"penstock_live.jupyter needs anywidget, which is not there ({error}); "
        'pip install "penstock-monitor[jupyter]"'
    ) from error
try:
    from penstock_record import RecordingRows
except ImportError as error:
    raise UnavailableError(
        f"recordings are read by penstock-record, which is not there ({error}); "
        'pip install "penstock-monitor[jupyter]"'
    ) from error

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from penstock import Registry


class Recording(anywidget.AnyWidget):
    """The packets of a recording, row by row: those of one timestamp together. A slider chooses the row.

    Args:
        path: the file; it stays open until `close`.
        streams: which to show; None for all.
        registry: has the codecs; None for those of the installed packs.

    Raises:
        OSError: the file cannot be read.
        InvalidArgumentError: it is no recording, or is broken or cut.
        NotFoundError: it has no such stream.
    """

    _esm = module()

    kind = traitlets.Unicode("recording").tag(sync=True)
    css = traitlets.Unicode(style()).tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    #: How many rows there are.
    count = traitlets.Int().tag(sync=True)
    #: The one that is shown, from 0; may be set.
    row = traitlets.Int().tag(sync=True)
    #: The timestamp of the row, in words.
    timestamp = traitlets.Unicode().tag(sync=True)
    #: Stream → its packet in the row, for all streams that are shown.
    cards = traitlets.Dict().tag(sync=True)

    #: None until it is made: ipywidgets closes one that could not be made too.
    _rows: RecordingRows | None = None

    def __init__(
        self,
        path: str | os.PathLike[str],
        streams: Sequence[str] | None = None,
        registry: Registry | None = None,
    ) -> None:
        found = default_registry() if registry is None else registry
        rows = self._rows = RecordingRows(Path(path), found, streams)
        try:
            super().__init__(title=Path(path).name, count=len(rows))
            self._show(rows, 0)
        except BaseException:
            rows.close()
            raise
        self.observe(self._turn, "row")

    @traitlets.validate("row")
    def _within(self, proposal: Any) -> int:
        """Keep the row within the recording."""
        return max(0, min(int(proposal["value"]), self.count - 1))

    def close(self) -> None:
        """Close the file, and take the widget out of the notebook's pages."""
        if self._rows is not None:
            self._rows.close()
        super().close()

    def _turn(self, change: Any) -> None:
        if self._rows is not None:
            self._show(self._rows, change["new"])

    def _show(self, rows: RecordingRows, number: int) -> None:
        if not len(rows):
            return
        stamp = Timestamp(rows.timestamps[number])
        packets = rows.row(number)
        with self.hold_sync():
            self.timestamp = str(stamp)
            self.cards = {
                name: card(Packet(packets[name], stamp) if name in packets else None) for name in rows.streams
            }
