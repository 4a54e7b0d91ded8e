"""Calculators for the tests, in a module that workers and actors can import without pytest."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import numpy as np

import penstock
from penstock import STOP, Calculator, ServiceKey
from penstock.runs import ServiceScope


class Passing(Calculator):
    """One input, one output, any payload."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)


class Noting:
    """A payload that notes which threads of a process pack it."""

    packed_by: list[str] = []  # noqa: RUF012  # the test clears it

    def __reduce__(self):
        Noting.packed_by.append(threading.current_thread().name)
        return Noting, ()


class Echo(Passing):
    """Passes its input on."""

    def process(self, cc):
        cc.output.add(cc.input.payload, cc.input_timestamp)


class Pid(Passing):
    """Writes the number of its process."""

    def process(self, cc):
        cc.output.add(os.getpid(), cc.input_timestamp)


class ObjectAndPid(Passing):
    """Writes which object of which process it is; waits until as many calls as the input says are inside."""

    inside = 0

    def process(self, cc):
        time.sleep(cc.input.payload)
        cc.output.add((os.getpid(), id(self)), cc.input_timestamp)


class StatelessPid(ObjectAndPid):
    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.declare(stateless=True)

    def open(self, cc):
        cc.counter("opened").increment()

    def process(self, cc):
        cc.counter("called").increment()
        super().process(cc)


class ArrayFlags(Passing):
    """Tells whether its array can be written, and whether it owns its memory."""

    def process(self, cc):
        flags = cc.input.payload.flags
        cc.output.add((flags.writeable, flags.owndata), cc.input_timestamp)


class Keeps(Passing):
    """Keeps all that comes."""

    def open(self, cc):
        self.kept = []

    def process(self, cc):
        self.kept.append(cc.input.payload)
        cc.output.add([int(one.flat[0]) for one in self.kept], cc.input_timestamp)


class Inverts(Passing):
    """Writes the inverse of an image, made where the packet lies."""

    def process(self, cc):
        source = cc.input.payload
        target = cc.output.empty(source.shape, source.dtype)
        np.subtract(255, source, out=target)
        cc.output.add(target, cc.input_timestamp)


class OwnError(Exception):
    """Pickles."""


class PairError(Exception):
    """Does not come back from pickle: it wants two arguments."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


class Does(Passing):
    """Does what its input names."""

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
        if what == "future":
            outcome = Future()
            outcome.set_running_or_notify_cancel()  # so it cannot be cancelled, and nobody sets it
            return outcome
        if what == "log":
            logging.getLogger("remote_calculators.does").warning("%d lines", 3)
        cc.output.add(what, cc.input_timestamp)
        return None


class Naps(Passing):
    """Is stopped by a signal for half a second, and goes on."""

    def process(self, cc):
        again = f"sleep 0.5; kill -CONT {os.getpid()}"
        with subprocess.Popen(["/bin/sh", "-c", again]):
            os.kill(os.getpid(), signal.SIGSTOP)
        cc.output.add(cc.input.payload, cc.input_timestamp)


class Touches(Passing):
    """Does what its input names to a path, an address or itself, and writes what comes back."""

    def process(self, cc):
        what, *arguments = cc.input.payload
        try:
            cc.output.add(_TOUCHES[what](*arguments), cc.input_timestamp)
        except OSError as error:
            cc.output.add(type(error).__name__, cc.input_timestamp)


_TOUCHES = {
    "read": lambda path: Path(path).expanduser().read_text(),
    "write": lambda path: Path(path).expanduser().write_text("x"),
    "connect": lambda port: socket.create_connection(("127.0.0.1", port), 5).close(),
    "processes": lambda: [path.name for path in Path("/proc").iterdir() if path.name.isdigit()],
    "environment": os.environ.get,
    "signal": lambda number: os.kill(os.getpid(), number),
    "exit": os._exit,
}


class SlowToOpen(Passing):
    def open(self, cc):
        time.sleep(2.5)

    def process(self, cc):
        cc.output.add(cc.input.payload, cc.input_timestamp)


class Prints(Passing):
    """Prints its input."""

    def process(self, cc):
        sys.stdout.write(cc.input.payload)
        cc.output.add(None, cc.input_timestamp)


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
    def open(self, cc):
        raise OwnError("closed today")


class FailsToBegin(Passing):
    def __init__(self):
        raise OwnError("no object today")


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


class Own:
    """A payload whose class NO_PICKLE does not let through."""

    def __eq__(self, other):
        return isinstance(other, Own)

    def __hash__(self):
        return 1


class MakesOwn(Passing):
    def process(self, cc):
        cc.output.add(Own(), cc.input_timestamp)


@penstock.calculator
def doubled(value: int) -> int:
    """Return twice the value."""
    return 2 * value


class Three(Passing):
    """Fails at 3."""

    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        for port in cc.inputs:
            if not port.is_empty():
                if port.payload == 3:
                    raise OwnError("three")
                cc.output.add(port.payload, cc.input_timestamp)
                return


class Ints(Passing):
    """Passes ints on, and says that they are ints."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        cc.output.add(cc.input.payload, cc.input_timestamp)


class PidOfAny(Pid):
    """As `Pid`, and may have several objects."""

    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.declare(stateless=True)


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


class Opens(Passing):
    """Has a state: how many packets there were since it was opened."""

    def open(self, cc):
        self.count = 0

    def process(self, cc):
        self.count += 1
        if cc.input.payload == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        cc.output.add(self.count, cc.input_timestamp)


class Tally(Passing):
    """Writes its process, the key, and how often it has seen that key."""

    def open(self, cc):
        self.seen = {}

    def process(self, cc):
        key = cc.input.payload
        self.seen[key] = self.seen.get(key, 0) + 1
        cc.output.add((os.getpid(), key, self.seen[key]), cc.input_timestamp)


class Variable(Passing):
    """Writes the value of the environment variable that its input names."""

    def process(self, cc):
        cc.output.add(os.environ.get(cc.input.payload), cc.input_timestamp)


#: What the tests register under the name of its class.
class Greeting:
    """A service; knows in which process it was made."""

    def __init__(self, word="hello"):
        self.word = word
        self.made_in = os.getpid()


GREETING = ServiceKey("tests.greeting", Greeting, ServiceScope.COPY)


class Greets(Passing):
    """Greets with the graph's service."""

    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.use_service(GREETING)

    def process(self, cc):
        greeting = cc.service(GREETING)
        cc.output.add(f"{greeting.word} {cc.input.payload}, made in {greeting.made_in}", cc.input_timestamp)


ALL = (
    ArrayFlags, Counts, Does, Echo, FailsToBegin, FailsToOpen, Greets, Ints, Inverts, Keeps, Kind, MakesOwn,
    Mean, ObjectAndPid, Opens, Pid, PidOfAny, Prints, Several, SlowToOpen, SizeAndMean, Sleeps, StatelessPid,
    Naps, Tally, Three, Touches, Variable, Waits,
)  # fmt: skip
