"""The first screen: layout, subgraphs, what flows large, what has happened, search, pause and links."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import penstock
from penstock.log import get_logger, place
from penstock_failures import Failure
from penstock_formats import ImageFrame
from penstock_live.journal import Journal

pytestmark = pytest.mark.heavy

GROUPED = """
input_stream: "in"
output_stream: "out"
node { calculator: "PassThroughCalculator" name: "first" input_stream: "in" output_stream: "between" }
node { calculator: "PassThroughCalculator" name: "box__a" input_stream: "between" output_stream: "box__x" }
node { calculator: "PassThroughCalculator" name: "box__b" input_stream: "box__x" output_stream: "out" }
"""


@pytest.fixture
def journal(hand):
    made = Journal()
    made.take(attrs.evolve(hand.READING, elapsed_s=1.0, streams=()), {})
    return made


@pytest.fixture
def server(hand, monitor, journal, stack):
    return stack.enter_context(hand.serve(monitor, journal=journal))


@pytest.fixture
def grouped(hand, stack, page):
    """Return a page of a graph with a subgraph, and its monitor."""
    nodes = (
        hand.node("first"),
        hand.node("box__a", busy=0.2),
        hand.node("box__b", busy=0.7, steps_per_s=7.0),
    )
    streams = (
        hand.stream("in", "", "first", is_input=True),
        hand.stream("between", "first", "box__a"),
        hand.stream("box__x", "box__a", "box__b", queued=5),
        hand.stream("out", "box__b", is_output=True),
    )
    monitor = hand.Monitor(attrs.evolve(hand.READING, nodes=nodes, streams=streams, latencies=()))
    monitor.packets = {one.name: None for one in streams}
    return page.open(stack.enter_context(hand.serve(monitor, GROUPED))), monitor


def sized(page, width, height, *, is_phone=False):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def image(colour, number):
    return penstock.Packet(ImageFrame(np.full((90, 1200, 3), colour, np.uint8)), number)


# --- the layout -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "height"), [(1400, 1000), (1280, 800)])
def test_graph_flow_and_history_are_on_the_first_screen(page, server, width, height):
    sized(page, width, height)
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    page.until_text("#events-words", "no drop")
    boxes = page.script(
        """return Object.fromEntries(["graph", "flowing", "hero", "cards", "events", "picture"].map((id) => {
          const { left, top, right, bottom } = document.getElementById(id).getBoundingClientRect();
          return [id, { left, top, right, bottom }];
        }))"""
    )
    assert all(box["bottom"] <= height for box in boxes.values())
    assert boxes["graph"]["right"] <= boxes["flowing"]["left"]
    assert boxes["hero"]["bottom"] <= boxes["cards"]["top"] + 1
    inside = page.script(
        """const room = document.getElementById("picture").getBoundingClientRect();
        return [...document.querySelectorAll("#picture .pk-node rect")].every((one) => {
          const { left, right, top, bottom } = one.getBoundingClientRect();
          return left >= room.left && right <= room.right && top >= room.top && bottom <= room.bottom;
        })"""
    )
    assert inside, "the whole graph is seen"


def test_a_graph_leads_from_left_to_right_where_that_fits_and_down_on_a_phone(page, server):
    sized(page, 2400, 900)
    page.open(server)
    layout = "return document.getElementById('picture').dataset.layout"
    page.until(lambda: page.script(layout) == "across")
    assert page.until(lambda: page.notes("node", "first")[0]) == "29.9 steps/s, 45 % busy"
    sized(page, 390, 844, is_phone=True)
    page.until(lambda: page.script(layout) == "down")
    assert page.script("return document.documentElement.scrollWidth") <= 390


def test_on_a_phone_what_flows_has_room_of_its_own(page, server, monitor):
    monitor.packets["out"] = image(90, 7)
    sized(page, 390, 844, is_phone=True)
    page.open(server)
    page.until(lambda: page.script("return document.querySelector('#hero-body img') !== null"))
    hero, cards, events = page.script(
        """return ["hero", "cards", "events"].map((id) => {
          const { top, bottom } = document.getElementById(id).getBoundingClientRect();
          return [top, bottom];
        })"""
    )
    assert hero[1] - hero[0] > 150
    assert hero[1] <= cards[0] + 1
    assert cards[1] <= events[0]


def test_a_graph_too_tall_for_its_room_can_be_read_and_scrolls_one_way(page, hand, stack):
    nodes = "".join(
        f'node {{ calculator: "PassThroughCalculator" name: "n{i}" input_stream: "s{i}" '
        f'output_stream: "s{i + 1}" }}\n'
        for i in range(14)
    )
    server = stack.enter_context(hand.serve(hand.Monitor(), f'input_stream: "s0"\n{nodes}'))
    sized(page, 1400, 1000)
    page.open(server)
    page.until(lambda: page.script("return document.querySelectorAll('#picture .pk-node').length") == 14)
    page.until(lambda: page.script("return document.getElementById('picture').dataset.layout === 'down'"))
    size, is_wider = page.script(
        """const room = document.getElementById("picture"), svg = room.querySelector("svg");
        const size = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        return [size, room.scrollWidth > room.clientWidth];"""
    )
    assert size >= 0.8 - 1e-3
    assert not is_wider


def test_a_stream_on_which_nothing_passes_now_says_how_many_have(page, server):
    page.open(server)
    page.until_text("[data-card=out] .thumbnail", "100 packets have passed; the next one is shown")


def test_of_a_run_that_is_over_no_next_packet_is_promised(page, server, monitor):
    page.open(server)
    page.until_text("article[data-card=out] .thumbnail", "; the next one is shown")
    monitor.give(state="over", streams=tuple(attrs.evolve(one, packets=1) for one in monitor.newest.streams))
    page.until(lambda: page.text("article[data-card=out] .thumbnail") == "1 packet has passed")
    page.until(lambda: page.text("#hero-body") == "1 packet has passed")


def test_a_node_has_lines_of_its_rate_its_calls_and_its_queue(page, server, monitor):
    page.open(server)
    page.until(lambda: page.notes("node", "first"))
    words = "[data-node=first] .spark-words"
    page.until(lambda: page.texts(words) == ["steps/s", "15 ms a call", "queue 3"])
    line = (
        "return document.querySelector('[data-node=first] .spark-rate').getAttribute('d').split('L').length"
    )
    before = page.script(line)
    monitor.give(elapsed_s=5.0)
    page.until(lambda: page.script(line) == before + 1)
    # the second one is not timed: nothing is made up
    assert page.texts("[data-node=second] .spark-words")[1] == "–"


def test_a_page_that_is_opened_late_has_the_minute_before(page, hand, stack, monitor, journal):
    for second in range(2, 32):
        journal.take(attrs.evolve(hand.READING, elapsed_s=float(second)), {})
    page.open(stack.enter_context(hand.serve(monitor, journal=journal)))
    line = (
        "return document.querySelector('[data-node=first] .spark-rate')?.getAttribute('d').split('L').length"
    )
    page.until(lambda: (page.script(line) or 0) >= 30)


# --- subgraphs ------------------------------------------------------------------------------------


def test_a_subgraph_is_closed_until_it_is_opened_by_key_button_or_mark(grouped):
    page, _ = grouped
    page.until(lambda: page.script("return document.querySelector('[data-group=box] .pk-note')?.textContent"))
    assert page.notes("node", "box__a") == []
    page.until(lambda: page.texts("[data-group=box] .pk-note") == ["2 nodes, 29.9/s", "b: 70 % busy"])
    assert page.texts("[data-group=box] .spark-words")[2] == "queue 5"
    page.script("document.querySelector('[data-group=box]').focus()")
    page.press("+")
    page.until(lambda: page.notes("node", "box__b"))
    assert page.notes("node", "box__b")[0] == "7.0 steps/s, 70 % busy"
    page.until(lambda: page.script("return document.activeElement.dataset.group") == "box")
    page.press("-")
    page.until(lambda: not page.notes("node", "box__b"))
    mark = page.driver.find_element(By.CSS_SELECTOR, "[data-group=box] .live-toggle")
    mark.click()
    page.until(lambda: page.notes("node", "box__b"))


def test_a_culprit_in_a_closed_subgraph_marks_the_subgraph(grouped, hand):
    from penstock_monitor import CulpritReading, StallReading

    page, monitor = grouped
    page.until(lambda: page.texts("[data-group=box] .pk-name"))
    monitor.give(stall=StallReading(1.2, "it waits", (CulpritReading("box__b", "", "b sleeps"),)))
    page.until(lambda: page.texts(".is-culprit .pk-name") == ["box"])
    page.driver.find_element(By.CSS_SELECTOR, "#culprits button").click()
    page.until(lambda: page.texts(".is-culprit .pk-name") == ["b"])
    assert page.text("#details-heading") == "Node box__b"


# --- what flows -----------------------------------------------------------------------------------


def test_a_picture_is_large_and_another_one_when_it_is_chosen(page, server, monitor):
    monitor.packets.update({"in": image((200, 0, 0), 1), "out": image((0, 200, 0), 2)})
    page.open(server)
    page.until(lambda: page.script("return document.querySelector('#hero img')?.naturalWidth") == 600)
    assert page.text("#hero-name") == "out"
    page.until(
        lambda: page.script("return document.querySelector('article[data-card=in] img')?.naturalWidth") == 150
    )
    page.driver.find_element(By.CSS_SELECTOR, "article[data-card=in] h3 button").click()
    page.until(lambda: page.text("#hero-name") == "in")
    page.until(lambda: page.script("return document.querySelector('#hero img')?.alt.startsWith('in: ')"))
    page.driver.find_element(By.ID, "hero-busiest").click()
    streams = monitor.newest.streams
    monitor.give(streams=(*streams[:2], attrs.evolve(streams[2], per_s=90.0, packets=101)))
    page.until(lambda: page.text("#hero-name") == "out")


def test_without_pictures_another_stream_is_large(page, server, monitor):
    monitor.packets["between"] = penstock.Packet(7, 1)
    page.open(server)
    page.until_text("#hero .value", "7")
    assert page.text("#hero-name") == "between"


def test_a_picture_can_be_zoomed_and_comes_larger_then(page, server, monitor):
    monitor.packets["out"] = image((0, 200, 0), 2)
    page.open(server)
    page.until(lambda: page.script("return document.querySelector('#hero img')?.naturalWidth") == 600)
    page.driver.find_element(By.ID, "zoom-in").click()
    page.until(lambda: page.script("return document.getElementById('zoom-image').naturalWidth") == 1200)
    assert page.text("#zoom-heading") == "out"
    width = "return document.getElementById('zoom-image').getBoundingClientRect().width"
    fits = page.script(width)
    assert fits <= page.script("return innerWidth")
    page.driver.find_element(By.ID, "zoom-larger").click()
    assert page.script(width) == pytest.approx(1.5 * fits, rel=0.02)
    page.driver.find_element(By.ID, "zoom-fit").click()
    assert page.script(width) == pytest.approx(fits, rel=0.02)
    page.press(Keys.ESCAPE)
    assert not page.driver.find_element(By.ID, "zoom").is_displayed()
    assert page.focused() == "zoom-in"


# --- what has happened ----------------------------------------------------------------------------


def test_drops_stalls_reconnects_and_failures_are_on_a_line_of_time(page, server, hand, monitor, journal):
    page.open(server)
    page.until_text("#events-words", "no drop, stall, outage, reconnect or failure")
    reading = attrs.evolve(hand.READING, elapsed_s=30.0, errors=("node 'second': ValueError: no",))
    journal.take(reading, {"first-reconnects": 2})
    monitor.give(elapsed_s=30.0)
    page.until_text("#events-words", "12 drops, 2 reconnects, 1 failure")
    marks = page.texts("#timeline .mark title")
    assert marks == [
        "30.0 s: node 'second': ValueError: no",
        "1.0 s: 10 packets of between dropped by second: late, for 29.0 s",
        "1.0 s: 2 packets of between dropped by second: queue full, for 29.0 s",
        "1.0 s: first: the source is back, 2 times, for 29.0 s",
    ]
    assert page.texts("#timeline .lane-words")[:3] == ["drops", "reconnects", "failures"]
    page.driver.find_element(By.CSS_SELECTOR, "#event-details summary").click()
    page.driver.find_element(By.XPATH, "//ol[@id='event-list']//button[contains(., 'ValueError')]").click()
    assert page.text("#details-heading") == "Node second"
    page.until_text("#about-errors", "ValueError: no")


def test_a_node_with_failures_that_did_not_end_the_run_says_so(page, server, hand, monitor, journal):
    page.open(server)
    page.until(lambda: page.notes("node", "first"))
    journal.take(attrs.evolve(hand.READING, elapsed_s=30.0), {"first-failures": 3})
    monitor.give(elapsed_s=30.0)
    page.until_text("#events-words", "3 failures")
    monitor.give(elapsed_s=31.0)
    page.until(lambda: page.notes("node", "first")[1] == "⚠ failures")
    assert page.texts(".is-failed") == []
    assert page.notes("node", "second")[1] == "12 dropped"


def test_the_last_errors_of_a_node_say_what_went_wrong_and_how_often(page, server, hand, monitor, journal):
    failed = [
        Failure("first", "Some", "process", n, "E", f"ValueError: no {n}", "", 1, "skip", 10**18 + n)
        for n in range(1, 45)
    ]
    for number in (1, 44):
        reading = attrs.evolve(hand.READING, elapsed_s=30.0 + number)
        journal.take(reading, {"first-failures": number}, lambda number=number: failed[:number])
    page.open(server)
    page.until_text("#events-words", "44 failures")
    page.until(lambda: page.notes("node", "first"))
    page.script("document.querySelector('[data-node=first]').focus()")
    page.press(Keys.ENTER)
    lines = page.until_text("#about-errors", "in all").splitlines()
    assert lines[0] == "44 in all, the newest first:"
    assert [line.split(" ", 1)[1] for line in lines[1:3]] == [
        "process() failed at 44 us: ValueError: no 44",
        "process() failed at 43 us: ValueError: no 43",
    ]
    titles = page.texts("#timeline .mark-failure title")
    assert (
        titles[-1]
        == "31.0 s: first: 44 failures, the last: process() failed at 44: ValueError: no 44, for 43.0 s"
    )


# --- details --------------------------------------------------------------------------------------


def test_a_node_shows_its_options_its_log_and_its_calculators_page(page, server):
    get_logger("first_screen").warning("the lens is <dirty>", extra=place(node="second"))
    with_log = get_logger("first_screen")
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    with_log.warning("it is clean again", extra=place(node="second"))
    page.script("document.querySelector('[data-node=second]').focus()")
    page.press(Keys.ENTER)
    assert page.until_text("#about-log", "WARNING: it is clean again")
    assert 'calculator: "PassThroughCalculator"' in page.text("#about-config")
    assert page.text("#about-calculator h3").startswith("PassThroughCalculator, from penstock-calculators")
    assert page.text("#about-errors") == "This node has had no error."


# --- links, search and pause ----------------------------------------------------------------------


def test_a_link_opens_the_node_that_it_names_also_in_a_closed_subgraph(grouped):
    page, _ = grouped
    page.until(lambda: page.texts("[data-group=box] .pk-name"))
    page.script("document.querySelector('[data-node=first]').focus()")
    page.press(Keys.ENTER)
    assert page.script("return location.hash") == "#node=first"
    page.script("location.hash = '#node=box__b'")
    page.until_text("#details-heading", "Node box__b")
    page.until(lambda: page.texts(".is-chosen .pk-name") == ["b"])
    page.driver.refresh()
    page.until_text("#details-heading", "Node box__b")
    page.until(lambda: page.texts(".is-chosen .pk-name") == ["b"])
    page.press(Keys.ESCAPE)
    assert page.script("return location.hash") == ""


def test_the_search_marks_what_it_finds_and_enter_goes_there(grouped):
    page, _ = grouped
    page.until(lambda: page.texts("[data-group=box] .pk-name"))
    page.until_text("#elapsed", "3.3 s")
    field = page.driver.find_element(By.ID, "find")
    field.send_keys("BETW")
    assert page.text("#found") == "1 found"
    assert page.texts(".is-found .pk-stream") == ["between"]
    field.send_keys(Keys.ENTER)
    assert page.text("#details-heading") == "Stream between"
    field = page.driver.find_element(By.ID, "find")
    field.clear()
    field.send_keys("box__b", Keys.ENTER)
    page.until(lambda: page.texts(".is-chosen .pk-name") == ["b"])
    field.clear()
    field.send_keys("nothing like it")
    assert page.text("#found") == "none found"


def test_escape_closes_what_the_search_went_to_and_then_ends_the_search(grouped):
    page, _ = grouped
    page.until(lambda: page.texts("[data-group=box] .pk-name"))
    field = page.driver.find_element(By.ID, "find")
    field.send_keys("between", Keys.ENTER)
    page.until_text("#details-heading", "Stream between")
    page.press(Keys.ESCAPE)
    assert not page.driver.find_element(By.ID, "details").is_displayed()
    assert page.texts(".is-found .pk-stream") == ["between"]
    page.press(Keys.ESCAPE)
    assert field.get_attribute("value") == ""
    assert page.text("#found") == ""
    assert page.texts(".is-found .pk-stream") == []


def test_a_paused_page_stands_still_and_shows_the_newest_afterwards(page, server, monitor):
    page.open(server)
    page.until_text("#elapsed", "3.3 s")
    button = page.driver.find_element(By.ID, "pause")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert page.text("#connection") == "paused here; the run goes on"
    monitor.give(elapsed_s=20.0)
    # a second reading has passed through the page once the first one is held
    page.until(lambda: page.script("return held?.elapsed_s") == 20.0)
    assert page.text("#elapsed") == "3.3 s"
    button.click()
    assert page.text("#elapsed") == "20.0 s"
    assert page.text("#connection") == "live"


def test_a_run_that_is_over_is_not_called_live(page, server, monitor):
    page.open(server)
    page.until(lambda: page.notes("node", "first"))
    page.until_text("#connection", "live")
    monitor.give(state="over")
    page.until_text("#run-state", "over")
    assert page.text("#connection") == "server connected"
    monitor.give(
        state="running", nodes=(attrs.evolve(monitor.newest.nodes[0], busy=1.04), monitor.newest.nodes[1])
    )
    page.until_text("#connection", "live")
    page.until(lambda: page.notes("node", "first")[0] == "29.9 steps/s, 100 % busy")
