"""Make the picture of VS Code with a graph file: `docs/images/editor.svg`.

    npm pack code-server@4.100.3 && tar xf code-server-4.100.3.tgz
    (cd package/lib/vscode && npm install && npm rebuild)
    (cd plugins/editor/vscode && npm install && npm run package)
    python scripts/drawing/editor_picture.py --vscode package/lib/vscode

VS Code is the web build in the npm package `code-server`. Chromium looks at it without a window (Debian's
packages chromium and chromium-driver). It has the extension of `plugins/editor/vscode`, which starts the
language server of this environment. The graph has a name with a mistake; the pointer is on a stream, and the
picture of the graph is beside the text. Nothing of this is loaded from the network.

The picture is SVG with the screen inside as WebP data. Git holds it, as all pictures of the documentation.
"""

from __future__ import annotations

import argparse
import base64
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote
from urllib.request import urlopen

import cv2
import numpy as np

from penstock_views.draw.markup import element, rules

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from drawing.panels import Panel, picture  # found by the line above
from members import ROOT  # as above

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE: Final = ROOT / "plugins" / "editor" / "vscode" / "penstock.vsix"
PICTURE: Final = ROOT / "docs" / "images" / "editor.svg"
#: Of the screen, in pixels.
SIZE: Final = (1160, 560)
PATIENCE_S: Final = 180.0
GRAPH: Final = """\
# While the gate is open, a part of the frames goes on.
input_stream: "frame"
input_stream: "is_open"
output_stream: "chosen"
node {
  name: "gate"
  calculator: "GateCalculator"
  input_stream: "frame"
  input_stream: "ALLOW:is_open"
  output_stream: "kept"
}
node {
  name: "thin out"
  calculator: "PacketThinerCalculator"
  input_stream: "kept"
  output_stream: "fewer"
}
node {
  name: "last"
  calculator: "PassThroughCalculator"
  input_stream: "fewer"
  output_stream: "chosen"
}
"""
#: The text of a line, and the part of it on which the pointer is.
POINTED: Final = ('input_stream: "kept"', "kept")
SETTINGS: Final = {
    "penstock.command": [str(Path(sys.executable).with_name("penstock")), "language-server"],
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.activityBar.location": "hidden",
    "window.commandCenter": False,
    "workbench.layoutControl.enabled": False,
    "update.mode": "none",
    "extensions.autoCheckUpdates": False,
    "editor.minimap.enabled": False,
    "editor.hover.delay": 100,
    "editor.hover.above": False,
    "breadcrumbs.enabled": False,
}
#: Returns the place of a part of a line of the editor; null where there is none.
PLACE: Final = """
const [text, part] = arguments;
for (const line of document.querySelectorAll('.view-line')) {
  const at = line.textContent.replace(/\\u00a0/g, ' ').indexOf(text);
  if (at < 0) continue;
  const from = at + text.indexOf(part);
  const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  for (let done = 0; walker.nextNode(); done += walker.currentNode.data.length) {
    if (done + walker.currentNode.data.length <= from) continue;
    const range = document.createRange();
    range.setStart(walker.currentNode, from - done);
    range.setEnd(walker.currentNode, from - done + 1);
    const { x, y, width, height } = range.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  }
}
return null;
"""
#: Whether a page of the language server is shown over the text.
HOVERED: Final = """
return [...document.querySelectorAll('.monaco-hover')].some(
  (one) => one.offsetHeight > 10 && one.textContent.includes('(stream)'));
"""


@contextmanager
def vscode(folder: Path, home: Path) -> Iterator[str]:
    """Run VS Code with the extension, and nothing else; yield its address."""
    program = [shutil.which("node") or "node", str(folder / "out" / "server-main.js")]
    places = ["--server-data-dir", str(home / "data"), "--extensions-dir", str(home / "extensions")]
    agreed = ["--accept-server-license-terms", "--telemetry-level", "off"]
    user = home / "data" / "data" / "User"
    for place in (user, user.with_name("Machine")):
        place.mkdir(parents=True)
        (place / "settings.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    install = [*program, *places, *agreed, "--install-extension", str(PACKAGE)]
    subprocess.run(install, check=True, timeout=PATIENCE_S, stdout=subprocess.DEVNULL)  # noqa: S603
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*program, *places, *agreed, "--host", "127.0.0.1", "--port", str(port)]
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen([*command, "--without-connection-token"], stdout=log, stderr=log)  # noqa: S603
    try:
        address = f"http://127.0.0.1:{port}"
        _until(lambda: _answers(address, server), "VS Code does not start")
        yield address
    finally:
        server.terminate()
        server.wait(30)


