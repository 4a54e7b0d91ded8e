"""The page in a browser, of a monitor in the test's hands."""

from __future__ import annotations

import json
import re
import time

import attrs
import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import penstock
import penstock_live.listening
import penstock_live.thumbnails
from penstock_formats import ImageFrame
from penstock_live.journal import Journal
from penstock_live.thumbnail import thumbnail
from penstock_monitor import CulpritReading, StallReading

pytestmark = pytest.mark.heavy

STALL = StallReading(
    1.2, "out waits for second\nsecond is in worker 1", (CulpritReading("second", "", "second sleeps"),)
)


def test_the_picture_has_every_node_and_stream_with_its_numbers(page, server, monitor):
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    assert page.until(lambda: page.notes("node", "first")[0] and page.notes("node", "first")) == [
        "29.9 steps/s, 45 % busy",
        "",
    ]
    assert page.notes("node", "second") == ["29.9 steps/s", "12 dropped"]
    assert page.notes("stream", "in") == ["queue 3 of 100, 29.9/s"]
    assert page.notes("stream", "between") == ["queue 3 of 100, 29.9/s"]
    assert page.notes("stream", "out") == ["queue 0, 29.9/s"]
    assert page.text("#run-state") == "running"
    assert page.text("#connection") == "live"
    monitor.give(nodes=(monitor.newest.nodes[0],), elapsed_s=77.0)
    page.until_text("#elapsed", "77.0 s")


def test_the_tables_have_the_same_numbers_and_the_reasons_of_drops(page, server):
    page.open(server)
    page.until_text("#streams", "between")
    rows = [row.text for row in page.driver.find_elements(By.CSS_SELECTOR, "#streams tbody tr")]
    drops = "10 at second: late; 2 at second: queue full"
    assert rows[1] == f"between first 29.9/s 3 of 100 100 0.1 s {drops} at least 101"
    assert page.texts("#drop-table td, #drop-table tbody th") == [
        "second", "between", "late", "10", "second", "between", "queue full", "2",
    ]  # fmt: skip
    assert page.texts("#latency td") == ["5.00 ms", "9.10 ms", "31 ms", "5.20 ms", "30"]
    nodes = [row.text for row in page.driver.find_elements(By.CSS_SELECTOR, "#nodes tbody tr")]
    assert nodes[1] == "second PassThroughCalculator opened 29.9 – 100 worker 1 (pid 4711)"


def test_a_stall_is_told_and_its_culprit_is_marked_in_words_too(page, server, monitor):
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    page.until_text("#run-state", "running")
    monitor.give(stall=STALL)
    page.until_text("#stall", "Nothing has moved for 1.2 s")
    assert page.text("#story") == STALL.story
    assert page.text("#culprits li") == "second sleeps Show second"
    assert page.texts(".is-culprit .pk-name") == ["second"]
    assert page.notes("node", "second")[1] == "⚠ culprit, 12 dropped"
    label = page.script("return document.querySelector('[data-node=second]').getAttribute('aria-label')")
    assert label == "node second, PassThroughCalculator, opened, worker 1 (pid 4711), culprit"
    assert page.text("#announcer") == "Nothing moves. second sleeps"
    assert page.text("#run-state") == "stalled"
    assert page.driver.title == "⚠ stalled – Penstock"

    monitor.give(stall=None)
    page.until(lambda: page.text("#announcer") == "The graph moves again.")
    assert page.texts(".is-culprit") == []
    assert page.notes("node", "second")[1] == "12 dropped"
    assert not page.driver.find_element(By.ID, "stall").is_displayed()


def test_the_button_at_a_culprit_shows_its_details(page, server, monitor):
    page.open(server)
    page.until_text("#run-state", "running")
    monitor.give(stall=STALL)
    page.until_text("#culprits", "Show second")
    page.driver.find_element(By.CSS_SELECTOR, "#culprits button").click()
    assert page.text("#details-heading") == "Node second"


