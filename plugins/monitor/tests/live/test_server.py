"""A server: where it listens, what it says, and how it ends."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import attrs
import numpy as np
import pytest
import trustme

import penstock
import penstock_live
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock_live import feed
from penstock_monitor import Budget, CulpritReading, StallReading

# --- readings -------------------------------------------------------------------------------------


def test_a_reading_is_its_fields_as_json(client, monitor):
    stall = StallReading(1.5, "it waits\nfor 'ä'", (CulpritReading("second", "", "it sleeps"),))
    monitor.give(stall=stall, errors=("went wrong",), throttled=("in",))
    _, headers, body = client.request("/reading")
    assert headers["content-type"] == "application/json"
    assert json.loads(body) == json.loads(json.dumps(attrs.asdict(monitor.reading())))


def test_events_begin_with_the_newest_reading_and_go_on_with_each(hand, client, monitor):
    connection, answer = client.open("/events")
    with connection:
        assert answer.headers["content-type"].startswith("text/event-stream")
        found = hand.events(answer)
        assert json.loads(next(found)[1])["number"] == 1
        for number in (2, 3, 4):
            monitor.give()
            assert json.loads(next(found)[1])["number"] == number


def test_a_client_that_comes_later_is_told_the_newest_at_once(hand, client, monitor):
    first, answer = client.open("/events")
    with first:
        found = hand.events(answer)
        next(found)
        monitor.give()
        next(found)
        second, other = client.open("/events")
        with second:
            assert json.loads(next(hand.events(other))[1])["number"] == 2


def test_a_slow_client_misses_readings_and_delays_nobody(hand, stack):
    long = attrs.evolve(hand.READING, errors=("x" * 1_000_000,))  # more than the buffers of a connection
    monitor = hand.Monitor(long)
    server = stack.enter_context(hand.serve(monitor))
    client = hand.Client(server.url)
    slow = stack.enter_context(socket.create_connection(("127.0.0.1", client.url.port)))
    slow.sendall(f"GET /events?token={client.token} HTTP/1.1\r\nHost: {client.url.netloc}\r\n\r\n".encode())
    connection, answer = client.open("/events")
    stack.enter_context(connection)
    found = hand.events(answer)
    next(found)
    for number in range(2, 8):
        monitor.give()
        assert json.loads(next(found)[1])["number"] == number
    server.close()  # although the slow one has not read anything


def test_a_silent_monitor_gives_comments_that_keep_the_connection(hand, client, monkeypatch):
    monkeypatch.setattr(feed, "HEARTBEAT_S", 0.05)
    connection, answer = client.open("/events")
    with connection:
        found = hand.events(answer)
        next(found)
        assert [next(found) for _ in range(2)] == [("", "no news")] * 2


def test_a_monitor_that_is_over_is_asked_no_more_than_three_times_a_second(hand, client, monitor):
    asked = []
    wait = monitor.wait
    monitor.wait = lambda number, timeout: asked.append(number) or wait(number, timeout)
    monitor.close()
    began = time.monotonic()
    connection, answer = client.open("/events")
    with connection:
        next(hand.events(answer))
        assert client.request("/reading")[0] == 200
    assert len(asked) <= 1 + 3 * (1 + time.monotonic() - began)


def test_nobody_is_waited_for_when_nobody_looks(hand, client, monitor):
    asked = threading.Semaphore(0)
    wait = monitor.wait
    monitor.wait = lambda number, timeout: (asked.release(), wait(number, timeout))[1]
    assert client.request("/reading")[0] == 200
    assert not asked.acquire(blocking=False)
    connection, answer = client.open("/events")
    with connection:
        next(hand.events(answer))
        assert asked.acquire(timeout=10)


# --- what flows -----------------------------------------------------------------------------------


def shown(client, *streams):
    """Return the thumbnails of streams, by stream."""
    query = "&".join(f"stream={stream}" for stream in streams)
    status, headers, body = client.request(f"/thumbnails?{query}")
    assert (status, headers["content-type"]) == (200, "application/json")
    return json.loads(body)["thumbnails"]


def test_one_answer_has_the_newest_packets_of_several_streams(client, monitor):
    monitor.packets["in"] = penstock.Packet("wörds\nand lines", 7)
    monitor.packets["out"] = penstock.Packet(np.zeros((4, 4, 3), np.uint8), 8)
    found = shown(client, "in", "out", "in", "between")
    assert list(found) == ["in", "out", "between"]
    assert found["in"] == {
        "kind": "text",
        "content": json.dumps({"text": "'wörds\\nand lines'"}, ensure_ascii=False, separators=(",", ":")),
        "words": "'wörds\\nand lines'",
        "timestamp": "7",
    }
    assert found["out"]["kind"] == "image"
    assert found["out"]["content"].startswith("data:image/jpeg;base64,/9j/")
    assert found["out"]["timestamp"] == "8"
    assert found["between"] == {"kind": "none", "content": "{}", "words": "", "timestamp": ""}


def test_of_an_unknown_stream_the_answer_says_that_and_shows_the_others(client, monitor):
    monitor.packets["in"] = penstock.Packet(3, 7)
    found = shown(client, "nope", "in")
    assert found["nope"]["kind"] == "text"
    assert json.loads(found["nope"]["content"]) == {"text": "there is no stream 'nope'"}
    assert json.loads(found["in"]["content"]) == {"value": 3}


def test_a_request_that_names_no_stream_is_wrong(client):
    for path in ("/thumbnails", "/thumbnails?stream="):
        status, _, body = client.request(path)
        assert status == 400
        assert body.decode() == "the request names no stream; add &stream=NAME to the address\n"


def test_the_streams_of_one_request_are_looked_at_together(client, monitor):
    asked = []
    peek_all = monitor.peek_all
    monitor.peek_all = lambda names, timeout: asked.append(list(names)) or peek_all(names, timeout)
    assert list(shown(client, "in", "nope", "out")) == ["in", "nope", "out"]
    assert list(shown(client, "out", "between")) == ["out", "between"]
    assert asked == [["in", "nope", "out"], ["between"]]


def test_a_server_that_is_being_closed_makes_no_more_thumbnails_and_says_so(server, client):
    server._thumbnails.close()
    status, _, body = client.request("/thumbnails?stream=in")
    assert (status, body) == (503, b"the server is being closed, and its helper threads take no more calls\n")


def test_only_streams_that_are_asked_for_are_looked_at_and_twice_a_second_at_most(client, monitor):
    began = time.monotonic()
    for _ in range(20):
        shown(client, "between")
    assert set(monitor.peeked) == {"between"}
    assert len(monitor.peeked) <= 1 + 2 * (time.monotonic() - began)


def test_a_new_packet_gives_a_new_thumbnail(client, monitor, monkeypatch):
    monkeypatch.setattr("penstock_live.thumbnails.FRESH_S", 0.0)
    monkeypatch.setattr("penstock_monitor.Budget.cycle_s", lambda _: 0.0)
    for value in (1, 2):
        monitor.packets["out"] = penstock.Packet(value, value)
        assert json.loads(shown(client, "out")["out"]["content"]) == {"value": value}


def test_the_answer_says_which_thumbnails_were_made_before_the_request(client, monitor, monkeypatch):
    monkeypatch.setattr("penstock_live.thumbnails.FRESH_S", 60.0)
    monitor.packets["out"] = penstock.Packet(1, 1)
    first = json.loads(client.request("/thumbnails?stream=out")[2])
    monitor.packets["out"] = penstock.Packet(2, 2)
    again = json.loads(client.request("/thumbnails?stream=out&stream=in")[2])

    assert (first["kept"], again["kept"]) == ([], ["out"])
    assert json.loads(again["thumbnails"]["out"]["content"]) == {"value": 1}


def test_thumbnails_that_cost_much_are_made_less_often_and_the_answer_says_when(hand, stack):
    monitor, budget = hand.Monitor(), Budget(0.01)
    client = hand.Client(stack.enter_context(hand.serve(monitor, budget=budget)).url)
    assert json.loads(client.request("/thumbnails?stream=in")[2])["again_s"] == 0.5
    for _ in range(3):
        budget.spent("reading", 0.6)  # of a very large graph
    assert json.loads(client.request("/thumbnails?stream=in")[2])["again_s"] == pytest.approx(60, rel=0.1)
    assert monitor.peeked == ["in"]


def test_giving_out_readings_counts_against_the_budget(hand, stack):
    monitor, budget = hand.Monitor(), Budget(0.001)
    client = hand.Client(stack.enter_context(hand.serve(monitor, budget=budget)).url)
    assert budget.cycle_s() == 0.0
    connection, answer = client.open("/events")
    stack.enter_context(connection)
    found = hand.events(answer)
    next(found)
    monitor.give()
    next(found)
    assert budget.cycle_s() > 0.0


# --- the picture ----------------------------------------------------------------------------------


def test_the_picture_names_nodes_and_streams_as_the_readings_do(hand, client):
    status, headers, body = client.request("/graph.svg")
    assert (status, headers["content-type"]) == (200, "image/svg+xml")
    for node in hand.READING.nodes:
        assert f'data-node="{node.name}"' in body.decode()
    for stream in hand.READING.streams:
        assert f'data-stream="{stream.name}"' in body.decode()


def test_without_the_library_that_draws_the_answer_says_why(client, monkeypatch):
    monkeypatch.setattr("penstock_views.draw.painter.PAINTER", "no_such_module")
    status, _, body = client.request("/graph.svg")
    assert status == 503
    assert body.decode().startswith("the painter cannot draw the graph: ")


def test_closing_the_server_gives_up_a_picture_that_is_being_drawn(hand, monitor, monkeypatch, tmp_path):
    begun = tmp_path / "begun"
    (tmp_path / "draws_forever.py").write_text(
        f"import os, pathlib, threading\nnew = pathlib.Path({str(begun)!r} + '.new')\n"
        f"new.write_text(str(os.getpid()))\nnew.rename({str(begun)!r})\nthreading.Event().wait()\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("penstock_views.draw.painter.PAINTER", "draws_forever")
    server = hand.serve(monitor)
    client = hand.Client(server.url)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client.request, "/graph.svg")
        _until(begun.exists)
        started = time.monotonic()
        server.close()
        took = time.monotonic() - started
        asked.exception(20)
    assert took < 10
    process = int(begun.read_text(encoding="utf-8"))
    _until(lambda: not _is_running(process))


def _until(condition):
    waiting = threading.Event()
    for _ in range(400):
        if condition():
            return
        waiting.wait(0.05)
    pytest.fail("it took longer than 20 s")


def _is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


# --- where it listens -----------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.77.88", "example.org", "::"])  # noqa: S104
def test_where_others_come_tls_is_needed(hand, host):
    graph = penstock.CalculatorGraph(hand.GRAPH)
    with pytest.raises(
        InvalidArgumentError,
        match=f"^listening at address '{host}', which other machines can reach, needs TLS",
    ):
        penstock_live.serve(graph, address=host)


def test_a_port_that_is_taken_is_an_error_that_names_it(hand, server):
    port = hand.Client(server.url).url.port
    with pytest.raises(
        UnavailableError,
        match=rf"^listening at port {port} of '127\.0\.0\.1' is not possible: .*; take another port",
    ):
        penstock_live.serve(penstock.CalculatorGraph(hand.GRAPH), port=port)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_is_none_is_refused(hand, port):
    with pytest.raises(
        InvalidArgumentError, match=rf"^port {port} for listening: must be between 0 and 65535"
    ):
        penstock_live.serve(penstock.CalculatorGraph(hand.GRAPH), port=port)


def test_a_token_that_can_be_guessed_is_refused(hand):
    with pytest.raises(
        InvalidArgumentError,
        match=r"^a web token of 4 characters could be guessed: it must have at least 16",
    ):
        penstock_live.serve(penstock.CalculatorGraph(hand.GRAPH), token="1" * 4)


def test_with_tls_files_it_answers_by_tls_and_not_without(hand, tmp_path, monitor, stack):
    authority = trustme.CA()
    files = tls_files(authority, tmp_path, "127.0.0.1")
    server = stack.enter_context(serve_tls(hand, monitor, files))
    client = hand.Client(server.url)
    assert server.url.startswith("https://127.0.0.1:")

    context = ssl.create_default_context()
    authority.configure_trust(context)
    plain = stack.enter_context(socket.create_connection(("127.0.0.1", client.url.port)))
    secure = stack.enter_context(context.wrap_socket(plain, server_hostname="127.0.0.1"))
    secure.sendall(
        f"GET /reading?token={client.token} HTTP/1.1\r\nHost: {client.url.netloc}\r\n"
        f"Origin: https://{client.url.netloc}\r\nConnection: close\r\n\r\n".encode()
    )
    assert secure.recv(100).startswith(b"HTTP/1.1 200 OK")
    naked = stack.enter_context(socket.create_connection(("127.0.0.1", client.url.port)))
    naked.sendall(f"GET /reading?token={client.token} HTTP/1.1\r\nHost: {client.url.netloc}\r\n\r\n".encode())
    assert b"200 OK" not in naked.recv(100)


def test_tls_files_that_cannot_be_used_are_refused(hand, tmp_path):
    files = tls_files(trustme.CA(), tmp_path, "127.0.0.1")
    other = tls_files(trustme.CA(), tmp_path, "other")
    missing = tmp_path / "nothing.pem"
    for wrong, message in (
        (
            attrs.evolve(files, certificate=missing),
            f"^listening by TLS: certificate file '{missing}' cannot be read: No such file",
        ),
        (
            attrs.evolve(files, key=missing),
            f"^listening by TLS: key file '{missing}' cannot be read: No such file",
        ),
        (attrs.evolve(files, key=other.key), "cannot be used: .*; both must be PEM files"),
        (attrs.evolve(files, key=files.certificate), "cannot be used: .*; both must be PEM files"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            penstock_live.serve(penstock.CalculatorGraph(hand.GRAPH), tls=wrong)


def tls_files(authority, directory, name):
    issued = authority.issue_cert(name)
    certificate, key = directory / f"{name}.pem", directory / f"{name}.key"
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    return penstock_live.TlsFiles(certificate, key)


def serve_tls(hand, monitor, files):
    listening, address = penstock_live.listening.listen("127.0.0.1", 0, is_tls=True)
    config = penstock.CalculatorGraph(hand.GRAPH).binary_config
    return penstock_live.Server(listening, address, config, monitor, tls=files)


# --- how it ends ----------------------------------------------------------------------------------


def test_a_page_is_told_that_the_server_is_closed(hand, monitor):
    server = hand.serve(monitor)
    client = hand.Client(server.url)
    connection, answer = client.open("/events")
    with connection:
        found = hand.events(answer)
        next(found)
        server.close()
        assert list(found) == [("end", "the server is closed")]
    assert monitor.is_closed
    with pytest.raises(ConnectionRefusedError):
        client.request("/reading")


def test_closing_ends_every_thread_and_may_be_done_again(hand, monitor):
    before = set(threading.enumerate())
    server = hand.serve(monitor)
    client = hand.Client(server.url)
    client.request("/thumbnails?stream=in")
    client.request("/reading")
    client.request("/graph.svg")
    connection, answer = client.open("/events")
    with connection:
        next(hand.events(answer))
        server.close()
    server.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert set(threading.enumerate()) <= before


def test_the_server_knows_whether_its_page_was_opened(server, client):
    assert not server.was_opened
    client.request("/", given="wrong")
    client.request("/", method="HEAD")
    assert not server.was_opened
    client.request("/")
    assert server.was_opened


def test_the_page_of_a_server_never_names_its_token(client):
    _, _, body = client.request("/")
    assert client.token not in body.decode()


def test_finding_the_pack_imports_no_server():
    code = (
        "import sys, penstock_live, penstock_live.plugin\n"
        "loaded = {'uvicorn', 'starlette', 'msgspec', 'numpy', 'PIL'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
        "assert callable(penstock_live.serve)\n"
    )
    import subprocess
    import sys

    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_interpreter_ends_although_nobody_has_closed_the_server(hand):
    code = (
        "import penstock, penstock_live, urllib.request\n"
        f"graph = penstock.CalculatorGraph({hand.GRAPH!r})\n"
        "server = penstock_live.serve(graph)\n"
        "events = urllib.request.urlopen(server.url.replace('/?', '/events?'))\n"
        "assert events.readline().startswith(b'data: ')\n"
        "urllib.request.urlopen(server.url.replace('/?', '/thumbnails?stream=in&')).read()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert done.stderr == b""


def test_penstock_top_shows_what_is_served(server, monitor):
    del monitor
    command = [sys.executable, "-m", "penstock_cli", "top", server.url, "--once", "--json"]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60)
    assert [node["name"] for node in json.loads(done.stdout)["nodes"]] == ["first", "second"]


def test_a_page_gets_the_last_reading_before_the_end(hand, stack, monkeypatch):
    monkeypatch.setattr("penstock_live.feed.SHORTEST_S", 60.0)  # no other reading is due
    monitor = hand.Monitor()
    server = hand.serve(monitor)
    connection, answer = hand.Client(server.url).open("/events")
    stack.enter_context(connection)
    found = hand.events(answer)
    next(found)
    monitor.give()
    next(found)
    monitor.give(state="over")
    server.close()
    (_, last), end = found
    assert json.loads(last)["state"] == "over"
    assert end == ("end", "the server is closed")


# --- several graphs -------------------------------------------------------------------------------


def test_two_graphs_with_pages_show_each_its_own_packets_to_several_threads(hand, stack):
    graphs, clients = [], []
    for number in range(2):
        text = f"""
            input_stream: "in{number}" output_stream: "out{number}"
            node {{
              calculator: "PassThroughCalculator" name: "node{number}"
              input_stream: "in{number}" output_stream: "out{number}"
            }}"""
        graph = stack.enter_context(penstock.CalculatorGraph(text))
        server = stack.enter_context(penstock_live.serve(graph))
        graph.start_run()
        for time_us in range(10 * (number + 1)):
            graph.add_packet_to_input_stream(f"in{number}", penstock.Packet(number, time_us))
        graph.wait_until_idle(10)
        graphs.append(graph)
        clients.append(hand.Client(server.url))
    wrong = []

    def look(number):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            reading = json.loads(clients[number].request("/reading")[2])
            names = [node["name"] for node in reading["nodes"]]
            counts = {stream["name"]: stream["packets"] for stream in reading["streams"]}
            if names != [f"node{number}"] or set(counts) != {f"in{number}", f"out{number}"}:
                wrong.append((number, names, counts))
                return
            if counts[f"out{number}"] == 10 * (number + 1):
                return
        wrong.append((number, "never had all packets"))

    threads = [threading.Thread(target=look, args=(number % 2,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()

    assert wrong == []
    for graph in graphs:
        graph.close_all_input_streams()
        graph.wait_until_done(10)
