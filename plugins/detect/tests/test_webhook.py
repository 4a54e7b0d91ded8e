"""Events posted to a server of the local host that fails, hangs, trickles and dies."""

from __future__ import annotations

import json
import logging
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic

import pytest
from test_event_files import event

import penstock
from penstock.access import Access
from penstock.errors import GraphConfigError, GraphRunError


class Server:
    """A server whose answers are a list; then it accepts all."""

    def __init__(self, answers=(), port=0):
        self.answers = list(answers)
        self.bodies = []
        self.keys = []
        self.headers = []
        #: Ends answers that hang.
        self.is_over = threading.Event()
        self.came = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        self.web = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.web.daemon_threads = True
        self.port = self.web.server_port
        self.url = f"http://127.0.0.1:{self.port}/events?room=1"
        self.thread = threading.Thread(target=self.web.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def answer(self, handler):
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        self.keys.append(handler.headers["Idempotency-Key"])
        self.headers.append(dict(handler.headers))
        self.came.set()
        wanted = self.answers.pop(0) if self.answers else 200
        if wanted == "silent":
            self.is_over.wait(30)
            return
        if wanted == "trickle":
            handler.wfile.write(b"HTTP/1.0 200 OK\r\nX: ")
            while not self.is_over.wait(0.02):
                try:
                    handler.wfile.write(b"a")
                except OSError:
                    return
            return
        if wanted == "cut":
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        if wanted == 200:
            self.bodies.append((handler.path, json.loads(body)))
        handler.send_response(wanted)
        handler.end_headers()
        handler.wfile.write(f"answer {wanted}".encode())

    def close(self):
        self.is_over.set()
        self.web.shutdown()
        self.web.server_close()
        self.thread.join(30)


@pytest.fixture
def servers():
    """Return a function that starts a server."""
    made = []

    def start(*answers, port=0):
        made.append(Server(answers, port))
        return made[-1]

    yield start
    for one in made:
        one.close()


def graph(url, options="", node="", **given):
    return penstock.CalculatorGraph(
        f"""input_stream: "events" input_side_packet: "headers"
        node {{ calculator: "WebhookSinkCalculator" input_stream: "EVENTS:events"
          input_side_packet: "HEADERS:headers" {node} node_options {{
          [type.googleapis.com/penstock_detect.WebhookSinkCalculatorOptions] {{
            url: "{url}" first_pause_ms: 5 longest_pause_ms: 20 {options} }} }} }}""",
        **given,
    )


def post(url, batches, options="", headers=None):
    with graph(url, options) as made:
        made.start_run({"headers": headers or {}})
        for at, batch in enumerate(batches):
            made.add_packet_to_input_stream("events", penstock.Packet(batch, at))
        made.close_all_input_streams()
        made.wait_until_done(30)


def test_events_are_posted_in_their_order_with_headers(servers):
    server = servers()
    batches = [[event(0), event(1)], [], [event(2)]]

    post(server.url, batches, headers={"Authorization": "Bearer secret"})

    data = [[one.as_data() for one in batch] for batch in batches if batch]
    assert server.bodies == [("/events?room=1", batch) for batch in data]
    assert len(set(server.keys)) == 2
    assert {one["Authorization"] for one in server.headers} == {"Bearer secret"}
    assert {one["Content-Type"] for one in server.headers} == {"application/json"}


def test_a_server_that_fails_hangs_and_trickles_gets_all_events_in_order(servers, caplog):
    server = servers(503, "silent", 429, 200, "trickle", "cut", 500, 200)
    batches = [[event(at)] for at in range(4)]

    with caplog.at_level(logging.WARNING, "penstock"):
        post(server.url, batches, "timeout_ms: 1000")  # an answer may come late on a busy machine

    assert [batch[0]["timestamp"] for _, batch in server.bodies] == [0, 1, 2, 3]
    # attempts of one body have one key
    assert [server.keys.index(key) for key in server.keys] == [0, 0, 0, 0, 4, 4, 4, 4, 8, 9]
    said = [one.getMessage() for one in caplog.records]
    assert len(said) == 2
    assert said[0] == f"http://127.0.0.1:{server.port}/events answers 503: answer 503; trying again"


def test_a_server_that_dies_and_comes_back_gets_all_events(servers):
    first = servers("silent")
    with graph(first.url, "timeout_ms: 5000") as made:
        made.start_run({"headers": {}})
        for at in range(3):
            made.add_packet_to_input_stream("events", penstock.Packet([event(at)], at))
        made.close_all_input_streams()
        assert first.came.wait(30)
        first.close()
        second = servers(port=first.port)
        made.wait_until_done(30)

    assert [batch[0]["timestamp"] for _, batch in second.bodies] == [0, 1, 2]
    assert first.keys[0] == second.keys[0]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (404, "answers 404: answer 404; check url"),
        (302, "answers 302: answer 302; check url"),
        (401, "answers 401: answer 401 to the posting; give a header Authorization"),
    ],
)
def test_an_answer_that_will_not_change_fails_the_call_at_once(servers, answer, words):
    server = servers(answer)

    with pytest.raises(GraphRunError) as caught:
        post(server.url, [[event(0)]])

    assert words in str(caught.value)
    assert len(server.keys) == 1


