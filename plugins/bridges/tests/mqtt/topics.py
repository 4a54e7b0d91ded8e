"""Topics to test with: graphs that read and write them, and a plain client beside."""

from __future__ import annotations

import itertools
import os
import threading
import time

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

PATIENCE_S = 30.0
_numbers = itertools.count()


def wait_until(done, within_s=PATIENCE_S):
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if done():
            return True
        time.sleep(0.01)
    return False


def name(what="t"):
    """Return a new name."""
    return f"{what}-{os.getpid()}-{next(_numbers)}"


def source(broker, topic, outputs="VALUE:value", options="", more="", client=None):  # noqa: PLR0913, PLR0917
    ports = " ".join(f'output_stream: "{port}"' for port in outputs.split())
    who = name("client") if client is None else client
    return f"""
    node {{
      calculator: "MqttSourceCalculator" {ports} {more}
      node_options {{ [type.googleapis.com/penstock_mqtt.MqttSourceCalculatorOptions] {{
        address: "{getattr(broker, "address", broker)}" topic: "{topic}" client_id: "{who}" {options}
      }} }}
    }}
    """


def sink(broker, topic, ports='input_stream: "VALUE:value"', options="", more=""):
    return f"""
    node {{
      calculator: "MqttSinkCalculator" {ports} {more}
      node_options {{ [type.googleapis.com/penstock_mqtt.MqttSinkCalculatorOptions] {{
        address: "{getattr(broker, "address", broker)}" topic: "{topic}" {options}
      }} }}
    }}
    """


class Plain:
    """A client that publishes, and keeps what it hears."""

    def __init__(self, broker, topic=None, client_id="", credentials=None, before=None):
        self.heard = []
        self.client = paho.Client(
            CallbackAPIVersion.VERSION2, client_id=client_id, clean_session=not client_id
        )
        self._is_ready = threading.Event()
        if credentials:
            self.client.username_pw_set(*credentials)
        if before:
            before(self.client)

        def connected(client, *_):
            if topic is None:
                self._is_ready.set()
            else:
                client.subscribe(topic, 1)

        self.client.on_connect = connected
        self.client.on_subscribe = lambda *_: self._is_ready.set()
        self.client.on_message = lambda _, __, message: self.heard.append(message)
        self.client.connect("127.0.0.1", broker.port)
        self.client.loop_start()
        assert self._is_ready.wait(PATIENCE_S)

    def publish(self, topic, *values, qos=1, retain=False):
        infos = [self.client.publish(topic, value, qos, retain) for value in values]
        for info in infos:
            info.wait_for_publish(PATIENCE_S)
            assert info.is_published()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.disconnect()
        self.client.loop_stop()


def subscribed(broker, topic, client):
    """Let the broker keep messages of a topic for a client that is not connected."""
    Plain(broker, topic, client).__exit__()
