"""Calculators whose options and objects change, in a module that workers can import without pytest."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import attrs

import penstock
from penstock import Calculator

#: What has happened in this process, in order: (what, number of the object, gain).
EVENTS = []
_NUMBERS = iter(range(10**9))
LOCK = threading.Lock()


@attrs.frozen
class GainOptions:
    """Of `Gain`.

    Attributes:
        gain: factor.
        offset: added.
        fail: "open", "options_changed", "process", "close", "header": what goes wrong.
    """

    gain: int = attrs.field(default=1, validator=attrs.validators.le(10**9))
    offset: int = 0
    fail: str = ""


class Gain(Calculator):
    """Writes (payload * gain + offset, number of the object)."""

    Options = GainOptions

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)

    def note(self, what):
        with LOCK:
            EVENTS.append((what, self.number, self.gain))

    def open(self, cc):
        self.number = next(_NUMBERS)
        self._read(cc)
        self.fail_if("open")
        self.note("open")

    def _read(self, cc):
        options = cc.options(GainOptions)
        self.gain, self.offset, self.fail = options.gain, options.offset, options.fail

    def fail_if(self, what):
        if self.fail == what:
            raise ValueError(f"{what} was told to fail")

    def process(self, cc):
        self.fail_if("process")
        assert cc.options(GainOptions).gain == self.gain
        cc.output.add((cc.input.payload * self.gain + self.offset, self.number), cc.input_timestamp)

    def close(self, cc):
        assert cc.options(GainOptions).gain == self.gain
        self.note("close")
        self.fail_if("close")


class Tuned(Gain):
    """A `Gain` whose options can change."""

    def options_changed(self, cc):
        self._read(cc)
        self.fail_if("options_changed")
        if self.fail == "write":
            cc.output.add(None, cc.input_timestamp)
        self.note("options_changed")


class AsyncTuned(Tuned):
    """All of it in coroutines."""

    async def open(self, cc):
        await asyncio.sleep(0)
        super().open(cc)

    async def options_changed(self, cc):
        await asyncio.sleep(0)
        super().options_changed(cc)

    async def process(self, cc):
        await asyncio.sleep(0)
        super().process(cc)

    async def close(self, cc):
        await asyncio.sleep(0)
        super().close(cc)


_POOL = ThreadPoolExecutor(2)


class FutureGain(Gain):
    """`process` returns a future of a pool."""

    def process(self, cc) -> Future[None]:
        assert cc.options(GainOptions).gain == self.gain
        payload, output, stamp = cc.input.payload, cc.output, cc.input_timestamp
        return _POOL.submit(lambda: output.add((payload * self.gain + self.offset, self.number), stamp))


class Negative(Gain):
    """Another calculator with the contract of `Gain`."""

    def process(self, cc):
        cc.output.add((-cc.input.payload * self.gain, self.number), cc.input_timestamp)


class Strings(Gain):
    """A contract of its own."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(str)
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)


class Lasting(Tuned):
    """Lives on in the next run."""

    def reset(self, cc):
        self._read(cc)
        self.fail_if("reset")
        self.note("reset")


class Sums(Calculator):
    """Adds payloads up in groups of `gain`; writes what is left over in `close`. It promises nothing."""

    Options = GainOptions

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()

    def open(self, cc):
        self.sum, self.count, self.last = 0, 0, None
        self.size = cc.options(GainOptions).gain
        self.late = cc.options(GainOptions).fail == "late"

    def process(self, cc):
        self.sum += cc.input.payload
        self.count += 1
        self.last = cc.input_timestamp
        if self.count == self.size:
            cc.output.add(self.sum, cc.input_timestamp)
            self.sum = self.count = 0

    def close(self, cc):
        if self.count:
            cc.output.add(self.sum, penstock.Timestamp.MAX if self.late else self.last)


class Count(Calculator):
    """A source of 0, 1, 2 ..., each times the gain, until `offset`."""

    Options = GainOptions

    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set_any()

    def open(self, cc):
        self.at = 0
        self.options_changed(cc)

    def options_changed(self, cc):
        self.gain, self.end = cc.options(GainOptions).gain, cc.options(GainOptions).offset

    def process(self, cc):
        if self.at >= self.end:
            return penstock.STOP
        cc.output.add(self.at * self.gain, self.at)
        self.at += 1
        return None


class Maker(Calculator):
    """Makes a side packet."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.output_side_packets["SIDE"].set(int)

    def open(self, cc):
        cc.output_side_packets["SIDE"].set(1)

    def process(self, cc):
        pass


ALL = (Gain, Tuned, AsyncTuned, FutureGain, Negative, Strings, Lasting, Sums, Count, Maker)
