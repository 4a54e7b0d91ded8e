"""Blocks of shared memory, and what carries payloads in them."""

from __future__ import annotations

import gc
import os
import pickle
import random
import threading

import numpy as np
import pytest

from penstock.errors import PacketTypeError
from penstock_formats import ImageFormat, ImageFrame, Matrix
from penstock_processes.arena import Arena, OwnArena, memory_file
from penstock_processes.carrier import IN_ARENA, Carrier
from penstock_processes.plain_payloads import array_of, number_of

SIZE = 1 << 20


@pytest.fixture
def arenas():
    """Return two arenas that both ends have, as one end sees them, and as the other does."""
    files = [memory_file(SIZE) for _ in range(2)]
    here = {0: OwnArena(0, files[0], SIZE), 1: Arena(1, files[1], SIZE)}
    there = {0: Arena(0, files[0], SIZE), 1: OwnArena(1, files[1], SIZE)}
    for file in files:
        os.close(file)
    return here, there


@pytest.fixture
def ends(arenas):
    here, there = arenas
    return Carrier(here[0], here), Carrier(there[1], there)


def take(own, size):
    """Return an array over a new block of an arena."""
    return own.take((size,), np.uint8, size)


def address(array):
    """Return where an array begins."""
    return array.__array_interface__["data"][0]


def test_blocks_do_not_touch_and_come_back_when_their_last_view_is_dead(arenas) -> None:
    own = arenas[0][0]
    chance = random.Random(3)  # noqa: S311  # a test's order
    held = []
    for _ in range(2000):
        if held and chance.random() < 0.5:
            held.pop(chance.randrange(len(held)))
        view = take(own, chance.randrange(1, 40_000))
        if view is not None:
            assert address(view) % 64 == 0
            view[:] = number = chance.randrange(256)
            held.append((view[::2], number))
            del view
        assert all((view == number).all() for view, number in held[:3])
    assert own.free_bytes() < SIZE
    assert all((view == number).all() for view, number in held)

    held.clear()
    gc.collect()

    assert own.free_bytes() == SIZE
    assert take(own, SIZE) is not None, "the free parts have become one again"


def test_an_arena_without_room_says_none(arenas) -> None:
    own = arenas[0][0]
    all_of_it = take(own, SIZE)

    assert take(own, 1) is None
    del all_of_it
    assert take(own, 1) is not None


def test_an_array_that_cannot_be_keeps_no_block(arenas) -> None:
    own = arenas[0][0]

    with pytest.raises(ValueError, match="negative"):
        own.take((-50, -100), np.uint8, 5000)

    assert own.free_bytes() == SIZE


def test_threads_that_take_and_drop_blocks_at_once_lose_nothing(arenas) -> None:
    own = arenas[0][0]

    def work(seed):
        chance = random.Random(seed)  # noqa: S311  # a test's order
        for _ in range(500):
            held = [take(own, chance.randrange(1, 9000)) for _ in range(3)]
            del held

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert own.free_bytes() == SIZE


PAYLOADS = pytest.mark.parametrize(
    "payload",
    [
        np.arange(5000, dtype=np.float64),
        np.arange(7, dtype=np.complex64),
        np.array(2.5),
        np.arange(6000, dtype=">i4"),
        np.arange(6000).astype("datetime64[s]"),
        np.asfortranarray(np.arange(9000, dtype=np.float16).reshape(90, 100)),
        np.rec.array([(1, 2.0), (3, 4.0)]),
        np.arange(10000, dtype=np.int32).reshape(100, 100)[::2, 3:50],
        np.arange(9000, dtype=np.uint8).reshape(30, 100, 3).transpose(1, 0, 2),
        np.zeros((0, 5)),
        np.array(["text", "more text"]),
        {"a": [np.ones(3000), b"x" * 9000, None], "b": (1, 2.5, "text")},
        bytearray(b"y" * 5000),
    ],
)


