"""Brokers that go and come, are silent, or refuse; TLS; and how fast a run ends meanwhile."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest
from topics import PATIENCE_S, Plain, name, sink, source, subscribed, wait_until

import penstock
from penstock.access import Access
from penstock.errors import GraphConfigError, GraphRunError, PermissionDeniedError, UnavailableError

pytestmark = pytest.mark.heavy

CONFIG = 'input_side_packet: "CONFIG:c"'


def cancelled(graph, within_s=1.0):
    """Cancel a run, and look how long that takes."""
    begin = time.monotonic()
    graph.cancel()
    with pytest.raises(GraphRunError):
        graph.wait_until_done(PATIENCE_S)
    took = time.monotonic() - begin
    assert took < within_s


def started(text, *streams, sides=None):
    got = {stream: [] for stream in streams}
    graph = penstock.CalculatorGraph(text)
    for stream, packets in got.items():
        graph.observe_output_stream(stream, lambda _, p, packets=packets: packets.append(p.payload))
    graph.start_run(sides or {})
    return graph, got


@pytest.mark.parametrize("kill", [False, True])
def test_a_broker_that_is_stopped_and_started_loses_nothing(start, caplog, kill):
    broker = start()
    topic, client = name(), name("client")
    subscribed(broker, topic, client)
    graph, got = started(source(broker, topic, client=client), "value")
    expected = set()
    for turn in range(3):
        with Plain(broker) as plain:
            values = [f"{turn}-{n}" for n in range(10)]
            plain.publish(topic, *values)
        expected |= {value.encode() for value in values}
        assert wait_until(lambda: set(got["value"]) == expected), graph.why()  # noqa: B023  # asked at once
        broker.stop(kill=kill)
        assert wait_until(lambda: graph.counters.get("MqttSourceCalculator-source_lost") == 1)
        broker.start()
        assert wait_until(lambda turn=turn: graph.counters.get("MqttSourceCalculator-reconnects") == turn + 1)
    cancelled(graph)
    assert graph.counters["MqttSourceCalculator-source_lost"] == 0
    assert "is lost; connecting again" in caplog.text
    (record, *_) = [one for one in caplog.records if "connected with" in one.getMessage()]
    assert record.node == "MqttSourceCalculator"


def test_a_sink_goes_on_when_its_broker_comes_back(start):
    broker = start()
    topic, client = name(), name("client")
    subscribed(broker, topic, client)
    graph = penstock.CalculatorGraph('input_stream: "value"' + sink(broker, topic, more="max_in_flight: 10"))
    graph.start_run()
    for n in range(5):
        graph.add_packet_to_input_stream("value", penstock.Packet(f"{n}", n))
    graph.wait_until_idle(PATIENCE_S)
    broker.stop()
    for n in range(5, 10):
        graph.add_packet_to_input_stream("value", penstock.Packet(f"{n}", n))
    broker.start()
    graph.close_all_input_streams()
    graph.wait_until_done(PATIENCE_S)
    with Plain(broker, topic, client) as plain:
        assert wait_until(lambda: {int(one.payload) for one in plain.heard} == set(range(10)))


def test_a_broker_that_is_not_there_is_tried_again_and_the_run_can_end(caplog):
    graph, _ = started(source("127.0.0.1:9", "t"))
    assert wait_until(lambda: "cannot connect to 127.0.0.1:9: [Errno" in caplog.text)
    cancelled(graph)


def test_a_run_may_give_up(caplog):
    graph, _ = started(source("127.0.0.1:9", "t", options="give_up_ms: 300"))
    with pytest.raises(GraphRunError, match=r"no MQTT link with 127\.0\.0\.1:9 for 0\.3 s") as caught:
        graph.wait_until_done(PATIENCE_S)
    assert isinstance(caught.value.errors[0].__cause__, UnavailableError)


@pytest.fixture
def silent():
    """Return the address of a server that accepts connections and says nothing."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_broker_that_accepts_and_is_silent_is_told(silent, caplog):
    graph, _ = started(source(silent, "t", options="connect_timeout_ms: 200"))
    assert wait_until(lambda: f"{silent} accepts connections but does not answer" in caplog.text)
    cancelled(graph)


def test_a_broker_that_is_silent_in_tls_is_told(silent, caplog):
    graph, _ = started(source(silent, "t", options="connect_timeout_ms: 200 tls: true"))
    assert wait_until(lambda: "no answer to TLS within 0.2 s" in caplog.text)
    cancelled(graph)


def test_a_host_that_answers_no_connection_holds_no_run_up():
    """A server that accepts no connection and whose queue is full: the system drops the packets."""
    with socket.socket() as server, contextlib.ExitStack() as waiting:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(server.getsockname())
        address = f"127.0.0.1:{server.getsockname()[1]}"
        graph, _ = started(source(address, "t", options="connect_timeout_ms: 20000"))
        time.sleep(0.3)  # within the attempt
        cancelled(graph)


def test_a_run_that_waits_for_tls_is_cancelled_at_once(silent):
    graph, _ = started(source(silent, "t", options="connect_timeout_ms: 20000 tls: true"))
    time.sleep(0.3)  # within the attempt
    cancelled(graph)


