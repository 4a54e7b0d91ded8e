"""The parts of live sources, without a server: times, delays, waits, the mailbox, options, places."""

from __future__ import annotations

import asyncio
import logging
import threading
import time

import av
import pytest

import penstock
from penstock.access import Access
from penstock.errors import GraphConfigError, InvalidArgumentError, PermissionDeniedError, UnavailableError
from penstock_video.live.interrupts import CAN_CANCEL, LONGEST_S, Interrupts
from penstock_video.live.live_connection import Connection, Waits
from penstock_video.live.live_reader import Again
from penstock_video.live.live_source import Place, is_network, place_of, refused, resolve
from penstock_video.live.mailbox import Arrived, Mailbox
from penstock_video.live.options import LiveVideoCalculatorOptions, Transport
from penstock_video.live.stamps import CaptureTimes, WallClock
from penstock_video.live.whole_reader import Given, WholeReader

SECOND = 1_000_000


# --- times --------------------------------------------------------------------------------------


def test_times_are_regular_where_frames_come_late_by_turns() -> None:
    times = CaptureTimes()
    late = [30_000, 0, 90_000, 10_000, 70_000, 0, 5_000, 120_000]

    found = [times.time_of(i * 40_000, SECOND + i * 40_000 + late[i]) for i in range(8)]

    assert found[1:] == pytest.approx([SECOND + i * 40_000 for i in range(1, 8)], rel=0, abs=200)
    assert found[0] == SECOND + 30_000  # nothing is known yet
    assert times.jumps == 0


def test_a_sender_that_starts_again_at_0_goes_on_by_our_clock() -> None:
    times = CaptureTimes()
    times.time_of(50 * SECOND, 100 * SECOND)
    times.time_of(51 * SECOND, 101 * SECOND)

    again = [times.time_of(i * 40_000, 102 * SECOND + i * 40_000) for i in range(3)]

    assert again == [102 * SECOND, 102 * SECOND + 40_000, 102 * SECOND + 80_000]
    assert times.jumps == 1


def test_a_clock_that_jumps_ahead_gives_no_time_in_the_future() -> None:
    times = CaptureTimes()
    times.time_of(0, 100 * SECOND)

    assert times.time_of(3600 * SECOND, 101 * SECOND) == 101 * SECOND
    assert times.time_of(3601 * SECOND, 102 * SECOND) == 102 * SECOND
    assert times.jumps == 1


def test_a_clock_that_runs_slow_is_followed() -> None:
    times = CaptureTimes()

    delays = []
    for i in range(3600):  # an hour, 100 ppm slow
        arrival = i * SECOND
        delays.append(arrival - times.time_of(round(arrival * (1 - 100e-6)), arrival))

    assert times.jumps == 0
    assert 0 <= max(delays) < 1000


def test_a_frame_without_a_time_has_that_of_its_arrival_and_absolute_times_are_kept() -> None:
    absolute = CaptureTimes(is_absolute=True)

    assert CaptureTimes().time_of(None, 7) == 7
    assert absolute.time_of(100 * SECOND, 100 * SECOND + 30_000) == 100 * SECOND
    assert absolute.time_of(100 * SECOND + 40_000, 100 * SECOND + 90_000) == 100 * SECOND + 40_000


