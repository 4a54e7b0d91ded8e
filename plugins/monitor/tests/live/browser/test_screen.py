"""How the screen behaves: what lies over what, what stands still, and what is not shown as current."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import penstock
from penstock_failures import Failure
from penstock_formats import ImageFrame
from penstock_live.journal import Journal

pytestmark = pytest.mark.heavy

LONG_ERROR = "node 'second' (N): process() failed at 4: ValueError: " + "\n".join("[[69, 90, 59]," * 40)


@pytest.fixture
def journal(hand):
    made = Journal()
    made.take(attrs.evolve(hand.READING, elapsed_s=1.0, streams=()), {})
    return made


@pytest.fixture
def server(hand, monitor, journal, stack):
    return stack.enter_context(hand.serve(monitor, journal=journal))


def sized(page, width, height, *, is_phone=False):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def box(page, selector):
    return page.script(
        "const { left, top, right, bottom, width, height } = document.querySelector(arguments[0])"
        ".getBoundingClientRect(); return { left, top, right, bottom, width, height }",
        selector,
    )


def image(number):
    return penstock.Packet(ImageFrame(np.full((360, 640, 3), 90, np.uint8)), number)


def opened(page, server):
    page.open(server)
    page.until(lambda: page.notes("node", "second") and page.notes("node", "second")[0])
    page.until_text("#elapsed", "3.3 s")


def enter(page, kind, name):
    page.script(f"document.querySelector('[data-{kind}={name}]:not(.pk-edge)').focus()")
    page.press(Keys.ENTER)


# --- details --------------------------------------------------------------------------------------


def test_details_lie_over_what_flows_which_keeps_its_size(page, server, monitor):
    sized(page, 1280, 800)
    monitor.packets["out"] = image(7)
    opened(page, server)
    page.until(lambda: page.script("return document.querySelector('#hero-body img') !== null"))
    before = {one: box(page, one) for one in ("#hero-body", "#cards", "#graph")}
    enter(page, "node", "second")
    assert page.text("#details-heading") == "Node second"
    assert {one: box(page, one) for one in before} == before
    assert box(page, "#details")["height"] > 0.9 * box(page, "#side")["height"]
    page.script("document.activeElement.blur()")
    page.press(Keys.ESCAPE)
    assert not page.driver.find_element(By.ID, "details").is_displayed()

    enter(page, "stream", "out")
    assert box(page, "#hero-body")["height"] == before["#hero-body"]["height"]
    assert box(page, "#details")["top"] > before["#hero-body"]["top"]
    page.driver.find_element(By.ID, "show-stream").click()
    assert not page.driver.find_element(By.ID, "details").is_displayed()


def test_on_a_phone_details_lie_over_the_end_of_the_screen(page, server):
    sized(page, 390, 844, is_phone=True)
    opened(page, server)
    before = box(page, "#flowing")
    enter(page, "node", "second")
    assert box(page, "#flowing") == before
    details = box(page, "#details")
    assert 844 - details["bottom"] == pytest.approx(0, abs=1)
    assert details["height"] < 0.61 * 844


def test_the_list_of_what_has_happened_makes_the_page_longer_and_nothing_smaller(
    page, server, hand, journal, monitor
):
    sized(page, 1280, 800)
    journal.take(attrs.evolve(hand.READING, elapsed_s=30.0), {"first-failures": 3})
    opened(page, server)
    page.until_text("#events-words", "3 failures")
    before = {one: box(page, one)["height"] for one in ("#graph", "#hero-body", "#cards")}
    page.script("document.querySelector('#event-details summary').click()")
    page.until(lambda: box(page, "#event-list")["height"] > 50)
    assert {one: box(page, one)["height"] for one in before} == pytest.approx(before, abs=2)


def test_what_has_failed_is_the_first_of_the_details(page, server, hand, journal, monitor):
    failed = [Failure("first", "Some", "process", 7, "E", "ValueError: no", "", 1, "skip", 10**18)]
    journal.take(attrs.evolve(hand.READING, elapsed_s=30.0), {"first-failures": 1}, lambda: failed)
    opened(page, server)
    page.until_text("#events-words", "1 failure")
    for name, is_first in (("first", True), ("second", False)):
        enter(page, "node", name)
        page.until_text("#about-config", f'name: "{name}"')
        assert (box(page, "#about-errors")["top"] < box(page, "#details-list")["top"]) == is_first


# --- errors ---------------------------------------------------------------------------------------


def test_a_long_error_is_its_first_line_until_more_is_asked_for(page, server, monitor):
    sized(page, 1280, 800)
    opened(page, server)
    monitor.give(errors=(LONG_ERROR,), state="over")
    page.until_text("#error-list .first-line", "node 'second' (N): process() failed at 4: ValueError: [")
    assert box(page, "#errors")["height"] < 160
    assert not page.driver.find_element(By.CSS_SELECTOR, "#error-list .whole").is_displayed()
    page.driver.find_element(By.CSS_SELECTOR, "#error-list summary").click()
    assert page.driver.find_element(By.CSS_SELECTOR, "#error-list .whole").is_displayed()
    assert page.text("#error-list .whole") == LONG_ERROR
    assert box(page, "#errors")["height"] < 400
    assert page.text("#announcer") == "The run has an error in node 'second'. It stands under Errors."


# --- pause ----------------------------------------------------------------------------------------


def test_a_paused_page_pauses_what_has_happened_too(page, server, hand, monitor, journal):
    opened(page, server)
    journal.take(attrs.evolve(hand.READING, elapsed_s=5.0), {"first-failures": 3})
    monitor.give(elapsed_s=5.0)
    page.until_text("#events-words", "3 failures")
    page.driver.find_element(By.ID, "pause").click()
    journal.take(attrs.evolve(hand.READING, elapsed_s=9.0), {"first-failures": 8})
    monitor.give(elapsed_s=9.0)
    page.until(lambda: page.script("return heldEvents?.events.length"))
    assert "3 failures" in page.text("#events-words")
    assert page.text("#elapsed") == "5.0 s"
    page.driver.find_element(By.ID, "pause").click()
    assert "8 failures" in page.text("#events-words")
    assert page.text("#elapsed") == "9.0 s"


def test_the_sign_of_a_pause_needs_no_font(page, server):
    opened(page, server)
    page.driver.find_element(By.ID, "pause").click()
    content, width = page.script(
        "const one = getComputedStyle(document.getElementById('connection'), '::before');"
        "return [one.content, one.borderLeftWidth]"
    )
    assert content == '""'
    assert float(width.removesuffix("px")) >= 2


# --- a server that is gone ------------------------------------------------------------------------


def test_of_a_server_that_is_gone_little_is_asked_and_no_number_looks_current(page, hand, stack):
    first = stack.enter_context(hand.serve(hand.Monitor()))
    opened(page, first)
    page.expected = ["ERR_CONNECTION_REFUSED", "503"]
    assert page.script("return getComputedStyle(document.querySelector('.last')).display") == "none"
    first.close()
    page.until_text("#connection", "the server is gone")
    page.until_text("#graph-heading", "last known at ")
    page.script(
        "window.asked = []; const one = window.fetch;"
        "window.fetch = (...of) => (asked.push(of[0]), one(...of))"
    )
    # the second pause is longer than the first
    page.until(lambda: page.script("return asked.length") >= 2)
    asked = page.script("return asked")
    assert {one.partition("?")[0] for one in asked} == {"/reading"}
