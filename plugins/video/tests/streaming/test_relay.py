"""Errors say in words, with seconds, which fault a server has; each wait ends in time."""

from __future__ import annotations

import socket
import ssl
import threading
from time import monotonic

import pytest

from penstock.errors import UnavailableError
from penstock_video.streaming import hosts
from penstock_video.streaming.destination import destination
from penstock_video.streaming.relay import Relay


def relay_to(port, host="127.0.0.1", scheme="rtsp", **given):
    given = {"open_s": 5.0, "stall_s": 5.0, "is_over": lambda: False, **given}
    return Relay(destination(f"{scheme}://{host}:{port}/a/b"), **given)


def fill(connection):
    """Send until the other end takes no more."""
    while True:
        connection.sendall(bytes(100_000))


def has_ended(connection):
    """Wait for the other end, and return whether it has closed the connection."""
    connection.settimeout(10)
    try:
        return connection.recv(100) == b""
    except ConnectionResetError:
        return True


def resolvers():
    return [one for one in threading.enumerate() if one.name == "penstock-resolver"]


def test_bytes_go_both_ways_until_one_end_closes(aid):
    def echo(connection):
        while data := connection.recv(1000):
            connection.sendall(data.upper())

    with aid.nothing_left(), aid.peer(echo) as server:
        relay = relay_to(server.port)
        with socket.create_connection(("127.0.0.1", relay.connect())) as mine:
            relay.settled()
            mine.sendall(b"hello")
            assert mine.recv(100) == b"HELLO"
            relay.wait_until_clear()
            assert relay.failure == ""
            server.taken[0].shutdown(socket.SHUT_RDWR)
            assert has_ended(mine)
        aid.until(lambda: relay.failure, "the end is noticed")
        assert relay.failure == "the server closed the connection"
        with pytest.raises(UnavailableError, match="the server closed the connection"):
            relay.wait_until_clear()
        relay.close()


def test_a_refusal_is_told_at_once(aid):
    with aid.nothing_left(), pytest.raises(UnavailableError, match=r"^connection refused$"):
        relay_to(aid.free_port()).connect()


def test_a_name_that_is_none_is_told(aid):
    with (
        aid.nothing_left(),
        pytest.raises(UnavailableError, match=r"'no[.]such[.]invalid' does not resolve"),
    ):
        relay_to(1, host="no.such.invalid").connect()


def test_a_resolver_that_does_not_answer_has_a_time_out(aid, monkeypatch):
    answer = threading.Event()
    monkeypatch.setattr(hosts, "_ask", lambda *_: answer.wait(20))
    try:
        with pytest.raises(UnavailableError, match=r"host 'slow.example' was not resolved within 0.2 s"):
            relay_to(1, host="slow.example", open_s=0.2).connect()
        with pytest.raises(UnavailableError, match="the search for the host was given up"):
            relay_to(1, host="slow.example", is_over=lambda: True).connect()
    finally:
        answer.set()
    aid.until(lambda: not resolvers(), "the threads have ended")


def test_a_server_that_accepts_and_is_silent_has_a_time_out(aid):
    with aid.nothing_left(), aid.peer(lambda connection: connection.recv(1)) as server:
        began = monotonic()
        relay = relay_to(server.port, open_s=0.3)
        with socket.create_connection(("127.0.0.1", relay.connect())) as mine:
            assert has_ended(mine)
        assert 0.25 < monotonic() - began < 2
        relay.close()
        assert relay.failure == "it did not answer within 0.3 s"


def test_a_server_that_takes_no_data_is_given_up(aid):
    is_read = threading.Event()
    with aid.nothing_left(), aid.peer(lambda _: is_read.wait(20)) as server:
        relay = relay_to(server.port, stall_s=0.3)
        with socket.create_connection(("127.0.0.1", relay.connect())) as mine:
            relay.settled()
            with pytest.raises(ConnectionError):
                fill(mine)
        with pytest.raises(UnavailableError, match=r"it took no data for 0\.3 s|timed out"):
            relay.wait_until_clear()
        relay.close()
        is_read.set()


def test_whoever_waits_for_a_server_that_is_slow_can_be_called_off(aid):
    is_over = threading.Event()
    is_read = threading.Event()
    with aid.nothing_left(), aid.peer(lambda _: is_read.wait(20)) as server:
        relay = relay_to(server.port, stall_s=60, is_over=is_over.is_set)
        with socket.create_connection(("127.0.0.1", relay.connect())) as mine:
            relay.settled()
            mine.setblocking(False)
            with pytest.raises(BlockingIOError):
                fill(mine)
            aid.until(lambda: not relay._is_clear.is_set(), "the relay waits")
            timer = threading.Timer(0.1, is_over.set)
            timer.start()
            with pytest.raises(UnavailableError, match="the relay of the live stream was given up"):
                relay.wait_until_clear()
            timer.join()
            relay.close()
        is_read.set()


def test_closing_ends_everything_at_once(aid):
    with aid.nothing_left(), aid.peer(lambda connection: connection.recv(1)) as server:
        relay = relay_to(server.port)
        with socket.create_connection(("127.0.0.1", relay.connect())) as mine:
            began = monotonic()
            relay.close()
            relay.close()
            assert has_ended(mine)
            assert monotonic() - began < 0.5


@pytest.fixture
def secure_peer(aid):
    """A server of TLS with a certificate of an authority of the test; yields port and authority."""
    trustme = pytest.importorskip("trustme", reason="trustme is not installed")
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    def talk(connection):
        with context.wrap_socket(connection, server_side=True) as secure:
            secure.sendall(secure.recv(100).upper())

    with aid.peer(talk) as server:
        yield server.port, authority


def test_tls_is_spoken_where_the_address_asks_for_it(secure_peer, tmp_path, monkeypatch):
    port, authority = secure_peer
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    relay = relay_to(port, scheme="rtmps")
    with socket.create_connection(("127.0.0.1", relay.connect())) as mine:
        mine.sendall(b"hello")
        assert mine.recv(100) == b"HELLO"
    relay.close()


def test_a_certificate_of_nobody_is_refused(secure_peer):
    with pytest.raises(UnavailableError, match="its certificate is not accepted: unable to get local issuer"):
        relay_to(secure_peer[0], scheme="rtsps").connect()


def test_a_server_without_tls_is_told(aid):
    def talk(connection):
        connection.sendall(b"220 hello\r\n")

    with aid.peer(talk) as server, pytest.raises(UnavailableError, match="TLS failed: "):
        relay_to(server.port, scheme="rtsps").connect()