def test_the_picture_scrolls_to_a_culprit_and_the_page_does_not(page, server, monitor):
    metrics = {"width": 900, "height": 400, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    for _ in range(6):
        page.script("document.getElementById('larger').click()")
    page.script("document.getElementById('picture').scrollTo(0, 0); scrollTo(0, 0)")
    middle = """
        const room = document.getElementById("picture").getBoundingClientRect();
        const at = document.querySelector("[data-node=second] rect").getBoundingClientRect();
        return [scrollY, at.y + at.height / 2 - room.y, room.height]"""
    _, before, height = page.script(middle)
    assert before > height / 2 + 50, "there is something to scroll"
    monitor.give(stall=STALL)
    page.until_text("#stall", "Nothing has moved for 1.2 s")

    at_y, after, height = page.script(middle)
    assert at_y == 0
    assert 0 < after < height
    assert after < before


def test_a_screen_reader_is_told_of_states_and_never_of_numbers(page, server, monitor):
    page.open(server)
    page.until_text("#run-state", "running")
    live = page.script(
        "return [...document.querySelectorAll('[aria-live], [role=status], [role=alert]')].map((e) => e.id)"
    )
    assert live == ["announcer"]
    for elapsed in range(10, 13):
        monitor.give(elapsed_s=float(elapsed))
        page.until_text("#elapsed", f"{elapsed}.0 s")
        assert page.text("#announcer") == ""
    monitor.give(state="over", elapsed_s=13.0)
    page.until(lambda: page.text("#announcer") == "The run is over.")


def test_the_head_and_the_tab_name_the_graph(page, hand, stack, monitor):
    server = stack.enter_context(hand.serve(monitor, title="Door <b> (door.pbtxt)"))
    page.open(server)
    page.until_text("#run-state", "running")
    assert page.text("h1") == "Door <b> (door.pbtxt)"
    assert page.driver.title == "running – Door <b> (door.pbtxt) – Penstock"
    sized = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sized)
    page.script("document.querySelector('h1').textContent = 'a_long_name'.repeat(30)")
    assert page.script("return document.documentElement.scrollWidth") <= 390


def test_errors_of_the_run_are_shown(page, server, monitor):
    page.open(server)
    page.until_text("#run-state", "running")
    monitor.give(errors=("node 'first': ValueError: <b>no</b>",))
    page.until_text("#errors", "node 'first': ValueError: <b>no</b>")
    assert page.driver.find_element(By.ID, "errors").is_displayed()


def test_the_node_that_has_ended_the_run_is_marked_in_words_too(page, server, monitor):
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    monitor.give(errors=("node 'second' (N): process() failed at 8760000: ValueError: no",), state="over")
    page.until_text("#run-state", "failed")
    assert page.texts(".is-failed .pk-name") == ["second"]
    assert page.notes("node", "second")[1] == "⚠ failed"
    label = page.script("return document.querySelector('[data-node=second]').getAttribute('aria-label')")
    assert label.endswith(", failed")
    assert page.text("#error-list pre").endswith("process() failed at 8760000 (8.760 s): ValueError: no")
    assert page.text("#announcer") == "The run has an error in node 'second'. It stands under Errors."
    assert page.driver.title == "⚠ failed – Penstock"

    monitor.give(errors=(), state="running")  # another run
    page.until_text("#run-state", "running")
    assert page.texts(".is-failed") == []


