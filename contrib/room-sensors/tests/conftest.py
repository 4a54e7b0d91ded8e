"""A bus and its driver, for tests without hardware."""

from __future__ import annotations

import threading

import pytest


class RecordingDriver:
    """A driver that records each call with its thread.

    Attributes:
        calls: (what, thread), in order; reads are ("read", address).
        answers: address → the reading of the sensor: a number, or an exception to raise; 20.0 if not given.
        opening, closing: raised by `open` and `close`, where set.
    """

    def __init__(self, answers=None):
        self.calls = []
        self.answers = answers or {}
        self.opening = None
        self.closing = None
        self._inside = threading.Lock()

    def note(self, what):
        self.calls.append((what, threading.current_thread()))

    def open(self):
        self.note("open")
        if self.opening is not None:
            raise self.opening

    def read(self, address):
        assert self._inside.acquire(blocking=False), "two nodes use the bus at once"
        try:
            self.note(("read", address))
            answer = self.answers.get(address, 20.0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        finally:
            self._inside.release()

    def close(self):
        self.note("close")
        if self.closing is not None:
            raise self.closing

    @property
    def what(self):
        return [what for what, _ in self.calls]

    @property
    def threads(self):
        return {thread for _, thread in self.calls}


@pytest.fixture
def driver():
    return RecordingDriver()


#: The threads of buses and of the executor, as the tests call them.
BUS_THREADS = {"penstock-rs485", "penstock-bus"}


@pytest.fixture(autouse=True)
def no_bus_thread_is_left():
    """Fail a test that leaves a thread of a bus behind."""
    yield
    assert [thread for thread in threading.enumerate() if thread.name in BUS_THREADS] == []