def test_the_wall_clock_does_not_follow_a_step_of_the_systems_clock(monkeypatch) -> None:
    clock = WallClock()
    before = clock.now()
    really = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: really() - 3600 * 10**9)

    assert abs(clock.now() - before) < SECOND
    assert abs(before - really() // 1000) < SECOND


# --- delays -------------------------------------------------------------------------------------


def test_delays_double_up_to_the_longest_less_a_random_part() -> None:
    again = Again(attempts=-1, first_delay_s=0.5, longest_delay_s=10.0)

    for attempt, longest in ((1, 0.5), (2, 1.0), (3, 2.0), (5, 8.0), (6, 10.0), (10**6, 10.0)):
        found = {again.delay(attempt) for _ in range(100)}
        assert longest / 2 <= min(found) <= max(found) <= longest
        assert len(found) > 50


# --- waits --------------------------------------------------------------------------------------


def test_this_pyav_asks_the_clock_that_ends_waits() -> None:
    assert CAN_CANCEL


def test_a_wait_of_libav_ends_soon_after_it_is_cancelled_and_others_go_on(silent) -> None:
    interrupts, ended = Interrupts(), []

    def read() -> None:
        with interrupts.around_libav(), pytest.raises(av.error.FFmpegError):
            av.open(silent("http://127.0.0.1:{port}/x"), timeout=(LONGEST_S, LONGEST_S))
        ended.append(time.monotonic())

    thread = threading.Thread(target=read)
    thread.start()
    with pytest.raises(av.error.ExitError):  # another thread's time-out is its own
        av.open(silent("http://127.0.0.1:{port}/x"), timeout=(0.3, 0.3))
    assert not ended
    began = time.monotonic()
    interrupts.cancel()
    thread.join(5)

    assert ended
    assert ended[0] - began < 0.5


def test_the_time_of_all_waits_of_an_open_together_is_limited(silent) -> None:
    place = place_of(silent(), Access())
    interrupts = Interrupts()
    began = time.monotonic()

    with interrupts.around_libav(), pytest.raises(UnavailableError) as late:
        Connection(place, Waits(0.3, 5.0), interrupts)

    assert 0.3 <= time.monotonic() - began < 1.0
    assert str(late.value) == (
        f"no connection: {place.shown!r} did not answer with video within 0.3 s (open_timeout_seconds)"
    )


def test_with_a_pyav_that_asks_another_clock_time_outs_hold(silent, monkeypatch) -> None:
    monkeypatch.setattr("penstock_video.live.live_connection.CAN_CANCEL", False)
    monkeypatch.setattr("av.container.core.time", time)
    place = place_of(silent(), Access())
    interrupts = Interrupts()
    began = time.monotonic()

    with interrupts.around_libav(), pytest.raises(UnavailableError, match=r"within 0\.3 s \(open_timeout"):
        Connection(place, Waits(0.3, 5.0), interrupts)

    assert 0.3 <= time.monotonic() - began < 1.5


# --- mailbox ------------------------------------------------------------------------------------


def test_a_full_mailbox_drops_the_oldest_frame_and_counts_it() -> None:
    mailbox = Mailbox(2)

    for stamp in range(5):
        mailbox.put(Arrived(None, stamp))

    assert [mailbox.take().stamp, mailbox.take().stamp, mailbox.take()] == [3, 4, None]
    assert (mailbox.take_dropped(), mailbox.take_dropped()) == (3, 0)


def test_a_mailbox_that_keeps_all_lets_the_reader_wait_until_it_is_cancelled() -> None:
    interrupts = Interrupts()
    mailbox = Mailbox(1, interrupts)
    mailbox.put(Arrived(None, 0))
    thread = threading.Thread(target=lambda: [mailbox.put(Arrived(None, i)) for i in (1, 2)])
    thread.start()

    assert mailbox.take().stamp == 0
    interrupts.cancel()
    thread.join(5)

    assert not thread.is_alive()
    assert mailbox.take_dropped() == 0


def test_an_error_comes_after_the_frames_before_it() -> None:
    mailbox = Mailbox(1)
    mailbox.put(Arrived(None, 0))
    mailbox.end(UnavailableError("gone"))

    assert not mailbox.is_at_end()
    mailbox.take()
    with pytest.raises(UnavailableError, match="gone"):
        mailbox.is_at_end()


def test_who_waits_for_a_frame_is_woken_by_it_or_goes_on_after_a_while() -> None:
    mailbox = Mailbox(1)

    async def wait() -> tuple[float, float]:
        began = time.monotonic()
        await mailbox.wait(0.05)
        middle = time.monotonic()
        asyncio.get_running_loop().call_later(0.01, lambda: mailbox.put(Arrived(None, 0)))
        await mailbox.wait(10)
        return middle - began, time.monotonic() - middle

    in_vain, woken = asyncio.run(wait())

    assert in_vain >= 0.04
    assert woken < 5


# --- places -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("rtsp://h/x", True), ("HTTP://h", True), ("file:///x", False), ("concat:a|b", False), ("x.mp4", False)],
)
def test_addresses_of_networks_are_known(name, is_one) -> None:
    assert is_network(name) is is_one


def test_what_is_no_live_source_is_refused_with_what_to_do() -> None:
    with pytest.raises(InvalidArgumentError, match=r"'clip.mp4' is no live source: give an address"):
        place_of("clip.mp4", Access())


def test_a_camera_that_is_not_there_is_named() -> None:
    with pytest.raises(InvalidArgumentError, match=r"'/dev/video97' does not exist"):
        place_of("/dev/video97", Access())
    with pytest.raises(InvalidArgumentError, match=r"camera 97 does not exist"):
        place_of("97", Access())