def test_the_words_of_a_mark_lie_in_its_box_and_over_no_other(page, server, monitor):
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    stuck = StallReading(1.2, "it waits", (CulpritReading("", "between", "it is full"),))
    monitor.give(stall=stuck, errors=("node 'first': ValueError: no", "node 'second': ValueError: no"))
    page.until(lambda: page.texts(".is-failed .pk-name") == ["first", "second"])
    page.until(lambda: "⚠ culprit, queue 3 of 100" in page.notes("stream", "between")[0])
    outside = page.script(
        """return [...document.querySelectorAll("#picture :is(.is-failed, .is-culprit)")].flatMap((group) => {
          const { x, y, width, height } = group.querySelector(".live-frame").getBBox();
          return [...group.querySelectorAll("text")].filter((text) => {
            const at = text.getBBox();
            const isInAcross = at.x >= x && at.x + at.width <= x + width;
            const isInDown = at.y >= y && at.y + at.height <= y + height;
            return at.width && !(isInAcross && isInDown);
          }).map((text) => text.textContent);
        })"""
    )
    assert outside == []


def test_packets_are_dropped_where_a_node_drops_them_and_an_input_set_once(page, server, monitor):
    skipped = {"skipped: ValueError": 7}
    monitor.newest = attrs.evolve(
        monitor.newest,
        nodes=(attrs.evolve(monitor.newest.nodes[0]), attrs.evolve(monitor.newest.nodes[1], place="")),
        streams=tuple(
            attrs.evolve(one, dropped=10, drops=skipped | {"late": 3}, dropped_at=at)
            for one, at in zip(
                monitor.newest.streams,
                (
                    {"second": skipped, "": {"late": 3}},
                    {"second": skipped, "first": {"late": 3}},
                    {"second": {"late": 3}},
                ),
                strict=True,
            )
        ),
    )
    page.open(server)
    page.until_text("#drop-table", "skipped")
    rows = [row.text for row in page.driver.find_elements(By.CSS_SELECTOR, "#drop-table tbody tr")]
    assert rows == [
        "second in, between skipped: ValueError 7 input sets",
        "the graph input in late 3",
        "first between late 3",
        "second out late 3",
    ]
    page.until(lambda: page.notes("node", "second"))
    assert [page.notes("node", name)[1] for name in ("first", "second")] == ["3 dropped", "10 dropped"]
    said = [page.notes("stream", name)[0].split(", ")[-1] for name in ("in", "between", "out")]
    assert said == ["3 dropped", "3 dropped", "3 dropped"], "what their writers have dropped"
    page.script("document.querySelector('#drop-table tbody tr button').click()")
    page.until_text("#details-list", "7 input sets of in, between: skipped: ValueError; 3 of out: late")


def test_a_lost_source_is_told_in_the_head_at_its_node_and_in_its_details(page, hand, stack, monitor):
    journal = Journal()
    server = stack.enter_context(hand.serve(monitor, journal=journal))
    first, second = monitor.newest.nodes
    page.open(server)
    page.until(lambda: page.notes("node", "first"))
    assert not page.driver.find_element(By.ID, "lost").is_displayed()
    nodes = (attrs.evolve(first, lost_s=9.4, steps_per_s=19.6), second)
    for lost_s in (0.0, 9.4):
        reading = attrs.evolve(
            monitor.newest, elapsed_s=20 + lost_s, nodes=(attrs.evolve(first, lost_s=lost_s),)
        )
        journal.take(reading, {})
    monitor.give(nodes=nodes, elapsed_s=29.4)
    page.until_text("#lost", "⚠ first lost for 9 s")
    assert page.driver.find_element(By.ID, "lost").is_displayed()
    assert page.driver.title == "⚠ running, source lost – Penstock"
    assert page.text("#announcer") == "Lost: first."
    assert page.texts(".is-lost .pk-name") == ["first"]
    assert page.notes("node", "first") == ["19.6 steps/s, 45 % busy", "⚠ lost for 9 s"]
    page.until_text("#events-words", "1 outage")
    assert page.text("#timeline .mark-outage title") == "20.0 s: first: lost, for 9.4 s"
    page.script("document.querySelector('[data-node=first]').focus()")
    page.press(Keys.ENTER)
    page.until_text("#details-list", "lost for 9 s")

    monitor.give(nodes=tuple(attrs.evolve(one, lost_s=3.0) for one in nodes))
    page.until_text("#lost", "⚠ 2 sources lost")
    monitor.give(nodes=(first, second))
    page.until(lambda: page.text("#lost") == "")
    assert page.texts(".is-lost") == []
    assert page.text("#announcer") == "No source is lost any more."


