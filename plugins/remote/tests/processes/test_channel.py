"""Messages that arrive in pieces, that are too large for the memory, or that do not arrive."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from penstock_processes import channel
from penstock_processes.channel import Channel, NoRoomError

pytestmark = pytest.mark.heavy

PATIENCE_S = 20.0


@pytest.fixture
def ends():
    here, there = socket.socketpair()
    with here, there:
        here.settimeout(PATIENCE_S)
        there.settimeout(PATIENCE_S)
        yield Channel(here), Channel(there)


@pytest.mark.parametrize("size", [100_000, 3_000_000])
def test_a_content_without_memory_is_dropped_and_the_next_message_arrives(ends, monkeypatch, size):
    here, there = ends

    def scarce(length):
        if length == size:
            raise MemoryError
        return bytearray(length)

    monkeypatch.setattr(channel, "bytearray", scarce, raising=False)
    messages = [(1, 7, b"before"), (2, 8, bytes(size)), (3, 9, b"behind"), (4, 10, bytes(200_000))]
    thread = threading.Thread(target=lambda: [here.send(*one) for one in messages], daemon=True)
    thread.start()

    assert there.receive() == messages[0]
    with pytest.raises(NoRoomError, match=f"no memory for a message of {size} bytes") as caught:
        there.receive()
    assert (caught.value.kind, caught.value.number) == (2, 8)
    assert there.receive() == messages[2]
    assert there.receive() == messages[3]
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.mark.parametrize("length", [0, 5, 17, 60_000], ids=["nothing", "half a head", "a head", "a part"])
def test_an_end_that_receives_looks_while_nothing_comes(length):
    here, there = socket.socketpair()
    looks = []

    def look():
        looks.append(time.monotonic())
        if len(looks) == 2:
            here.sendall(whole[length:])

    recorder, sender = socket.socketpair()
    with here, there, recorder, sender:
        thread = threading.Thread(target=Channel(sender).send, args=(1, 7, bytes(70_000)), daemon=True)
        thread.start()
        whole = b""
        while len(whole) < 70_017:
            whole += recorder.recv(100_000)
        thread.join(PATIENCE_S)
        begin = time.monotonic()
        here.sendall(whole[:length])
        assert Channel(there, when_quiet=look).receive() == (1, 7, bytes(70_000))
    assert 0.8 < looks[0] - begin < looks[1] - begin < PATIENCE_S


def test_an_end_that_is_closed_in_the_middle_of_a_message_is_an_error(ends):
    here, there = ends
    here.socket.sendall(b"\x64" + bytes(16) + b"only a part")
    here.close()
    with pytest.raises(EOFError):
        there.receive()
