from __future__ import annotations

import threading

import pytest

import penstock
from penstock.errors import FailedPreconditionError, GraphRunError
from penstock_testing import calculator

TIMEOUT = 20
Packet = penstock.Packet
Nothing = calculator(name="Nothing", offset=0)
Join = calculator(name="Join", offset=0)
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)


def feed(graph, count: int, stream: str = "in", start: int = 0) -> None:
    for i in range(start, start + count):
        graph.add_packet_to_input_stream(stream, Packet(i, i))


def stream_of(ledger, name: str):
    return next(stream for stream in ledger.streams if stream.name == name)


def reader_of(ledger, stream: str, place: str):
    return next(reader for reader in stream_of(ledger, stream).readers if reader.place == place)


def drops_of(ledger) -> list[tuple[str, str, str, int]]:
    return [(drop.stream, drop.place, drop.reason, drop.count) for drop in ledger.drops]


def end_of(graph) -> None:
    """Wait for the end, however it comes."""
    try:
        graph.wait_until_done(TIMEOUT)
    except GraphRunError:
        return


# --- one run after another ----------------------------------------------------------------------


def test_a_good_run_delivers_every_packet_to_every_reader(make) -> None:
    graph = make([(Pass, "in", "a"), (Pass, "a", "out"), (Join, "A:a B:out")], "in")
    graph.observe_output_stream("a", lambda *_: None, observe_timestamp_bounds=True)
    poller = graph.add_output_stream_poller("out", observe_timestamp_bounds=True)
    graph.start_run()
    feed(graph, 10)
    graph.set_input_stream_timestamp_bound("in", 100)
    graph.wait_until_idle(TIMEOUT)
    graph.close(TIMEOUT)

    ledger = graph.ledger()

    assert ledger.adds_up
    assert [reader.place for reader in stream_of(ledger, "a").readers] == [
        "node 'Pass_2' input 0",
        "node 'Join' input 'A'",
        "observer",
    ]
    assert {reader.delivered for stream in ledger.streams for reader in stream.readers[:-1]} == {10}
    assert reader_of(ledger, "a", "observer").delivered == 10  # the bound at 99 is no packet
    assert reader_of(ledger, "out", "poller").in_flight == 10
    assert (ledger.added, ledger.delivered, ledger.dropped, ledger.in_flight) == (30, 50, 0, 10)
    for _ in range(4):
        poller.next()
    assert reader_of(graph.ledger(), "out", "poller").delivered == 4
    assert graph.ledger().adds_up


def test_a_ledger_stays_after_the_run_and_the_next_run_begins_another(make) -> None:
    graph = make([(Nothing, "in")], "in")
    with pytest.raises(FailedPreconditionError, match=r"ledger\(\) needs a run; call start_run\(\) first"):
        graph.ledger()
    graph.start_run()
    feed(graph, 3)
    graph.close(TIMEOUT)
    assert graph.ledger().added == 3
    assert graph.ledger() == graph.ledger()

    graph.start_run()
    assert graph.ledger().added == 0
    feed(graph, 1)
    graph.close(TIMEOUT)
    assert (graph.ledger().added, graph.ledger().delivered) == (1, 1)


def test_a_packet_under_way_is_in_flight(make) -> None:
    graph = make([(Join, "a b")], "a b")
    graph.start_run()
    feed(graph, 3, "a")
    feed(graph, 1, "b")
    graph.wait_until_idle(TIMEOUT)

    ledger = graph.ledger()

    assert reader_of(ledger, "a", "node 'Join' input 0").delivered == 1
    assert reader_of(ledger, "a", "node 'Join' input 0").in_flight == 2
    assert ledger.in_flight == 2
    assert ledger.adds_up
    graph.close(TIMEOUT)
    assert graph.ledger().in_flight == 0


def test_a_run_without_streams_or_packets_adds_up(make) -> None:
    graph = make([(calculator(name="Alone"), "")])
    graph.run(timeout=TIMEOUT)

    ledger = graph.ledger()
    assert ledger.adds_up
    assert (ledger.added, ledger.delivered, ledger.dropped, ledger.in_flight, ledger.drops) == (
        0,
        0,
        0,
        0,
        (),
    )


def test_packets_of_a_stream_without_readers_count_as_added_and_not_as_delivered(make) -> None:
    graph = make([(Pass, "in", "unread")], "in")
    graph.start_run()
    feed(graph, 2)
    graph.close(TIMEOUT)

    assert stream_of(graph.ledger(), "unread").readers == ()
    assert stream_of(graph.ledger(), "unread").added == 2
    assert graph.ledger().adds_up


# --- what is dropped, and why -------------------------------------------------------------------


