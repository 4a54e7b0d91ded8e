"""`About`: what the page asks once, as JSON: the last minute of all nodes, and all that is known of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import msgspec

if TYPE_CHECKING:
    from penstock_live.journal import Journal
    from penstock_live.log_lines import LogLines
    from penstock_live.node_pages import NodePages


@attrs.frozen
class About:
    """The sources of it. The methods may be called by any thread."""

    pages: NodePages
    lines: LogLines
    journal: Journal

    def node(self, name: str) -> bytes:
        """Return what `NodePages.of` has, and more about the node.

        `log` has its newest log lines, `errors` its newest errors, and `error_count` their number in all.

        Raises:
            NotFoundError: the graph has no such node; names the most similar one.
        """
        page: dict[str, Any] = self.pages.of(name)
        count, errors = self.journal.errors_of(name)
        log = self.lines.of(name)
        return msgspec.json.encode({**page, "log": log, "error_count": count, "errors": errors})

    def minute(self) -> bytes:
        """Return the samples of the last minute: {"now_s": ..., "samples": [[at_s, {node: sample}], ...]}."""
        now_s, samples = self.journal.minute()
        return msgspec.json.encode({"now_s": now_s, "samples": samples})
