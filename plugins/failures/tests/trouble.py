"""Calculators that fail as their payloads say, in a module that workers can import without pytest."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import attrs

import penstock
from penstock import STOP, Calculator

#: What has happened in this process, in order.
EVENTS = []
#: Payload → how often it still fails.
LEFT = {}


class Trouble(Calculator):
    """Writes (payload, number of calls since `open`). A payload fails as `_fail` says."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)

    def open(self, cc):
        EVENTS.append("open")
        self.calls = 0
        self.name = cc.input_side_packets["NAME"].payload if "NAME" in cc.input_side_packets else "?"

    def process(self, cc):
        self.calls += 1
        payload = cc.input.payload
        cc.output.add((payload, self.calls), cc.input_timestamp)
        fail(payload)

    def close(self, cc):
        EVENTS.append("close")


def fail(payload):
    """Raise, or end the process, where a payload asks for it."""
    if payload == "bad" or LEFT.get(payload, 0) > 0:
        LEFT[payload] = LEFT.get(payload, 0) - 1
        raise ValueError(f"payload {payload}")
    if payload == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if payload == "sleep":
        time.sleep(30)
    if payload == "leave":
        raise KeyboardInterrupt


class AsyncTrouble(Trouble):
    """The same, as a coroutine, with an `open` and a `close` that wait too."""

    async def open(self, cc):
        await asyncio.sleep(0)
        EVENTS.append("open")
        self.calls = 0

    async def process(self, cc):
        self.calls += 1
        payload = cc.input.payload
        cc.output.add((payload, self.calls), cc.input_timestamp)
        await asyncio.sleep(30 if payload == "sleep" else 0)
        if payload != "sleep":
            fail(payload)

    async def close(self, cc):
        await asyncio.sleep(0)
        EVENTS.append("close")


class FutureTrouble(Trouble):
    """The same, with a future that a thread completes."""

    def process(self, cc):
        self.calls += 1
        payload, future = cc.input.payload, Future()
        cc.output.add((payload, self.calls), cc.input_timestamp)

        def end():
            try:
                fail(payload)
            except ValueError as error:
                future.set_exception(error)
            else:
                future.set_result(None)

        threading.Thread(target=end).start()
        return future


class Exclusive(Trouble):
    """Notes where it is closed while a call uses it, or called when it is closed."""

    def open(self, cc):
        super().open(cc)
        self.lock = threading.Lock()
        self.using = 0
        self.is_closed = False

    def process(self, cc):
        with self.lock:
            self.using += 1
            if self.is_closed:
                EVENTS.append("called after close")
        try:
            time.sleep(0.002)
            super().process(cc)
        finally:
            with self.lock:
                self.using -= 1

    def close(self, cc):
        with self.lock:
            if self.using:
                EVENTS.append("closed while in use")
            self.is_closed = True
        super().close(cc)