def test_a_name_that_does_not_exist_is_told(caplog):
    graph, _ = started(source("no-such-host.invalid:1883", "t"))
    assert wait_until(lambda: "cannot connect to no-such-host.invalid:1883: " in caplog.text)
    cancelled(graph)


def test_32_silent_brokers_are_cancelled_together(silent):
    text = "".join(source(silent, "t", f"VALUE:v{n}", "connect_timeout_ms: 20000") for n in range(32))
    graph, _ = started(text)
    time.sleep(0.2)  # while all wait for an answer
    cancelled(graph, 2.0)


# --- who is let in --------------------------------------------------------------------------------


@pytest.fixture
def guarded(start, tmp_path):
    """Return a broker that wants a password, and lets ann read below a/ only."""
    tool = shutil.which("mosquitto_passwd")
    if tool is None:
        pytest.skip("mosquitto_passwd is not installed")
    passwords = tmp_path / "passwords"
    subprocess.run([tool, "-c", "-b", str(passwords), "ann", "hunter2"], check=True, capture_output=True)
    passwords.chmod(0o600)
    rights = tmp_path / "acl"
    rights.write_text("user ann\ntopic readwrite a/#\n")
    rights.chmod(0o600)
    return start(f"allow_anonymous false\npassword_file {passwords}\nacl_file {rights}")


def test_a_password_comes_in_the_side_packet_and_is_told_nowhere(guarded, caplog):
    client = name("client")
    with Plain(guarded, "a/x", client, ("ann", "hunter2")):
        pass
    with Plain(guarded, credentials=("ann", "hunter2")) as plain:
        plain.publish("a/x", "5")
    text = 'input_side_packet: "c"' + source(
        guarded, "a/x", options="stop_when_idle_ms: 300", more=CONFIG, client=client
    )
    graph, got = started(text, "value", sides={"c": {"username": "ann", "password": "hunter2"}})
    graph.wait_until_done(PATIENCE_S)
    assert got["value"] == [b"5"]

    graph, _ = started(text, sides={"c": {"username": "ann", "password": "wrong-word"}})
    with pytest.raises(GraphRunError, match="refuses the link: Not authorized; user name") as caught:
        graph.wait_until_done(PATIENCE_S)
    assert isinstance(caught.value.errors[0].__cause__, PermissionDeniedError)
    assert "wrong-word" not in str(caught.value) + caplog.text
    assert "hunter2" not in caplog.text


def test_a_sink_that_is_refused_says_so(guarded):
    text = 'input_stream: "value"' + sink(guarded, "a/x")
    with pytest.raises(GraphRunError, match="refuses the link: Not authorized"):
        penstock.run(text, inputs={"value": [(0, "x")]})


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    trustme = pytest.importorskip("trustme", reason="trustme is not installed")
    folder = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    server = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    server.private_key_pem.write_to_path(folder / "key.pem")
    server.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    return folder


def test_tls_with_an_authority_of_the_side_packet(start, certificates, caplog):
    broker = start(f"allow_anonymous true\ncertfile {certificates}/cert.pem\nkeyfile {certificates}/key.pem")
    topic, client = name(), name("client")

    def encrypt(plain):
        plain.tls_set(str(certificates / "ca.pem"), tls_version=ssl.PROTOCOL_TLS_CLIENT)

    Plain(broker, topic, client, before=encrypt).__exit__()
    with Plain(broker, before=encrypt) as plain:
        plain.publish(topic, *[f"{n}" for n in range(30)])
    options = "stop_when_idle_ms: 300"
    text = 'input_side_packet: "c"' + source(broker, topic, options=options, more=CONFIG, client=client)
    graph, got = started(text, "value", sides={"c": {"ca_certs": str(certificates / "ca.pem")}})
    graph.wait_until_done(PATIENCE_S)
    assert got["value"] == [f"{n}".encode() for n in range(30)]

    graph, _ = started(text, sides={"c": {"tls": True}})
    assert wait_until(lambda: "certificate verify failed" in caplog.text), (
        "no authority of the system knows it"
    )
    cancelled(graph)


# --- what a graph may touch -----------------------------------------------------------------------


def test_a_broker_is_an_address_and_a_tls_file_is_a_file(broker, certificates):
    text = source("10.0.0.5:1883", "t")
    with pytest.raises(GraphConfigError, match=r"may not connect to '10\.0\.0\.5:1883'"):
        penstock.CalculatorGraph(text, access=Access(connects=["10.0.0.6"]))
    side = 'input_side_packet: "c"' + source("", "t", more=CONFIG)
    graph = penstock.CalculatorGraph(side, access=Access(connects=["10.0.0.6"]))
    with pytest.raises(GraphRunError, match="may not connect to"):
        graph.run({"c": {"address": "10.0.0.5:1883"}}, timeout=PATIENCE_S)
    graph = penstock.CalculatorGraph(side, access=Access(reads=()))
    with pytest.raises(GraphRunError, match="may not read"):
        graph.run(
            {"c": {"address": broker.address, "ca_certs": str(certificates / "ca.pem")}}, timeout=PATIENCE_S
        )


def test_many_runs_leave_no_thread_and_no_socket(broker):
    before = threading.active_count()
    for _ in range(10):
        graph, _ = started(source(broker, name()))
        cancelled(graph)
    assert threading.active_count() <= before
