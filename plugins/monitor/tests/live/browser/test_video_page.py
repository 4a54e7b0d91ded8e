"""The page of a video stream in a real browser: it shows each picture when it comes."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from penstock_live.api import VideoSite, listen

pytestmark = pytest.mark.heavy

#: The colour in the middle of the picture that the browser shows, or "" where it shows nothing yet.
MIDDLE = """
const shown = document.querySelector("img");
if (!shown.complete && !shown.naturalWidth) return "";
const canvas = document.createElement("canvas");
canvas.width = canvas.height = 1;
const context = canvas.getContext("2d");
context.drawImage(shown, 0, 0, 1, 1);
return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).join(" ");
"""


def picture(colour):
    file = io.BytesIO()
    Image.fromarray(np.full((48, 64, 3), colour, np.uint8)).save(file, "JPEG")
    return file.getvalue()


def seen(page, wanted):
    """Return whether the page shows a colour, but for the changes that JPEG makes."""
    found = page.script(MIDDLE)
    return found and max(abs(int(a) - b) for a, b in zip(found.split(), wanted, strict=True)) < 5


def test_a_browser_shows_the_newest_picture_and_each_one_that_follows(page):
    red, green, blue = (200, 10, 10), (10, 200, 10), (10, 10, 200)
    listening, address = listen("127.0.0.1", 0, is_tls=False)
    site = VideoSite(listening, address, title="camera", newest=lambda: picture(red))
    try:
        page.open(site)
        page.until(lambda: seen(page, red))
        for colour in (green, blue):
            site.show(picture(colour))
            page.until(lambda colour=colour: seen(page, colour))
        assert page.text("h1") == "camera"
        assert page.script("return document.querySelector('img').getBoundingClientRect().width") > 0
    finally:
        page.open("about:blank")
        site.close()


def test_without_the_token_a_browser_shows_a_sentence(page):
    listening, address = listen("127.0.0.1", 0, is_tls=False)
    site = VideoSite(listening, address, title="camera", newest=lambda: picture((1, 2, 3)))
    page.expected.append("403")
    try:
        page.open(site.url.partition("?")[0])
        assert "the token is missing or wrong" in page.text("body")
    finally:
        site.close()
