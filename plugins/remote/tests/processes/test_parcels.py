"""Calls and answers as messages, whose large arrays travel beside the pickle."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from penstock.errors import PacketTypeError
from penstock_formats import Image, ImageFormat, ImageFrame, Matrix, Tensor
from penstock_processes.arena import Arena, OwnArena, memory_file
from penstock_processes.carrier import Carrier, Lent
from penstock_processes.parcels import pack_answer, pack_call, unpack_answer, unpack_call
from penstock_remote.calls import Answer, Call

SIZE = 1 << 20
LARGE = np.arange(6000, dtype=np.float32).reshape(20, 300)


class Ends:
    """Both ends of a link; each has an arena of its own."""

    def __init__(self, *, is_plain: bool = False) -> None:
        files = [memory_file(SIZE) for _ in range(2)]
        self.own = OwnArena(0, files[0], SIZE)
        here = {0: self.own, 1: Arena(1, files[1], SIZE)}
        self.other = OwnArena(1, files[1], SIZE)
        there = {0: Arena(0, files[0], SIZE), 1: self.other}
        for file in files:
            os.close(file)
        self.here = Carrier(here[0], here, is_plain=is_plain)
        self.there = Carrier(self.other, there, is_plain=is_plain)

    def called(self, *payloads):
        """Return what a node there gets of a call with payloads, and the message."""
        message = pack_call(self.here, 3, Call(1, 40, [(40, False, one) for one in payloads], [7]))
        key, call = unpack_call(self.there, memoryview(message))
        assert (key, call.method, call.stamp, call.bounds) == (3, 1, 40, [7])
        assert [one[:2] for one in call.inputs] == [(40, False)] * len(payloads)
        return [one[2] for one in call.inputs], message

    def tell(self):
        """Let the end there say which blocks nobody looks at any more."""
        self.here.loads(memoryview(self.there.dumps(None)))


@pytest.fixture(params=[False, True], ids=["pickle", "no pickle"])
def ends(request):
    return Ends(is_plain=request.param)


def same(one, other):
    """Return whether two payloads are of a class, and carry the same values."""
    if isinstance(one, Image):
        one, other = one.frame, other.frame
    assert type(one) is type(other)
    if isinstance(one, ImageFrame):
        assert one.format is other.format
    if isinstance(one, np.ndarray | ImageFrame | Matrix | Tensor):
        one, other = np.asarray(one), np.asarray(other)
        return one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other)
    return one == other


LENT = [
    LARGE,
    np.arange(3000) * 1j,
    np.zeros((50, 100), bool),
    ImageFrame(np.full((50, 60, 3), 9, np.uint8), ImageFormat.SRGB),
    ImageFrame(np.full((50, 60, 4), 9, np.uint8), ImageFormat.SBGRA),
    Matrix(LARGE),
    Tensor(np.ones((1, 2000), np.float32)),
]
PICKLED = [
    5,
    "text",
    np.arange(3),
    np.asfortranarray(LARGE),
    LARGE[:, ::2],
    np.arange(6000, dtype=">i4"),
    np.array(["text"] * 2000),
    ImageFrame(np.full((5, 6, 3), 9, np.uint8)),
    Image(ImageFrame(np.full((50, 60, 3), 9, np.uint8))),
]


@pytest.mark.parametrize("payload", LENT)
def test_a_large_array_and_what_wraps_one_go_beside_the_pickle(ends, payload) -> None:
    (found,), message = ends.called(payload)

    assert same(payload, found)
    assert len(message) < 400
    assert b"numeric" not in message, "NumPy's own way"
    assert not np.asarray(found).flags.writeable
    assert ends.here.lent_count() == 1


@pytest.mark.parametrize("payload", PICKLED)
def test_all_else_is_pickled(payload) -> None:
    (found,), _ = Ends().called(payload)

    assert same(payload, found)


def test_payloads_of_all_kinds_keep_their_places(ends) -> None:
    payloads = [5, LARGE, "text", LENT[3], np.arange(3), LARGE * 2]

    found, _ = ends.called(*payloads)

    assert all(same(one, other) for one, other in zip(payloads, found, strict=True))


def test_inputs_without_a_packet_stay_without(ends) -> None:
    call = Call(1, 40, [(39, True), (40, False, LARGE), (38, False)], [1, 2])

    _, found = unpack_call(ends.there, memoryview(pack_call(ends.here, 0, call)))

    assert found.inputs[0] == (39, True)
    assert same(found.inputs[1][2], LARGE)
    assert found.inputs[2] == (38, False)
    assert same(call.inputs[1][2], LARGE), "the call stays as it was"


def test_answers_with_many_packets_and_outputs(ends) -> None:
    outputs = [
        None,
        ([(1, LARGE), (2, "text"), (3, LENT[3])], 4, False),
        ([], 9, True),
        ([(5, LARGE)], 6, False),
    ]
    answer = Answer(outputs, is_stop=True, busy_ns=17, more={"counters": {"n": 1}})

    found = unpack_answer(ends.here, memoryview(pack_answer(ends.there, answer)))

    assert found[1:] == answer[1:]
    assert found.outputs[0] is None
    assert found.outputs[2] == ([], 9, True)
    for one, other in zip(outputs[1::2], found.outputs[1::2], strict=True):
        assert one[1:] == other[1:]
        assert [stamp for stamp, _ in one[0]] == [stamp for stamp, _ in other[0]]
        assert all(same(a, b) for (_, a), (_, b) in zip(one[0], other[0], strict=True))
    assert same(answer.outputs[1][0][0][1], LARGE), "the answer stays as it was"


@pytest.mark.parametrize("payload", LENT)
def test_a_payload_that_is_passed_on_is_not_copied_and_comes_free(ends, payload) -> None:
    (found,), _ = ends.called(payload)
    free = ends.own.free_bytes()

    message = pack_answer(ends.there, Answer([([(1, found)], 2, False)]))
    back = unpack_answer(ends.here, memoryview(message)).outputs[0][0][0][1]

    assert same(back, payload)
    assert np.asarray(back).nbytes > 4096
    assert ends.own.free_bytes() == free
    assert ends.other.free_bytes() == SIZE
    assert ends.there.lent_count() == 1
    del found, back
    ends.there.loads(memoryview(ends.here.dumps(None)))
    assert ends.there.lent_count() == 0
    ends.tell()
    assert ends.here.lent_count() == 0
    assert ends.own.free_bytes() == SIZE


def test_a_part_of_a_block_is_what_the_other_end_gets(ends) -> None:
    (found,), _ = ends.called(LARGE)

    message = pack_answer(ends.there, Answer([([(1, found[5:])], 2, False)]))
    back = unpack_answer(ends.here, memoryview(message)).outputs[0][0][0][1]

    assert same(back, LARGE[5:])


def test_what_comes_can_never_be_written(ends) -> None:
    (found,), _ = ends.called(LARGE)

    with pytest.raises(ValueError, match="WRITEABLE"):
        found.flags.writeable = True
    with pytest.raises(ValueError, match="WRITEABLE"):
        found[2:].flags.writeable = True


def test_nothing_is_lent_where_another_payload_cannot_go(ends) -> None:
    with pytest.raises(TypeError, match="lock"):
        ends.called(LARGE, threading.Lock())

    assert ends.here.lent_count() == 0
    assert ends.own.free_bytes() == SIZE


class Broken:
    """Cannot be made at the other end."""

    def __reduce__(self):
        return int, ("no number",)


def test_blocks_of_a_message_that_cannot_be_read_are_given_back(ends) -> None:
    with pytest.raises((ValueError, PacketTypeError), match=r"no number|NO_PICKLE"):
        ends.called(LARGE, Broken(), LARGE)
    assert ends.here.lent_count() == 2

    ends.tell()

    assert ends.here.lent_count() == 0


def test_an_end_without_room_pickles(ends) -> None:
    kept = ends.own.take((SIZE - 5000,), np.uint8, SIZE - 5000)

    (found,), message = ends.called(LARGE)

    assert same(found, LARGE)
    assert len(message) > LARGE.nbytes
    assert ends.here.lent_count() == 0
    del kept


def test_an_array_of_objects_is_never_read_from_shared_memory(ends) -> None:
    lent = []
    assert ends.here.lend(LARGE, lent)
    token, *where, _ = lent[0].place
    message = ends.here.dumps("text", [Lent((token, *where, "O"), lent[0].block, None)])

    with pytest.raises(PacketTypeError, match="the carrier got an array of kind 'O' in shared memory"):
        ends.there.unpack(memoryview(message))
    ends.tell()

    assert ends.here.lent_count() == 0


def test_a_copy_that_is_broken_off_loses_no_token(ends) -> None:
    found, _ = ends.called(LARGE)
    found.clear()
    lent = []
    assert ends.there.lend(LARGE, lent)
    broken = lent[0]._replace(source=np.ones(7))

    with pytest.raises(ValueError, match="broadcast"):
        ends.there.dumps(None, [broken])
    ends.tell()

    assert ends.here.lent_count() == 0
