"""Calculators for the tests, in a module that actors can import without pytest."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from pathlib import Path

import penstock
from penstock import STOP, Calculator


class Passing(Calculator):
    """One input, one output, any payload."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)


class Echo(Passing):
    """Passes its input on."""

    def process(self, cc):
        cc.output.add(cc.input.payload, cc.input_timestamp)


class Ints(Passing):
    """Passes ints on, and says that they are ints."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        cc.output.add(cc.input.payload, cc.input_timestamp)


class Pid(Passing):
    """Writes the number of its process."""

    def process(self, cc):
        cc.output.add(os.getpid(), cc.input_timestamp)


class PidOfAny(Pid):
    """As `Pid`, and may have several objects."""

    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.declare(stateless=True)


class ObjectAndPid(Passing):
    """Sleeps as long as its input says; writes which object of which process it is."""

    def process(self, cc):
        time.sleep(cc.input.payload)
        cc.output.add((os.getpid(), id(self)), cc.input_timestamp)


class StatelessPid(ObjectAndPid):
    """The same, with an object in each of several actors."""

    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.declare(stateless=True)

    def open(self, cc):
        cc.counter("opened").increment()

    def process(self, cc):
        cc.counter("called").increment()
        super().process(cc)


class Flags(Passing):
    """Tells whether its array can be written, and whether it owns its memory."""

    def process(self, cc):
        flags = cc.input.payload.flags
        cc.output.add((flags.writeable, flags.owndata), cc.input_timestamp)


class Mean(Passing):
    """Writes the mean of an array."""

    def process(self, cc):
        cc.output.add(float(cc.input.payload.mean()), cc.input_timestamp)


class SizeAndMean(Calculator):
    """Writes the size of an array, and what else came with it."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["ARRAY"].set_any()
        cc.inputs["MEAN"].set_any()
        cc.outputs[0].set_any()

    def process(self, cc):
        cc.output.add((cc.inputs["ARRAY"].payload.size, cc.inputs["MEAN"].payload), cc.input_timestamp)


class Several(Passing):
    """Writes its input three times, at three timestamps."""

    def process(self, cc):
        for n in range(3):
            cc.output.add(cc.input.payload, cc.input_timestamp + n)


class OwnError(Exception):
    """Pickles."""


class PairError(Exception):
    """Does not come back from pickle: it wants two arguments."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


class Does(Passing):
    """Does what its input names."""

    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.declare(stateless=True)

    def process(self, cc):
        what = cc.input.payload
        if what == "own error":
            raise OwnError("an error of its own")
        if what == "pair error":
            raise PairError("this", "that")
        if what == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "exit":
            os._exit(3)
        if what == "lock":
            cc.output.add(threading.Lock(), cc.input_timestamp)
            return None
        if what == "stop":
            return STOP
        if what == "hang":
            threading.Event().wait(60)
        if what == "log":
            logging.getLogger("there.does").warning("%d lines", 3)
        if what == "variable":
            what = os.environ.get("PENSTOCK_TEST_VARIABLE")
        cc.output.add(what, cc.input_timestamp)
        return None


class Opens(Passing):
    """Has a state: how many packets there were since it was opened."""

    def open(self, cc):
        self.count = 0

    def process(self, cc):
        self.count += 1
        if cc.input.payload == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        cc.output.add(self.count, cc.input_timestamp)


class Kind(Passing):
    """Writes the name of its input's type."""

    def process(self, cc):
        cc.output.add(type(cc.input.payload).__name__, cc.input_timestamp)


class Sleeps(Passing):
    """Sleeps for some seconds, and says in a file that it began."""

    def process(self, cc):
        path, seconds = cc.input.payload
        Path(path).write_text(str(os.getpid()))
        time.sleep(seconds)
        cc.output.add(seconds, cc.input_timestamp)


class FailsToOpen(Passing):
    """Raises in `open`."""

    def open(self, cc):
        raise OwnError("closed today")


class FailsToBegin(Passing):
    """Raises when it is made."""

    def __init__(self):
        raise OwnError("no object today")


class Tally(Passing):
    """Writes its process, the key, and how often it has seen that key."""

    def open(self, cc):
        self.seen = {}

    def process(self, cc):
        key = cc.input.payload
        self.seen[key] = self.seen.get(key, 0) + 1
        cc.output.add((os.getpid(), key, self.seen[key]), cc.input_timestamp)


class Counts(Calculator):
    """A source of ints."""

    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set(int)

    def open(self, cc):
        self.next = 0

    def process(self, cc):
        if self.next == 50:
            return STOP
        cc.output.add(self.next, self.next)
        self.next += 1
        return None


class Waits(Passing):
    """Awaits before it passes its input on."""

    async def process(self, cc):
        await asyncio.sleep(cc.input.payload)
        cc.output.add(cc.input.payload, cc.input_timestamp)


@penstock.calculator
def doubled(value: int) -> int:
    """Return twice the value."""
    return 2 * value


ALL = (
    Echo,
    Ints,
    Kind,
    Pid,
    PidOfAny,
    ObjectAndPid,
    StatelessPid,
    Flags,
    Mean,
    SizeAndMean,
    Several,
    Does,
    Opens,
    Sleeps,
    Tally,
    FailsToOpen,
    FailsToBegin,
    Counts,
    Waits,
)
