// Starts the language server, and shows the picture of the graph beside the text. Everything else comes from the server.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { PicturePanel } = require("./panel.js");

const FILES = [
  { scheme: "file", language: "pbtxt" },
  { scheme: "untitled", language: "pbtxt" },
  { scheme: "file", language: "python" },
  { scheme: "file", language: "json" },
];

let client = null;
let panel = null;

function command() {
  const settings = vscode.workspace.getConfiguration("penstock");
  const [program, ...words] = settings.get("command");
  const imports = settings.get("imports").flatMap((one) => ["--import", one]);
  return { command: program, args: [...words, ...imports] };
}

async function start() {
  const { command: program, args } = command();
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const server = { command: program, args, options: { cwd: folder } };
  client = new LanguageClient("penstock", "Penstock", server, { documentSelector: FILES });
  try {
    await client.start();
  } catch (error) {
    client = null;
    vscode.window.showErrorMessage(
      `${program} does not start: ${error.message}. Install it (pip install "penstock-editor[picture]"), and name it in the setting penstock.command.`,
    );
  }
}

async function stop() {
  const old = client;
  client = null;
  await old?.stop();
}

function showPicture() {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || client === null) return;
  panel ??= new PicturePanel(
    (method, params) => (client === null ? Promise.resolve(null) : client.sendRequest(method, params)),
    () => { panel = null; },
  );
  panel.show(editor);
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("penstock.showPicture", showPicture),
    vscode.commands.registerCommand("penstock.restart", async () => { await stop(); await start(); }),
    { dispose: () => panel?.dispose() },
  );
  await start();
}

module.exports = { activate, deactivate: stop };