def test_what_a_failed_call_wrote_is_dropped_by_the_node_that_wrote_it(make) -> None:
    def process(cc):
        cc.output.add_packet(cc.input.packet)
        if cc.input.payload == 2:
            raise ValueError("no")

    graph = make([(calculator(process, name="Fails"), "in", "out"), (Nothing, "out")], "in", threads=1)
    graph.start_run()
    feed(graph, 3)
    end_of(graph)

    ledger = graph.ledger()

    assert ("out", "node 'Fails'", "the call that wrote it failed", 1) in drops_of(ledger)
    assert (stream_of(ledger, "out").added, stream_of(ledger, "out").dropped) == (
        3,
        {"the call that wrote it failed": 1},
    )
    assert ledger.adds_up


def test_what_a_closed_reader_left_is_dropped_there(make) -> None:
    graph = make([(Join, "a b")], "a b")
    graph.start_run()
    feed(graph, 5, "a")
    graph.wait_until_idle(TIMEOUT)
    graph.cancel()
    end_of(graph)

    ledger = graph.ledger()

    assert drops_of(ledger) == [("a", "node 'Join' input 0", "the reader had closed", 5)]
    assert ledger.adds_up


def test_a_late_packet_is_dropped_at_the_graph_input(make) -> None:
    graph = make([(Nothing, "in")], "in")
    graph.set_late_packet_mode("in", "DROP")
    graph.start_run()
    for stamp in (5, 3, 6):
        graph.add_packet_to_input_stream("in", Packet(stamp, stamp))
    graph.close(TIMEOUT)

    assert drops_of(graph.ledger()) == [("in", "graph input", "late", 1)]
    assert graph.ledger().adds_up


def test_what_a_calculator_throws_away_is_dropped_and_not_delivered(make) -> None:
    def process(cc):
        if cc.input.payload % 2:
            cc.input.count_dropped("odd")

    graph = make([(calculator(process, name="Even"), "in")], "in")
    graph.start_run()
    feed(graph, 7)
    graph.close(TIMEOUT)

    ledger = graph.ledger()

    assert drops_of(ledger) == [("in", "node 'Even' input 0", "odd", 3)]
    assert (ledger.added, ledger.delivered, ledger.dropped) == (7, 4, 3)
    assert ledger.adds_up


def test_what_a_failed_observer_did_not_see_is_dropped(make, runner_of) -> None:
    entered, leave = threading.Event(), threading.Event()

    def observe(_, packet):
        entered.set()
        assert leave.wait(TIMEOUT)
        raise ValueError("no")

    graph = make([(Nothing, "in")], "in")
    graph.observe_output_stream("in", observe)
    graph.start_run()
    adder = threading.Thread(target=feed, args=(graph, 1))
    adder.start()  # may be the thread that the observer is called on
    assert entered.wait(TIMEOUT)
    feed(graph, 4, start=1)
    assert reader_of(graph.ledger(), "in", "observer").in_flight == 4
    assert graph.ledger().adds_up
    queue = runner_of(graph).schedule.streams[0].observers[0].queue
    in_hand = queue.popleft()  # as by the observer's thread, which counts it a moment later
    assert reader_of(graph.ledger(), "in", "observer").in_flight == 4
    assert graph.ledger().adds_up
    queue.appendleft(in_hand)
    leave.set()
    adder.join(TIMEOUT)
    end_of(graph)

    ledger = graph.ledger()

    assert drops_of(ledger)[-1] == ("in", "observer", "the observer had failed", 4)
    assert reader_of(ledger, "in", "observer").delivered == 1
    assert ledger.adds_up