@PAYLOADS
def test_what_goes_in_comes_out(ends, payload) -> None:
    here, there = ends

    found = there.loads(memoryview(here.dumps(payload)))

    np.testing.assert_equal(found, payload)


@PAYLOADS
def test_the_faster_way_for_arrays_gives_what_numpys_own_gives(ends, payload) -> None:
    here, there = ends
    first = there.loads(memoryview(here.dumps(payload)))
    there.loads(memoryview(here.dumps(np.ones(5000))))

    found = there.loads(memoryview(here.dumps(payload)))

    np.testing.assert_equal(found, payload)
    if isinstance(payload, np.ndarray):
        assert type(found) is type(payload)
        assert found.dtype == payload.dtype
        assert found.flags.writeable == first.flags.writeable
        assert found.flags.f_contiguous == first.flags.f_contiguous


def test_the_faster_way_is_taken_where_the_message_before_had_large_buffers(ends) -> None:
    here, _ = ends
    small = np.arange(3)
    plain = here.dumps(small)
    here.dumps(np.ones(5000))

    message = here.dumps(small)

    assert b"numeric" in plain
    assert b"numeric" not in message
    assert here.dumps(small) == plain, "the message before had none"


def test_a_block_that_has_just_become_free_is_taken_first(arenas) -> None:
    own = arenas[0][0]
    _kept, freed, other = take(own, 5000), take(own, 6000), take(own, 6000)
    places = [address(block) for block in (freed, other)]
    del freed
    del other

    again = [take(own, 6000) for _ in range(2)]

    assert [address(block) for block in again] == places[::-1]


def test_images_and_matrices_come_read_only_without_a_copy(ends) -> None:
    here, there = ends
    frame = ImageFrame(np.full((50, 60, 3), 9, np.uint8), ImageFormat.SRGB)
    matrix = Matrix(np.ones((40, 50), np.float32))

    message = here.dumps([frame, matrix])
    found_frame, found_matrix = there.loads(memoryview(message))

    assert len(message) < 1000
    assert found_frame.format is ImageFormat.SRGB
    assert np.array_equal(found_frame.array, frame.array)
    assert np.array_equal(found_matrix.array, matrix.array)
    assert not found_frame.array.flags.writeable


def test_small_buffers_go_in_the_message(ends) -> None:
    here, there = ends

    message = here.dumps(np.zeros(IN_ARENA - 1, np.uint8))

    assert len(message) > IN_ARENA
    assert here.lent_count() == 0
    assert there.loads(memoryview(message)).size == IN_ARENA - 1


def test_a_block_is_lent_until_the_other_end_has_said_that_its_views_are_dead(ends) -> None:
    here, there = ends
    found = there.loads(memoryview(here.dumps(np.ones(5000))))
    part = found[10:20]
    del found
    here.loads(memoryview(there.dumps("something")))
    assert here.lent_count() == 1

    del part
    assert here.lent_count() == 1
    here.loads(memoryview(there.dumps("something")))

    assert here.lent_count() == 0


def test_what_lies_in_an_arena_that_both_have_goes_by_reference(ends, arenas) -> None:
    here, there = ends
    made = here.empty((100, 100), np.uint8)
    made[:] = 7
    free = arenas[0][0].free_bytes()

    found = there.loads(memoryview(here.dumps(made)))
    back = here.loads(memoryview(there.dumps(found)))

    assert arenas[0][0].free_bytes() == free, "no other block was taken"
    made[0, 0] = 8
    assert found[0, 0] == back[0, 0] == 8


def test_an_array_too_small_too_large_or_of_objects_is_ordinary_memory(ends) -> None:
    here, _ = ends

    for shape, dtype in [((10,), np.uint8), ((SIZE * 2,), np.uint8), ((5000,), object)]:
        array = here.empty(shape, dtype)
        assert array.shape == shape
        assert array.flags.owndata


def test_what_cannot_be_pickled_keeps_no_block(ends) -> None:
    here, _ = ends

    with pytest.raises(TypeError, match="lock"):
        here.dumps([np.ones(5000), threading.Lock()])

    assert here.lent_count() == 0