def test_a_node_that_failed_in_open_is_marked(page, server, monitor):
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    first, second = monitor.newest.nodes
    monitor.give(nodes=(attrs.evolve(first, state="failed in open"), second))
    page.until(lambda: page.texts(".is-failed .pk-name") == ["first"])
    assert page.notes("node", "first")[1] == "⚠ failed in open"


def test_timestamps_have_seconds_or_a_date_beside_them(page, server):
    expected = {
        "0": "0",
        "999": "999",
        "8200000": "8200000 (8.200 s)",
        "-1500": "-1500 (-0.001 s)",
        "59999999": "59999999 (59.999 s)",
        "83456789": "83456789 (1:23.456)",
        "3723004000": "3723004000 (1:02:03.004)",
        "Timestamp::PreStream()": "Timestamp::PreStream()",
    }
    page.open(server)
    assert {one: page.script("return stamp(arguments[0])", one) for one in expected} == expected
    of_a_clock = page.script("return stamp('1764389110000000')")
    assert re.fullmatch(r"1764389110000000 \(2025-11-[23]\d \d\d:\d\d:10\)", of_a_clock)


def test_only_timestamps_in_a_text_have_seconds_beside_them(page, server):
    page.open(server)
    text = "process() at 4440000 failed: no camera at 8080 (bound 5000001); open() failed at 2000000.5"
    assert page.script("return withSeconds(arguments[0])", text) == (
        "process() at 4440000 (4.440 s) failed: no camera at 8080 (bound 5000001, 5.000 s); "
        "open() failed at 2000000.5"
    )


def test_timestamps_are_told_in_seconds_too_where_packets_and_bounds_are_shown(page, server, monitor):
    monitor.packets["out"] = penstock.Packet("hello", 33360000)
    inner, between, out = monitor.newest.streams
    monitor.give(streams=(inner, between, attrs.evolve(out, bound="33360001")))
    page.open(server)
    page.until_text("article[data-card=out] .hint", "33.360 s")
    page.until_text("#hero-words", "at 33.360 s")
    title = page.script("return document.querySelector('article[data-card=out] .hint').title")
    assert title == "timestamp 33360000 (33.360 s)"
    assert page.texts("#streams tbody tr:nth-child(3) td")[-1] == "33360001 (33.360 s)"


# --- by keyboard ----------------------------------------------------------------------------------


def test_the_picture_is_one_stop_of_the_tab_key_and_arrows_go_through_it(page, server):
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    for _ in range(10):
        page.press(Keys.TAB)
        if page.focused() == "in":
            break
    assert page.focused() == "in"
    seen = [page.focused()]
    for _ in range(4):
        page.press(Keys.ARROW_DOWN)
        seen.append(page.focused())
    assert seen == ["in", "first", "between", "second", "out"]
    page.press(Keys.ARROW_UP)
    assert page.focused() == "second"
    page.press(Keys.HOME)
    assert page.script("return document.querySelectorAll('#picture [tabindex=\"0\"]').length") == 1
    page.press(Keys.TAB)
    assert page.focused() not in seen


def test_what_has_the_focus_is_seen(page, server):
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    outline = "return getComputedStyle(document.querySelector('[data-stream=in] .live-frame')).stroke"
    assert page.script(outline) == "none"
    for _ in range(10):
        page.press(Keys.TAB)
        if page.focused() == "in":
            break
    assert page.script(outline).startswith("rgb")


