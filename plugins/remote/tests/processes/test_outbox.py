"""Messages that are sent without waiting."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from penstock_processes.channel import Channel, Outbox

PATIENCE_S = 20.0


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    theirs.settimeout(PATIENCE_S)
    box = Outbox(Channel(ours), "outbox")
    yield box, Channel(theirs)
    theirs.close()
    box.close()
    box.join(PATIENCE_S)
    ours.close()


def in_thread(call):
    """Do it on a thread that is not the main one."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive(), "it waits"


@pytest.mark.parametrize("is_main", [True, False])
def test_nobody_waits_for_an_end_that_does_not_receive_and_the_order_stays(ends, is_main) -> None:
    box, there = ends
    contents = [bytes([n]) * size for n, size in enumerate([10, 3_000_000, 5, 20_000, 700_000, 0, 100_000])]

    def send():
        for number, content in enumerate(contents):
            box.send(1, number, content)

    if is_main:
        send()
    else:
        in_thread(send)

    for number, content in enumerate(contents):
        kind, got, found = there.receive()
        assert (kind, got) == (1, number)
        assert bytes(found) == content


def test_a_small_message_is_sent_by_its_own_thread_also_after_the_socket_was_full(ends) -> None:
    box, there = ends
    in_thread(lambda: box.send(1, 0, b"x" * 3_000_000))
    there.receive()
    deadline = time.monotonic() + PATIENCE_S
    while box._waiting and time.monotonic() < deadline:
        time.sleep(0.001)  # the thread notes that it has sent a moment after the other end has received

    box.send(1, 1, b"small")

    assert not box._waiting
    assert bytes(there.receive()[2]) == b"small"


def test_threads_that_send_at_once_do_not_mix_their_messages(ends) -> None:
    box, there = ends

    def send(one):
        for number in range(200):
            box.send(one, number, bytes([one]) * (number * 997))

    threads = [threading.Thread(target=send, args=(one,), daemon=True) for one in range(4)]
    for thread in threads:
        thread.start()

    seen = {one: [] for one in range(4)}
    for _ in range(800):
        kind, number, content = there.receive()
        assert bytes(content) == bytes([kind]) * (number * 997)
        seen[kind].append(number)

    assert all(numbers == list(range(200)) for numbers in seen.values())
    for thread in threads:
        thread.join(PATIENCE_S)


def test_an_end_that_has_closed_is_an_error_and_ends_the_thread(ends) -> None:
    box, there = ends
    there.close()

    with pytest.raises(OSError, match=r"[Pp]ipe"):
        box.send(1, 0, b"x")
    box.send(1, 1, b"x" * 100_000)  # left to the thread, which ends
    box.join(PATIENCE_S)

    assert not box._thread.is_alive()


def test_a_closed_box_takes_nothing_more(ends) -> None:
    box, _ = ends
    box.close()

    with pytest.raises(BrokenPipeError):
        box.send(1, 0, b"x")
    box.join(PATIENCE_S)
    assert not box._thread.is_alive()
