"""What the screen tells at a glance: sizes, the busiest node, explanations, cards, and what is found."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import penstock
from penstock_formats import ImageFrame
from penstock_live.journal import Journal

pytestmark = pytest.mark.heavy

NODE = (
    'node {{ calculator: "PassThroughCalculator" name: "node{0}" '
    'input_stream: "s{0}" output_stream: "s{1}" }}'
)
CHAIN = "\n".join(['input_stream: "s0"', *(NODE.format(i, i + 1) for i in range(14))])


@pytest.fixture
def journal(hand):
    made = Journal()
    made.take(attrs.evolve(hand.READING, elapsed_s=1.0, streams=()), {})
    return made


@pytest.fixture
def server(hand, monitor, journal, stack):
    return stack.enter_context(hand.serve(monitor, journal=journal))


@pytest.fixture
def chain(hand, page, stack):
    """Return a page of 14 nodes in a row, on a small screen."""
    nodes = tuple(hand.node(f"node{i}") for i in range(14))
    streams = tuple(hand.stream(f"s{i}", f"node{i - 1}" if i else "") for i in range(15))
    monitor = hand.Monitor(attrs.evolve(hand.READING, nodes=nodes, streams=streams, latencies=()))
    monitor.packets = {one.name: None for one in streams}
    sized(page, 1280, 800)
    page.open(stack.enter_context(hand.serve(monitor, CHAIN)))
    page.until(lambda: page.notes("node", "node13") and page.notes("node", "node13")[0])
    page.until(lambda: page.script("return picture.layouts.length") == 2)
    return page


def sized(page, width, height, *, is_phone=False):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def opened(page, server):
    page.open(server)
    page.until(lambda: page.notes("node", "second") and page.notes("node", "second")[0])
    page.until_text("#elapsed", "3.3 s")


def pixels(page, selector):
    """Return how large the letters of a text in the picture are, on the screen."""
    return page.script(
        "const one = document.querySelector(arguments[0]);"
        "return parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a",
        selector,
    )


def is_in_sight(page):
    return page.script(
        """const room = document.getElementById("picture").getBoundingClientRect();
        return [...document.querySelectorAll("#picture .pk-node .pk-box")].every((one) => {
          const { left, right, top, bottom } = one.getBoundingClientRect();
          return left >= room.left && right <= room.right && top >= room.top && bottom <= room.bottom;
        })"""
    )


def middle_of(page, name):
    return page.script(
        "const one = document.querySelector(`[data-node=${arguments[0]}]`).getBoundingClientRect();"
        "return [one.x + one.width / 2, one.y + one.height / 2]",
        name,
    )


# --- sizes ----------------------------------------------------------------------------------------


def test_words_can_be_read_where_there_is_room(chain):
    assert pixels(chain, "[data-node=node1] .pk-name") >= 12
    assert pixels(chain, "[data-node=node1] .pk-note") >= 9.5
    assert pixels(chain, "[data-stream=s1]:not(.pk-edge) .pk-note") >= 8.5


def test_fit_shows_all_of_the_graph_and_its_names_can_still_be_read(chain):
    assert not is_in_sight(chain)
    chain.driver.find_element(By.ID, "fit").click()
    assert is_in_sight(chain)
    assert chain.script("return document.querySelector('#picture svg').dataset.level") == "names"
    assert pixels(chain, "[data-node=node1] .pk-name") >= 7
    shown = "return getComputedStyle(document.querySelector('[data-node=node1] .pk-note')).display"
    assert chain.script(shown) == "none"


def test_a_picture_grows_about_the_middle_of_what_is_seen_or_the_pointer(chain):
    chain.script("picture.center(document.querySelector('[data-node=node6]'))")
    before = middle_of(chain, "node6")
    for _ in range(3):
        chain.driver.find_element(By.ID, "larger").click()
    assert middle_of(chain, "node6") == pytest.approx(before, abs=3)
    chain.driver.find_element(By.ID, "fit").click()
    at = middle_of(chain, "node9")
    width = "return document.querySelector('#picture svg').getBoundingClientRect().width"
    fitted = chain.script(width)
    turn = {"type": "mouseWheel", "x": at[0], "y": at[1], "deltaX": 0, "deltaY": -500, "modifiers": 2}
    chain.driver.execute_cdp_cmd("Input.dispatchMouseEvent", turn)
    chain.until(lambda: chain.script(width) > 1.5 * fitted)
    assert middle_of(chain, "node9")[1] == pytest.approx(at[1], abs=3)


def test_on_a_phone_the_whole_width_of_the_graph_is_seen_and_the_page_is_short(page, server):
    sized(page, 390, 844, is_phone=True)
    opened(page, server)
    room = "const one = document.getElementById('picture'); return one.scrollWidth - one.clientWidth"
    assert page.script(room) <= 0
    assert not page.script("return document.getElementById('node-details').open")
    page.script("document.getElementById('node-details').open = true")
    page.until(lambda: page.texts("#nodes tbody th"))
    table = "const one = document.getElementById('nodes'); return one.scrollWidth - one.clientWidth"
    assert page.script(table) <= 0


# --- the busiest ----------------------------------------------------------------------------------


def with_busy(monitor, first, second):
    """Give a reading of a second later."""
    one, two = monitor.newest.nodes
    nodes = (attrs.evolve(one, busy=first), attrs.evolve(two, busy=second))
    monitor.give(nodes=nodes, elapsed_s=monitor.newest.elapsed_s + 1)


def seconds_with_busy(page, monitor, first, second, count):
    """Let some seconds pass; return which nodes were marked as the busiest after each."""
    marked = []
    for _ in range(count):
        with_busy(monitor, first, second)
        page.until_text("#elapsed", f"{monitor.newest.elapsed_s:.1f} s")
        marked.append(page.text(".is-busiest .pk-name"))
    return marked


def test_the_busiest_node_is_named_and_marked_from_90_percent_on(page, server, monitor):
    opened(page, server)
    assert not page.driver.find_element(By.ID, "busiest").is_displayed()
    seconds_with_busy(page, monitor, 0.98, 0.3, 10)
    page.until(lambda: page.texts(".is-busiest .pk-name") == ["first"])
    assert " ".join(page.text("#busiest").split()) == "busiest: first, 98 % busy"
    assert page.notes("node", "first")[1] == "busiest"
    label = page.script("return document.querySelector('[data-node=first]').getAttribute('aria-label')")
    assert label.endswith(", busiest")
    colour = "return getComputedStyle(document.querySelector(arguments[0] + ' .live-bar')).fill"
    assert page.script(colour, "[data-node=first]") != page.script(colour, "[data-node=second]")

    assert seconds_with_busy(page, monitor, 0.85, 0.88, 10)[-1] == "first"  # numbers waver: it stays
    assert page.text("#busiest-words") == "85 % busy"
    assert seconds_with_busy(page, monitor, 0.85, 0.97, 10)[-1] == "second"
    page.driver.find_element(By.ID, "busiest-node").click()
    assert page.text("#details-heading") == "Node second"
    page.driver.find_element(By.ID, "find").send_keys("busiest")
    assert page.texts(".is-found .pk-name") == ["second"]
    assert seconds_with_busy(page, monitor, 0.5, 0.5, 10)[-1] == ""
    assert not page.driver.find_element(By.ID, "busiest").is_displayed()


def test_a_node_that_drops_and_rests_in_between_stays_the_busiest(page, server, monitor):
    opened(page, server)
    seconds_with_busy(page, monitor, 0.95, 0.0, 3)
    marked = [one for now in (0.5, 0.95, 0.43, 0.9) for one in seconds_with_busy(page, monitor, now, 0.0, 3)]
    assert marked == ["first"] * 12
    assert seconds_with_busy(page, monitor, 0.1, 0.0, 8)[-1] == ""
    # one that is never busy nearly all the time is not marked
    assert set(seconds_with_busy(page, monitor, 0.8, 0.0, 12)) == {""}


@pytest.mark.parametrize("width", [1280, 1000])
def test_naming_the_busiest_node_moves_nothing(page, server, monitor, width):
    sized(page, width, 800)
    opened(page, server)
    page.driver.find_element(By.ID, "find").send_keys("first")
    top = "return document.getElementById('first').getBoundingClientRect().top"
    before = page.script(top)
    with_busy(monitor, 0.98, 0.3)
    page.until(lambda: page.driver.find_element(By.ID, "busiest").is_displayed())
    assert page.script(top) == before
    assert page.script("return document.documentElement.scrollWidth") <= width


HEAD = """
const at = (id) => document.getElementById(id).getBoundingClientRect();
const isCut = (id) => document.getElementById(id).scrollWidth > document.getElementById(id).clientWidth;
const words = document.createRange();
words.selectNodeContents(document.getElementById("connection"));
return {
  search: [at("search").left, at("search").right],
  isWhole: at("busiest-words").right <= at("busiest").right + 0.5,
  cut: ["title", "busiest-node"].filter(isCut),
  free: at("busiest").left - words.getBoundingClientRect().right,
  width: document.documentElement.scrollWidth,
};"""


@pytest.mark.parametrize("width", [1000, 1280, 1400])
def test_the_head_cuts_no_number_and_nothing_while_there_is_room(page, hand, stack, journal, width):
    names = ("DetectPeople", "VideoEncoderCalculator")
    graph = hand.GRAPH.replace('"first"', f'"{names[0]}"').replace('"second"', f'"{names[1]}"')
    streams = (hand.stream("in", "", names[0]), hand.stream("between", *names), hand.stream("out", names[1]))
    nodes = tuple(hand.node(name) for name in names)
    monitor = hand.Monitor(attrs.evolve(hand.READING, nodes=nodes, streams=streams, latencies=()))
    sized(page, width, 800)
    page.open(
        stack.enter_context(hand.serve(monitor, graph, journal=journal, title="DoorWatch (door.pbtxt)"))
    )
    page.until_text("#elapsed", "3.3 s")
    before = page.script(HEAD)
    heads = {}
    for name, busy in zip(names, [(0.98, 0.3), (0.3, 0.99)], strict=True):
        seconds_with_busy(page, monitor, *busy, 10)
        assert page.text("#busiest-node") == name
        heads[name] = page.script(HEAD)
    page.driver.find_element(By.ID, "find").send_keys("video")
    heads["found"] = page.script(HEAD)
    assert page.text("#found") == "1 found"
    page.driver.find_element(By.ID, "find").clear()
    assert [one["search"] for one in heads.values()] == [before["search"]] * 3
    assert all(one["isWhole"] and one["width"] <= width for one in heads.values())
    assert all(one["free"] < 16 for one in heads.values() if one["cut"])
    if width >= 1280:
        assert heads["DetectPeople"]["cut"] == []


def test_numbers_of_a_run_that_is_over_are_totals(page, server, monitor):
    opened(page, server)
    with_busy(monitor, 0.98, 0.3)
    page.until(lambda: page.texts(".is-busiest .pk-name") == ["first"])
    monitor.give(state="over")
    page.until(lambda: page.notes("node", "first")[0] == "100 steps in all")
    assert page.notes("stream", "between") == ["100 packets"]
    assert page.texts(".is-busiest, .is-busy") == []
    assert page.texts("#picture .is-flowing") == []


# --- what it means --------------------------------------------------------------------------------


def test_a_legend_explains_the_picture_and_escape_closes_it(page, server):
    opened(page, server)
    legend = page.driver.find_element(By.ID, "legend")
    assert not legend.is_displayed()
    button = page.driver.find_element(By.ID, "ask-legend")
    button.click()
    assert legend.is_displayed()
    assert button.get_attribute("aria-expanded") == "true"
    page.press(Keys.ESCAPE)
    assert not legend.is_displayed()
    assert page.focused() == "ask-legend"


def test_what_is_pointed_at_is_told_in_words_and_so_is_what_has_the_focus(page, server, monitor):
    opened(page, server)
    first = page.driver.find_element(By.CSS_SELECTOR, "[data-node=first] .pk-box")
    ActionChains(page.driver).move_to_element(first).perform()
    assert page.text("#explained") == (
        "first takes 29.9 steps a second. It is 45 % busy: the share of the last second in its calls. "
        "A call takes 15 ms. 3 packets in the longest queue before it. Lines: the last minute."
    )
    assert page.driver.find_element(By.ID, "explained").is_displayed()
    with_busy(monitor, 0.6, 0.3)
    page.until_text("#explained", "60 % busy")
    page.script("document.querySelector('[data-stream=between]:not(.pk-edge)').focus()")
    assert page.text("#explained").startswith(
        "between: 3 packets of at most 100 in the queue before its reader"
    )
    assert "under way" not in page.text("#explained")
    *before, between, after = monitor.newest.streams
    assert between.name == "between"
    monitor.give(streams=(*before, attrs.evolve(between, queued=102), after), elapsed_s=9.0)
    page.until_text("#explained", "102 packets of at most 100")
    assert page.text("#explained").endswith(
        "A full queue stops the sources above; packets that were under way still come."
    )


# --- cards ----------------------------------------------------------------------------------------


class Failure:
    def __repr__(self):
        return (
            "Failure(node='ReadBadge', method='process', timestamp=Timestamp(7), "
            "error=ValueError(\"badge 4711, has 'no' checksum\"), kind=<Kind.LATE: 'late'>)"
        )


def test_a_card_has_what_an_object_says_first_and_its_type_below(page, server, monitor):
    monitor.packets["out"] = penstock.Packet(Failure(), 33360000)
    opened(page, server)
    page.until_text("article[data-card=out] pre", "badge")
    assert page.text("article[data-card=out] pre").splitlines() == [
        "error ValueError(\"badge 4711, has 'no' checksum\")",
        "kind late",
        "node ReadBadge",
        "method process",
        "timestamp Timestamp(7)",
    ]
    assert page.text("article[data-card=out] .words") == "Failure"


def test_what_is_no_object_is_left_as_it_is(page, server):
    page.open(server)
    assert page.script("return ['a', '', 'f(1, 2)', '{x=1}', '<A b=1>'].map(fieldsOf)") == [None] * 5
    cut_off = page.script("return fieldsOf(\"A(b='x, y', c=[1, 2\")")
    assert cut_off == {"type": "A", "rows": [["b", "x, y"], ["c", "[1, 2"]]}


def test_a_stream_of_pictures_stays_the_large_one_while_none_come(page, server, monitor):
    picture = ImageFrame(np.full((90, 120, 3), 90, np.uint8))
    monitor.packets.update({"in": penstock.Packet(picture, 1), "out": penstock.Packet("a text", 1)})
    opened(page, server)
    page.until(lambda: page.text("#hero-name") == "in")
    page.until(
        lambda: page.script("return thumbnails.kinds.in === 'image' && thumbnails.kinds.out === 'text'")
    )
    monitor.packets["in"] = None
    page.driver.refresh()
    page.until_text("article[data-card=out] pre", "a text")
    assert page.text("#hero-name") == "in"


# --- the search -----------------------------------------------------------------------------------


def test_the_search_finds_states(page, server, hand, monitor, journal):
    opened(page, server)
    journal.take(attrs.evolve(hand.READING, elapsed_s=5.0), {"first-failures": 3})
    monitor.give(elapsed_s=5.0)
    page.until_text("#events-words", "3 failures")
    field = page.driver.find_element(By.ID, "find")
    found = {}
    for word in ("failed", "failures", "dropped", "queue full", "passthrough"):
        field.clear()
        field.send_keys(word)
        found[word] = sorted(page.texts(".is-found :is(.pk-name, .pk-stream)"))
    assert found == {
        "failed": ["first"],
        "failures": ["first"],
        "dropped": ["between", "second"],
        "queue full": ["between"],
        "passthrough": ["first", "second"],
    }
    rows = "return [...document.querySelectorAll('#nodes tbody tr')].filter((row) => !row.hidden).length"
    assert page.script(rows) == 2


def test_where_nothing_is_found_the_picture_does_not_look_disabled(page, server):
    opened(page, server)
    page.driver.find_element(By.ID, "find").send_keys("zzz")
    assert page.text("#found") == "none found"
    opacity = "return getComputedStyle(document.querySelector('[data-node=first]')).opacity"
    assert page.script(opacity) == "1"
    field = page.driver.find_element(By.ID, "find")
    field.clear()
    field.send_keys("second")
    assert float(page.script(opacity)) < 1


# --- times and tables -----------------------------------------------------------------------------


def test_what_a_node_waits_for_has_no_wall_of_numbers(page, server, monitor):
    one, two = monitor.newest.nodes
    waits = "packets on 'a' (bound 1795949411497679, or later), 'b' (bound 33360001)"
    monitor.give(nodes=(attrs.evolve(one, waits_for=waits), two))
    opened(page, server)
    assert page.until(lambda: page.texts("#nodes tbody tr:first-child td"))[-1] == "packets on 'a', 'b'"
    said = page.script("return withBriefTimes(arguments[0])", "process() at 8760000 failed, settle 33360001")
    assert said == "process() at 8.760 s failed, settle 33.360 s"


def test_latency_and_drops_stand_side_by_side_where_there_is_room(page, server):
    sized(page, 1280, 800)
    opened(page, server)
    page.until_text("#drop-table", "late")
    left, right = page.script(
        "return ['latency', 'drops'].map((id) => document.getElementById(id).getBoundingClientRect())"
        ".map(({ left, top }) => [left, top])"
    )
    assert right[0] > left[0] + 400


def test_the_list_of_what_has_happened_is_no_list_of_links(page, server, hand, monitor, journal):
    journal.take(attrs.evolve(hand.READING, elapsed_s=5.0), {"first-failures": 3})
    opened(page, server)
    page.until_text("#events-words", "3 failures")
    page.driver.find_element(By.CSS_SELECTOR, "#event-details summary").click()
    styles = page.script(
        "const one = getComputedStyle(document.querySelector('#event-list .event-failure button'));"
        "return [one.textDecorationLine, one.color, getComputedStyle(document.body).color]"
    )
    assert styles[0] == "none"
    assert styles[1] == styles[2]


@pytest.mark.parametrize("width", [390, 1280])
def test_in_the_list_of_what_has_happened_words_wrap_beside_their_square(page, server, hand, journal, width):
    sized(page, width, 800)
    words = "node 'second': ValueError: " + "a badge whose checksum does not match, " * 8
    journal.take(attrs.evolve(hand.READING, elapsed_s=5.0, errors=(words,)), {})
    opened(page, server)
    page.until_text("#events-words", "1 failure")
    page.driver.find_element(By.CSS_SELECTOR, "#event-details summary").click()
    line, said, lines = page.script(
        "const one = document.querySelector('#event-list .event-failure');"
        "const said = one.querySelector('button');"
        "const { height } = said.getBoundingClientRect(), at = (of) => of.getBoundingClientRect().top;"
        "return [at(one), at(said), height / parseFloat(getComputedStyle(said).fontSize)]"
    )
    assert lines > 2
    assert said == pytest.approx(line, abs=2)


# --- help that is in the way ----------------------------------------------------------------------

HELP = (
    "return [!document.getElementById('explained').hidden,"
    "getComputedStyle(document.getElementById('graph-hint')).opacity === '1']"
)


def test_escape_takes_the_help_away_that_lies_over_the_graph(page, server, monitor):
    opened(page, server)
    page.driver.find_element(By.CSS_SELECTOR, "[data-node=first] .pk-box").click()
    page.until_text("#details-heading", "Node first")
    page.press(Keys.ESCAPE)
    assert not page.driver.find_element(By.ID, "details").is_displayed()
    assert page.focused() == "first"
    with_busy(monitor, 0.3, 0.3)
    page.until_text("#elapsed", "4.3 s")
    assert page.script(HELP) == [False, False]
    sized(page, 1200, 900)  # the picture moves under the pointer, which then leaves it
    heading = page.driver.find_element(By.ID, "flowing-heading")
    ActionChains(page.driver).move_by_offset(3, 3).move_to_element(heading).perform()
    assert page.script(HELP) == [False, False]
    page.press(Keys.ARROW_DOWN)  # who goes on reads it again
    assert page.script(HELP) == [True, True]
    page.press(Keys.ESCAPE)
    assert page.script(HELP) == [False, False]


# --- a run that has ended before ------------------------------------------------------------------

TOO_LATE = (
    "the run had ended before this page was opened; only packets that pass while a page is open are shown"
)


def test_of_a_run_that_had_ended_the_page_says_why_there_is_no_picture(page, server, monitor):
    monitor.give(state="over")
    page.open(server)
    page.until_text("#run-state", "over")
    page.until(lambda: page.text("#hero-body") == f"100 packets have passed: {TOO_LATE}")
    assert page.text("article[data-card=in] .thumbnail") == "100 packets have passed"
    title = "return document.querySelector('article[data-card=in] .thumbnail p').title"
    assert page.script(title) == TOO_LATE
    monitor.give(state="running")  # another run, which this page sees to its end
    page.until_text("#hero-body", "; the next one is shown")
    monitor.give(state="over")
    page.until(lambda: page.text("#hero-body") == "100 packets have passed")
