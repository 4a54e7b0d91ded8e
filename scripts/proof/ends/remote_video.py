"""A live source in a simulated world: a camera that comes late, falls silent, breaks off and comes back."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, cast

import av
from remote_graphs import Driver
from simulated_world import StandsStillError, Thread, Which, World

from penstock.config import build_plan
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock.explain import ledger
from penstock.lowlevel import PROCESS
from penstock_formats import ImageFormat, VideoHeader
from penstock_testing import ScheduleHarness
from penstock_video.live.events import LiveEventKind
from penstock_video.live.interrupts import Interrupts
from penstock_video.live.live_reader import LiveReader
from penstock_video.live.live_video import LiveVideoCalculator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock import Registry
    from penstock_video.live.live_connection import Waits

SECOND: Final = 1_000_000
_BEGAN: Final = 1_700_000_000 * SECOND
#: libav asks so often whether it is to give up.
_SLICE_S: Final = 0.1
#: Stamps are estimates: so much older than its arrival a frame may be.
_OLDEST_S: Final = 1.0
#: What else may keep a bound from following: the calls of the run, and a wait of 0.1 s.
_SLACK_S: Final = 0.4
_CANCEL_S: Final = 1.0
_TEXT: Final = """
node {{ name: "camera" calculator: "SimulatedLiveVideo" output_stream: "VIDEO:v" output_stream: "EVENTS:e"
  node_options {{ [type.googleapis.com/penstock_video.LiveVideoCalculatorOptions] {{
    source: "rtsp://camera/1" open_timeout_seconds: {open_s} read_timeout_seconds: {read_s}
    reconnects: {reconnects} first_delay_seconds: {first_s} longest_delay_seconds: {longest_s}
    must_be_there: {must} max_waiting: {waiting} bound_lag_seconds: {lag_s} }} }} }}
"""


class _Now:
    """The trial that is under way."""

    trial: Video


class SimulatedClock:
    """As `WallClock`, by the time of the world."""

    def now(self) -> int:
        """Return microseconds since 1970."""
        return _BEGAN + round(_Now.trial.world.now * SECOND)


class SimulatedInterrupts(Interrupts):
    """Time-outs in the world's time."""

    def __init__(self, is_unwanted: Callable[[], bool]) -> None:
        super().__init__(is_unwanted)
        self._world: Final = _Now.trial.world
        self._asks: Final = is_unwanted
        self._ends: float | None = None

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return self._ends is not None and self._world.now >= self._ends

    def sleep(self, seconds: float) -> bool:
        """Wait between attempts."""
        _Now.trial.pauses(seconds)
        return self._world.wait(lambda: self.is_cancelled, seconds)

    def allow(self, seconds: float | None) -> None:
        """Let waits take so long."""
        self._ends = None if seconds is None else self._world.now + seconds

    def wait(self, until: float) -> bool:
        """Wait as libav does; return whether the moment has come, and False where it has to give up."""
        while self._world.now < until:
            if self._asks():
                self.cancel()
            if self.is_cancelled or self.is_late:
                return False
            self._world.sleep(min(_SLICE_S, until - self._world.now))
        return True