def test_a_released_end_sends_all_in_the_message(ends) -> None:
    here, there = ends
    here.release()

    message = here.dumps(np.ones(5000))

    assert len(message) > 40_000
    assert there.loads(memoryview(message)).sum() == 5000


class Evil:
    def __reduce__(self):
        return os.getenv, ("HOME",)


@pytest.mark.parametrize("payload", [Evil(), [1, {"a": Evil()}], threading.Event, os.system])
def test_a_plain_end_makes_no_object_of_other_classes(arenas, payload) -> None:
    here, there = arenas
    plain = Carrier(there[1], there, is_plain=True)

    with pytest.raises(PacketTypeError, match="codec NO_PICKLE lets no"):
        plain.loads(memoryview(Carrier(here[0], here).dumps(payload)))


class Pointers:
    """Says that bytes are objects: what reads them reads where they point."""

    def __init__(self, made_by, *arguments):
        self._made = made_by, arguments

    def __reduce__(self):
        return self._made


@pytest.mark.parametrize(
    "payload",
    [
        Pointers(np.ndarray, (1,), "O", b"12345678"),
        Pointers(array_of, (1,), "O", b"12345678"),
        Pointers(array_of, (1,), "|O", b"12345678"),
        Pointers(array_of, (1,), [("a", "O")], b"12345678"),
        Pointers(number_of, "O", b"12345678"),
        Pointers(np.dtype, "f8"),
        Pointers(array_of, (2,), "<f8", b"12345678"),
    ],
)
def test_a_plain_end_takes_no_bytes_for_objects_nor_more_than_there_are(arenas, payload) -> None:
    here, there = arenas
    plain = Carrier(there[1], there, is_plain=True)

    with pytest.raises((PacketTypeError, TypeError), match=r"codec NO_PICKLE lets no|too small"):
        plain.loads(memoryview(Carrier(here[0], here).dumps(payload)))


@pytest.mark.parametrize(
    "payload", [np.array([None]), np.zeros(2, "f4,i4"), np.array(["text"]), np.datetime64(5, "s")]
)
def test_a_plain_end_sends_no_arrays_but_of_numbers(arenas, payload) -> None:
    here, _ = arenas
    plain = Carrier(here[0], here, is_plain=True)

    with pytest.raises(PacketTypeError, match="only arrays of numbers"):
        plain.dumps(payload)
    assert plain.lent_count() == 0


def test_a_plain_end_makes_the_payloads_that_the_packs_have(arenas) -> None:
    from penstock_formats import Detection, Tensor

    here, there = arenas
    plain = Carrier(there[1], there, is_plain=True)
    payloads = [
        np.arange(3), np.ones(5000), np.arange(12).reshape(3, 4).T, np.array(7), np.zeros((0, 3), bool),
        np.arange(3, dtype=">i2"), np.array([1 + 2j]), np.float32(2.5), np.bool_(True),
        "text", b"bytes", 5, None, (1.5, True), {"a": [1]},
        Matrix(np.ones((2, 2), np.float32)), Detection(label=["cat"]),
    ]  # fmt: skip
    assert Tensor

    for payload in payloads:
        found = plain.loads(memoryview(Carrier(here[0], here, is_plain=True).dumps(payload)))
        assert type(found) is type(payload)
        if isinstance(payload, np.ndarray):
            assert (found.dtype, found.shape) == (payload.dtype, payload.shape)
            assert np.array_equal(found, payload)
        elif not isinstance(payload, Matrix):
            assert found == payload
    assert pickle.loads(pickle.dumps(ImageFormat.SRGB)) is ImageFormat.SRGB  # noqa: S301  # just made


@pytest.mark.parametrize("number", [np.float64(2.5), np.int16(-3), np.bool_(True), np.complex64(1 + 2j)])
def test_a_number_of_numpy_arrives_as_it_is(number) -> None:
    arrived = number_of(number.dtype.str, number.tobytes())

    assert (type(arrived), arrived) == (type(number), number)
