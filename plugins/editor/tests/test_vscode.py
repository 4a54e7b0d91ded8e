"""The extension of VS Code: its own code drives the real server; the editor's API is a stand-in."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXTENSION = Path(__file__).resolve().parents[1] / "vscode"
NODE = shutil.which("node")
GRAPH = """\
input_stream: "a"
node { name: "first" calculator: "PassThroughCalculator" input_stream: "a" output_stream: "b" }
node { name: "second" calculator: "PassThroughCalculator" input_stream: "b" output_stream: "c" }
"""
needs_node = pytest.mark.skipif(NODE is None, reason="Node.js is not installed: apt-get install nodejs")


def manifest():
    return json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))


@needs_node
def test_the_picture_follows_text_and_cursor_and_leads_to_the_text(tmp_path):
    pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
    graph = tmp_path / "graph.pbtxt"
    graph.write_text(GRAPH, encoding="utf-8")
    host = Path(__file__).with_name("vscode_host.js")

    done = subprocess.run(
        [NODE, str(host), str(EXTENSION), str(graph), sys.executable],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["commands"] == [one["command"] for one in manifest()["contributes"]["commands"]]
    assert found["languages"] == ["pbtxt", "pbtxt", "python", "json"]
    assert 'data-node="second"' in found["first"]
    assert found["marked"] == {"node": "second"}
    assert found["shown"] == [{"line": 1, "character": 0}]
    assert 'data-node="third"' in found["changed"]
    assert found["late"] == ["new"]
    assert (found["exit"], found["left"], found["hasPolicy"]) == (0, [], True)


@needs_node
def test_the_files_that_the_manifest_names_are_there_and_can_be_read():
    about = manifest()
    files = [
        about["contributes"]["languages"][0]["configuration"],
        about["contributes"]["grammars"][0]["path"],
    ]

    for name in files:
        json.loads((EXTENSION / name).read_text(encoding="utf-8"))
    for script in sorted(EXTENSION.glob("*.js")):
        subprocess.run([NODE, "--check", str(script)], check=True, timeout=60)


@needs_node
@pytest.mark.slow
@pytest.mark.skipif(
    not (EXTENSION / "node_modules").is_dir(),
    reason="vsce is not installed: npm install, in plugins/editor/vscode",
)
def test_the_package_has_what_the_extension_needs(tmp_path):
    import zipfile

    subprocess.run([shutil.which("npm"), "run", "package"], cwd=EXTENSION, check=True, timeout=300)

    with zipfile.ZipFile(EXTENSION / "penstock.vsix") as package:
        names = set(package.namelist())
        notices = package.read("extension/dist/notices.txt").decode()
    assert {"extension/dist/extension.js", "extension/package.json", "extension/LICENSE.txt"} <= names
    assert "vscode-languageclient" in notices
