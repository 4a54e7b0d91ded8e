"""Several objects of one node, each in a process of its own: which of them gets a call."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from penstock.lowlevel import PROCESS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.lowlevel import Stop
    from penstock_remote.calls import Answer, Call
    from penstock_remote.pending import CallPlace, Pending
    from penstock_remote.stand_in import Write


class NodeCopies:
    """Calls the objects of one node: `open` and `close` all of them, `process` the least busy one.

    Args:
        copies: for each object what sends a call to it.
        places: where each of them is.
    """

    def __init__(
        self,
        copies: Sequence[Callable[[Call, Callable[[Answer], Any]], Pending]],
        places: Sequence[CallPlace],
    ) -> None:
        self._copies: Final = copies
        self._places: Final = places
        self._lock: Final = threading.Lock()
        #: How many calls of `process` each copy has.
        self._busy: Final = [0] * len(copies)

    def __call__(self, call: Call, write: Write) -> Future[Stop | None]:
        """Send a call; the exchange of a `RemoteCalculator`."""
        if len(self._copies) == 1:
            return self._copies[0](call, write)
        if call.method == PROCESS:
            return self._call_one(call, write)
        return _AllAnswers([send(call, _as_it_is) for send in self._copies], write)

    def where(self) -> str:
        """Return in words where the objects are."""
        return " and ".join([place.where() for place in self._places])

    def _call_one(self, call: Call, write: Write) -> Future[Stop | None]:
        busy = self._busy
        with self._lock:
            number = busy.index(min(busy))
            busy[number] += 1
        try:
            pending = self._copies[number](call, write)
        except BaseException:
            self._end_one(number)
            raise
        pending.add_done_callback(lambda _: self._end_one(number))
        return pending

    def _end_one(self, number: int) -> None:
        with self._lock:
            self._busy[number] -= 1


def _as_it_is(answer: Answer) -> Answer:
    return answer


class _AllAnswers(Future["Stop | None"]):
    """Done when all objects of a node have answered; the first answer, with all counters, is written then.

    The objects have no state, so what they write in `open` and `close` is the same, and is written once.
    """

    def __init__(self, answers: list[Pending], write: Write) -> None:
        super().__init__()
        self._write: Write | None = write
        self._answers = answers
        self._left = len(answers)
        self._lock: Final = threading.Lock()
        self.set_running_or_notify_cancel()
        for answer in answers:
            answer.add_done_callback(self._come)

    def cancel(self) -> bool:
        for answer in self._answers:
            answer.cancel()
        return False

    def is_starting(self) -> bool:
        """Return whether one of the processes has not begun to take calls yet."""
        return any(answer.is_starting() for answer in self._answers)

    def standing(self) -> str:
        """Return in words where the calls are that have not come back."""
        return " and ".join(answer.standing() for answer in self._answers if not answer.done())

    def _come(self, _: Future[Any]) -> None:
        with self._lock:
            self._left -= 1
            if self._left:
                return
        answers, self._answers = self._answers, []  # a circle would keep their payloads alive
        write, self._write = self._write, None
        for one in answers:
            error = one.exception()
            if error is not None:
                self.set_exception(error)
                return
        first, *others = (one.result() for one in answers)
        counters: Counter[str] = Counter((first.more or {}).get("counters"))
        for other in others:
            counters.update((other.more or {}).get("counters", {}))
        more = {**(first.more or {}), "counters": dict(counters)} if counters else first.more
        try:
            outcome = None if write is None else write(first._replace(more=more))
        except BaseException as refused:  # noqa: BLE001  # the error of the call
            self.set_exception(refused)
        else:
            self.set_result(outcome)
