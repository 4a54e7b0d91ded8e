"""A share of one processor for several jobs."""

from __future__ import annotations

import pytest

from penstock.errors import InvalidArgumentError
from penstock_monitor import Budget
from penstock_testing import ManualClock


@pytest.fixture
def clock():
    return ManualClock(100.0)


@pytest.fixture
def budget(clock):
    return Budget(0.01, clock)


def spend(budget, job, *costs):
    for cost in costs:
        budget.spent(job, cost)


def test_a_cycle_is_so_long_that_the_jobs_together_keep_to_the_share(budget):
    assert budget.cycle_s() == 0.0
    spend(budget, "one", 0.004, 0.004)
    assert budget.cycle_s() == pytest.approx(0.4)
    spend(budget, "other", 0.006, 0.006)
    assert budget.cycle_s() == pytest.approx(1.0)


def test_one_time_that_was_slow_changes_nothing(budget):
    spend(budget, "one", 5.0, 0.004, 0.004)
    assert budget.cycle_s() == pytest.approx(0.4)
    spend(budget, "one", 0.004, 9.0)
    assert budget.cycle_s() == pytest.approx(0.4)
    spend(budget, "one", 9.0)
    assert budget.cycle_s() == pytest.approx(900)


def test_the_first_time_alone_makes_a_cycle_of_at_most_a_second(budget):
    spend(budget, "one", 5.0)
    assert budget.cycle_s() == pytest.approx(1.0)
    spend(budget, "other", 0.002)
    assert budget.cycle_s() == pytest.approx(1.2)


def test_a_job_that_must_go_on_waits_a_second_at_most_for_all_that_were_done_once(budget):
    spend(budget, "one", 0.002)
    assert budget.cycle_s(goes_on=True) == pytest.approx(0.2)
    spend(budget, "other", 5.0)
    spend(budget, "third", 5.0)
    assert budget.cycle_s(goes_on=True) == pytest.approx(1.0)
    assert budget.cycle_s() == pytest.approx(2.2)
    spend(budget, "one", 0.002)
    assert budget.cycle_s(goes_on=True) == pytest.approx(1.2)


def test_a_job_that_is_done_no_more_is_forgotten(budget, clock):
    spend(budget, "one", 0.004, 0.004)
    spend(budget, "other", 0.006)
    for _ in range(5):
        clock.advance(1.0)
        spend(budget, "one", 0.004)
        budget.cycle_s()
    assert budget.cycle_s() == pytest.approx(0.4)


def test_a_job_of_a_long_cycle_is_not_forgotten_before_it_is_due(budget, clock):
    spend(budget, "one", 0.1, 0.1)
    clock.advance(10.0)
    assert budget.cycle_s() == pytest.approx(10.0)
    assert budget.cycle_s() == pytest.approx(10.0)
    clock.advance(25.0)
    budget.cycle_s()
    assert budget.cycle_s() == 0.0


@pytest.mark.parametrize("share", [0, -0.01, float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(
        InvalidArgumentError, match=rf"^the budget's share {share}: must be above 0; 0\.01 is 1 %"
    ):
        Budget(share)