class SimulatedConnection:
    """One connection with the camera, as `Connection`.

    Args:
        waits: time-outs.
        interrupts: of the thread.
    """

    has_times: bool

    def __init__(self, waits: Waits, interrupts: SimulatedInterrupts) -> None:
        self._trial: Final = _Now.trial
        self._world: Final = self._trial.world
        self._waits: Final = waits
        self._interrupts: Final = interrupts
        chance = self._world.random
        self.broken = 0
        self.container = "rtsp"
        self.rate = 25.0
        self.realtime: int | None = None
        self.has_times = chance.random() < 0.8  # noqa: PLR2004
        self._own: Final = chance.choice((0, 3600 * SECOND))
        self.is_open = False
        fate = self._trial.fate()
        self._trial.attempts()
        interrupts.allow(waits.open_s)
        slow = chance.random() * 0.3 if fate != "silent" else 1e9
        if not interrupts.wait(self._world.now + slow):
            raise self._gives_up("did not answer")
        interrupts.allow(None)
        if fate == "refused":
            raise UnavailableError("nothing listens there")
        if fate == "no video":
            raise InvalidArgumentError("it has no video, only audio")
        self.is_open = True
        self._trial.connections.append(self)

    def _gives_up(self, why: str) -> UnavailableError:
        return UnavailableError("cancelled" if self._interrupts.is_cancelled else why)

    @property
    def duration(self) -> float | None:
        """The length that the sender says."""
        return self._trial.duration_s

    def is_whole(self, last: int | None) -> bool:
        """Return whether all was sent."""
        return last is not None and self.duration is not None and self._trial.sends_whole

    def header(self, width: int, height: int) -> VideoHeader:
        """Return the header."""
        return VideoHeader(ImageFormat.SRGB, width, height, self.rate, 0.0)

    def frames(self) -> Iterator[av.VideoFrame]:
        """Yield frames as they come, until the camera falls silent, breaks off or ends."""
        world, chance, trial = self._world, self._world.random, self._trial
        left = world.which.limited(chance.choice((0, 1, 3, 20, 60)))
        end = chance.choice(("silent", "broken off", "ended"))
        own, late = self._own, 0.0
        while left or trial.duration_s is not None:
            period = 0.04 * chance.choice((0.2, 1, 1, 1, 3))
            # The network holds frames back, and then brings several at once.
            late += chance.choice((0, 0, 0, 0, 0, 0, 0.3, 0.5)) if late < period else 0
            takes = max(period + late, 0.001)
            late = -late if late > 0 else min(late + period, 0)
            self._interrupts.allow(self._waits.read_s)
            if not self._interrupts.wait(world.now + takes):
                raise self._gives_up("sent no video")
            self._interrupts.allow(None)
            own += round(period * SECOND) + chance.choice((0, 0, 0, 900, -900))
            if chance.random() < 0.02:  # noqa: PLR2004
                own += chance.choice((-5, 5, 50)) * SECOND  # its clock jumps
            yield trial.frame(max(own, 0))
            left -= 1
            if trial.duration_s is not None and left <= 0:
                return
        if end == "silent":
            self._interrupts.allow(self._waits.read_s)
            self._interrupts.wait(1e9)
            raise self._gives_up("sent no video")
        if end == "broken off":
            raise UnavailableError("connection reset")

    def close(self) -> None:
        """Close it."""
        self.is_open = False


class SimulatedReader(LiveReader):
    """The reader, in a task of the world."""

    @staticmethod
    def _new_interrupts(is_unwanted: Callable[[], bool]) -> Interrupts:
        return SimulatedInterrupts(is_unwanted)

    def _new_thread(self) -> Any:
        return Thread(_Now.trial.world, self._run, "camera", None)

    def _connect(self) -> Any:
        interrupts: Any = self._interrupts
        return SimulatedConnection(self._waits, interrupts)


class SimulatedLiveVideo(LiveVideoCalculator):
    """The source, with a simulated camera."""

    _new_clock: Any = SimulatedClock
    _new_reader: Any = SimulatedReader


