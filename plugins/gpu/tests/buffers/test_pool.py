"""The pool: which textures are used again, how many are kept, and when they are deleted."""

from __future__ import annotations

import gc
import threading

import attrs
import numpy as np
import pytest

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_gpu import GlError, GlTextureView, GpuBuffer, GpuBufferPool, TexturePoolOptions, gl
from penstock_gpu.buffers.gl_texture_object import GlTextureObject
from penstock_gpu.buffers.texture_pool import TexturePool, default_texture
from penstock_gpu.buffers.texture_storage import TextureStorage
from penstock_gpu.formats import GpuBufferFormat as F

FRAMEBUFFER, COLOR, TEXTURE = 0x8D40, 0x8CE0, 0x0DE1


class FakeTexture:
    """A texture without GL, with the methods that pools use."""

    let_go = GlTextureObject.let_go
    is_in_use = False

    def spare(self) -> None:
        """Do nothing: the texture holds no context."""

    def __init__(self, log: Log, width: int, height: int, kind: F) -> None:
        self.log = log
        self.number = len(log.made) + 1
        self.size = (width, height, kind)
        self.home = None
        log.made.append(self.number)

    def delete(self) -> None:
        assert not self.log.locked(), "a texture is deleted while a lock is held"
        self.log.deleted.append(self.number)


class Log:
    """The textures that were made and deleted, by number."""

    def __init__(self) -> None:
        self.made: list[int] = []
        self.deleted: list[int] = []
        self.locks: list = []
        self.group = "the group"
        self.refusal: Exception | None = None

    def make(self, width: int, height: int, kind: F) -> FakeTexture:
        if self.refusal is not None:
            raise self.refusal
        return FakeTexture(self, width, height, kind)

    def locked(self) -> bool:
        return any(lock.locked() for lock in self.locks)


@pytest.fixture
def log():
    return Log()


def pool_of(log: Log, *, is_watched: bool = True, **options: int) -> TexturePool[FakeTexture]:
    """Return a pool of textures without GL; none may be deleted under the lock of one that is watched."""
    made = TexturePool(TexturePoolOptions(**options), log.make, lambda: log.group)
    if is_watched:
        log.locks.append(made._lock)
    return made


def number(texture: FakeTexture) -> int:
    return texture.number


def test_the_first_request_of_a_size_makes_a_texture_that_is_not_kept(log):
    pool = pool_of(log)

    pool.take(4, 3, F.BGRA32).let_go()
    assert (log.made, log.deleted, pool.free, pool.sizes) == ([1], [1], 0, ())

    pool.take(4, 3, F.BGRA32).let_go()
    assert (log.made, log.deleted, pool.free, pool.sizes) == ([1, 2], [1], 1, ((4, 3, F.BGRA32),))

    assert number(pool.take(4, 3, F.BGRA32)) == 2


def test_sizes_and_formats_are_kept_apart(log):
    pool = pool_of(log, min_requests_before_pool=1)
    for size in ((4, 3, F.BGRA32), (3, 4, F.BGRA32), (4, 3, F.RGB24)):
        pool.take(*size).let_go()

    assert number(pool.take(3, 4, F.BGRA32)) == 2
    assert number(pool.take(4, 3, F.RGB24)) == 3
    assert number(pool.take(4, 3, F.BGRA32)) == 1
    assert log.made == [1, 2, 3]


def test_contexts_that_do_not_share_have_textures_of_their_own(log):
    pool = pool_of(log, min_requests_before_pool=1)
    pool.take(4, 3, F.BGRA32).let_go()

    log.group = "another group"

    assert number(pool.take(4, 3, F.BGRA32)) == 2


def test_the_texture_that_came_back_last_is_used_first(log):
    pool = pool_of(log, min_requests_before_pool=1, keep_count=3)
    taken = [pool.take(4, 3, F.BGRA32) for _ in range(3)]
    for index in (1, 0, 2):
        taken[index].let_go()

    assert [number(pool.take(4, 3, F.BGRA32)) for _ in range(3)] == [3, 1, 2]