def test_enter_opens_the_details_and_escape_goes_back(page, server, monitor):
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    page.script("document.querySelector('[data-node=second]').focus()")
    page.press(Keys.ENTER)
    assert page.text("#details-heading") == "Node second"
    assert page.focused() == "details-heading"
    facts = dict(zip(page.texts("#details dt"), page.texts("#details dd"), strict=True))
    assert facts["place"] == "worker 1 (pid 4711)"
    assert facts["busy"] == "the run is not timed"
    monitor.give(nodes=(monitor.newest.nodes[0],))
    page.until_text("#details", "not in this run")
    page.press(Keys.ESCAPE)
    assert page.focused() == "second"
    assert not page.driver.find_element(By.ID, "details").is_displayed()


def test_a_stream_is_shown_from_its_details(page, server, monitor):
    extra = [attrs.evolve(monitor.newest.streams[2], name=f"extra{i}") for i in range(5)]
    monitor.packets.update({stream.name: None for stream in extra})
    monitor.give(streams=(*monitor.newest.streams, *extra))
    page.open(server)
    page.until(lambda: page.texts("article h3") == ["out", "extra0", "extra1", "extra2"])
    page.until(lambda: page.notes("node", "second"))
    page.script("document.querySelector('[data-stream=between]:not(.pk-edge)').focus()")
    page.press(" ")
    assert page.text("#details-heading") == "Stream between"
    page.driver.find_element(By.ID, "show-stream").click()
    assert page.texts("article h3")[-1] == "between"


def test_every_control_has_a_name(page, server):
    page.open(server)
    page.until(lambda: page.texts("article h3"))
    nameless = page.script(
        """const all = "button, input, select, section, img, [role=button], [role=img]";
        const isNamed = (one) => one.textContent.trim() || one.ariaLabel || one.alt || one.labels?.length
            || one.getAttribute("aria-labelledby");
        const nameless = [...document.querySelectorAll(all)].filter((one) => !isNamed(one));
        return nameless.map((one) => one.outerHTML)"""
    )
    assert nameless == []


# --- what flows -----------------------------------------------------------------------------------


def test_an_image_is_shown_with_its_colours(page, server, monitor):
    monitor.packets["in"] = penstock.Packet(
        ImageFrame(np.full((90, 120, 3), (200, 100, 50), np.uint8)), 33_333
    )
    page.open(server)
    image = 'article[data-card="in"] img'
    page.until(lambda: page.script("return document.querySelector(arguments[0])?.naturalWidth", image) == 120)
    colour = page.script(
        """const canvas = document.createElement("canvas");
        const context = canvas.getContext("2d");
        context.drawImage(document.querySelector(arguments[0]), 0, 0);
        return [...context.getImageData(5, 5, 1, 1).data]""",
        image,
    )
    assert np.abs(np.array(colour[:3]) - (200, 100, 50)).max() < 5
    alt = page.script("return document.querySelector(arguments[0]).alt", image)
    assert alt == "in: <ImageFrame SRGB 120x90>"
    assert page.text('article[data-card="in"] .hint') == "0.033 s"


def test_numbers_become_a_line(page, server, monitor):
    page.open(server)
    for number in range(1, 4):
        monitor.packets["out"] = penstock.Packet(number * 1.5, number)
        streams = monitor.newest.streams
        monitor.give(streams=(*streams[:2], attrs.evolve(streams[2], packets=100 + number)))
        page.until_text('article[data-card="out"] .value', f"{number * 1.5:g}")
    path = page.script("return document.querySelector('article[data-card=out] .plot-line').getAttribute('d')")
    assert path.count("L") == 2


def test_the_age_of_a_packet_on_a_quiet_stream_is_told(page, server, monitor):
    monitor.packets["out"] = penstock.Packet("the camera is lost", 7)
    page.open(server)
    age = "article[data-card=out] .age"
    page.until(lambda: page.texts("article[data-card=out] pre"))
    assert page.text(age) == ""
    streams = monitor.newest.streams
    monitor.give(streams=(*streams[:2], attrs.evolve(streams[2], age_s=75.4, per_s=0.0)))
    assert page.until(lambda: page.text(age)) == "75 s ago"
    assert "75 s ago" in page.text("#hero-words")


