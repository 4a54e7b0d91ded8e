"""Who may read the metrics: names of the machine, the token, and how often."""

from __future__ import annotations

import http.client
import time

import pytest

import penstock
import penstock_metrics
from penstock.errors import InvalidArgumentError

PATIENCE_S = 30.0
TOKEN = "correct horse battery"  # noqa: S105  # of the tests


@pytest.fixture
def graph():
    with penstock.CalculatorGraph('input_stream: "in"') as found:
        yield found


def status(server, host=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    try:
        connection.putrequest("GET", "/metrics", skip_host=host is not None)
        if host is not None:
            connection.putheader("Host", host)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:9464", "localhost", "LocalHost:1", "[::1]:80"])
def test_names_of_the_machine_are_answered(graph, host):
    with penstock_metrics.serve(graph) as server:
        code, text = status(server, host)
    assert code == 200
    assert "penstock_" in text


@pytest.mark.parametrize(
    "host", ["evil.com", "127.0.0.1.evil.com", "[::1].evil", "user@127.0.0.1", "127.0.0.1:80@x", ""]
)
def test_other_names_are_not(graph, host):
    with penstock_metrics.serve(graph) as server:
        code, text = status(server, host)
    assert code == 403
    assert text == "this server answers only for 127.0.0.1 and ::1 and localhost\n"


def test_with_a_token_only_requests_that_have_it_are_answered(graph):
    with penstock_metrics.serve(graph, token=TOKEN) as server:
        assert server.has_token
        for wrong in ("", TOKEN, f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", "Bearer \xff"):
            code, text = status(server, Authorization=wrong)
            assert code == 401
            assert "penstock_" not in text
            assert "send it as Authorization: Bearer TOKEN" in text
        for right in (f"Bearer {TOKEN}", f"bearer {TOKEN}"):
            assert status(server, Authorization=right)[0] == 200


def test_a_token_that_could_be_guessed_is_refused(graph):
    with pytest.raises(InvalidArgumentError, match="a token of 6 characters for the metrics server could be"):
        penstock_metrics.serve(graph, token="secret")  # noqa: S106  # of the test


def test_clients_that_ask_all_the_time_wait(graph):
    with penstock_metrics.serve(graph) as server:
        begin = time.monotonic()
        for _ in range(40):
            assert status(server)[0] == 200
        # 20 come at once, and 20 in each second.
        assert time.monotonic() - begin > 0.9