def test_no_more_are_kept_than_keep_count_less_those_in_use(log):
    pool = pool_of(log, min_requests_before_pool=1, keep_count=2)
    first, second, third, fourth = (pool.take(4, 3, F.BGRA32) for _ in range(4))

    first.let_go()  # three in use
    assert (pool.free, pool.in_use, log.deleted) == (0, 3, [1])
    second.let_go()  # two in use
    assert (pool.free, pool.in_use, log.deleted) == (0, 2, [1, 2])
    third.let_go()  # one in use: one is kept
    assert (pool.free, pool.in_use, log.deleted) == (1, 1, [1, 2])
    fourth.let_go()
    assert (pool.free, pool.in_use, log.deleted) == (2, 0, [1, 2])


def one_frame(pool, nodes: int, last: list) -> None:
    """Take the textures of a chain of nodes while the application still has the last image."""
    before = pool.take(4, 3, F.BGRA32)
    for _ in range(nodes - 1):
        made = pool.take(4, 3, F.BGRA32)
        before.let_go()
        before = made
    if last:
        last.pop().let_go()
    last.append(before)


def test_a_chain_whose_last_image_is_held_makes_no_new_textures_after_its_first_frames(log):
    pool, last = pool_of(log), []
    for _ in range(2):
        one_frame(pool, 5, last)
    made = len(log.made)

    for _ in range(100):
        one_frame(pool, 5, last)

    assert len(log.made) == made
    assert pool.in_use + pool.free == 3

    reference, last = pool_of(log, keep_count=2), []
    for _ in range(3):
        one_frame(reference, 5, last)
    made = len(log.made)
    one_frame(reference, 5, last)
    assert len(log.made) == made + 4  # the reference's rule: all but one are made again for each frame


def test_as_many_are_kept_as_were_in_use_at_once_lately(log):
    pool = pool_of(log, min_requests_before_pool=1, scrub_every=10)
    for texture in [pool.take(4, 3, F.BGRA32) for _ in range(6)]:
        texture.let_go()
    assert (pool.free, pool.in_use, log.deleted) == (6, 0, [])

    for _ in range(10):  # the counts are halved at the tenth request: six are still of the period before
        pool.take(4, 3, F.BGRA32).let_go()
    assert (pool.free, log.deleted) == (6, [])

    for _ in range(10):
        pool.take(4, 3, F.BGRA32).let_go()
    assert (pool.free, len(log.deleted)) == (2, 4)


def test_a_burst_of_a_size_that_nobody_asks_for_any_more_goes_too(log):
    pool = pool_of(log, min_requests_before_pool=1, scrub_every=10)
    for texture in [pool.take(4, 3, F.BGRA32) for _ in range(10)] + [pool.take(4, 3, F.BGRA32)]:
        texture.let_go()
    assert (pool.free, log.deleted) == (11, [])

    for _ in range(20):
        pool.take(8, 8, F.BGRA32).let_go()

    assert len([number for number in log.deleted if number <= 11]) >= 9


def test_of_too_many_free_ones_the_longest_unused_goes(log):
    pool = pool_of(log, min_requests_before_pool=1, keep_count=1)
    first, second = pool.take(4, 3, F.BGRA32), pool.take(4, 3, F.BGRA32)
    second.let_go()
    assert log.deleted == [2]
    first.let_go()
    assert (log.deleted, pool.free) == ([2], 1)

    free, again = pool.take(4, 3, F.BGRA32), pool.take(4, 3, F.BGRA32)
    assert (number(free), number(again)) == (1, 3)