def test_a_payload_is_text_and_never_markup(page, server, monitor):
    evil = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
    monitor.packets["out"] = penstock.Packet(evil, 1)
    page.open(server)
    page.until_text('article[data-card="out"]', "onerror")
    assert page.script("return document.querySelector('article img, article script')") is None
    assert "taken" not in page.driver.title


def test_a_card_that_cannot_be_drawn_says_so_and_the_others_are_drawn(page, server, monitor, monkeypatch):
    def mangled(packet, longest):
        drawn = thumbnail(packet, longest)
        if packet is None or packet.payload != "broken":
            return drawn
        return attrs.evolve(drawn, content=b"{")

    monkeypatch.setattr(penstock_live.thumbnails, "thumbnail", mangled)
    monitor.packets.update({"between": penstock.Packet("broken", 1), "out": penstock.Packet("whole", 1)})
    page.expected = ["SyntaxError"]
    page.open(server)
    said = page.until_text('article[data-card="between"] .thumbnail', "cannot show this packet")
    assert said.startswith("The page cannot show this packet: SyntaxError: ")
    page.until_text('article[data-card="out"] .thumbnail', "whole")
    assert page.text("#connection") == "live"
    monitor.packets["between"] = penstock.Packet("mended", 2)
    streams = monitor.newest.streams
    monitor.give(streams=(streams[0], attrs.evolve(streams[1], packets=102), streams[2]))
    page.until_text('article[data-card="between"] .thumbnail', "mended")


def test_only_the_streams_that_are_shown_are_looked_at(page, server, monitor):
    page.open(server)
    page.until(lambda: set(monitor.peeked) == {"in", "between", "out"})
    for name in ("in", "between"):
        page.driver.find_element(By.CSS_SELECTOR, f'[aria-label="Do not show {name}"]').click()
    page.until_text("#elapsed", "3.3 s")
    monitor.peeked.clear()
    for elapsed in range(10, 15):
        monitor.give(elapsed_s=float(elapsed))
        page.until_text("#elapsed", f"{elapsed}.0 s")
    page.until(lambda: monitor.peeked)
    assert set(monitor.peeked) == {"out"}


# --- connections ----------------------------------------------------------------------------------


def test_a_page_that_is_loaded_again_shows_the_same_streams(page, server, monitor):
    page.open(server)
    page.until(lambda: page.texts("article h3") == ["out", "in", "between"])
    page.driver.find_element(By.CSS_SELECTOR, '[aria-label="Do not show in"]').click()
    page.driver.refresh()
    page.until(lambda: page.texts("article h3") == ["out", "between"])
    page.until_text("#connection", "live")
    monitor.give(elapsed_s=55.0)
    page.until_text("#elapsed", "55.0 s")


def test_three_tabs_all_follow(page, server, monitor):
    page.open(server)
    tabs = [page.driver.current_window_handle]
    for _ in range(2):
        page.driver.switch_to.new_window("tab")
        page.open(server)
        tabs.append(page.driver.current_window_handle)
    for number, tab in enumerate(tabs):
        page.driver.switch_to.window(tab)
        monitor.give(elapsed_s=20.0 + number)
        page.until_text("#elapsed", f"{20 + number}.0 s")
        page.until(lambda: page.notes("node", "second"))
    assert len(tabs) == 3


