"""A running graph in a browser: its picture with queues, rates, latencies, and what flows; see the README.

    with penstock_live.serve(graph) as server:
        print(server.url)
        graph.start_run()
        ...

Finding this pack imports nothing of the server: its names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_live.listening import TlsFiles as TlsFiles
    from penstock_live.server import Server as Server
    from penstock_live.server import serve as serve

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_live.listening": "TlsFiles",
    "penstock_live.server": "Server serve",
}


if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, _load, __dir__ = late_names(__name__, _HOMES)

    def __getattr__(name: str) -> object:
        """Return a public name; without the libraries of the extra `live` the error says what to install."""
        try:
            return _load(name)
        except ModuleNotFoundError:
            from penstock_live.needs import check_needs

            check_needs()
            raise