def test_beyond_max_pool_count_the_sizes_asked_for_least_go(log):
    pool = pool_of(log, min_requests_before_pool=1, max_pool_count=2)
    for width, times in ((1, 3), (2, 2)):
        for _ in range(times):
            pool.take(width, 1, F.BGRA32).let_go()
    assert pool.sizes == ((1, 1, F.BGRA32), (2, 1, F.BGRA32))

    pool.take(3, 1, F.BGRA32).let_go()  # asked for once: it goes at once, and with it its texture
    assert pool.sizes == ((1, 1, F.BGRA32), (2, 1, F.BGRA32))
    assert (log.made, log.deleted) == ([1, 2, 3], [3])


def test_a_size_that_was_given_up_gives_its_textures_up_when_they_come_back(log):
    pool = pool_of(log, min_requests_before_pool=1, scrub_every=2)
    held = pool.take(1, 1, F.BGRA32)
    pool.take(2, 1, F.BGRA32).let_go()  # the second request: both counts fall to 0
    assert (pool.sizes, log.deleted) == ((), [2])

    held.let_go()

    assert log.deleted == [2, 1]


def test_what_was_asked_for_long_ago_counts_less_and_goes_in_the_end(log):
    pool = pool_of(log, min_requests_before_pool=2, scrub_every=4)
    for _ in range(3):
        pool.take(1, 1, F.BGRA32).let_go()
    assert pool.sizes == ((1, 1, F.BGRA32),)

    pool.take(2, 1, F.BGRA32).let_go()  # the fourth: 3 -> 1, 1 -> 0
    assert pool.sizes == ((1, 1, F.BGRA32),)
    assert len(pool._counts) == 1
    for _ in range(4):
        pool.take(2, 1, F.BGRA32).let_go()  # the eighth: 1 -> 0, 4 -> 2

    assert pool.sizes == ((2, 1, F.BGRA32),)
    assert pool.free == 1
    assert 2 in log.deleted  # the texture of the first size that was kept


def test_textures_that_come_back_to_a_pool_that_is_gone_are_deleted(log):
    pool = pool_of(log, is_watched=False, min_requests_before_pool=1)
    held, free = pool.take(4, 3, F.BGRA32), pool.take(4, 3, F.BGRA32)
    held_number = number(held)
    pool.options, free_number = attrs.evolve(pool.options), number(free)
    free.let_go()

    del pool
    gc.collect()
    assert held_number not in log.deleted
    held.let_go()

    assert sorted(log.deleted) == sorted([free_number, held_number])


def test_a_pool_that_dies_deletes_what_is_free(log):
    pool = pool_of(log, is_watched=False, min_requests_before_pool=1)
    pool.take(4, 3, F.BGRA32).let_go()
    assert log.deleted == []

    del pool
    gc.collect()

    assert log.deleted == [1]


def test_a_closed_pool_keeps_nothing_and_goes_on(log):
    pool = pool_of(log, min_requests_before_pool=1)
    held = pool.take(4, 3, F.BGRA32)
    pool.take(4, 3, F.BGRA32).let_go()

    pool.close()
    pool.close()
    assert log.deleted == [2]
    held.let_go()
    assert log.deleted == [2, 1]
    pool.take(4, 3, F.BGRA32).let_go()

    assert (log.made, log.deleted, pool.free, pool.in_use) == ([1, 2, 3], [2, 1, 3], 0, 0)


def test_coming_back_waits_for_no_lock_and_is_noticed_by_who_has_it(log):
    """As in a finaliser, which the garbage collection runs while this thread has the lock."""
    pool = pool_of(log, is_watched=False, min_requests_before_pool=1, keep_count=1)
    texture, other = pool.take(4, 3, F.BGRA32), pool.take(4, 3, F.BGRA32)
    (sized,) = pool._pools()

    with sized._lock, pool._lock:
        texture.let_go()
        other.let_go()
    assert log.deleted == []

    assert number(pool.take(4, 3, F.BGRA32)) == 2
    assert (pool.in_use, pool.free) == (1, 0)
    assert log.deleted == [1]