def test_a_poller_that_is_reset_drops_what_it_held(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    poller = graph.add_output_stream_poller("out")
    graph.start_run()
    feed(graph, 3)
    graph.wait_until_idle(TIMEOUT)
    poller.reset()
    graph.close(TIMEOUT)

    assert drops_of(graph.ledger()) == [("out", "poller", "the poller was reset", 3)]
    assert graph.ledger().adds_up


# --- however a run ends ---------------------------------------------------------------------------


def fail_at(number: int):
    def process(cc):
        if cc.input.payload == number:
            raise ValueError("no")
        cc.output.add_packet(cc.input.packet)

    return calculator(process, name="Middle", offset=0)


def fail_in_open(cc):
    raise ValueError("no")


def stop_at(cc):
    cc.output.add_packet(cc.input.packet)
    return penstock.STOP if cc.input.payload == 20 else None


MIDDLES = {
    "good": Pass,
    "error in process": fail_at(20),
    "error in open": calculator(open=fail_in_open, name="Middle"),
    "error in close": calculator(stop_at, close=fail_in_open, name="Middle"),
    "stop": calculator(stop_at, name="Middle"),
    "swallows all": calculator(name="Middle", offset=0),
}


def full_graph(make, middle, threads: int):
    """Return a graph with a chain, a fork, a join, an observer and a poller."""
    return make(
        [
            (Pass, "in", "a"),
            (middle, "a", "b"),
            (Pass, "b", "c"),
            (Join, "a c b other", "", "max_in_flight: 3"),
        ],
        "in other",
        threads=threads,
    )


def feed_what_it_takes(graph, count: int) -> None:
    try:
        for i in range(count):
            graph.add_packet_to_input_stream("in", Packet(i, i))
            if i % 3 == 0:
                graph.add_packet_to_input_stream("other", Packet(i, i))
    except penstock.PenstockError:
        return  # the run has ended meanwhile, which is what some are for


@pytest.mark.parametrize("threads", [0, 1, 4])
@pytest.mark.parametrize("how", sorted(MIDDLES))
def test_it_adds_up_however_the_calculators_end_the_run(make, how, threads) -> None:
    graph = full_graph(make, MIDDLES[how], threads)
    graph.observe_output_stream("b", lambda *_: None)
    poller = graph.add_output_stream_poller("c")
    graph.start_run()
    feed_what_it_takes(graph, 60)
    graph.close_all_input_streams()
    end_of(graph)

    ledger = graph.ledger()
    assert ledger.adds_up, str(ledger)
    assert ledger.added > 60 or how == "error in open"  # which may come before the first packet
    while poller.next(TIMEOUT) is not None:
        assert graph.ledger().adds_up
    assert graph.ledger().adds_up


def fail_observing(_, packet):
    if packet.payload == 20:
        raise ValueError("no")


ENDS = {
    "cancel": lambda graph: graph.cancel(),
    "close with packets left": lambda graph: graph.close_all_packet_sources(),
    "close after idle": lambda graph: (graph.wait_until_idle(TIMEOUT), graph.close_all_input_streams()),
    "pause and cancel": lambda graph: (graph.pause(), graph.cancel()),
}


@pytest.mark.parametrize("threads", [0, 1, 4])
@pytest.mark.parametrize("how", sorted(ENDS))
def test_it_adds_up_however_the_application_ends_the_run(make, how, threads) -> None:
    graph = full_graph(make, Pass, threads)
    graph.observe_output_stream("a", lambda *_: None, observe_timestamp_bounds=True)
    graph.add_output_stream_poller("c")
    graph.start_run()
    feed_what_it_takes(graph, 60)
    ENDS[how](graph)
    end_of(graph)

    assert graph.ledger().adds_up, str(graph.ledger())
    assert graph.ledger().added > 60


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_it_adds_up_where_an_observer_failed(make, threads) -> None:
    graph = full_graph(make, Pass, threads)
    graph.observe_output_stream("b", fail_observing)
    graph.observe_output_stream("b", lambda *_: None)
    graph.start_run()
    feed_what_it_takes(graph, 60)
    graph.close_all_input_streams()
    end_of(graph)

    ledger = graph.ledger()
    assert ledger.adds_up, str(ledger)
    first, second = [r for r in stream_of(ledger, "b").readers if r.place == "observer"]
    assert first.delivered <= 21
    assert second.delivered == stream_of(ledger, "b").added


def test_it_adds_up_at_every_moment_while_threads_and_observers_work(make) -> None:
    graph = full_graph(make, Pass, 4)
    graph.observe_output_stream("a", lambda *_: None, observe_timestamp_bounds=True)
    graph.observe_output_stream("b", lambda *_: None)
    graph.start_run()
    feeder = threading.Thread(target=feed_what_it_takes, args=(graph, 1500))
    feeder.start()
    seen: set[bool] = set()
    while feeder.is_alive():
        seen.add(graph.ledger().adds_up)
    feeder.join(TIMEOUT)
    graph.close(TIMEOUT)

    assert seen <= {True}
    assert graph.ledger().adds_up
    assert stream_of(graph.ledger(), "in").added == 1500


def test_what_a_limit_cuts_from_lists_is_told_by_ledger_and_why_and_drops_no_packet(make) -> None:
    def process(cc):
        cc.input.count_cut("most is 2", max(cc.input.payload - 2, 0))

    graph = make([(calculator(process, name="Few"), "in"), (Nothing, "in")], "in")
    graph.start_run()
    feed(graph, 5)
    graph.wait_until_idle(TIMEOUT)

    assert graph.why().cuts == graph.ledger().cuts
    graph.close(TIMEOUT)

    ledger, why = graph.ledger(), graph.why()
    assert [(cut.stream, cut.place, cut.reason, cut.count) for cut in ledger.cuts] == [
        ("in", "node 'Few' input 0", "most is 2", 3)  # 0 + 0 + 0 + 1 + 2
    ]
    assert (ledger.delivered, ledger.dropped, ledger.adds_up) == (10, 0, True)
    line = "cut 3 elements from lists on 'in' at node 'Few' input 0: most is 2"
    assert str(ledger).splitlines()[-2:] == [line, "every packet is accounted for"]
    assert str(why).splitlines() == ["the run is over: its sources and graph inputs have ended", f"  {line}"]


def test_what_a_source_throws_away_counts_as_written_and_dropped_before_its_readers(make) -> None:
    def process(cc):
        cc.output.count_dropped("not the newest", cc.input.payload)
        cc.output.add(cc.input.payload, cc.input_timestamp)

    graph = make([(calculator(process, name="Camera"), "in", "out"), (Nothing, "out")], "in")
    graph.start_run()
    feed(graph, 4)
    graph.close(TIMEOUT)

    ledger = graph.ledger()
    account = stream_of(ledger, "out")
    assert (account.added, account.dropped, ledger.adds_up) == (10, {"not the newest": 6}, True)
    assert [reader.delivered for reader in account.readers] == [4]
    assert [(drop.place, drop.count) for drop in account.drops] == [("node 'Camera'", 6)]
    assert next(one for one in graph.snapshot().streams if one.name == "out").dropped == 6


def test_fewer_than_no_packets_cannot_have_been_thrown_away(make) -> None:
    few = calculator(lambda cc: cc.output.count_dropped("late", -1), name="Few")
    graph = make([(few, "in", "out")], "in")
    graph.start_run()
    feed(graph, 1)

    with pytest.raises(GraphRunError, match=r"stream 'out': its output cannot have dropped -1 packets; give"):
        graph.close(TIMEOUT)
    assert graph.ledger().adds_up


def test_one_element_is_cut_in_the_singular(make) -> None:
    few = calculator(lambda cc: cc.input.count_cut("most is 2"), name="Few")
    graph = make([(few, "in")], "in")
    graph.start_run()
    feed(graph, 1)
    graph.close(TIMEOUT)

    assert str(graph.ledger().cuts[0]).startswith("cut 1 element from lists on 'in'")


def test_fewer_than_no_elements_cannot_have_been_cut(make) -> None:
    graph = make([(calculator(lambda cc: cc.input.count_cut("most", -1), name="Few"), "in")], "in")
    graph.start_run()
    feed(graph, 1)

    with pytest.raises(
        GraphRunError, match=r"input port of 'in': -1 elements cannot have been cut; give 0 or more"
    ):
        graph.close(TIMEOUT)
    assert graph.ledger().cuts == ()


# --- as words -------------------------------------------------------------------------------------


def test_the_table_has_a_line_for_each_reader_and_each_drop(make) -> None:
    def process(cc):
        if cc.input.payload:
            cc.input.count_dropped("not zero")

    graph = make([(calculator(process, name="Picky"), "in"), (Nothing, "in")], "in")
    graph.start_run()
    feed(graph, 3)
    graph.close(TIMEOUT)

    assert str(graph.ledger()).splitlines() == [
        "stream  place                        added  delivered  dropped  in flight",
        "in      graph input                      3",
        "          to node 'Picky' input 0                   1        2",
        "          to node 'Nothing' input 0                 3",
        "dropped 2 of 'in' at node 'Picky' input 0: not zero",
        "every packet is accounted for",
    ]


def test_accounts_that_do_not_add_up_say_so_and_name_the_stream(make, runner_of) -> None:
    graph = make([(Nothing, "in")], "in")
    graph.start_run()
    feed(graph, 3)
    graph.close(TIMEOUT)
    stream = runner_of(graph).schedule.streams[0]
    stream.added += 1  # as if the engine had lost one

    assert not graph.ledger().adds_up
    assert str(graph.ledger()).endswith("does not add up: 'in'")


def test_packets_for_a_node_that_could_not_open_count_as_dropped_at_the_end(make) -> None:
    def fail(cc) -> None:
        raise ValueError("no")

    graph = make([(calculator(open=fail, name="Closed"), "in")], "in", threads=0)
    graph.start_run()
    feed(graph, 2)
    end_of(graph)

    assert drops_of(graph.ledger()) == [("in", "node 'Closed' input 0", "the node never opened", 2)]


def test_packets_that_overlapping_calls_wrote_behind_a_failed_one_count_as_dropped(make) -> None:
    later = threading.Event()

    def process(cc) -> None:
        if cc.input_timestamp == 0:
            assert later.wait(TIMEOUT)
            raise ValueError("first")
        cc.output.add("held back", cc.input_timestamp)
        later.set()

    graph = make([(calculator(process, name="Over"), "in", "out", "max_in_flight: 2")], "in")
    graph.start_run()
    feed(graph, 2)
    end_of(graph)

    assert ("out", "node 'Over'", "the run had failed", 1) in drops_of(graph.ledger())
    assert graph.ledger().adds_up
