"""Scenarios 36, 37 and 39: policies whose results depend on arrival, with arrivals made certain."""

from __future__ import annotations

import pytest


def test_s36_fixed_size_works_on_the_newest_and_settles_nothing_that_it_dropped(bench):
    bench.start(
        bench.net("in", f"SeenPass in -> out | {bench.handler('FixedSize')}"), watch=["out"], bounds=True
    )
    bench.during = {1: lambda: bench.add("in", 1, 2, 3)}
    bench.add_one_by_one("in", 0)

    assert bench.calls == ["0: in=0", "3: in=3"]
    assert bench.seen["out"] == [(0, 0), (3, 3)]
    assert bench.drops() == [("in", "newer packets waited", 2)]
    bench.end()


@pytest.mark.reference(
    "framework/stream_handler/fixed_size_input_stream_handler_test.cc",
    "FixedSizeInputStreamHandlerTest.LateArrivalDrop",
)
@pytest.mark.parametrize(
    ("keeps_all", "expected"),
    [
        (False, {"out0": [5, 6], "out1": [5, 6, 7], "out2": [5, 6, 7]}),
        (True, {"out0": [1, 2, 3, 4, 5, 6], "out1": [3, 4, 5, 6, 7], "out2": [4, 5, 6, 7]}),
    ],
)
def test_s37_a_cut_of_one_queue_cuts_all_unless_each_shall_keep_some(bench, keeps_all, expected):
    options = f"trigger_queue_size: 4 target_queue_size: 3 fixed_min_size: {str(keeps_all).lower()}"
    bench.start(
        bench.net(
            "in0 in1 in2", f"Pass in0 in1 in2 -> out0 out1 out2 | {bench.handler('FixedSize', options)}"
        ),
        watch=["out0", "out1", "out2"],
    )
    bench.add("in0", *range(1, 7))
    bench.add("in1", *range(3, 8))
    bench.idle()
    assert bench.seen == {"out0": [], "out1": [], "out2": []}
    bench.add_one_by_one("in2", *range(4, 8))
    bench.end()

    assert bench.seen == {name: [(t, t) for t in stamps] for name, stamps in expected.items()}


def test_s39_align_moves_the_others_to_the_clock_of_the_base(bench):
    align = bench.handler("TimestampAlign", 'timestamp_base_tag_index: "CAMERA"')
    bench.start(
        bench.net("camera video", f"Pass CAMERA:camera VIDEO:video -> CAMERA:cam VIDEO:vid | {align}"),
        watch=["cam", "vid"],
    )
    cam, vid = bench.seen["cam"], bench.seen["vid"]

    bench.add_one_by_one("camera", 101)
    assert cam == [(101, 101)]
    bench.add_one_by_one("camera", 102)
    bench.add_one_by_one("video", 1)
    assert (cam[1:], vid) == ([(102, 102)], [])
    bench.add_one_by_one("camera", 103)
    assert (cam[2:], vid) == ([(103, 103)], [(103, 1)])
    bench.add_one_by_one("camera", 104)
    assert (cam[3:], vid[1:]) == ([], [])
    bench.add_one_by_one("video", 4)
    assert (cam[3:], vid[1:]) == ([(104, 104)], [])
    bench.end()
    assert (cam[4:], vid[1:]) == ([], [(106, 4)])