def test_a_call_fails_after_the_time_that_the_options_say():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"

    with pytest.raises(GraphRunError, match=r"does not answer: .*; \d+ attempts to post in .*give_up_ms is"):
        post(url, [[event(0)]], "give_up_ms: 60")


def test_a_policy_that_skips_goes_on_with_the_next_event_and_counts(servers):
    server = servers(404)
    with graph(server.url, node="failure { on_error: SKIP }") as run:
        run.start_run({"headers": {}})
        for at in range(2):
            run.add_packet_to_input_stream("events", penstock.Packet([event(at)], at))
        run.close_all_input_streams()
        run.wait_until_done(30)

    assert [batch[0]["timestamp"] for _, batch in server.bodies] == [1]


def test_a_run_that_is_cancelled_does_not_wait_for_a_silent_server(servers, caplog):
    server = servers("silent")
    with caplog.at_level(logging.WARNING, "penstock"), graph(server.url, "timeout_ms: 60000") as made:
        made.start_run({"headers": {}})
        made.add_packet_to_input_stream("events", penstock.Packet([event(0)], 0))
        assert server.came.wait(30)
        begun = monotonic()
        made.cancel()
        with pytest.raises(GraphRunError):
            made.wait_until_done(30)
    assert monotonic() - begun < 10
    assert "the run was cancelled before" in caplog.text
    assert not [one for one in threading.enumerate() if one.name.endswith("webhook")]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "url is '', but must be an address for posting, such as https://host/path"),
        ("ftp://host/", "but must be an address for posting, such as"),
        ("http://host:99999/", "is no address: Port out of range"),
        ("http://ann:pw@host/", "has a user name; give a header Authorization"),
    ],
)
def test_addresses_that_are_none(url, words):
    with pytest.raises(GraphConfigError) as caught:
        graph(url)

    assert words in str(caught.value)
    assert "pw" not in str(caught.value)


def test_an_address_that_is_not_allowed():
    with pytest.raises(GraphConfigError, match=r"may not connect to 'http://10\.0\.0\.5/x'"):
        graph("http://10.0.0.5/x", access=Access(connects=()))
    assert len(graph("http://10.0.0.5/x", access=Access(connects=["10.0.0.5:80"])).access()) == 1


def test_headers_that_cannot_be_sent():
    for headers, words in (
        ({"a b": "x"}, "has the name 'a b'"),
        ({"a": "x\r\nb: y"}, "the value of 'a' must"),
    ):
        with pytest.raises(GraphRunError, match=words) as caught:
            post("http://127.0.0.1:9/", [], headers=headers)
        assert "b: y" not in str(caught.value)
