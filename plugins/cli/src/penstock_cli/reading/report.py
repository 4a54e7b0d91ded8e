"""`penstock report`: a trace as one HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock_cli.runs.packet_paths import read
from penstock_cli.saying import say
from penstock_cli.target_file import check_target_file
from penstock_cli.whole_file import write_whole
from penstock_cli.wording import amount
from penstock_views.api import report

if TYPE_CHECKING:
    from pathlib import Path


def write_report(file: Path, out: Path | None) -> None:
    """Write the report of a trace, and say where it is.

    Raises:
        FileMissing: the trace cannot be read, or the page cannot be written.
        WrongUsage: the file is no trace.
    """
    target = file.with_suffix(".html") if out is None else out
    check_target_file(target, "report")
    page = report(read(file), file.name)
    write_whole(target, page, "report")
    say(f"report: {target} ({amount(len(page.encode()))}); open it in a browser")
