"""Make the picture of the live page: `docs/images/live_page.svg`.

    python scripts/drawing/live_page_picture.py

A run is served, Chromium looks at its page without a window (Debian's packages chromium and
chromium-driver), and the screen is kept. The graph gets a rendered street as a camera would send it. Its
detector is slower than the camera: a limiter drops frames, a tracker follows what was found, a line counts.

The picture is SVG with the screen inside as WebP data, in light colours. Git holds it, as all pictures of the
documentation. It shows a run in real time, so each time it is a little different.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

import penstock
import penstock_live
from penstock_formats import Detection, ImageFrame
from penstock_views.draw.markup import element, rules

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import street  # found by the line above
from drawing.panels import Panel, picture  # as above
from members import ROOT  # as above

if TYPE_CHECKING:
    from collections.abc import Iterator

PICTURE: Final = ROOT / "docs" / "images" / "live_page.svg"
#: Of the screen, in pixels.
SIZE: Final = (1280, 800)
#: How long the run has been under way in the picture, in seconds.
UNDER_WAY_S: Final = 25.0
PATIENCE_S: Final = 120.0
RATE: Final = 12.5
_FILM_S: Final = 30.0
_FILM_SIZE: Final = (640, 360)
_SEED: Final = 5
GRAPH: Final = """
type: "Street"
input_stream: "camera"
output_stream: "drawn"
output_stream: "counts"
executor {
  name: "model"
  type: "ThreadPoolExecutor"
  options { [penstock.ThreadPoolExecutorOptions.ext] { num_threads: 1 } }
}
node {
  name: "limiter"
  calculator: "FlowLimiterCalculator"
  input_stream: "camera"
  input_stream: "FINISHED:found"
  input_stream_info { tag_index: "FINISHED" back_edge: true }
  output_stream: "frame"
}
node { calculator: "DetectObjects" input_stream: "FRAME:frame" output_stream: "OUT:found" executor: "model" }
node {
  name: "tracker"
  calculator: "TrackerCalculator"
  input_stream: "DETECTIONS:found"
  output_stream: "DETECTIONS:followed"
}
node {
  name: "line"
  calculator: "ZonesCalculator"
  input_stream: "DETECTIONS:followed"
  output_stream: "COUNTS:counts"
  node_options { [type.googleapis.com/penstock_detect.ZonesCalculatorOptions] {
    line {
      name: "street" point: LINE_X point: 0.42 point: LINE_X point: 1 direction: "left" direction: "right"
    }
  } }
}
node {
  name: "boxes"
  calculator: "DetectionOverlayCalculator"
  input_stream: "IMAGE:frame"
  input_stream: "DETECTIONS:followed"
  output_stream: "IMAGE:drawn"
}
"""
#: Makes the stream with the boxes the large one.
SHOW_BOXES: Final = """
[...document.querySelectorAll("a, button")].find((one) => one.textContent.trim() === "drawn")?.click();"""
#: Whether the page shows frames.
HAS_FRAMES: Final = (
    "return [...document.images].some((one) => one.naturalWidth > 200 && one.offsetWidth > 200);"
)


@contextmanager
def served() -> Iterator[str]:
    """Run the graph; yield the address of its page."""
    things = street.things(_FILM_S, np.random.default_rng(_SEED))
    found = list(street.noisy(street.truth_of(things, _FILM_S, RATE), _SEED))
    frames = [ImageFrame(pixels) for pixels in street.pictures(things, _FILM_S, RATE, _FILM_SIZE)]
    places = {id(frame): place for place, frame in enumerate(frames)}

    @penstock.register_calculator
    @penstock.calculator
    def detect_objects(frame: ImageFrame) -> list[Detection]:
        """Return what is in a frame; a pause replaces the model."""
        time.sleep(0.13)
        return street.detections(found[places[id(frame)]])

    graph = penstock.CalculatorGraph(GRAPH.replace("LINE_X", str(street.LINE_X)))
    graph.set_timing()
    is_over = threading.Event()

    def feed() -> None:
        begin = time.monotonic()
        for number in range(10**6):
            if is_over.wait(max(0.0, begin + number / RATE - time.monotonic())):
                return
            packet = penstock.Packet(frames[number % len(frames)], round(1e6 * number / RATE))
            graph.add_packet_to_input_stream("camera", packet)

    with graph, penstock_live.serve(graph) as server:
        graph.start_run()
        feeder = threading.Thread(target=feed)
        feeder.start()
        try:
            yield server.url
        finally:
            is_over.set()
            feeder.join()


def screen(address: str) -> bytes:
    """Return the page, as PNG, when the run has been under way for a while."""
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    service = webdriver.ChromeService(shutil.which("chromedriver") or "chromedriver")
    driver = webdriver.Chrome(options, service)
    try:
        metrics = {"width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": 1.25, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        colours = {"features": [{"name": "prefers-color-scheme", "value": "light"}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", colours)
        begin = time.monotonic()
        driver.get(address)
        WebDriverWait(driver, PATIENCE_S).until(lambda page: page.execute_script(HAS_FRAMES))
        driver.execute_script(SHOW_BOXES)
        # The lines of the last minute and the line of time want something to show.
        time.sleep(max(0.0, begin + UNDER_WAY_S - time.monotonic()))
        return base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"])
    finally:
        driver.quit()


def drawn(png: bytes) -> str:
    """Return a screen as SVG."""
    pixels: Any = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)
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
    label = (
        "The live page: the graph with its numbers, the frames that flow in it, and what has happened when"
    )
    return picture(Panel(width, height, image + frame), label, style)


def main() -> None:
    """Make the picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--to", type=Path, default=PICTURE, help="the file to write")
    given = parser.parse_args()
    with served() as address:
        png = screen(address)
    given.to.write_text(drawn(png), encoding="utf-8")
    print(given.to)


if __name__ == "__main__":
    main()