def _answers(address: str, server: subprocess.Popen[bytes]) -> bool:
    if server.poll() is not None:
        raise SystemExit(f"VS Code has ended with {server.returncode}; were its modules installed?")
    try:
        with urlopen(address, timeout=5):  # noqa: S310  # of this machine
            return True
    except OSError:
        return False


def _until(condition: Any, what: str) -> Any:
    end = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        if time.monotonic() > end:
            raise SystemExit(f"{what} within {PATIENCE_S:.0f} s")
        time.sleep(0.3)
    return found


@contextmanager
def browser() -> Iterator[Any]:
    """Yield Chromium, without a window."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--force-device-scale-factor=1.5",
    ):
        options.add_argument(argument)
    driver = webdriver.Chrome(
        options, webdriver.ChromeService(shutil.which("chromedriver") or "chromedriver")
    )
    try:
        metrics = {"width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": 1.5, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        yield driver
    finally:
        driver.quit()


def screen(address: str, graph: Path) -> bytes:
    """Open a graph file in VS Code, show its picture, and point at a stream; return the screen as PNG."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    with browser() as driver:

        def command(name: str) -> None:
            ActionChains(driver).send_keys(Keys.F1).perform()
            _until(
                lambda: driver.execute_script(
                    "return document.querySelector('.quick-input-widget input') !== null"
                ),
                "no list of commands",
            )
            time.sleep(1)  # until its input has the focus
            ActionChains(driver).send_keys(name).pause(2).send_keys(Keys.ENTER).perform()

        host = address.removeprefix("http://")
        opened = json.dumps([["openFile", f"vscode-remote://{host}{graph}"]])
        driver.get(f"{address}/?folder={graph.parent}&payload={quote(opened)}")
        _until(
            lambda: driver.execute_script("return document.querySelectorAll('.squiggly-error').length"),
            "the language server reports no mistake",
        )
        driver.find_element("css selector", ".view-line").click()
        command("View: Close Primary Side Bar")
        command("Penstock: Show the Picture of the Graph")
        _until(
            lambda: driver.execute_script("return document.querySelectorAll('iframe.webview').length"),
            "no picture",
        )
        time.sleep(5)  # until it is drawn, in a frame of its own
        command("View: Focus First Editor Group")
        x, y = _until(lambda: driver.execute_script(PLACE, *POINTED), "the line is not shown")
        for step in (3, 1, 0):
            driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x + step, "y": y})
        _until(lambda: driver.execute_script(HOVERED), "no page of the stream")
        return base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"])


def drawn(png: bytes) -> str:
    """Return a screen as SVG."""
    pixels = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        raise SystemExit("Chromium gave no picture")
    _, webp = cv2.imencode(".webp", pixels, [cv2.IMWRITE_WEBP_QUALITY, 60])
    data = "data:image/webp;base64," + base64.b64encode(webp.tobytes()).decode()
    width, height = SIZE
    image = element("image", width=width, height=height, href=data)
    frame = element("rect", x=0, y=0, width=width, height=height, class_="outline")
    style = rules(
        fixed={".outline": "fill: none; stroke-width: 1px"},
        light={".outline": "stroke: #b9c0c9"},
        dark={".outline": "stroke: #4a5663"},
    )
    label = "VS Code with a graph file: a misspelt calculator, the page of a stream, and the graph's picture"
    return picture(Panel(width, height, image + frame), label, style)


def main() -> None:
    """Make the picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vscode", type=Path, required=True, help="its folder: has out/server-main.js")
    parser.add_argument("--to", type=Path, default=PICTURE, help="the file to write")
    given = parser.parse_args()
    if not (given.vscode / "out" / "server-main.js").is_file():
        parser.error(f"{given.vscode} has no out/server-main.js")
    if not PACKAGE.is_file():
        parser.error(f"{PACKAGE} is missing: npm install && npm run package, in its folder")
    with tempfile.TemporaryDirectory(prefix="penstock-editor-") as folder:
        graph = Path(folder) / "graphs" / "counted.pbtxt"
        graph.parent.mkdir()
        graph.write_text(GRAPH, encoding="utf-8")
        with vscode(given.vscode.resolve(), Path(folder) / "home") as address:
            given.to.write_text(drawn(screen(address, graph)), encoding="utf-8")
    print(given.to)


if __name__ == "__main__":
    main()
