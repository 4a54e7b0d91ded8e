"""The language server, put together and started."""

from __future__ import annotations

import gc
import logging
import os
import sys
from typing import Any, Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from penstock_editor.features import add_features
from penstock_editor.picture_requests import add_picture_requests
from penstock_editor.server import GraphServer

#: Objects that are made before the garbage collector looks at them: trees of large texts have no circles.
_COLLECTED: Final = 100_000


def made_server() -> GraphServer:
    """Return a server that answers all requests and is not started."""
    server = GraphServer()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        server.changed(params.text_document.uri)  # files beside it may have been saved

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    add_features(server)
    add_picture_requests(server)
    return server


def _is_bug(record: logging.LogRecord) -> bool:
    """Return whether a record is worth a line: the user sees the refusal of a name in the editor."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, JsonRpcInvalidParams)


def serve() -> None:
    """Serve standard input and output until the editor ends it.

    What components print goes to stderr: standard output belongs to the protocol.
    """
    server = made_server()
    gc.set_threshold(_COLLECTED)
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_bug)
    protocol: Any = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        server.start_io(sys.stdin.buffer, protocol)
    finally:
        server.shut_down()
        protocol.close()