def test_closing_waits_for_no_lock_and_is_noticed_by_who_has_it(log):
    """As for a pool that goes in a garbage collection, which this thread runs while it has the lock."""
    pool = pool_of(log, is_watched=False, min_requests_before_pool=1)
    held, free = pool.take(4, 3, F.BGRA32), pool.take(4, 3, F.BGRA32)
    free.let_go()
    (sized,) = pool._pools()

    with sized._lock:
        pool.close()
        assert log.deleted == []
    held.let_go()

    assert sorted(log.deleted) == [1, 2]


def test_a_texture_is_passed_over_while_a_view_of_it_is_still_to_be_released(log):
    pool = pool_of(log, min_requests_before_pool=1, keep_count=3)
    first, second = pool.take(4, 3, F.BGRA32), pool.take(4, 3, F.BGRA32)
    second.is_in_use = True
    first.let_go()
    second.let_go()

    assert number(pool.take(4, 3, F.BGRA32)) == 1
    assert number(pool.take(4, 3, F.BGRA32)) == 3
    second.is_in_use = False
    assert number(pool.take(4, 3, F.BGRA32)) == 2


def test_a_texture_that_cannot_be_made_is_not_counted(log):
    pool = pool_of(log, min_requests_before_pool=1)
    log.refusal = GlError("glTexImage2D", 0x0505)
    with pytest.raises(GlError):
        pool.take(4, 3, F.BGRA32)
    log.refusal = None

    assert pool.in_use == 0
    pool.take(4, 3, F.BGRA32).let_go()
    assert (pool.in_use, pool.free) == (0, 1)


def test_threads_that_take_and_give_back_at_once_lose_nothing(log):
    pool = pool_of(log, is_watched=False, min_requests_before_pool=1, keep_count=3)
    begin = threading.Barrier(4, timeout=10)
    held_twice: list[int] = []
    held: set[int] = set()

    def work() -> None:
        begin.wait()
        for _ in range(500):
            texture = pool.take(4, 3, F.BGRA32)
            if number(texture) in held:
                held_twice.append(number(texture))
            held.add(number(texture))
            held.discard(number(texture))
            texture.let_go()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert not held_twice
    assert pool.in_use == 0
    assert pool.free == len(set(log.made)) - len(set(log.deleted)) <= 3
    assert len(log.deleted) == len(set(log.deleted))


@pytest.mark.parametrize(
    ("option", "value", "least"),
    [
        ("keep_count", -1, 0),
        ("max_pool_count", -1, 0),
        ("min_requests_before_pool", 0, 1),
        ("scrub_every", 0, 1),
    ],
)
def test_options_out_of_range_are_refused(option, value, least):
    with pytest.raises(InvalidArgumentError, match=f"{option} is {value}, but must be at least {least}"):
        TexturePoolOptions(**{option: value})


def test_the_defaults_are_those_of_the_reference_but_for_how_many_are_kept():
    assert attrs.astuple(TexturePoolOptions()) == (None, 10, 2, 50)


def test_within_its_scope_a_pool_is_used_by_default(log):
    outer, inner = (pool_of(log, is_watched=False, min_requests_before_pool=1) for _ in range(2))

    with outer.used_by_default():
        with inner.used_by_default():
            texture = default_texture(4, 3, F.BGRA32, log.make)
            assert (inner.in_use, outer.in_use) == (1, 0)
        other = default_texture(4, 3, F.BGRA32, log.make)
        assert (inner.in_use, outer.in_use) == (1, 1)
        seen = []
        thread = threading.Thread(target=lambda: seen.append(default_texture(4, 3, F.BGRA32, log.make)))
        thread.start()
        thread.join()
    outside = default_texture(4, 3, F.BGRA32, log.make)

    assert (inner.in_use, outer.in_use) == (1, 1)
    assert seen[0].home is outside.home is None
    for each in (texture, other):
        each.let_go()


# --- with GL ---------------------------------------------------------------------------------------------