def test_a_server_that_is_gone_is_told_and_one_that_is_back_is_found(page, hand, stack):
    first = hand.serve(hand.Monitor())
    page.open(first)
    page.until_text("#connection", "live")
    page.until(lambda: page.notes("node", "second"))
    # A picture that is being drawn is given up with its server: 503.
    page.expected = ["ERR_CONNECTION_REFUSED", "503"]
    first.close()
    page.until_text("#connection", "the server is gone; the numbers are its last ones; trying again")
    assert page.text("#announcer") == "The server is gone."
    assert page.notes("node", "second")[1] == "12 dropped"

    port = hand.Client(first.url).url.port
    listening, address = penstock_live.listening.listen("127.0.0.1", port, is_tls=False)
    config = penstock.CalculatorGraph(hand.GRAPH).binary_config
    monitor = hand.Monitor()
    same = hand.Client(first.url).token
    stack.enter_context(penstock_live.Server(listening, address, config, monitor, token=same))
    monitor.give(elapsed_s=99.0)
    page.until_text("#elapsed", "99.0 s")
    assert page.text("#connection") == "live"
    assert page.text("#announcer") == "The server is there again."


def test_another_servers_token_is_told(page, hand, stack):
    first = hand.serve(hand.Monitor())
    page.open(first)
    page.until_text("#connection", "live")
    # A picture that is being drawn is given up with its server: 503.
    page.expected = ["ERR_CONNECTION_REFUSED", "503", "403"]
    first.close()
    port = hand.Client(first.url).url.port
    listening, address = penstock_live.listening.listen("127.0.0.1", port, is_tls=False)
    config = penstock.CalculatorGraph(hand.GRAPH).binary_config
    stack.enter_context(penstock_live.Server(listening, address, config, hand.Monitor()))
    page.until_text("#connection", "the server refuses this page: open the address that it has printed")


def test_without_the_token_a_browser_shows_a_plain_sentence(page, server):
    page.expected = ["403"]
    page.open(server.url.partition("?")[0])
    assert page.text("body").startswith("the token is missing or wrong; open the whole address")


def test_nothing_is_loaded_from_elsewhere(page, server):
    page.open(server)
    page.until_text("#connection", "live")
    page.until(lambda: page.notes("node", "second"))
    names = page.script(
        "return performance.getEntries().map((one) => one.name).filter((one) => one.includes(':'))"
    )
    origin = server.url.partition("/?")[0]
    assert names
    assert {name for name in names if not name.startswith((origin, f"blob:{origin}"))} == set()


# --- how it looks ---------------------------------------------------------------------------------

COLOURS = """
const of = (selector, property) => getComputedStyle(document.querySelector(selector))[property];
return [of("body", "backgroundColor"), of("body", "color"), of(".pk-box", "fill"), of(".pk-name", "fill")]
"""


def luminance(colour):
    """Return the relative luminance of "rgb(r, g, b)"; source: WCAG 2.1."""
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def emulate(page, **features):
    features = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


@pytest.mark.parametrize("system", ["light", "dark"])
def test_page_and_picture_follow_the_system_and_the_switch(page, server, system):
    emulate(page, prefers_color_scheme=system)
    page.open(server)
    page.until(lambda: page.notes("node", "second"))

    def is_dark():
        background, text, box, name = map(luminance, page.script(COLOURS))
        assert abs(text - background) > 0.5
        assert abs(name - box) > 0.5
        assert (background < 0.2) == (box < 0.2)
        return background < 0.2

    assert is_dark() == (system == "dark")
    switch = page.driver.find_element(By.ID, "theme")
    switch.click()
    assert (switch.text, is_dark()) == ("Theme: light", False)
    switch.click()
    assert (switch.text, is_dark()) == ("Theme: dark", True)
    page.driver.refresh()
    page.until(lambda: page.notes("node", "second"))
    assert is_dark()
    page.driver.find_element(By.ID, "theme").click()
    assert is_dark() == (system == "dark")


def test_who_wants_no_motion_gets_none(page, server):
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    duration = "return getComputedStyle(document.querySelector('.live-bar')).transitionDuration"
    assert page.script(duration) == "0.2s"
    emulate(page, prefers_reduced_motion="reduce")
    assert page.script(duration) in {"0s", "none"}


