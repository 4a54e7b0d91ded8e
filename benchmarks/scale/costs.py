"""What one driver, one worker and one call cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from scale.work import Layout

MICRO: Final = 1e-6


@attrs.frozen
class Costs:
    """Microseconds; of processor time, unless it says otherwise."""

    #: The driver's, for an event without its call: source, key, split, join, observer.
    ingest_us: float
    #: `call_us`, `each_us`: the driver's, for a call that carries a batch of events, and for each event in
    #: it.
    call_us: float
    #: For a call that waits for the driver, time in which none of the driver's threads runs: they hand the
    #: interpreter's lock over.
    gap_us: float
    #: The driver's, more where it had slept; twice a lone event.
    sleep_us: float
    #: The same, if a processor had slept too.
    wake_us: float
    #: `worker_us`, `worker_each_us`: the worker's, for a call and for each event, besides its work.
    worker_us: float
    #: As `gap_us`, for a call that waits for one that computes. The thread that takes it has slept meanwhile.
    worker_gap_us: float
    #: `worker_sleep_us`, `worker_wake_us`: as those of the driver; once a call.
    worker_sleep_us: float
    worker_wake_us: float
    #: Time on the way between both, each way, in which neither works.
    wire_us: float
    each_us: float = 0.0
    worker_each_us: float = 0.0

    def driver_s(self, batch: int = 1) -> float:
        """Return the seconds that a busy driver spends on an event, if so many go together."""
        return (self.ingest_us + self.each_us + (self.call_us + self.gap_us) / batch) * MICRO

    def worker_s(self, layout: Layout, batch: int = 1) -> float:
        """Return the seconds of a busy worker's processor for an event, if so many go together."""
        return (self.worker_us / batch + self.worker_each_us + layout.compute_us) * MICRO

    def round_trip_s(self, layout: Layout) -> float:
        """Return the seconds of a call of one event from a busy driver to a busy worker and back."""
        driver = (self.call_us + self.each_us + self.gap_us + 2 * self.wire_us) * MICRO
        return driver + self.worker_s(layout) + layout.wait_us * MICRO


#: Of a node in an actor of Ray, for where Ray is not: what `ray_costs.measure` found with Ray 2.60 and Python
#: 3.11 on 2 cores (AMD EPYC, KVM).
RAY: Final = Costs(
    ingest_us=12.0,
    call_us=685.0,
    each_us=40.0,
    gap_us=0.0,
    sleep_us=0.0,
    wake_us=76.0,
    worker_us=500.0,
    worker_each_us=19.0,
    worker_gap_us=0.0,
    worker_sleep_us=0.0,
    worker_wake_us=7.0,
    wire_us=0.0,
)
#: Seconds from the death of an actor to the next event that its successor has done, measured with it.
RAY_RESTART_S: Final = 0.26
