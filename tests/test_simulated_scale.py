"""The simulation of many drivers: it agrees with what is known of queues, and loses nothing."""

from __future__ import annotations

import importlib
import json
import math
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import attrs
import numpy as np
import pytest
import simpy

pytestmark = pytest.mark.heavy

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
MICRO = 1e-6


@pytest.fixture
def load(monkeypatch):
    """Return a function that imports files of benchmarks/, which is no package; forgotten afterwards."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module
    for name, module in list(sys.modules.items()):
        if BENCHMARKS in Path(getattr(module, "__file__", None) or "/").parents:
            del sys.modules[name]


@pytest.fixture
def model(load):
    return load("scale.model")


@pytest.fixture
def layout(load):
    return load("scale.work").Layout


@pytest.fixture
def costs(load):
    """Return a function that makes costs, of which all that is not said is 0."""
    made = load("scale.costs").Costs
    nothing = {field.name: 0.0 for field in attrs.fields(made)}
    return lambda **given: made(**{**nothing, **given})


def poisson(rate, count, seed=1):
    return np.cumsum(np.random.default_rng(seed).exponential(1 / rate, count))


# --- queues of which the answer is known ---------------------------------------------------------------


def test_a_process_with_random_work_is_a_queue_of_the_kind_m_m_1(model):
    rng, env = np.random.default_rng(3), simpy.Environment()
    process, stays = model.Process(model.Host(env)), []

    def job(at):
        yield env.timeout(at)
        yield from process.work(lambda: rng.exponential(0.8))
        stays.append(env.now - at)

    for at in poisson(1.0, 60_000):
        env.process(job(at))
    env.run()

    assert np.mean(stays) == pytest.approx(1 / (1 / 0.8 - 1), rel=0.1)


def test_a_replica_whose_calls_all_take_the_same_is_a_queue_of_the_kind_m_d_1(model, layout, costs):
    at = poisson(8000, 30_000)  # at 100 us each: busy for 80 % of the time

    [outcome] = model.simulate(
        layout(shards=1, workers=1, queue=0), costs(worker_us=100), [model.Trace(np.zeros(len(at), int), at)]
    )

    assert outcome.waits().min() == pytest.approx(100 * MICRO)
    assert outcome.waits().mean() == pytest.approx((100 + 0.8 * 100 / (2 * 0.2)) * MICRO, rel=0.05)


def test_a_lone_event_takes_what_all_its_parts_take(model, layout, costs):
    given = costs(
        ingest_us=10, call_us=20, each_us=4, gap_us=6, sleep_us=60, wake_us=100, wire_us=7,
        worker_us=30, worker_each_us=5, worker_gap_us=9, worker_sleep_us=3, worker_wake_us=200,
    )  # fmt: skip
    work = layout(shards=1, workers=1, compute_us=400, wait_us=1000)

    [outcome] = model.simulate(work, given, [model.Trace(np.array([0]), np.array([1.0]))])

    # The driver sleeps before the event and before its reply, the worker before the call; none waits.
    parts = 10 + 20 + 4 + 30 + 5 + 2 * 7 + 400 + 1000 + 2 * (60 + 100) + 3 + 200
    assert outcome.waits()[0] == pytest.approx(parts * MICRO)


def test_calls_of_one_replica_go_one_by_one_and_those_of_others_overlap_on_a_device(model, layout, costs):
    given, work = costs(worker_us=100), layout(shards=4, workers=1, wait_us=900)

    def rate(shards):
        return model.simulate(work, given, [model.Trace(np.array(shards))])[0].rate()

    assert rate([2] * 400) == pytest.approx(1000)
    assert rate([0, 1, 2, 3] * 100) == pytest.approx(4000, rel=0.02)


@pytest.mark.slow
def test_processors_are_shared_and_other_work_has_its_part(model, layout, costs):
    given = costs(ingest_us=50, call_us=50, worker_us=60)
    trace = model.Trace(np.arange(4000) % 4)
    work = layout(shards=4, workers=1)

    def rate(drivers, others):
        outcomes = model.simulate(work, given, [trace] * drivers, processors=2, others=others)
        return drivers * 4000 / max(one.done.max() for one in outcomes)

    assert rate(1, 0) == pytest.approx(1 / (100 * MICRO), rel=0.02)  # the driver is full
    assert rate(4, 0) == pytest.approx(2 / (160 * MICRO), rel=0.02)  # the processors are
    assert rate(4, 0.5) == pytest.approx(1.5 / (160 * MICRO), rel=0.04)
    # Other work gets what was idle, but keeps a driver waiting for the end of its slices.
    assert 0.75 * rate(1, 0) < rate(1, 0.5) < rate(1, 0)


def test_what_wakes_up_waits_for_a_slice_of_other_work_at_most(model, layout, costs):
    at = np.arange(500) * 0.01
    trace = model.Trace(np.zeros(500, int), at)

    [outcome] = model.simulate(
        layout(shards=1, workers=1), costs(ingest_us=50, worker_us=50), [trace], processors=2, others=1.9
    )

    # An event has four turns, of which two follow another one at once.
    slice_s = 2 * model.SLICE_S  # with two processors
    assert outcome.waits().max() <= 2 * slice_s + 100 * MICRO
    assert np.median(outcome.waits()) < slice_s


@pytest.mark.parametrize(("processors", "done_at"), [(1, 1.03), (2, 0.57), (None, 0.57)])
def test_a_process_that_sleeps_costs_more_only_where_a_processor_sleeps_too(model, processors, done_at):
    env = simpy.Environment()
    host = model.Host(env, processors)
    busy, sleeper, done = model.Process(host), model.Process(host, 0.02, 0.04), []

    def wake():
        yield env.timeout(0.5)
        yield from sleeper.work(lambda: 0.01)
        done.append(env.now)

    env.process(busy.work(lambda: 1.0))
    env.process(wake())
    env.run()

    assert done == pytest.approx([done_at])


def test_what_waits_for_another_call_waits_for_the_gap_too(model, layout, costs):
    given = costs(ingest_us=1, worker_us=100, worker_gap_us=50, worker_sleep_us=7)
    trace = model.Trace(np.arange(2000) % 4)

    def spent(**work):
        [outcome] = model.simulate(layout(shards=4, workers=1, **work), given, [trace])
        return 1 / outcome.rate() / MICRO

    assert spent() == pytest.approx(100, rel=0.01)
    assert spent(compute_us=1000) == pytest.approx(1157, rel=0.01)


def test_events_that_wait_go_together_up_to_a_batch(model, layout, costs):
    given = costs(call_us=500, each_us=20, worker_us=1)
    single = layout(shards=1, workers=1, stateless=True, in_flight=64, queue=0)
    trace = model.Trace(np.zeros(8000, int))

    def rate(work):
        return model.simulate(work, given, [trace])[0].rate()

    alone, together = rate(single), rate(attrs.evolve(single, batch=32, messages=2))

    assert alone == pytest.approx(1 / (520 * MICRO), rel=0.01)
    assert 1 / (60 * MICRO) < together <= 1 / ((20 + 500 / 32) * MICRO)


def test_a_full_queue_stops_the_source_and_nothing_is_lost(model, layout, costs):
    work = layout(shards=2, workers=2, queue=5, wait_us=1000)
    shards = np.array([0] * 50 + [1] * 50)

    [outcome] = model.simulate(work, costs(ingest_us=1), [model.Trace(shards)])

    assert outcome.done[50] > 0.044  # behind the first 44 of the other replica
    assert not np.isnan(outcome.done).any()


def test_results_of_a_stateless_node_are_delivered_in_order(model, layout, costs):
    work = layout(
        shards=8, workers=8, stateless=True, in_flight=16, queue=0, batch=4, messages=2, wait_us=100
    )

    [outcome] = model.simulate(work, costs(call_us=30, worker_us=10), [model.Trace(np.arange(2000) % 8)])

    assert (np.diff(outcome.done) >= 0).all()


def test_calls_that_die_with_a_worker_are_made_again(model, layout, costs):
    at = poisson(3000, 6000)
    shards = np.random.default_rng(1).integers(0, 4, 6000)
    death = model.Death(0.5, [1, 2], 0.4)

    [outcome] = model.simulate(
        layout(shards=4, workers=4, wait_us=500), costs(ingest_us=50, worker_us=50),
        [model.Trace(shards, at)], deaths=[death],
    )  # fmt: skip

    assert not np.isnan(outcome.done).any()
    assert 1 <= outcome.repeated <= 2  # one call of each replica that was there
    ended = outcome.done[(shards == 1) | (shards == 2)]
    assert ((ended < 0.5) | (ended >= 0.9)).all()
    assert outcome.waits().max() >= 0.4 - 1 / 300


# --- keys ------------------------------------------------------------------------------------------------


def test_the_parts_of_keys_fall_with_their_rank(load):
    keys = load("scale.keys")

    assert keys.zipf(4, 0).tolist() == [0.25] * 4
    assert keys.zipf(3, 1) == pytest.approx(np.array([6, 3, 2]) / 11)


def test_a_key_is_on_the_partition_that_kafkas_c_client_chooses(load):
    kafka = pytest.importorskip("confluent_kafka")
    producer, found = kafka.Producer({"test.mock.num.brokers": 1}), {}
    for rank in range(200):
        producer.produce(
            "t",
            key=str(rank),
            value=b"",
            on_delivery=lambda _, one: found.update({one.key(): one.partition()}),
        )

    assert producer.flush(30) == 0
    count = len(producer.list_topics("t", timeout=30).topics["t"].partitions)
    partition_of = load("scale.keys").partition_of
    assert found == {str(rank).encode(): partition_of(str(rank), count) for rank in range(200)}
    assert len(set(found.values())) == count > 1


def test_drivers_have_ranges_of_partitions_and_replicas_the_keys_of_shard_of(load):
    keys = load("scale.keys")
    shard_of = importlib.import_module("penstock_shards").shard_of
    loads = keys.Places.of(3000, 8, 64).loads(0.8)

    assert np.diff(keys.first_partitions(64, 5)).tolist() == [13, 13, 13, 13, 12]
    assert loads.sum() == pytest.approx(1)
    expected = np.zeros((5, 8))
    for rank, part in enumerate(keys.zipf(3000, 0.8)):
        expected[keys.driver_of(str(rank), 5, 64), shard_of(str(rank), 8)] += part
    assert keys.of_drivers(loads, 5) == pytest.approx(expected)
    with pytest.raises(ValueError, match="65 drivers cannot share 64 partitions; have more partitions"):
        keys.of_drivers(loads, 65)


# --- what many drivers can do -----------------------------------------------------------------------------

USUAL = {
    "ingest_us": 30, "call_us": 90, "gap_us": 10, "sleep_us": 40, "wake_us": 30,
    "worker_us": 50, "worker_gap_us": 20, "worker_sleep_us": 10, "worker_wake_us": 30,
}  # fmt: skip
#: The same on a slow machine, so that seconds have fewer events.
SLOW = {name: 4 * value for name, value in USUAL.items()}


@pytest.fixture
def can(load, layout, costs):
    """Return a function that says what drivers with these parts can do."""
    capacity = load("scale.capacity")

    def call(parts, **given):
        work = layout(**{"shards": 4, "workers": 4, "compute_us": 50, **given})
        return capacity.capacity(work, costs(**USUAL), np.array(parts), np.random.default_rng(1), 2500)

    return call


def test_drivers_with_equal_parts_do_as_many_times_as_much_as_one(can):
    one = can([[0.25] * 4])

    assert one.rate == pytest.approx(1 / (130 * MICRO), rel=0.03)
    assert one.limit.value == "driver"
    for count in (2, 10, 1000):
        many = can(np.full((count, 4), 0.25 / count))
        assert many.rate == pytest.approx(count * one.rate, rel=0.03)


def test_one_key_that_has_all_events_caps_what_any_number_of_drivers_do(can):
    rates = []
    for count in (1, 10, 1000):
        parts = np.zeros((count, 4))
        parts[count // 2, 3] = 1
        found = can(parts)
        assert (found.hottest, found.limit.value) == (count // 2, "replica")
        rates.append(found.rate)

    # One call at a time: 200 us, and up to 180 us more where driver and worker had slept.
    assert rates == pytest.approx([rates[0]] * 3)
    assert 1 / (381 * MICRO) < rates[0] < 1 / (199 * MICRO)


def test_a_driver_with_twice_the_part_of_others_halves_what_all_do(can):
    even, uneven = np.full((3, 4), 1 / 12), np.array([[0.5 / 4] * 4, [0.25 / 4] * 4, [0.25 / 4] * 4])

    assert can(uneven).hottest == 0
    assert can(uneven).rate == pytest.approx(can(even).rate * (1 / 3) / 0.5, rel=0.03)


@pytest.mark.slow
def test_below_what_drivers_can_do_events_wait_little_and_above_it_longer_and_longer(
    load, layout, costs, can
):
    capacity, parts = load("scale.capacity"), np.full((20, 4), 1 / 80)
    work, most = layout(shards=4, workers=4, compute_us=50), can(parts).rate

    def p99(load_, events):
        rng = np.random.default_rng(2)
        return capacity.waits(work, costs(**USUAL), parts, load_ * most, rng, sample=2, events=events).p99

    assert p99(0.6, 4000) < 0.01
    assert p99(0.6, 4000) == pytest.approx(p99(0.6, 1000), rel=0.5)
    assert p99(1.2, 4000) > 2.5 * p99(1.2, 1000) > 0.01


def test_drivers_that_stand_for_others_stand_for_equal_parts_of_the_events(load):
    sample = load("scale.capacity")._sample(np.array([0.5, 0.02, 0.03, 0.45]), 4)

    assert sample == [3, 3, 0, 0]


# --- drivers that die -------------------------------------------------------------------------------------


@pytest.fixture
def group(load, layout, costs):
    """Return a function that simulates three drivers with a log of twelve partitions."""
    log_group, keys = load("scale.log_group"), load("scale.keys")
    shard_of = importlib.import_module("penstock_shards").shard_of

    def run(*deaths, rate=1500, seconds=4.0, seed=1, **given):
        rng = np.random.default_rng(seed)
        count = int(rate * seconds)
        ranks = [str(rank) for rank in rng.integers(0, 3000, count).tolist()]
        log = log_group.Log(
            np.cumsum(rng.exponential(1 / rate, count)),
            np.array([keys.partition_of(rank, 12) for rank in ranks]),
            np.array([shard_of(rank, 4) for rank in ranks]),
            12,
        )
        times = log_group.GroupTimes(
            **{"notice_s": 0.8, "rebalance_s": 0.2, "back_s": 2.5, "commit_s": 0.1, **given}
        )
        work = layout(shards=4, workers=4, compute_us=1200, queue=5)
        return log, log_group.simulate_group(work, costs(**SLOW), log, drivers=3, times=times, deaths=deaths)

    return run


def test_without_deaths_every_event_is_delivered_once(group):
    log, found = group()

    assert (found.counts == 1).all()
    assert np.quantile(found.first - log.at, 0.99) < 0.08


@pytest.mark.parametrize("seed", range(3))
def test_when_drivers_die_every_event_is_delivered_at_least_once(group, seed):
    log, found = group((0.6, 1), (1.9, 0), seed=seed)

    assert found.counts.min() == 1
    assert (found.first >= log.at).all()
    # Four times partitions are dealt out. Each time what came since the last commits may come again, and what
    # three drivers have in queues and calls.
    assert 0 < (found.counts - 1).sum() < 4 * (1500 * 0.1 + 3 * 4 * 6)


def test_events_of_a_dead_driver_wait_until_others_have_its_partitions(group):
    log, found = group((1.0, 2), back_s=100)
    waited = found.first - log.at
    its = log.partitions >= 8

    assert 0.99 < waited[its].max() < 1.4  # noticed after 0.8 s, read on after 0.2 s
    assert 0.19 < waited[~its].max() < 0.6
    assert waited[log.at > 3.5].max() < 0.1


def test_a_driver_that_is_alone_is_waited_for_until_its_host_is_back(load, layout, costs):
    log_group = load("scale.log_group")
    log = log_group.Log(np.arange(300) * 0.01, np.zeros(300, int), np.zeros(300, int), 1)
    times = log_group.GroupTimes(0.2, 0.1, 1.0, 0.1)

    found = log_group.simulate_group(
        layout(shards=1, workers=1), costs(ingest_us=10), log, drivers=1, times=times, deaths=[(0.5, 0)]
    )

    assert found.counts.min() == 1
    assert 1.05 < (found.first - log.at).max() < 1.25


def test_what_flows_agrees_with_what_is_simulated_event_by_event(load, layout, costs, group):
    failing, keys, log_group = load("scale.failing"), load("scale.keys"), load("scale.log_group")
    given = {"notice_s": 4.0, "rebalance_s": 1.0, "back_s": 100.0, "commit_s": 0.5}
    rate = 1500
    log, found = group((2.25, 1), rate=rate, seconds=14.0, **given)
    waited = found.first - log.at
    work = layout(shards=4, workers=4, compute_us=1200)
    loads = keys.Places.of(3000, 4, 12).loads(0.0)
    parts, capacity = keys.of_drivers(loads, 3), load("scale.capacity")
    most = capacity.capacity(work, costs(**SLOW), parts, np.random.default_rng(1)).rate
    speed = most / capacity.bounds(work, costs(**SLOW), parts).min()
    cluster = failing.Cluster(work, costs(**SLOW), loads, speed)
    flow = failing._Weeks(failing._Group(cluster, rate, 3), log_group.GroupTimes(**given), OneOf(1))
    flow.run_until(2.25)
    flow.kill()
    flow.run_until(60.0)

    assert flow.longest_s == pytest.approx(waited.max(), abs=2 * failing.STEP_S)
    late = (waited > failing.LATE_S).sum()
    assert flow.late == pytest.approx(late, rel=0.25)
    assert flow.again == pytest.approx((found.counts - 1).sum(), rel=0.4)
    slow = found.first[waited > 0.1].max()
    assert flow.caught_up[0] == pytest.approx(slow - 2.25, abs=3 * failing.STEP_S)


class OneOf:
    """Draws the same host each time, and the mean of what is even."""

    def __init__(self, number):
        self._number = number

    def choice(self, _):
        return self._number

    def uniform(self, low, high, count):
        return np.full(count, (low + high) / 2)


def test_more_deaths_than_drivers_can_bear_leave_them_behind(load, layout, costs):
    failing, keys, log_group = load("scale.failing"), load("scale.keys"), load("scale.log_group")
    work = layout(shards=4, workers=4, compute_us=300)
    loads = keys.Places.of(20_000, 4, 400).loads(0.0)
    cluster = failing.Cluster(work, costs(**USUAL), loads)

    def losses(mtbf_s):
        times, rng = log_group.GroupTimes(), np.random.default_rng(1)
        return failing.simulate_weeks(cluster, 40 * 5000, 40, times, mtbf_s=mtbf_s, rng=rng, deaths=60)

    rare, often = losses(30 * 86_400), losses(400)
    assert rare.keeps_up
    assert rare.late < 1e-3 < often.late
    assert rare.longest_s < 60 < often.longest_s
    assert rare.deaths_a_day == pytest.approx(40 / 30)


# --- what was measured, and what is said of it ------------------------------------------------------------


@pytest.mark.slow
def test_the_gap_of_a_run_is_found_again(load, monkeypatch, costs):
    measuring, model = load("scale.measuring"), load("scale.model")
    keys = [str(number) for number in range(1500)]
    given = costs(**{**USUAL, "gap_us": 0})
    monkeypatch.setattr(measuring, "processors", lambda: 2)
    shard_of = importlib.import_module("penstock_shards").shard_of
    trace = model.Trace(np.array([shard_of(key, 4) for key in keys]))

    def run(gap, others):
        slower = attrs.evolve(given, gap_us=gap)
        [outcome] = model.simulate(measuring.MEASURED, slower, [trace], processors=2, others=others)
        return load("scale.drivers").Ran(len(keys), 5.0, 5.0 + outcome.done.max(), 0.1, 0.1, others)

    def found(*runs):
        return measuring.fitted(given, "gap_us", measuring.MEASURED, runs, keys).gap_us

    assert found(run(90, 0.4), run(23, 0.1)) == pytest.approx(23, abs=1.5)
    assert found(run(90, 0.6)) == 0
    assert found(attrs.evolve(run(0, 0), ended=5.01)) == 0


def test_a_workload_gives_all_processes_the_same_events(load):
    workloads = load("scale.workloads")
    shared, own = workloads.DEVICE, workloads.SMALL

    assert shared.of_drivers(2, 1) == shared.of_drivers(2, 1)
    assert sum(map(len, shared.of_drivers(4, 0.5))) == 300
    assert sum(map(len, own.of_drivers(4, 0.5))) == 8000
    assert [len(one.shards) for one in workloads.traces(own.of_drivers(2, 0.1))] == [
        len(some) for some in own.of_drivers(2, 0.1)
    ]


def test_a_simulation_reads_what_the_round_measured_and_nothing_of_the_speed_of_its_runs(
    load, tmp_path, costs
):
    file = tmp_path / "round.json"

    def simulated(workload, rate, others=0.0):
        scale = load("simulated_scale")
        ran = {scale.figure(count): {"rate": rate, "others": others} for count in (1, 2, 4)}
        known = {"costs": attrs.asdict(costs(**USUAL)), "ran": {workload: ran}, "times": 0.2}
        file.write_text(json.dumps(known), encoding="utf-8")
        return scale.simulated(str(file), workload)

    found = simulated("5 ms on a device, skew 1", 1)
    assert found == simulated("5 ms on a device, skew 1", 1000)
    assert 100 < found["1 driver, 1/s"] < found["2 drivers, 1/s"] < found["4 drivers, 1/s"] < 4000
    busy = simulated("1 ms of Python", 1, others=1.0)
    assert busy["4 drivers, 1/s"] < 0.7 * simulated("1 ms of Python", 1)["4 drivers, 1/s"]


def test_a_bar_is_the_factor_by_which_the_simulation_is_off_in_either_direction(load):
    scale = load("simulated_scale")
    for simulated in (2.0, 0.5):
        measured = load("side_by_side").Measurements()
        measured.add("1 ms of Python", scale.OURS, {"2 drivers, 1/s": 100})
        measured.add("1 ms of Python", scale.SIMULATION, {"2 drivers, 1/s": 100 * simulated})
        assert scale.bar("1 ms of Python", 2).value(measured) == 2
    assert scale.bar("1 ms of Python", 2).value(load("side_by_side").Measurements()) is None


@pytest.fixture
def asked(load):
    return load("scale.outlook").Question(
        drivers=(1, 4, 100), groups=(2, 50), skews=(0.0, 3.0), keys=5000, events=200, mtbf_days=1.0
    )


@pytest.fixture
def kind(load, layout, costs):
    work = layout(shards=4, workers=4, compute_us=50)
    return load("scale.outlook").Kind("some drivers", work, costs(**USUAL))


def test_the_outlook_says_where_more_drivers_do_not_help_and_why(load, kind, asked):
    even, uneven = load("scale.outlook").curves(kind, asked)

    assert even.enough() == 100
    assert [even.full_first(cell) for cell in even.cells[:2]] == ["driver", "driver"]
    assert uneven.enough() < 100
    assert uneven.full_first(uneven.cells[-1]) == "one key"
    assert uneven.cells[-1].capacity.rate < even.cells[-1].capacity.rate / 20


@pytest.mark.slow
def test_the_same_seed_gives_the_same_outlook_and_another_seed_another_one(load, kind, asked):
    outlook = load("scale.outlook")

    def all_of(question):
        losses = outlook.losses(kind, question, load("scale.log_group").GroupTimes(), 4, deaths=5)
        return repr([outlook.curves(kind, question), outlook.interruption(kind, 1, 0.2, question), losses])

    assert all_of(asked) == all_of(asked) != all_of(attrs.evolve(asked, seed=2))


def test_the_death_of_a_worker_is_a_wait_as_long_as_it_is_away(load, kind, asked):
    outlook = load("scale.outlook")

    found = outlook.interruption(kind, 1, 0.5, asked)

    assert 0.45 < found.longest_s < 2
    assert 0.5 < found.caught_up_s < 5
    assert found.again <= 1


def test_tables_data_and_picture_have_every_number_of_drivers_and_every_skew(load, kind, asked):
    outlook, text_of = load("scale.outlook"), load("scale.tables").text_of
    curves = outlook.curves(kind, asked)
    losses = [
        outlook.losses(kind, asked, load("scale.log_group").GroupTimes(), count, deaths=3)
        for count in asked.groups
    ]
    scale = outlook.Scale(
        asked, "made up", {kind: curves}, {"a worker": outlook.Interruption(1.5, 2.5, 3)}, {45.0: losses}
    )

    text, data = text_of(scale), json.loads(json.dumps(scale.as_json()))

    for words in (
        "skew 0",
        "skew 3",
        "one key",
        "less than a tenth, from",
        "a worker",
        "1.50 s",
        "made up",
        "\n100",
    ):
        assert words in text
    rates = [[cell["rate"] for cell in one["cells"]] for one in data["kinds"][0]["curves"]]
    assert rates == [[cell.capacity.rate for cell in curve.cells] for curve in curves]
    assert [one["drivers"] for one in data["losses"]] == [2, 50]
    root = ET.fromstring(load("scale.picture").picture(curves))  # noqa: S314  # our own
    lines = [one.get("points").split() for one in root.iter() if one.tag.endswith("polyline")]
    assert [len(points) for points in lines] == [2, 3, 3]
    assert all(math.isfinite(float(x)) for points in lines for point in points for x in point.split(","))


def test_the_picture_of_the_documentation_is_of_the_same_run_as_the_table_beside_it():
    docs = BENCHMARKS.parent / "docs"
    page = (docs / "how-to" / "use-a-cluster.md").read_text(encoding="utf-8")
    picture = (docs / "images" / "drivers.svg").read_text(encoding="utf-8")

    [last] = re.findall(r"^\| 1,000 \| (.+ [kM]) \|$", page, re.MULTILINE)

    assert re.findall(r">skew [\d.]+: ([^<]+)<", picture) == last.split(" | ")


@pytest.mark.parametrize(
    ("option", "value", "fault"),
    [
        ("--load", "1", "must be between 0 and 1"),
        ("--keys", "0", "must be above 0"),
        ("--mtbf-days", "nan", "above"),
    ],
)
def test_numbers_that_make_no_sense_are_refused_by_name(load, capsys, option, value, fault):
    with pytest.raises(SystemExit):
        load("simulated_scale").options().parse_args([option, value])

    said = capsys.readouterr().err
    assert f"argument {option}: {value}: " in said
    assert fault in said


@pytest.mark.slow
def test_drivers_run_at_the_same_time_each_with_its_own_events(load):
    drivers = load("scale.drivers")
    layout = load("scale.measuring").MEASURED

    with drivers.Drivers(2, layout) as both:
        one, other = both.run([["a"] * 40, ["b"] * 20], 0.0, 5000.0)
        [alone] = both.run([["a"]], 2000.0)

    assert (one.events, other.events, alone.events) == (40, 20, 1)
    assert one.ended - one.began > 40 * 0.005
    assert min(one.ended, other.ended) > max(one.began, other.began)
    assert alone.workers_s >= 0


@pytest.mark.slow
def test_a_driver_that_dies_is_an_error_and_no_hang(load, capfd):
    drivers, layout = load("scale.drivers"), load("scale.work").Layout

    with pytest.raises(RuntimeError, match="a driver has died; what it wrote to stderr says why"):
        drivers.Drivers(1, layout(shards=0)).__enter__()

    assert "there is no output SHARD" in capfd.readouterr().err


@pytest.mark.slow
def test_a_worker_that_was_killed_is_replaced(load):
    assert 0 < load("scale.measuring").measure_restart() < 60
