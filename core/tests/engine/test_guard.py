"""What the engine does with the verdicts of a guard about failed calls."""

from __future__ import annotations

import pytest

from penstock import STOP
from penstock.engine.guard import AGAIN, FAIL, SKIP, Guard
from penstock.errors import GraphRunError
from penstock_testing import ScheduleHarness, calculator, node, wired

Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)


class Judge(Guard):
    """Gives verdicts in order, and notes what it was asked."""

    def __init__(self, *verdicts: int) -> None:
        super().__init__()
        self.verdicts = list(verdicts)
        self.asked: list[str] = []

    def judge(self, step, error) -> int:
        assert not any(output.packets for output in step.out_ports), "what the call wrote is taken back"
        self.asked.append(f"{step.method} {step.stamp}: {error}")
        return self.verdicts.pop(0)


class Flaky:
    """Writes what comes, and fails as often as the test asks for each timestamp."""

    def __init__(self, **times: int) -> None:
        self.left = {int(name[1:]): count for name, count in times.items()}
        self.stamps: list[int] = []

    def __call__(self, cc) -> None:
        stamp = int(cc.input_timestamp)
        self.stamps.append(stamp)
        cc.output.add(stamp, stamp)
        if self.left.get(stamp, 0):
            self.left[stamp] -= 1
            raise ValueError(f"not {stamp}")


def guarded(process, *verdicts, offset=0, max_in_flight=1, seed=None):
    line = node(calculator(process, name="Guarded", offset=offset), "in", "out", max_in_flight=max_in_flight)
    harness = ScheduleHarness(
        wired(line, node(Pass, "out", "end"), inputs="in"), seed=seed, bounds_of=["end"]
    )
    guard = Judge(*verdicts)
    harness.schedule.nodes[0].put_around(guard)
    harness.start().run()
    return harness, guard


@pytest.mark.parametrize("seed", [None, *range(6)])
def test_a_skipped_call_counts_as_one_that_wrote_nothing(seed) -> None:
    harness, guard = guarded(Flaky(t2=1), SKIP, seed=seed)
    for stamp in (1, 2, 3):
        harness.add("in", stamp, stamp)
    harness.finish()
    assert guard.asked == ["1 2: not 2"]
    seen = [(packet.stamp, packet.is_empty()) for packet in harness.seen["end"] if packet.stamp < 4]
    assert [stamp for stamp, is_bound in seen if not is_bound] == [1, 3]
    dropped = [stream.dropped for stream in harness.schedule.streams if stream.name == "out"]
    assert dropped == [{"the call that wrote it failed": 1}]


def test_the_bound_moves_past_a_skipped_set() -> None:
    harness, _ = guarded(Flaky(t2=1), SKIP)
    harness.add("in", 2, 2)
    harness.run()
    assert [(packet.stamp, packet.is_empty()) for packet in harness.seen["end"]] == [(2, True)]


@pytest.mark.parametrize("seed", [None, *range(6)])
def test_a_call_is_made_again_as_often_as_the_guard_says(seed) -> None:
    process = Flaky(t1=2, t3=1)
    harness, guard = guarded(process, AGAIN, AGAIN, AGAIN, seed=seed)
    for stamp in (1, 2, 3):
        harness.add("in", stamp, stamp)
    harness.finish()
    assert process.stamps == [1, 1, 1, 2, 3, 3]
    assert [packet.stamp for packet in harness.seen["end"] if not packet.is_empty()] == [1, 2, 3]
    assert len(guard.asked) == 3


@pytest.mark.parametrize("seed", range(20))
def test_overlapping_calls_keep_their_order_where_some_are_made_again(seed) -> None:
    harness, _ = guarded(Flaky(t2=2, t5=1, t6=1), *[AGAIN] * 4, max_in_flight=3, seed=seed)
    for stamp in range(1, 9):
        harness.add("in", stamp, stamp)
    harness.finish()
    assert [packet.stamp for packet in harness.seen["end"] if not packet.is_empty()] == list(range(1, 9))


def test_of_overlapping_calls_the_one_that_is_made_again_comes_first() -> None:
    process = Flaky(t1=1)
    harness, _ = guarded(process, AGAIN, max_in_flight=3)
    for stamp in (1, 2, 3):
        harness.add("in", stamp, stamp)
    harness.finish()
    assert process.stamps == [1, 1, 2, 3]


def test_a_paused_run_makes_no_call_again_before_it_goes_on() -> None:
    process = Flaky(t1=1)
    harness, _ = guarded(process, AGAIN)
    harness.add("in", 1, 1)
    held = harness.call(harness.take())
    harness.pause()
    harness.complete(held)
    harness.run()
    assert process.stamps == [1]
    harness.resume()
    harness.run()
    assert process.stamps == [1, 1]


def test_a_verdict_of_fail_ends_the_run_as_without_a_guard() -> None:
    harness, guard = guarded(Flaky(t1=9), AGAIN, FAIL)
    harness.add("in", 1, 1)
    with pytest.raises(GraphRunError, match=r"process\(\) failed at 1: ValueError: not 1"):
        harness.finish()
    assert len(guard.asked) == 2


def test_in_a_run_that_has_failed_nothing_is_made_again() -> None:
    process = Flaky(t1=9)
    harness, _ = guarded(process, AGAIN)
    harness.add("in", 1, 1)
    held = harness.call(harness.take())
    harness.cancel()
    harness.complete(held)
    with pytest.raises(GraphRunError) as caught:
        harness.finish()
    assert process.stamps == [1]
    assert [str(error) for error in caught.value.errors] == ["the run was cancelled"]


def test_a_first_open_is_made_again() -> None:
    left = [2]

    def open_(cc) -> None:
        if left[0]:
            left[0] -= 1
            raise OSError("not yet")

    line = node(calculator(Flaky(), open=open_, name="Opens", offset=0), "in", "out")
    harness = ScheduleHarness(wired(line, inputs="in"))
    guard = Judge(AGAIN, AGAIN)
    harness.schedule.nodes[0].put_around(guard)
    harness.start()
    harness.add("in", 1, 1)
    harness.finish()
    assert len(guard.asked) == 2
    assert harness.carried("out") == [(1, 1)]


def test_a_source_is_called_again() -> None:
    made = []

    def process(cc):
        made.append(len(made))
        if len(made) == 2:
            raise OSError("unplugged")
        cc.output.add(made[-1], made[-1])
        return STOP if len(made) == 4 else None

    harness = ScheduleHarness(wired(node(calculator(process, name="Source"), (), "out")))
    harness.schedule.nodes[0].put_around(Judge(AGAIN))
    harness.start()
    harness.finish()
    assert [stamp for stamp, _ in harness.carried("out")] == [0, 2, 3]
