"""A real editor: Neovim without a screen starts the server, and uses it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

NVIM = shutil.which("nvim")
pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(NVIM is None, reason="Neovim is not installed: apt-get install neovim"),
]

GRAPH = """\
input_stream: "in"
output_stream: "out"
node {
  calculator: "PassThroughCalculater"
  input_stream: "in"
  output_stream: "out"
}
"""

SCRIPT = """
local out, graph, python = arg_out, arg_graph, arg_python
local found = {}
vim.cmd("edit " .. graph)
local client = vim.lsp.start_client({
  name = "penstock", cmd = { python, "-m", "penstock_cli", "language-server" }, root_dir = vim.fn.getcwd(),
})
vim.lsp.buf_attach_client(0, client)
local function until_count(wanted)
  vim.wait(60000, function() return #vim.diagnostic.get(0) == wanted end, 20)
  return vim.tbl_map(function(one) return one.message end, vim.diagnostic.get(0))
end
found.before = until_count(1)
vim.api.nvim_win_set_cursor(0, { 4, 20 })
local params = vim.lsp.util.make_position_params(0, "utf-16")
local said = vim.lsp.buf_request_sync(0, "textDocument/completion", params, 60000)
found.labels = vim.tbl_map(function(one) return one.label end, said[client].result.items)
vim.api.nvim_buf_set_text(0, 3, 34, 3, 36, { "or" })
found.after = until_count(0)
found.line = vim.api.nvim_buf_get_lines(0, 3, 4, false)[1]
vim.api.nvim_win_set_cursor(0, { 5, 18 })
params = vim.lsp.util.make_position_params(0, "utf-16")
said = vim.lsp.buf_request_sync(0, "textDocument/hover", params, 60000)
found.hover = said[client].result.contents.value
params.newName = "frames"
said = vim.lsp.buf_request_sync(0, "textDocument/rename", params, 60000)
vim.lsp.util.apply_workspace_edit(said[client].result, "utf-16")
found.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")
local uri = vim.uri_from_bufnr(0)
local document = { textDocument = { uri = uri } }
said = vim.lsp.buf_request_sync(0, "textDocument/semanticTokens/full", document, 60000)
found.colours = #said[client].result.data / 5
said = vim.lsp.buf_request_sync(0, "penstock/picture", document, 60000)
found.picture = said[client].result and said[client].result.svg or said[client].error.message
vim.api.nvim_win_set_cursor(0, { 5, 3 })
document.position = vim.lsp.util.make_position_params(0, "utf-16").position
said = vim.lsp.buf_request_sync(0, "penstock/nodeAt", document, 60000)
found.node = said[client].result.name
vim.cmd("edit " .. arg_program)
vim.lsp.buf_attach_client(0, client)
found.in_python = until_count(1)
vim.lsp.stop_client(client)
found.ended = vim.wait(60000, function() return vim.lsp.client_is_stopped(client) end, 20)
local file = io.open(out, "w")
file:write(vim.json and vim.json.encode(found) or vim.fn.json_encode(found))
file:close()
vim.cmd("qall!")
"""


def test_neovim_shows_faults_completes_hovers_renames_colours_and_draws(tmp_path):
    graph = tmp_path / "graph.pbtxt"
    graph.write_text(GRAPH, encoding="utf-8")
    program = tmp_path / "program.py"
    program.write_text(f'GRAPH = """\\\n{GRAPH}"""\n', encoding="utf-8")
    out = tmp_path / "out.json"
    script = tmp_path / "script.lua"
    words = {"arg_out": str(out), "arg_graph": str(graph), "arg_python": sys.executable}
    words["arg_program"] = str(program)
    heads = "".join(f"{name} = {json.dumps(value)}\n" for name, value in words.items())
    script.write_text(heads + SCRIPT, encoding="utf-8")

    done = subprocess.run(
        [NVIM, "--headless", "--clean", "-n", "-c", f"luafile {script}", "-c", "qall!"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )

    assert out.is_file(), done.stderr
    found = json.loads(out.read_text(encoding="utf-8"))
    assert len(found["before"]) == 1
    assert "'PassThroughCalculater' is registered" in found["before"][0]
    assert "PassThroughCalculator" in found["labels"]
    assert (found["line"], list(found["after"])) == ('  calculator: "PassThroughCalculator"', [])
    assert found["hover"].startswith("**in** (stream)")
    assert found["text"] == GRAPH.replace("Calculater", "Calculator").replace('"in"', '"frames"').rstrip("\n")
    assert found["colours"] == 11
    assert 'data-node="PassThroughCalculator"' in found["picture"] or "pygraphviz" in found["picture"]
    assert found["node"] == "PassThroughCalculator"
    assert "'PassThroughCalculater' is registered" in found["in_python"][0]
    assert found["ended"] is True
