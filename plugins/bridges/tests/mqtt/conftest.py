from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("paho.mqtt.client", reason="penstock-bridges[mqtt] is not installed")
sys.path.insert(0, str(Path(__file__).parent))  # topics.py
MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
PATIENCE_S = 30.0


class Broker:
    """A mosquitto of its own on the loopback address."""

    def __init__(self, folder, more="allow_anonymous true", port=None):
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", port or 0))
            self.port = free.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        (folder / "db").mkdir(exist_ok=True)
        self._config = folder / "mosquitto.conf"
        self._config.write_text(
            f"listener {self.port} 127.0.0.1\npersistence true\npersistence_location {folder}/db/\n"
            f"autosave_interval 1\nautosave_on_changes true\nuser root\n{more}\n"
        )
        self._process = None
        self.start()

    def start(self):
        self._process = subprocess.Popen(
            [MOSQUITTO, "-c", str(self._config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                assert time.monotonic() < end
                assert self._process.poll() is None, "mosquitto does not start"
                time.sleep(0.02)
            else:
                return

    def stop(self, *, kill=False):
        if self._process is not None:
            (self._process.kill if kill else self._process.terminate)()
            self._process.wait(PATIENCE_S)
            self._process = None


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a broker, with further lines of its configuration."""
    if MOSQUITTO is None:
        pytest.skip("mosquitto is not installed")
    made = []

    def _start(more="allow_anonymous true"):
        folder = tmp_path / f"broker{len(made)}"
        folder.mkdir()
        made.append(Broker(folder, more))
        return made[-1]

    yield _start
    for broker in made:
        broker.stop()


@pytest.fixture(scope="session")
def broker(tmp_path_factory):
    """Return a broker that tests share; nobody stops it."""
    if MOSQUITTO is None:
        pytest.skip("mosquitto is not installed")
    made = Broker(tmp_path_factory.mktemp("broker"))
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def no_thread_is_left():
    import threading

    yield
    left = [one.name for one in threading.enumerate() if " mqtt" in one.name]
    assert left == []