class Video(Driver):
    """One run with a camera."""

    def __init__(self, which: Which, installed: Registry) -> None:
        self.world: Final = World(which)
        chance = self.world.random
        _Now.trial = self
        self.connections: Final[list[SimulatedConnection]] = []
        self.reconnects: Final = chance.choice((-1, 0, 1, 4))
        self.must: Final = chance.random() < 0.5  # noqa: PLR2004
        self.first_s: Final = chance.choice((0.05, 0.5))
        self.longest_s: Final = chance.choice((0.5, 4.0))
        self.lag_s: Final = chance.choice((0.1, 0.5, 2.0))
        self.sends_whole: Final = chance.random() < 0.2  # noqa: PLR2004
        self.duration_s: Final = 4.0 if self.sends_whole else None
        self._calm: Final = chance.random() < 0.3  # noqa: PLR2004
        text = _TEXT.format(
            open_s=2.0,
            read_s=1.5,
            reconnects=self.reconnects,
            first_s=self.first_s,
            longest_s=self.longest_s,
            must=str(self.must).lower(),
            waiting=chance.choice((1, 1, 3)),
            lag_s=self.lag_s,
        )
        plan = build_plan(text, installed)
        harness = ScheduleHarness(plan, observe=["v", "e"], bounds_of=["v"])
        super().__init__(self.world, harness, chance.random() * chance.choice((0.5, 5.0, 40.0)))
        #: How many connections in a row have brought no frame, and how many pauses there were since a frame.
        self._in_vain = self._pauses = 0
        self._has_begun = False
        self._sent = 0
        #: When `look` has seen the source open for the first time.
        self._opened_at: float | None = None
        #: When the run had ended.
        self.done_at = 0.0

    # --- what the camera does -----------------------------------------------------------------

    def fate(self) -> str:
        """Return how an attempt to connect goes."""
        kinds = ["open"] * 5 if self._calm else ["open", "open", "refused", "silent", "no video"]
        return self.world.random.choice(kinds)

    def attempts(self) -> None:
        """Note an attempt to connect."""
        self._in_vain += 1
        if self.reconnects >= 0 and self._in_vain > self._allowed():
            self.faults.append(f"attempt {self._in_vain}, but reconnects is {self.reconnects}")

    def _allowed(self) -> int:
        """Return how many attempts in a row may be in vain; before the first frame one more."""
        return self.reconnects + (not self._has_begun)

    def pauses(self, seconds: float) -> None:
        """Look whether a pause between attempts is within its limits."""
        self._pauses += 1
        most = min(self.longest_s, self.first_s * 2.0 ** (self._pauses - 1))
        if not most / 2 <= seconds <= most:
            self.faults.append(f"pause {self._pauses} takes {seconds} s, but must be {most / 2} to {most} s")

    def frame(self, own: int) -> av.VideoFrame:
        """Return the next frame, which has its number in its first pixel."""
        self._in_vain = self._pauses = 0
        self._has_begun = True
        frame = av.VideoFrame(2, 2, "rgb24")
        number, self._sent = self._sent, self._sent + 1
        frame.planes[0].update(
            bytes([number >> 8, number & 255, 7] + [0] * (frame.planes[0].buffer_size - 3))
        )
        frame.pts, frame.time_base = own, Fraction(1, SECOND)
        return frame

    # --- what must hold -----------------------------------------------------------------------

    def look(self) -> None:
        """Look whether the bound follows the clock."""
        world = self.world
        if self.harness.errors or self.harness.is_over:
            return
        if self._opened_at is None:
            if not any(step.method == PROCESS for step, _ in self._held):
                return
            self._opened_at = world.now
        bound = self.harness.stream("v").bound
        since = max(_BEGAN + self._opened_at * SECOND, bound)
        behind = (SimulatedClock().now() - since) / SECOND
        limit = max(self.lag_s, _OLDEST_S) + _SLACK_S
        if behind > limit and not self.harness.stream("v").is_closed:
            self.faults.append(
                f"the bound is {behind:.2f} s behind the clock, but must be {limit:.2f} s at most"
            )

    def check(self) -> None:
        """Note what is wrong with the run, which has ended."""
        harness = self.harness
        if not ledger(harness.schedule).adds_up:
            self.faults.append(f"the ledger does not add up: {ledger(harness.schedule)}")
        came = [(packet.stamp, packet) for packet in harness.seen["v"] if not packet.is_empty()]
        stamps = [stamp for stamp, _ in came]
        if stamps != sorted(set(stamps)):
            self.faults.append(f"timestamps do not increase: {stamps}")
        pixels = [cast("Any", packet.payload).array[0, 0] for _, packet in came]
        numbers = [int(pixel[0]) * 256 + int(pixel[1]) for pixel in pixels]
        if numbers != sorted(set(numbers)):
            self.faults.append(f"frames came in the order {numbers}")
        if stamps and stamps[-1] > SimulatedClock().now():
            self.faults.append(f"a frame is of the future: {stamps[-1]}")
        if self.cancelled_at is not None and self.done_at - self.cancelled_at > _CANCEL_S:
            self.faults.append(
                f"the run ended {self.done_at - self.cancelled_at:.2f} s after it was cancelled"
            )
        if any(one.is_open for one in self.connections):
            self.faults.append("a connection is open after the end")
        self._check_events([packet.payload for packet in harness.seen["e"]])
        if harness.errors and self.cancelled_at is None and (self._has_begun or not self.must):
            gives_up = self._in_vain == self._allowed() if self.reconnects >= 0 else False
            if not gives_up and (self._has_begun or "no video" not in str(harness.errors[0])):
                self.faults.append(f"after {self._in_vain} attempts it gave up: {harness.errors}")
        if not harness.errors and not self.sends_whole:
            self.faults.append("the run ended by itself, though the camera has not said how long it sends")

    def _check_events(self, events: list[Any]) -> None:
        was_up, reconnects = None, 0
        for event in events:
            is_up = event.kind is not LiveEventKind.LOST
            if is_up == was_up:
                self.faults.append(f"events do not alternate: {[one.kind.value for one in events]}")
                return
            was_up = is_up
            if event.kind is LiveEventKind.RECONNECTED:
                reconnects += 1
                if event.gap_seconds <= 0 or event.reconnects != reconnects:
                    self.faults.append(f"{event} is number {reconnects}")


def trial(which: Which, installed: Registry) -> tuple[list[str], World]:
    """Read a camera in a world; return what is wrong, and the world."""
    names = installed.child()
    names.add("calculator", "SimulatedLiveVideo", SimulatedLiveVideo)
    before = random.getstate()
    random.seed(which.seed)  # the pauses between attempts are drawn from it
    found = Video(which, names)
    world = found.world
    try:
        found.go()
        found.done_at = world.now
        world.wait(lambda: not world.left(), 1.0)
        found.faults.extend(f"thread {name} goes on after the end" for name in world.left())
        found.check()
    except StandsStillError as error:
        found.faults.append(str(error))
    finally:
        world.end()
        random.setstate(before)
    return found.faults + world.broken, world