def test_a_limited_graph_reads_only_what_it_may() -> None:
    access = Access(connects=["10.0.0.5:554"], devices=["camera 0"])

    place = place_of("rtsp://ann:geheim@10.0.0.5/cam", access, Transport.UDP)

    assert place.options["rtsp_transport"] == "udp"
    assert "file" not in place.options["protocol_whitelist"].split(",")
    for other in ("rtsp://ann:geheim@10.0.0.6/cam", "1", "/dev/video0"):
        with pytest.raises(PermissionDeniedError) as denied:
            place_of(other, access)
        assert "geheim" not in str(denied.value)


def test_a_host_without_an_address_is_named_at_once() -> None:
    began = time.monotonic()

    with pytest.raises(UnavailableError, match=r"the host 'no-such-camera.invalid' is not known"):
        resolve(place_of("rtsp://ann:geheim@no-such-camera.invalid/cam", Access()))

    assert time.monotonic() - began < 10


def test_errors_have_no_password() -> None:
    place = Place("rtsp://a:geheim@h/x", "rtsp://a:***@h/x", None, {})

    said = [
        str(refused(place, error))
        for error in (
            av.error.HTTPUnauthorizedError(1, "401", "rtsp://a:geheim@h/x"),
            av.error.ProtocolNotFoundError(1, "none", "rtsp://a:geheim@h/x"),
            OSError("cannot read rtsp://a:geheim@h/x"),
        )
    ]

    assert said == [
        "the live source 'rtsp://a:***@h/x' cannot be read: it refuses the user name or password (401)",
        (
            "the live source 'rtsp://a:***@h/x' cannot be read: this build of FFmpeg does not know 'rtsp'; "
            "use another protocol, or a PyAV that is built against an FFmpeg that has it"
        ),
        "the live source 'rtsp://a:***@h/x' cannot be read: cannot read rtsp://a:***@h/x",
    ]


# --- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"open_timeout_seconds": 0.0}, "open_timeout_seconds is 0.0; it must be above 0"),
        ({"read_timeout_seconds": float("nan")}, "read_timeout_seconds is nan"),
        ({"first_delay_seconds": -1.0}, "first_delay_seconds is -1.0; it must be from 0"),
        ({"bound_lag_seconds": float("inf")}, "bound_lag_seconds is inf"),
        ({"reconnects": -2}, "reconnects is -2"),
        ({"max_waiting": 0}, "max_waiting is 0; it must be from 1 to 1024"),
        ({"decoder_threads": 300}, "live option decoder_threads is 300; it must be from 0 to 256"),
    ],
)
def test_options_that_cannot_be_are_refused(options, said) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        LiveVideoCalculatorOptions(**options)


def graph_with(options: str) -> penstock.CalculatorGraph:
    return penstock.CalculatorGraph(
        f"""node {{ calculator: "LiveVideoCalculator" output_stream: "VIDEO:frames" node_options {{
          [type.googleapis.com/penstock_video.LiveVideoCalculatorOptions] {{ {options} }} }} }}"""
    )


def test_a_graph_file_must_not_have_a_password() -> None:
    with pytest.raises(GraphConfigError, match="give the address as the side packet SOURCE") as refusal:
        graph_with('source: "rtsp://ann:geheim@10.0.0.5/cam"')
    assert "geheim" not in str(refusal.value)


def test_what_a_graph_touches_is_said_before_it_runs() -> None:
    (address,) = graph_with('source: "rtsp://10.0.0.5/cam?token=geheim"').access()["LiveVideoCalculator"]
    (camera,) = graph_with('source: "2"').access()["LiveVideoCalculator"]

    assert (address.kind, address.what) == ("connects", "rtsp://10.0.0.5/cam?token=***")
    assert (camera.kind, camera.what) == ("devices", "camera 2")


def test_a_thread_that_a_name_server_holds_is_left_and_logged(monkeypatch, caplog) -> None:
    held, let_go = threading.Event(), threading.Event()

    def lookup(*_: object) -> list[object]:
        held.set()
        let_go.wait(20)
        raise OSError("no answer")

    monkeypatch.setattr("socket.getaddrinfo", lookup)
    reader = WholeReader(place_of("rtsp://somewhere/cam", Access()), "camera", Given())

    async def end() -> float:
        reader.start()
        await asyncio.to_thread(held.wait, 20)
        began = time.monotonic()
        await reader.end()
        return time.monotonic() - began

    with caplog.at_level(logging.WARNING, "penstock"):
        seconds = asyncio.run(end())
    let_go.set()
    reader._thread.join(20)

    assert seconds < 1
    assert "rtsp://somewhere/cam: a wait of the system cannot be ended" in caplog.text