@pytest.mark.parametrize("width", [390, 320])
def test_on_a_phone_nothing_is_wider_than_the_screen(page, server, monitor, width):
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    monitor.give(stall=STALL, errors=("a" * 300,))
    page.until_text("#story", "worker 1")
    page.script("document.querySelector('[data-node=second]').focus()")
    page.press(Keys.ENTER)
    assert page.text("#details-heading") == "Node second"
    assert page.script("return document.documentElement.scrollWidth") <= width


def test_the_picture_has_three_sizes_and_more(page, server):
    page.open(server)
    page.until(lambda: page.notes("node", "second"))
    width = "return document.querySelector('#picture svg').getBoundingClientRect().width"
    first = page.script(width)
    page.driver.find_element(By.ID, "larger").click()
    assert page.script(width) == pytest.approx(1.25 * first, rel=0.01)
    page.driver.find_element(By.ID, "smaller").click()
    page.driver.find_element(By.ID, "smaller").click()
    assert page.script(width) == pytest.approx(first / 1.25, rel=0.01)
    page.driver.find_element(By.ID, "fit").click()
    assert page.script(width) == pytest.approx(first, rel=0.01)


# --- large graphs ---------------------------------------------------------------------------------


def large(hand, nodes):
    """Return the text of a graph of so many nodes in rows of ten, and a reading of it."""
    lines, streams, all_nodes = ['input_stream: "s0"'], [hand.stream("s0", "", is_input=True)], []
    for i in range(nodes):
        lines.append(
            f'node {{ calculator: "PassThroughCalculator" name: "node{i}" '
            f'input_stream: "s{max(0, i - i % 10)}" output_stream: "s{i + 1}" }}'
        )
        all_nodes.append(hand.node(f"node{i}"))
        streams.append(hand.stream(f"s{i + 1}", f"node{i}"))
    return "\n".join(lines), attrs.evolve(
        hand.READING, nodes=tuple(all_nodes), streams=tuple(streams), latencies=()
    )


def test_a_graph_of_500_nodes_stays_usable(page, hand, stack):
    graph, reading = large(hand, 500)
    monitor = hand.Monitor(reading)
    monitor.packets = {stream.name: None for stream in reading.streams}
    server = stack.enter_context(hand.serve(monitor, graph))
    began = time.monotonic()
    page.open(server)
    page.until(lambda: page.notes("node", "node499") and page.notes("node", "node499")[0])
    assert time.monotonic() - began < 15
    # how long the page is busy with a reading: it has 200 ms for each
    page.script(
        """window.longest = 0;
        new PerformanceObserver((list) => {
          for (const one of list.getEntries()) window.longest = Math.max(window.longest, one.duration);
        }).observe({ type: "longtask" });"""
    )
    for rate in range(100, 105):
        nodes = tuple(attrs.evolve(node, steps_per_s=rate) for node in reading.nodes)
        monitor.give(nodes=nodes, elapsed_s=float(rate))
        page.until_text("#elapsed", f"{rate // 60} min {rate % 60} s")
    assert page.notes("node", "node499")[0] == "104 steps/s, 45 % busy"
    assert page.script("return window.longest") < 1000
    page.driver.find_element(By.ID, "find").send_keys("node49")
    rows = "return [...document.querySelectorAll('#nodes tbody tr')].filter((row) => !row.hidden).length"
    monitor.give(elapsed_s=1.0)
    page.until(lambda: page.script(rows) == 11)  # node49 and node490 to node499


def test_without_a_picture_the_tables_are_there(page, server, monkeypatch):
    monkeypatch.setattr("penstock_views.draw.painter.PAINTER", "no_such_module")
    page.expected = ["503"]
    page.open(server)
    page.until_text("#picture", "There is no picture: the painter cannot draw the graph: ")
    page.until_text("#nodes", "worker 1 (pid 4711)")


def test_the_reading_of_the_page_is_what_the_server_says(page, server, client):
    page.open(server)
    page.until_text("#connection", "live")
    said = json.loads(client.request("/reading")[2])
    assert page.texts("#nodes tbody th") == [node["name"] for node in said["nodes"]]
