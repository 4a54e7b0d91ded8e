// Runs the extension of VS Code without VS Code: its own code and the real language server, with stand-ins for the editor's API
// and for the client library. Reads what to do from the test, and writes what happened as JSON.
"use strict";

const { spawn } = require("node:child_process");
const { pathToFileURL } = require("node:url");
const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");

const [folder, graph, python] = process.argv.slice(2);
const text = fs.readFileSync(graph, "utf8");
const posted = [];
const shown = [];
const waiting = [];
const commands = {};
const listeners = {};
const on = (name) => (listener) => { listeners[name] = listener; return { dispose() { delete listeners[name]; } }; };

function post(said) {
  posted.push(said);
  for (const one of waiting.splice(0)) one();
  return Promise.resolve(true);
}

// Resolves with the first message of the panel, from a place on, for which a condition holds.
async function until(isWanted, from = 0) {
  for (;;) {
    const found = posted.slice(from).find(isWanted);
    if (found !== undefined) return found;
    await new Promise((resolve) => waiting.push(resolve));
  }
}

class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range { constructor(start, end) { Object.assign(this, { start, end }); } }
const document = { uri: { toString: () => pathToFileURL(graph).href }, languageId: "pbtxt" };
const editor = { document, selection: { active: new Position(0, 0) }, viewColumn: 1 };
const panel = {
  webview: { html: "", postMessage: post, onDidReceiveMessage: on("message") },
  onDidDispose: on("gone"),
  dispose() { listeners.gone?.(); },
};
const vscode = {
  Position, Range, ViewColumn: { Beside: -2 },
  commands: { registerCommand(name, run) { commands[name] = run; return { dispose() {} }; } },
  workspace: {
    workspaceFolders: undefined,
    getConfiguration: () => ({ get: (name) => ({ command: [python, "-m", "penstock_cli", "language-server"], imports: [] })[name] }),
    onDidChangeTextDocument: on("changed"),
  },
  window: {
    activeTextEditor: editor, visibleTextEditors: [editor],
    createWebviewPanel: () => panel,
    onDidChangeActiveTextEditor: on("active"), onDidChangeTextEditorSelection: on("selection"),
    showErrorMessage(said) { throw new Error(said); },
    showTextDocument(_document, { selection }) { shown.push(selection.start); return Promise.resolve(); },
  },
};

class LanguageClient {
  constructor(_id, _name, server, options) {
    Object.assign(this, { server, options, number: 0, asked: new Map(), data: Buffer.alloc(0) });
  }

  async start() {
    this.process = spawn(this.server.command, this.server.args, { stdio: ["pipe", "pipe", "inherit"] });
    this.process.stdout.on("data", (data) => this.read(data));
    await this.sendRequest("initialize", { processId: null, rootUri: null, capabilities: {} });
    this.tell("initialized", {});
    this.tell("textDocument/didOpen", { textDocument: { uri: document.uri.toString(), languageId: "pbtxt", version: 0, text } });
  }

  async stop() {
    await this.sendRequest("shutdown", null);
    const ended = new Promise((resolve) => this.process.on("exit", resolve));
    this.tell("exit", null);
    this.exit = await ended;
  }

  tell(method, params) { this.send({ jsonrpc: "2.0", method, params }); }

  sendRequest(method, params) {
    const id = ++this.number;
    this.send({ jsonrpc: "2.0", id, method, params });
    return new Promise((resolve, reject) => this.asked.set(id, { resolve, reject }));
  }

  send(said) {
    const data = Buffer.from(JSON.stringify(said));
    this.process.stdin.write(`Content-Length: ${data.length}\r\n\r\n`);
    this.process.stdin.write(data);
  }

  read(data) {
    this.data = Buffer.concat([this.data, data]);
    for (;;) {
      const end = this.data.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(this.data.subarray(0, end).toString())[1]);
      if (this.data.length < end + 4 + length) return;
      const said = JSON.parse(this.data.subarray(end + 4, end + 4 + length).toString());
      this.data = this.data.subarray(end + 4 + length);
      const asked = said.method === undefined ? this.asked.get(said.id) : undefined;
      if (asked === undefined) continue;
      this.asked.delete(said.id);
      if (said.error) asked.reject(new Error(said.error.message));
      else asked.resolve(said.result);
    }
  }
}

const load = Module._load;
let made = null;
Module._load = (name, ...others) => {
  if (name === "vscode") return vscode;
  if (name === "vscode-languageclient/node") return { LanguageClient: class extends LanguageClient { constructor(...given) { super(...given); made = this; } } };
  return load(name, ...others);
};

(async () => {
  const extension = require(path.join(folder, "extension.js"));
  const context = { subscriptions: [] };
  await extension.activate(context);
  commands["penstock.showPicture"]();
  const first = await until((said) => said.svg !== undefined);
  const line = text.split("\n").findIndex((one) => one.includes("second"));
  let from = posted.length;
  editor.selection.active = new Position(line, 3);
  listeners.selection({ textEditor: editor });
  const marked = await until((said) => said.node === "second", from);
  await listeners.message({ node: "first" });
  from = posted.length;
  made.tell("textDocument/didChange", {
    textDocument: { uri: document.uri.toString(), version: 1 }, contentChanges: [{ text: text.replaceAll("second", "third") }],
  });
  listeners.changed({ document });
  const changed = await until((said) => said.svg?.includes('data-node="third"'), from);
  const real = made.sendRequest.bind(made);
  let release;
  const answers = [new Promise((resolve) => { release = () => resolve({ svg: "old", nodes: [] }); }), Promise.resolve({ svg: "new", nodes: [] })];
  made.sendRequest = (method, params) => (method === "penstock/picture" ? answers.shift() : real(method, params));
  from = posted.length;
  commands["penstock.showPicture"]();
  commands["penstock.showPicture"]();
  await until((said) => said.svg === "new", from);
  release();
  await new Promise((resolve) => setImmediate(resolve));
  const late = posted.slice(from).map((said) => said.svg).filter((svg) => svg !== undefined);
  made.sendRequest = real;
  for (const one of context.subscriptions) one.dispose();
  await extension.deactivate();
  const nonce = /script nonce="([^"]+)"/.exec(panel.webview.html)[1];
  process.stdout.write(JSON.stringify({
    commands: Object.keys(commands), languages: made.options.documentSelector.map((one) => one.language), exit: made.exit,
    first: first.svg, marked, late, shown, changed: changed.svg, left: Object.keys(listeners),
    hasPolicy: panel.webview.html.includes(`script-src 'nonce-${nonce}'`),
  }));
})().catch((error) => { process.stderr.write(`${error.stack}\n`); process.exit(1); });