def buffer_pool(**options: int) -> GpuBufferPool:
    return GpuBufferPool(TexturePoolOptions(**options))


def fill(buffer: GpuBuffer, *color: float) -> int:
    with buffer.write_view(GlTextureView) as view:
        framebuffer = gl.make("Framebuffer")
        gl.glBindFramebuffer(FRAMEBUFFER, framebuffer)
        gl.glFramebufferTexture2D(FRAMEBUFFER, COLOR, view.target, view.name, 0)
        gl.glClearColor(*color)
        gl.glClear(gl.GL_COLOR_BUFFER_BIT)
        gl.glBindFramebuffer(FRAMEBUFFER, 0)
        gl.delete("Framebuffer", framebuffer)
        return view.name


def test_a_buffer_of_the_pool_draws_to_a_texture_that_was_used_before(context, freed):
    pool = buffer_pool(min_requests_before_pool=1)
    names = set()
    for shade in range(5):
        buffer = context.run(lambda: pool.get(7, 5))
        names.add(context.run(lambda buffer=buffer, shade=shade: fill(buffer, shade / 255, 0, 0, 1)))
        assert (buffer.width, buffer.height, buffer.format, buffer.storages()) == (
            7,
            5,
            F.BGRA32,
            ("TextureStorage",),
        )
        assert (buffer.array() == (shade, 0, 0, 255)).all()
        assert (pool.in_use, pool.free) == (1, 0)
        del buffer
        freed(context)
        assert (pool.in_use, pool.free) == (0, 1)

    assert len(names) == 1
    pool.close()


def test_a_pool_needs_a_context_and_a_size_and_a_format(context):
    pool = buffer_pool(min_requests_before_pool=1)

    with pytest.raises(FailedPreconditionError, match="no GL context is current on this thread"):
        pool.get(7, 5)
    with pytest.raises(
        InvalidArgumentError, match="a texture of 0x5 cannot be allocated, the context allows 1 to "
    ):
        context.run(lambda: pool.get(0, 5))
    with pytest.raises(InvalidArgumentError, match="GPU buffer format I420 has several planes"):
        context.run(lambda: pool.get(4, 4, F.I420))
    with pytest.raises(InvalidArgumentError, match="GPU buffer format 7 does not exist"):
        context.run(lambda: pool.get(4, 4, 7))
    assert pool.in_use == 0


def test_empty_buffers_and_uploads_take_their_textures_from_the_default_pool(context, freed):
    pool = buffer_pool(min_requests_before_pool=1)
    empty, full = GpuBuffer(7, 5), GpuBuffer.of_array(np.ones((5, 7, 4), np.uint8))

    def use() -> None:
        with pool.used_by_default():
            fill(empty, 0, 0, 0, 0)
            full.read_view(GlTextureView).release()

    context.run(use)

    assert pool.in_use == 2
    empty = full = None
    freed(context)
    assert (pool.in_use, pool.free) == (0, 2)
    pool.close()


def test_a_view_keeps_its_texture_out_of_the_pool(context):
    pool = buffer_pool(min_requests_before_pool=1)

    def use() -> None:
        buffer = pool.get(7, 5)
        view = buffer.write_view(GlTextureView)
        del buffer
        assert (pool.in_use, pool.free) == (1, 0)
        view.release()
        assert (pool.in_use, pool.free) == (0, 1)

    context.run(use)
    pool.close()


