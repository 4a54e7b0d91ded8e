"""`--serve` of `penstock run` and `penstock demo`: the options, and the server of the command's run.

The port is taken before the graph is loaded, so that a taken one ends the command before anything starts;
requests wait until the run is prepared. What serves is imported only where it is asked for.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from penstock.errors import InvalidArgumentError
from penstock_cli.api import INTERRUPTED, TERMINATED, ValueIfAny, WrongUsage, say

if TYPE_CHECKING:
    import socket

    from penstock import CalculatorGraph
    from penstock_live.listening import Address, TlsFiles
    from penstock_live.server import Server

#: Key in `click.Context.meta`.
_SERVING: Final = "penstock_live.serving"
_LOOPBACK: Final = "127.0.0.1"
_FILE: Final = click.Path(path_type=Path)
#: Parameter → the option, of those that mean nothing without `--serve`.
_OTHERS: Final = {
    "serve_on": "--serve-on",
    "serve_cert": "--serve-cert",
    "serve_key": "--serve-key",
    "serve_until_closed": "--serve-until-closed",
}


def options() -> list[click.Parameter]:
    """Return new options of a command."""
    return [
        ValueIfAny(
            ["--serve"],
            is_value=str.isdigit,
            left_out="0",
            type=click.IntRange(0, 65535),
            metavar="[PORT]",
            help="Show the run in a browser: its address is printed on stderr. Without PORT, or with 0, on "
            "any free port; only this machine reaches it. Needs penstock-monitor[live] installed.",
        ),
        click.Option(
            ["--serve-until-closed"],
            is_flag=True,
            help="Keep the page after the end of the run, until Ctrl-C.",
        ),
        click.Option(
            ["--serve-on"],
            metavar="ADDRESS",
            help="Let --serve listen on this address of the machine, so that others reach it; needs "
            "--serve-cert and --serve-key.",
        ),
        click.Option(
            ["--serve-cert"], type=_FILE, metavar="FILE", help="A TLS certificate, PEM, for --serve."
        ),
        click.Option(["--serve-key"], type=_FILE, metavar="FILE", help="Its private key, PEM."),
    ]


def prepare(ctx: click.Context) -> None:
    """Take the port of `--serve`, if that is given.

    Raises:
        WrongUsage: the options do not go together, or the TLS files cannot be used.
        UnavailableError: the port is taken, the machine has no such address, or the page's libraries are not
            installed.
    """
    given = ctx.params
    if given["serve"] is None:
        if alone := [option for name, option in _OTHERS.items() if given[name]]:
            raise WrongUsage(
                f"{alone[0]} means nothing without --serve, the live page; add --serve, or leave it out"
            )
        return
    from penstock_live.needs import check_needs

    check_needs()
    tls = _tls(given["serve_cert"], given["serve_key"], given["serve_on"])
    from penstock_live.listening import listen

    try:
        listening, address = listen(given["serve_on"] or _LOOPBACK, given["serve"], is_tls=tls is not None)
    except InvalidArgumentError as error:
        raise WrongUsage(f"--serve: {error}") from error
    file = Path(str(given.get("graph") or ctx.command_path)).name  # `demo` has its own graph
    serving = ctx.meta[_SERVING] = _Serving(listening, address, tls, file, stays=given["serve_until_closed"])
    ctx.call_on_close(serving.end)


def serve_run(graph: CalculatorGraph) -> None:
    """Serve a graph whose run is about to start, if the command has `--serve` and serves none yet."""
    serving = _serving()
    if serving is not None:
        serving.begin(graph)


def note_end(graph: CalculatorGraph, error: BaseException | None) -> None:
    """Note the end of a run, on any thread."""
    for serving in tuple(_begun):
        serving.note_end(graph, error)


#: Those that serve a graph now: at most one, but for tests.
_begun: Final[set[_Serving]] = set()


def _serving() -> _Serving | None:
    ctx = click.get_current_context(silent=True)
    return None if ctx is None else ctx.meta.get(_SERVING)


def _tls(certificate: Path | None, key: Path | None, address: str | None) -> TlsFiles | None:
    """Return the TLS files; None for none.

    Raises:
        WrongUsage: there is one without the other, an address that others reach has none, or they cannot be
            used.
    """
    if (certificate is None) != (key is None):
        missing = "--serve-cert" if certificate is None else "--serve-key"
        raise WrongUsage(f"{missing} is missing for --serve: TLS needs the certificate and its key")
    if certificate is None or key is None:
        if address is not None:
            from penstock_live.listening import is_loopback

            if not is_loopback(address):
                raise WrongUsage(
                    f"--serve-on {address!r} lets other machines see the live graph, so it needs TLS: add "
                    "--serve-cert and --serve-key; or leave it out, and let a tunnel (ssh -L) lead to "
                    f"{_LOOPBACK}"
                )
        return None
    from penstock_live.listening import TlsFiles

    files = TlsFiles(certificate, key)
    try:
        files.check()
    except InvalidArgumentError as error:
        raise WrongUsage(str(error)) from error
    return files


class _Serving:
    """The page of one command: first a port, then a server of the command's graph."""

    def __init__(
        self, listening: socket.socket, address: Address, tls: TlsFiles | None, file: str, *, stays: bool
    ) -> None:
        self._listening: Final = listening
        self._address: Final = address
        self._tls: Final = tls
        self._file: Final = file
        self._stays: Final = stays
        self._server: Server | None = None
        #: The graph that is served. Kept, so that the page still has its last numbers when the run is over.
        self._graph: CalculatorGraph | None = None
        self._error: BaseException | None = None

    def begin(self, graph: CalculatorGraph) -> None:
        """Serve a graph, unless one is served already, and print where."""
        if self._server is not None:
            return
        from penstock_live.node_pages import type_of
        from penstock_live.server import serve_on

        kind = type_of(graph.binary_config)
        title = f"{kind} ({self._file})" if kind else self._file
        self._server = serve_on(self._listening, self._address, graph, tls=self._tls, title=title)
        self._graph = graph
        _begun.add(self)
        say(f"the run is shown at {self._server.url}")

    def note_end(self, graph: CalculatorGraph, error: BaseException | None) -> None:
        """Note how the run has ended, if the graph that is served has run."""
        if graph is self._graph:
            self._error = error

    def end(self) -> None:
        """Close the server, at the end of the command; if the page is to stay, after Ctrl-C."""
        _begun.discard(self)
        if self._server is None:
            self._listening.close()
            return
        try:
            if not _is_interrupted():
                self._stay()
        finally:
            self._server.close()
            self._graph = None

    def _stay(self) -> None:
        """Keep the page if that is asked for, else say that it can be kept."""
        server: Any = self._server
        if not self._stays:
            if not server.was_opened:
                say("nobody opened the page; --serve-until-closed keeps it after the run, until Ctrl-C")
            return
        how = "is over" if self._error is None else f"has failed: {str(self._error).partition(chr(10))[0]}"
        say(f"the run {how}; its page stays at {server.url} until Ctrl-C")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            say("the page is closed")


def _is_interrupted() -> bool:
    """Return whether the command ends because of Ctrl-C."""
    error = sys.exc_info()[1]
    is_exit = isinstance(error, click.exceptions.Exit) and error.exit_code in (INTERRUPTED, TERMINATED)
    return is_exit or isinstance(error, KeyboardInterrupt)
