"""The server of metrics: where it listens, what it answers, and how it ends."""

from __future__ import annotations

import http.client
import socket
import sys
import threading

import pytest
from scraping import PATIENCE_S, fetched, run_once, scraped

import penstock_metrics
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock_metrics import MetricsServer, PrometheusMetrics

ANY = "0.0.0.0"  # noqa: S104  # it is what is tested


def asked(server, method, path="/metrics"):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type"), answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "HEAD"])
def test_only_get_is_answered(chain, method) -> None:
    with penstock_metrics.serve(chain) as server:
        status, _, body = asked(server, method)
        good, kind, _ = asked(server, "GET")

    assert status == 405
    assert b"penstock_" not in body
    assert (good, kind.partition(";")[0]) == (200, "text/plain")


def test_it_listens_on_this_machine_alone_unless_it_is_told_otherwise(chain) -> None:
    with penstock_metrics.serve(chain) as server, MetricsServer(PrometheusMetrics(), host=ANY) as other:
        assert server.url == f"http://127.0.0.1:{server.port}/metrics"
        assert server.is_local
        assert repr(server) == f"<MetricsServer {server.url}>"
        assert other.url == f"http://0.0.0.0:{other.port}/metrics"
        assert not other.is_local
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.2", server.port), PATIENCE_S).close()


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_it_listens_on_an_address_of_ipv6(chain) -> None:
    try:
        server = penstock_metrics.serve(chain, host="::1")
    except UnavailableError as error:
        pytest.skip(f"no IPv6 here: {error}")
    with server:
        assert server.url == f"http://[::1]:{server.port}/metrics"
        assert server.is_local
        assert "penstock_running" in fetched(server.url)


def test_a_port_that_is_taken_is_an_error_that_names_it_and_leaves_nothing_open(chain) -> None:
    with penstock_metrics.serve(chain) as server:
        before = threading.enumerate()
        with pytest.raises(
            UnavailableError,
            match=rf"port {server.port} of '127\.0\.0\.1' cannot be used: .*in use; take another port, or 0",
        ):
            penstock_metrics.serve(chain, server.port)
        assert set(threading.enumerate()) <= set(before)
        assert "penstock_running" in fetched(server.url)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_cannot_be_is_refused(chain, port) -> None:
    with pytest.raises(InvalidArgumentError, match=rf"port {port}: must be between 0 and 65535"):
        penstock_metrics.serve(chain, port)


def test_an_address_that_the_machine_does_not_have_is_refused(chain) -> None:
    with pytest.raises(UnavailableError, match=r"port 0 of '192\.0\.2\.1' cannot be used: .*; take another"):
        penstock_metrics.serve(chain, host="192.0.2.1")
    with pytest.raises(UnavailableError, match=r"address 'no such name' cannot be used: .*; give an address"):
        penstock_metrics.serve(chain, host="no such name")


def test_when_it_is_closed_its_port_is_free_and_its_threads_have_ended(chain) -> None:
    server = penstock_metrics.serve(chain)
    run_once(chain, 3)
    scraped(server.url)
    server.close()
    server.close()
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith(("penstock-m",))]
    again = penstock_metrics.serve(chain, server.port)
    again.close()

    assert left == []
    with pytest.raises(OSError, match="refused"):
        fetched(server.url)


def test_it_says_what_to_install_where_the_client_is_missing(chain, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)

    with pytest.raises(
        UnavailableError, match=r'which is not there .*; pip install "penstock-monitor\[prometheus\]"'
    ):
        penstock_metrics.serve(chain)


def test_a_client_that_says_nothing_does_not_hold_up_another(chain) -> None:
    with (
        penstock_metrics.serve(chain) as server,
        socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as idle,
    ):
        idle.sendall(b"GET /metrics HTTP/1.1\r\n")  # and no more
        assert "penstock_running" in fetched(server.url)
