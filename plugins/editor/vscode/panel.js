// The picture of the graph that is edited, in a panel beside it. It is drawn again while one types, the node at the cursor is
// marked, and a click on a node leads to its text.
"use strict";

const { randomBytes } = require("node:crypto");
const vscode = require("vscode");
const { page } = require("./page.js");

const QUIET_MS = 200;

class PicturePanel {
  // ask(method, params): asks the language server. onGone(): called when the user has closed the panel.
  constructor(ask, onGone) {
    this.ask = ask;
    this.document = null;
    this.nodes = [];
    this.timer = null;
    this.number = 0; // of the newest request for a picture
    this.panel = vscode.window.createWebviewPanel(
      "penstock.picture", "Graph", { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, { enableScripts: true },
    );
    this.panel.webview.html = page(randomBytes(16).toString("base64"));
    this.parts = [
      this.panel.webview.onDidReceiveMessage((said) => this.take(said)),
      this.panel.onDidDispose(() => { this.end(); onGone(); }),
      vscode.workspace.onDidChangeTextDocument((event) => { if (event.document === this.document) this.soon(); }),
      vscode.window.onDidChangeActiveTextEditor((editor) => { if (editor !== undefined && editor.document !== this.document) this.show(editor); }),
      vscode.window.onDidChangeTextEditorSelection((event) => this.follow(event.textEditor)),
    ];
  }

  show(editor) {
    this.document = editor.document;
    return this.draw();
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.draw(), QUIET_MS);
  }

  where(position) {
    const at = { textDocument: { uri: this.document.uri.toString() } };
    return position === undefined ? at : { ...at, position: { line: position.line, character: position.character } };
  }

  // A picture that comes after a newer one was asked for is left out.
  async draw() {
    const number = ++this.number;
    const editor = vscode.window.activeTextEditor;
    const position = editor?.document === this.document ? editor.selection.active : undefined;
    try {
      const found = await this.ask("penstock/picture", this.where(position));
      if (number !== this.number || found === null) return;
      this.nodes = found.nodes;
      await this.panel.webview.postMessage({ svg: found.svg });
    } catch (error) {
      if (number === this.number) await this.panel.webview.postMessage({ fault: error.message });
      return;
    }
    if (editor !== undefined) await this.follow(editor);
  }

  async follow(editor) {
    if (editor.document !== this.document) return;
    const found = await this.ask("penstock/nodeAt", this.where(editor.selection.active)).catch(() => null);
    await this.panel.webview.postMessage({ node: found?.name ?? "" });
  }

  async take(said) {
    const node = this.nodes.find((one) => one.name === said.node);
    if (node === undefined) return;
    const { start } = node.range;
    const at = new vscode.Position(start.line, start.character);
    await vscode.window.showTextDocument(this.document, {
      viewColumn: vscode.window.visibleTextEditors.find((one) => one.document === this.document)?.viewColumn,
      selection: new vscode.Range(at, at),
    });
  }

  end() {
    clearTimeout(this.timer);
    for (const one of this.parts) one.dispose();
  }

  dispose() {
    this.panel.dispose();
  }
}

module.exports = { PicturePanel };
