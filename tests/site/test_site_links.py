"""Each link of the built documentation leads to a file and a place in it."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.heavy

_LINK = re.compile(r'\b(?:href|src)="([^"]*)"')
_PLACE = re.compile(r'\bid="([^"]*)"')
_OUTSIDE = {"http", "https", "mailto", "data", "javascript"}


def dead_links(site):
    """Yield a page and its link, for each link that leads nowhere."""
    texts = {file: file.read_text(encoding="utf-8") for file in site.rglob("*.html")}
    places = {}
    for file, text in texts.items():
        for link in {html.unescape(found) for found in _LINK.findall(text)}:
            parts = urlsplit(link)
            if parts.scheme in _OUTSIDE:
                continue
            target = Path(os.path.normpath(file.parent / unquote(parts.path))) if parts.path else file
            if target.is_dir():
                target /= "index.html"
            if parts.scheme or not target.is_file():
                yield file.relative_to(site).as_posix(), link
            elif parts.fragment and target in texts:
                if target not in places:
                    places[target] = {html.unescape(found) for found in _PLACE.findall(texts[target])}
                if unquote(parts.fragment) not in places[target]:
                    yield file.relative_to(site).as_posix(), link


def test_each_link_of_the_site_leads_somewhere(site):
    assert sorted(dead_links(site)) == []


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a id="there" href="#there"><a href="#gone"><a href="b.html"><a href="folder/"><a href="TAG:1">'
        '<a href="rtsp://HOST/PATH"><a href="https://pypi.org/#x"><a href="a.html?v=1#there">'
    )
    (tmp_path / "folder").mkdir()

    assert sorted(link for _, link in dead_links(tmp_path)) == [
        "#gone", "TAG:1", "b.html", "folder/", "rtsp://HOST/PATH"
    ]  # fmt: skip


def test_the_folder_of_the_calculators_shows_their_index(site):
    shown = (site / "reference" / "calculators" / "index.html").read_text(encoding="utf-8")

    assert '<a class="reference internal" href="FlowLimiterCalculator.html">' in shown