def test_who_draws_to_a_used_texture_waits_for_its_last_readers(make_context, context, monkeypatch):
    other = make_context(share=context)
    pool = buffer_pool(min_requests_before_pool=1)
    buffer = context.run(lambda: pool.get(7, 5))
    name = context.run(lambda: fill(buffer, 1, 0, 0, 1))
    fences, waits = [], []
    with monkeypatch.context() as patch:
        patch.setattr(
            gl,
            "glFenceSync",
            lambda *arguments, call=gl.glFenceSync: fences.append(call(*arguments)) or fences[-1],
        )
        other.run(lambda: buffer.read_view(GlTextureView).release())
    monkeypatch.setattr(
        gl,
        "glWaitSync",
        lambda *arguments, call=gl.glWaitSync: waits.append(arguments[0]) or call(*arguments),
    )

    buffer = None
    again = context.run(lambda: pool.get(7, 5))

    assert context.run(lambda: fill(again, 0, 1, 0, 1)) == name
    assert [id(fence) for fence in waits] == [id(fence) for fence in fences]
    assert len(fences) == 1
    pool.close()


def test_textures_that_are_given_up_are_deleted_in_their_context(context, freed):
    pool = buffer_pool(min_requests_before_pool=1, keep_count=2)
    buffers = [context.run(lambda: pool.get(7, 5)) for _ in range(4)]
    names = [context.run(lambda buffer=buffer: fill(buffer, 0, 0, 0, 0)) for buffer in buffers]

    def alive() -> int:
        return context.run(lambda: sum(gl.glIsTexture(name) for name in names))

    assert alive() == 4
    del buffers
    freed(context)
    assert alive() == pool.free == 2
    pool.close()
    assert alive() == pool.free == 0


def test_a_pool_and_its_buffers_in_one_cycle_of_garbage_delete_each_texture_once(context):
    pool = buffer_pool(min_requests_before_pool=1)
    held, free = (context.run(lambda: pool.get(7, 5)) for _ in range(2))
    names = [context.run(lambda buffer=buffer: fill(buffer, 0, 0, 0, 0)) for buffer in (held, free)]
    del free
    deleted = []
    context.run(lambda: None)

    def note(kind: str, *gone: int, call=gl.delete) -> None:
        deleted.extend(gone)
        call(kind, *gone)

    cycle = [pool, held]
    cycle.append(cycle)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(gl, "delete", note)
        pool = held = cycle = None
        gc.collect()
        context.run(lambda: None)

    assert sorted(deleted) == sorted(names)


def test_a_buffer_in_a_cycle_of_garbage_gives_its_texture_back(context):
    pool = buffer_pool(min_requests_before_pool=1)
    held = context.run(lambda: pool.get(7, 5))
    name = context.run(lambda: fill(held, 0, 0, 0, 0))
    cycle = [held]
    cycle.append(cycle)

    held = cycle = None
    assert pool.in_use == 1
    gc.collect()

    assert (pool.in_use, pool.free) == (0, 1)
    again = context.run(lambda: pool.get(7, 5))
    assert context.run(lambda: fill(again, 0, 0, 0, 0)) == name
    pool.close()


def test_garbage_of_a_buffer_and_its_view_gives_no_texture_that_is_still_locked(make_context, context):
    other = make_context(share=context)
    pool = buffer_pool(min_requests_before_pool=1)
    cycle = [context.run(lambda: pool.get(7, 5))]
    cycle += [context.run(lambda: cycle[0].write_view(GlTextureView)), cycle]
    name = cycle[1].name
    may_go = threading.Event()
    context.post(lambda: may_go.wait(20))  # the view is released behind it

    cycle = None
    gc.collect()
    assert (pool.in_use, pool.free) == (0, 1)
    meanwhile = other.run(lambda: pool.get(7, 5))
    assert other.run(lambda: fill(meanwhile, 0, 0, 0, 0)) != name
    may_go.set()
    context.run(lambda: None)
    afterwards = other.run(lambda: pool.get(7, 5))

    assert other.run(lambda: fill(afterwards, 0, 0, 0, 0)) == name
    pool.close()


def test_a_storage_may_be_made_of_a_texture_by_hand(context):
    def use() -> np.ndarray:
        buffer = GpuBuffer.of_storage(TextureStorage(GlTextureObject.create(7, 5, F.RGB24)))
        fill(buffer, 1, 1, 1, 1)
        return buffer.array()

    assert (context.run(use) == 255).all()