class Bounds(Trouble):
    """Has no offset: it promises and closes by hand, before it fails."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()

    def process(self, cc):
        self.calls += 1
        payload = cc.input.payload
        if payload == "bad":
            cc.output.set_next_timestamp_bound(10_000)
            cc.output.close()
        fail(payload)
        cc.output.add((payload, self.calls), 0 if payload == "early" else cc.input_timestamp)


class Promises(Bounds):
    """Promises in `open` that nothing below 0 comes."""

    def open(self, cc):
        super().open(cc)
        cc.output.set_next_timestamp_bound(0)


class FailsToOpen(Trouble):
    """Fails in `open` as often as LEFT["open"] says."""

    def open(self, cc):
        EVENTS.append("try to open")
        if LEFT.get("open", 0) > 0:
            LEFT["open"] -= 1
            raise OSError("no device")
        self.calls = 0


class FailsToClose(Trouble):
    """Fails in `close`."""

    def close(self, cc):
        raise OSError("cannot be closed")


class WritesInOpen(Trouble):
    """Writes a packet in `open`, at a timestamp before those of its inputs."""

    def open(self, cc):
        super().open(cc)
        cc.output.add("opened", -1)

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()


class Camera(Calculator):
    """A source of 0 to 9 that fails as often as LEFT[number] says; a new object goes on where it was."""

    at = 0

    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set(int)

    def open(self, cc):
        EVENTS.append("open")

    def process(self, cc):
        if Camera.at == 10:
            return STOP
        fail(Camera.at)
        cc.output.add(Camera.at, Camera.at)
        Camera.at += 1
        return None

    def close(self, cc):
        EVENTS.append("close")


@attrs.frozen
class SumOptions:
    """At which timestamps `Sum` fails: those that a seed chooses, one in `one_in`.

    Attributes:
        is_silent: it writes nothing there, instead of failing.
    """

    seed: int = 0
    one_in: int = 4
    is_silent: bool = False


class Sum(Calculator):
    """Writes the sum of its inputs, but at timestamps that it does not like."""

    Options = SumOptions

    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set(int)
        cc.set_timestamp_offset(0)
        cc.declare(stateless=True)

    def open(self, cc):
        self.options = cc.options(SumOptions)

    def process(self, cc):
        stamp = int(cc.input_timestamp)
        is_bad = (stamp * 7919 + self.options.seed) % self.options.one_in == 0
        if is_bad and self.options.is_silent:
            return
        cc.output.add(sum(port.payload for port in cc.inputs if not port.is_empty()), stamp)
        if is_bad:
            raise ValueError(f"{stamp} is not liked")


@attrs.frozen
class SteadyOptions:
    """What `Steady` writes beside its input."""

    word: str = "steady"


class Steady(Calculator):
    """What others fall back on: writes (payload, the word of its options)."""

    Options = SteadyOptions

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)

    def open(self, cc):
        EVENTS.append("steady opens")
        self.word = cc.options(SteadyOptions).word

    def process(self, cc):
        if cc.input.payload == "both":
            raise ArithmeticError("neither")
        cc.output.add((cc.input.payload, self.word), cc.input_timestamp)


@attrs.frozen
class SlowEndsOptions:
    """How many seconds `open` and `close` of `SlowEnds` take; an `open` that finds the file takes none."""

    open_s: float = 0.0
    close_s: float = 0.0
    made: str = ""


class SlowEnds(Trouble):
    """As `Trouble`, with an `open` and a `close` that take their time."""

    Options = SlowEndsOptions

    def open(self, cc):
        super().open(cc)
        options = cc.options(SlowEndsOptions)
        self.close_s = options.close_s
        if options.made:
            path = Path(options.made)
            if path.exists():
                return
            path.touch()
        time.sleep(options.open_s)

    def close(self, cc):
        time.sleep(self.close_s)


class AsyncSlowEnds(AsyncTrouble):
    """The same, as coroutines."""

    Options = SlowEndsOptions

    async def open(self, cc):
        await super().open(cc)
        options = cc.options(SlowEndsOptions)
        self.close_s = options.close_s
        await asyncio.sleep(options.open_s)

    async def close(self, cc):
        await asyncio.sleep(self.close_s)


class Two(Steady):
    """Has an input more than the others."""

    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.inputs["MORE"].set_any().optional()
        cc.set_timestamp_offset(5)


class MakesSide(Calculator):
    """Makes a side packet."""

    @classmethod
    def get_contract(cls, cc):
        cc.output_side_packets[0].set(int)

    def open(self, cc):
        cc.output_side_packets[0].set(1)


@penstock.calculator("Doubled")
def doubled(number: int) -> int:
    """Double a number, but no negative one."""
    if number < 0:
        raise ValueError(f"{number} is negative")
    return 2 * number


ALL = [
    SlowEnds,
    AsyncSlowEnds,
    Trouble,
    Exclusive,
    AsyncTrouble,
    FutureTrouble,
    Bounds,
    Promises,
    FailsToOpen,
    FailsToClose,
    WritesInOpen,
    Camera,
    Steady,
    Sum,
    Two,
    MakesSide,
]
