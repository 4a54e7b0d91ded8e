"""A client of the protocol: starts the server as an editor does, and talks to it over its pipes."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading

import pytest

WAIT = 60
DIAGNOSTICS = "textDocument/publishDiagnostics"


class Client:
    """Starts one server."""

    def __init__(self, *words, capabilities=None):
        command = [sys.executable, "-m", "penstock_cli", "language-server", *words]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        self._said = queue.Queue()
        self._errors = []
        self._number = 0
        self._version = self._opened = 0
        self.uri = ""
        self.notes = []
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._read, self._drain)]
        for one in self._threads:
            one.start()
        about = {"processId": None, "rootUri": None, "capabilities": capabilities or {}}
        self.capabilities = self.ask("initialize", about)["capabilities"]
        self.tell("initialized", {})

    def _read(self):
        stream = self.process.stdout
        while True:
            length = 0
            while (line := stream.readline()) not in {b"\r\n", b""}:
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            if not line:
                self._said.put(None)
                return
            self._said.put(json.loads(stream.read(length)))

    def _drain(self):
        self._errors += [line.decode() for line in self.process.stderr]

    def tell(self, method, params):
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method, params):
        """Return the result of a request; raises what the server answers instead."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while True:
            said = self._next()
            if said.get("id") == self._number and "method" not in said:
                if "error" in said:
                    raise RuntimeError(said["error"]["message"])
                return said["result"]
            self._note(said)

    def asked(self, method):
        """Return the parameters of the next request of the server, which is answered: it was done."""
        while True:
            found = next((one for one in self.notes if one.get("method") == method), None)
            if found is not None:
                self.notes.remove(found)
                return found["params"]
            self._note(self._next())

    def _note(self, said):
        if "method" in said and "id" in said:
            self._send({"jsonrpc": "2.0", "id": said["id"], "result": {"success": True}})
        self.notes.append(said)

    def open(self, text, uri=None):
        """Open a text, and return its address, which is a new one where none is given."""
        self._opened += 1
        uri = uri or f"file:///nowhere/{self._opened}/graph.pbtxt"
        self.uri = uri
        item = {"uri": uri, "languageId": "pbtxt", "version": 0, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, uri, text):
        self._version += 1
        where = {"uri": uri, "version": self._version}
        self.tell("textDocument/didChange", {"textDocument": where, "contentChanges": [{"text": text}]})

    def replace(self, uri, line, start, end, text):
        """Replace a part of a line."""
        self._version += 1
        part = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
        where = {"uri": uri, "version": self._version}
        self.tell(
            "textDocument/didChange",
            {"textDocument": where, "contentChanges": [{"range": part, "text": text}]},
        )

    def diagnostics(self, is_wanted=lambda found: True):
        """Return the next diagnostics of the text opened last for which a condition holds."""
        while True:
            if not self.notes:
                self.notes.append(self._next())
            said = self.notes.pop(0)
            if said.get("method") == DIAGNOSTICS and said["params"]["uri"] == self.uri:
                found = said["params"]["diagnostics"]
                if is_wanted(found):
                    return found

    def at(self, uri, text, mark, **more):
        """Return the parameters of a request at the end of the first `mark` in a text."""
        before = text[: text.index(mark) + len(mark)]
        line = before.count("\n")
        column = len(before) - (before.rfind("\n") + 1)
        return {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}, **more}

    def close(self):
        """End the server as an editor does; returns its exit code and what it wrote to stderr."""
        try:
            if self.process.poll() is None:
                self.ask("shutdown", None)
                self.tell("exit", None)
            code = self.process.wait(WAIT)
        finally:
            self.process.kill()
            self.process.wait(WAIT)
            for one in self._threads:
                one.join(WAIT)
            for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
                stream.close()
        return code, "".join(self._errors)

    def _send(self, message):
        data = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def _next(self):
        said = self._said.get(timeout=WAIT)
        if said is None:
            raise RuntimeError(f"the server ended: {''.join(self._errors)}")
        return said


@pytest.fixture(scope="module")
def client():
    one = Client()
    yield one
    code, errors = one.close()
    assert (code, errors) == (0, "")


@pytest.fixture
def started():
    """Return a function that starts another server, which the fixture ends."""
    clients = []

    def start(*words, capabilities=None):
        clients.append(Client(*words, capabilities=capabilities))
        return clients[-1]

    yield start
    for one in clients:
        one.close()
