"""The page of a graph file in a real browser: it draws each picture that comes, and marks a node."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from penstock_live.api import PictureSite
from penstock_views import draw

pytestmark = pytest.mark.heavy

NODES = "".join(
    f'node {{ name: "n{i}" calculator: "PassThroughCalculator" input_stream: "s{i}" '
    f'output_stream: "s{i + 1}" }}\n'
    for i in range(30)
)
GRAPH = f'input_stream: "s0"\noutput_stream: "s30"\n{NODES}'
NAMES = "return [...document.querySelectorAll('#picture [data-node]')].map((one) => one.dataset.node)"


def svg(text):
    return draw.svg(draw.drawing(text), marked=True)


@pytest.fixture
def site(site_of, page):
    with site_of(PictureSite, title="graph.pbtxt") as made:
        yield made
        page.open("about:blank")


def test_a_browser_shows_each_picture_and_brings_the_marked_node_into_view(page, site):
    site.show(svg(GRAPH))
    page.open(site)
    page.until(lambda: len(page.script(NAMES)) == 30)
    site.mark("n29")
    page.until(lambda: page.script("return document.querySelector('.marked')?.dataset.node") == "n29")
    page.until(
        lambda: page.script(
            "const box = document.querySelector('.marked').getBoundingClientRect();"
            "return box.top > 0 && box.bottom < innerHeight"
        )
    )
    width = "return getComputedStyle(document.querySelector('.marked > .pk-box')).strokeWidth"
    assert page.script(width) == "3.5px"
    site.show(svg(GRAPH.replace('"n29"', '"last"')))
    page.until(lambda: "last" in page.script(NAMES))
    assert page.script("return document.querySelector('.marked')") is None
    site.show("", ["line 3: <b>a fault</b>"])
    page.until_text("#notes", "line 3: <b>a fault</b>")
    assert len(page.script(NAMES)) == 30
    assert page.text("#state") == "1 to mend"
    before = page.script("return document.querySelector('svg').getBoundingClientRect().width")
    page.script("document.getElementById('larger').click()")
    after = page.script("return document.querySelector('svg').getBoundingClientRect().width")
    assert after == pytest.approx(1.25 * before, rel=0.02)
    colour = "return getComputedStyle(document.querySelector('#picture .pk-box')).stroke"
    assert page.script(colour) not in {"none", ""}


def test_a_browser_is_told_of_the_end(page, site):
    site.show(svg(GRAPH))
    page.open(site)
    page.until(lambda: page.script(NAMES))
    site.close()
    page.until_text("#state", "the program has ended")


def test_a_click_and_a_key_on_a_node_lead_to_the_editor(page, site_of):
    chosen = []
    with site_of(PictureSite, on_choice=chosen.append) as site:
        site.show(svg(GRAPH))
        page.open(site)
        page.until(lambda: page.script(NAMES))
        nodes = page.driver.find_elements(By.CSS_SELECTOR, "#picture [data-node]")
        ActionChains(page.driver).click(nodes[0]).perform()
        page.until(lambda: chosen == ["n0"])
        assert nodes[1].get_attribute("aria-label") == "n1: show it in the editor"
        page.script("arguments[0].focus()", nodes[1])
        ActionChains(page.driver).send_keys(Keys.ENTER).perform()
        page.until(lambda: chosen == ["n0", "n1"])
        page.open("about:blank")
