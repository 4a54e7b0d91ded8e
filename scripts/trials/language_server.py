"""Ask the language server what editors ask: the client of pytest-lsp, with the capabilities of real editors.

    uv run --with "pytest-lsp>=1" python scripts/trials/language_server.py
    uv run --with "pytest-lsp>=1" python scripts/trials/language_server.py emacs

The client looks at each answer, and warns where the specification of the protocol does not allow it for
such an editor: that is a finding, and so is an answer without a thing that was asked for. The exit status is
1 if there is one. The tests of the suite have a client of their own: pytest-lsp brings a plugin that changes
how pytest runs.
"""

from __future__ import annotations

import asyncio
import sys
import warnings
from typing import Any, Final

import pytest_lsp  # type: ignore[import-not-found,unused-ignore]  # see above
from lsprotocol import types as lsp

WAIT_S: Final = 120
EDITORS: Final = ("visual-studio-code", "neovim@v0.6", "neovim@v0.11", "emacs")
URI: Final = "file:///nowhere/graph.pbtxt"
GRAPH: Final = """\
input_stream: "frames"
node {
  calculator: "GateCalculater"
  input_stream: "frames"
  output_stream: "kept"
}
"""
DOCUMENT: Final = lsp.TextDocumentIdentifier(URI)


def position(mark: str) -> lsp.Position:
    """Return the end of the first `mark` of the graph."""
    before = GRAPH[: GRAPH.index(mark) + len(mark)]
    return lsp.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


async def session(editor: str) -> dict[str, Any]:
    """Ask for all that an editor may ask for; return some of the answers."""
    client = pytest_lsp.make_test_lsp_client()
    await client.start_io(sys.executable, "-m", "penstock_cli", "language-server")
    capabilities = pytest_lsp.client_capabilities(editor)
    try:
        started = await client.initialize_session(
            lsp.InitializeParams(capabilities=capabilities, process_id=None, root_uri=None)
        )
        item = lsp.TextDocumentItem(URI, "pbtxt", 0, GRAPH)
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        while not client.diagnostics.get(URI):
            await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        [fault] = client.diagnostics[URI]
        context = lsp.CodeActionContext([fault])
        found = {
            "capabilities": started.capabilities,
            "fault": fault.message,
            "completion": await client.text_document_completion_async(
                lsp.CompletionParams(DOCUMENT, position('calculator: "Gate'))
            ),
            "hover": await client.text_document_hover_async(
                lsp.HoverParams(DOCUMENT, position('output_stream: "ke'))
            ),
            "actions": await client.text_document_code_action_async(
                lsp.CodeActionParams(DOCUMENT, fault.range, context)
            ),
            "symbols": await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(DOCUMENT)),
            "rename": await client.text_document_rename_async(
                lsp.RenameParams(DOCUMENT, position('input_stream: "fra'), "images")
            ),
            "colours": await client.text_document_semantic_tokens_full_async(
                lsp.SemanticTokensParams(DOCUMENT)
            ),
        }
        await client.shutdown_session()
        return found
    finally:
        await client.stop()


def findings(editor: str) -> list[str]:
    """Return what is wrong with the answers to an editor."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", pytest_lsp.LspSpecificationWarning)
        found = asyncio.run(asyncio.wait_for(session(editor), WAIT_S))
    is_there = {
        "the fault": "'GateCalculater'" in found["fault"],
        "a calculator": "GateCalculator" in [one.label for one in found["completion"].items],
        "the page of a stream": "**kept** (stream)" in found["hover"].contents.value,
        "a cure": found["actions"][0].title == "write 'GateCalculator'",
        "an outline": bool(found["symbols"]),
        "both places of a name": len(found["rename"].changes[URI]) == 2,  # noqa: PLR2004  # in GRAPH
        "colours": bool(found["colours"].data),
    }
    wrong = [
        str(one.message) for one in warned if issubclass(one.category, pytest_lsp.LspSpecificationWarning)
    ]
    return [*wrong, *(f"misses {name}" for name, is_so in is_there.items() if not is_so)]


def main() -> int:
    """Try the editors that the command line names, or all; return the exit status."""
    count = 0
    for editor in sys.argv[1:] or EDITORS:
        found = findings(editor)
        count += len(found)
        print(
            f"{editor}: {'; '.join(found) or 'all answers are as the specification wants them'}", flush=True
        )
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main())
