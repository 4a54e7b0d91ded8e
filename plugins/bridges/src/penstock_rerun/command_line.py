"""`--rerun` of `penstock run` and `penstock demo`: the options, and the log of the command's run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from penstock.config import read_graph
from penstock.error_text import did_you_mean
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock.packs import default_registry
from penstock.ports import parse_tag_index_name
from penstock_cli.api import WrongUsage, say

if TYPE_CHECKING:
    from penstock import CalculatorGraph, Packet
    from penstock_rerun.log import RerunLog

#: Key in `click.Context.meta`.
_LOGGING: Final = "penstock_rerun.logging"
_TIMEOUT_S: Final = 5.0


def options() -> list[click.Parameter]:
    """Return new options of a command."""
    return [
        click.Option(
            ["--rerun"],
            metavar="FILE.rrd|ADDRESS",
            help="Log the streams for the viewer Rerun, on the timeline of their packets: into a file, or to "
            "a viewer that runs, such as 127.0.0.1:9876.",
        ),
        click.Option(
            ["--rerun-streams"],
            metavar="A,B",
            help="The streams that --rerun logs.  [default: all that can be shown]",
        ),
    ]


def prepare(ctx: click.Context) -> None:
    """Make the log of `--rerun`, if that is given.

    Raises:
        WrongUsage: the options do not go together, or the file exists.
        FileMissing: the file cannot be made.
        FailedPreconditionError: Rerun's SDK is not installed.
        UnavailableError: no viewer is at the address.
    """
    target, streams = ctx.params["rerun"], ctx.params["rerun_streams"]
    if target is None:
        if streams is not None:
            raise WrongUsage("--rerun-streams means nothing without --rerun; add --rerun, or leave it out")
        return
    from penstock_cli.api import check_target_file  # it imports what reads traces
    from penstock_rerun.log import RerunLog

    chosen = None if streams is None else [name.strip() for name in streams.split(",") if name.strip()]
    path = Path(target) if target.endswith(".rrd") else None
    if path is not None:
        check_target_file(path, "log")
        if path.exists() and not ctx.params.get("force", False):
            raise WrongUsage(f"--rerun: the log {target!r} exists; name another one, or add --force")
    try:
        log = RerunLog("--rerun", path, "" if path else target, "penstock", _TIMEOUT_S)
    except InvalidArgumentError as error:
        raise WrongUsage(f"--rerun: {error}, or a file that ends in .rrd") from error
    logging = ctx.meta[_LOGGING] = _Logging(log, target, chosen)
    ctx.call_on_close(logging.end)


def log_run(graph: CalculatorGraph) -> None:
    """Log the streams of a graph whose run is about to start, if the command has `--rerun`."""
    ctx = click.get_current_context(silent=True)
    logging = None if ctx is None else ctx.meta.get(_LOGGING)
    if logging is not None:
        logging.begin(graph)


def _streams_of(graph: CalculatorGraph) -> list[str]:
    """Return the names of all streams of a graph."""
    config = read_graph(graph.text_config, default_registry())
    entries = [*config.input_stream, *(text for node in config.node for text in node.output_stream)]
    return list(dict.fromkeys(parse_tag_index_name(text)[2] for text in entries))


class _Logging:
    """The log of one command."""

    def __init__(self, log: RerunLog, target: str, chosen: list[str] | None) -> None:
        from penstock_rerun.entries import Entries

        self._log: Final = log
        self._target: Final = target
        self._chosen: Final = chosen
        self._entries: Final = Entries()
        self._has_begun = False
        #: Why nothing is logged any more.
        self._error: UnavailableError | None = None
        #: Streams with payloads that cannot be shown.
        self._left_out: Final[dict[str, str]] = {}
        from penstock_rerun.options import LoggedStream  # only a run with --rerun needs it

        self._stream: Final = LoggedStream()

    def begin(self, graph: CalculatorGraph) -> None:
        """Observe the streams, once.

        Raises:
            SystemExit: the graph has not all streams that are named. A hook's other errors end no run.
        """
        if self._has_begun:
            return
        self._has_begun = True
        known = _streams_of(graph)
        for name in known if self._chosen is None else self._chosen:
            if name not in known:
                meant = did_you_mean(name, known, 1)
                self._error = UnavailableError("nothing is logged")
                say(f"--rerun-streams: the graph has no stream {name!r}{meant}")
                raise SystemExit(WrongUsage.exit_code)
            graph.observe_output_stream(name, self._observed)

    def _observed(self, name: str, packet: Packet) -> None:
        if self._error is not None or name in self._left_out:
            return
        try:
            self._log.write(self._entries.of(packet.payload, int(packet.timestamp), self._stream, name))
        except InvalidArgumentError as error:
            self._left_out[name] = str(error)
        except UnavailableError as error:
            self._error = error
            say(f"{error}; the run goes on without the log")

    def end(self) -> None:
        """End the log, at the end of the command, and say where it is."""
        for name, why in self._left_out.items():
            say(f"stream {name!r} is not in the log: {why.partition('; set kind')[0]}")
        try:
            if self._error is None:
                self._log.write(self._entries.rest())
                self._log.close()
                if self._has_begun:
                    say(f"the log is at {self._target}: rerun {self._target}")
        except UnavailableError as error:
            say(str(error))
        finally:
            self._log.abandon()
