from __future__ import annotations

import logging
import queue
import signal
import threading
import time

import pytest

from penstock.errors import FailedPreconditionError, InvalidArgumentError, WaitTimeoutError
from penstock_gpu import gl
from penstock_gpu.contexts import waits
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.contexts.gl_thread import GlThread
from penstock_gpu.errors import GpuUnavailableError

PATIENCE_S = 20


@pytest.fixture(params=["thread", "lock"])
def either(request, make_context):
    """Return a context of each kind."""
    return make_context(name="either", thread=request.param == "thread")


def test_a_context_says_what_it_is(context):
    assert (context.name, context.api) == ("main", "gl")
    assert context.version >= (3, 3)
    assert context.renderer
    assert context.vendor
    assert context.has_extension("GL_ARB_texture_storage") == ("GL_ARB_texture_storage" in context.extensions)
    assert not context.has_extension("GL_PENSTOCK_none")
    assert repr(context).startswith("<GlContext 'main': gl ")
    assert context.run(lambda: gl.get_string(gl.GL_RENDERER)) == context.renderer


def test_a_context_without_a_name_gets_a_number(make_context):
    first, second = make_context(), make_context()

    assert first.name.startswith("context ")
    assert first.name != second.name


@pytest.mark.parametrize(("api", "least"), [("gl", (3, 3)), ("gles", (3, 0))])
def test_the_api_is_chosen(make_context, api, least):
    context = make_context(api=api)

    assert context.api == api
    assert context.version >= least
    assert ("OpenGL ES" in context.run(lambda: gl.get_string(gl.GL_VERSION))) == (api == "gles")


def test_desktop_gl_is_a_core_profile(context):
    assert context.run(lambda: gl.get_integer(gl.GL_CONTEXT_PROFILE_MASK)) == gl.GL_CONTEXT_CORE_PROFILE_BIT


def test_an_unknown_api_is_refused(gl_available):
    with pytest.raises(
        InvalidArgumentError,
        match='a GlContext cannot have the API \'vulkan\', expected "gl", "gles" or None',
    ):
        GlContext.create(api="vulkan")


def test_jobs_run_on_the_contexts_own_thread_and_bring_back_their_result(context):
    thread = context.run(threading.current_thread)

    assert thread.name == "penstock-gpu main"
    assert thread.daemon
    assert thread is not threading.current_thread()
    assert context.run(threading.current_thread) is thread


def test_without_a_thread_jobs_run_here_with_the_context_current(make_context):
    context = make_context(thread=False)

    assert context.run(threading.current_thread) is threading.current_thread()
    assert context.run(GlContext.current) is context
    assert GlContext.current() is None
    with pytest.raises(FailedPreconditionError, match="no GL context is current"):
        gl.make("Texture")


def test_a_context_is_current_in_its_jobs_and_nowhere_else(either, make_context):
    other = make_context(either)

    assert either.run(lambda: (either.is_current(), other.is_current(), GlContext.current() is either)) == (
        True,
        False,
        True,
    )
    assert not either.is_current()
    assert GlContext.current() is None


def test_run_in_a_job_of_the_context_is_a_plain_call(either):
    def outer():
        return threading.get_ident(), either.run(lambda: either.run(threading.get_ident))

    here, inner = either.run(outer)
    assert here == inner


def test_contexts_may_be_nested_and_each_is_current_again_afterwards(make_context):
    first, second = make_context(thread=False, name="first"), make_context(thread=False, name="second")
    threaded = make_context(name="threaded")

    def names():
        return GlContext.current().name, gl.make("Framebuffer")

    def look():
        return names()[0], second.run(lambda: (names()[0], first.run(names)[0], names()[0])), names()[0]

    assert first.run(look) == ("first", ("second", "first", "second"), "first")
    assert threaded.run(look) == ("threaded", ("second", "first", "second"), "threaded")
    inside = threaded.run(
        lambda: second.run(lambda: threaded.run(lambda: (names()[0], threading.get_ident())))
    )
    assert inside == ("threaded", threaded.run(threading.get_ident))


def test_objects_of_unshared_contexts_are_apart_also_when_jobs_are_nested(make_context):
    outer, inner = make_context(), make_context(thread=False)

    def fill():
        texture = gl.make("Texture")
        gl.glBindTexture(gl.GL_TEXTURE_2D, texture)
        seen = inner.run(lambda: (bool(gl.glIsTexture(texture)), gl.get_integer(gl.GL_TEXTURE_BINDING_2D)))
        return seen, bool(gl.glIsTexture(texture)), gl.get_integer(gl.GL_TEXTURE_BINDING_2D) == texture

    assert outer.run(fill) == ((False, 0), True, True)


def test_what_a_job_raises_is_raised_to_the_caller_and_the_context_goes_on(either):
    with pytest.raises(ZeroDivisionError) as caught:
        either.run(lambda: 1 // 0)

    assert any(entry.name == "<lambda>" for entry in caught.traceback)
    assert either.run(lambda: "well") == "well"


def test_an_error_keeps_no_frame_of_the_waiting_thread_alive(either, freed):
    class Marker:
        pass

    import gc  # to look
    import weakref  # to look

    gc.collect()
    gc.disable()
    try:

        def fail():
            marker = Marker()
            seen.append(weakref.ref(marker))
            raise KeyError(1)

        seen = []
        try:
            either.run(fail)
        except KeyError:
            pass
        else:
            pytest.fail("it did not raise")
        either.run(lambda: None)
        freed(either)
        assert seen[0]() is None
    finally:
        gc.enable()


def test_jobs_run_in_the_order_in_which_they_were_given(either):
    seen = []
    for number in range(100):
        either.post(lambda n=number: seen.append(n))
    either.run(lambda: seen.append("run"))

    assert seen == [*range(100), "run"]


def test_jobs_of_many_threads_never_overlap(either):
    inside, most, ends = [0], [0], []

    def job():
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        gl.glFlush()  # gives other threads a chance
        inside[0] -= 1

    def work():
        for _ in range(200):
            either.run(job)
        ends.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)

    assert (len(ends), most[0]) == (4, 1)


def test_what_a_posted_job_raises_is_logged_and_the_next_one_runs(either, caplog):
    with caplog.at_level(logging.ERROR, "penstock.gpu"):
        either.post(lambda: 1 // 0)
        assert either.run(lambda: 5) == 5

    (record,) = caplog.records
    assert record.getMessage().startswith("a posted job in context 'either' failed: ")
    assert record.exc_info[0] is ZeroDivisionError


def test_a_wait_that_takes_too_long_ends_and_a_job_that_has_not_begun_never_runs(context):
    may_go, ran = threading.Event(), []
    context.post(lambda: may_go.wait(PATIENCE_S))
    try:
        with pytest.raises(
            WaitTimeoutError, match=r"the job .*ran.append.* has not begun, and will not run|<lambda>"
        ):
            context.run(lambda: ran.append(1), timeout=0.01)
    finally:
        may_go.set()

    assert context.run(lambda: list(ran)) == []


def test_a_job_that_still_runs_when_the_wait_is_over_is_said_to(context):
    may_go = threading.Event()
    try:
        with pytest.raises(
            WaitTimeoutError,
            match=r"the GL thread of context 'main' did not end the job .* within 0.01 s: it still runs",
        ):
            context.run(lambda: may_go.wait(PATIENCE_S), timeout=0.01)
    finally:
        may_go.set()
    assert context.run(lambda: "goes on") == "goes on"


def test_a_context_in_use_without_a_thread_is_waited_for_as_long_as_asked(make_context):
    context = make_context(thread=False, name="busy")
    has_begun, may_go = threading.Event(), threading.Event()

    def hold():
        has_begun.set()
        may_go.wait(PATIENCE_S)

    holder = threading.Thread(target=lambda: context.run(hold))
    holder.start()
    try:
        assert has_begun.wait(PATIENCE_S)
        with pytest.raises(
            WaitTimeoutError, match="has not begun, and will not run: context 'busy' was in use for"
        ):
            context.run(lambda: None, timeout=0.01)
        assert not context.close(timeout=0.01)
    finally:
        may_go.set()
        holder.join(PATIENCE_S)


def test_contexts_that_would_wait_for_each_other_are_told_so(make_context):
    first, second = make_context(name="first"), make_context(name="second")

    with pytest.raises(
        FailedPreconditionError,
        match="context 'first' waits for this job, or for one behind it; post it",
    ):
        first.run(lambda: second.run(lambda: first.run(lambda: None)))

    assert first.run(lambda: second.run(lambda: "well")) == "well"


@pytest.mark.parametrize("have_threads", [(True, True), (False, False), (True, False), (False, True)])
def test_jobs_of_several_threads_that_would_wait_in_a_circle_are_told_so_and_one_of_them_gets_through(
    have_threads, make_context
):
    contexts = [make_context(thread=has_thread) for has_thread in have_threads]
    both_begun = threading.Barrier(2)
    outcomes = []

    def job(other):
        both_begun.wait(PATIENCE_S)
        try:
            outcomes.append(other.run(lambda: "well", timeout=PATIENCE_S))
        except FailedPreconditionError as error:
            outcomes.append("refused: " + str(error).partition(" waits ")[2][:34])

    threads = [
        threading.Thread(target=lambda here=here, other=other: here.run(lambda: job(other)))
        for here, other in (contexts, contexts[::-1])
    ]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE_S)

    assert sorted(outcomes) == ["refused: for this job, or for one behind it", "well"]
    assert time.monotonic() - began < PATIENCE_S
    assert not waits._WAITS
    assert contexts[0].run(lambda: contexts[1].run(lambda: "well")) == "well"


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals are sent by pthread_kill")
@pytest.mark.parametrize("has_begun", [True, False])
def test_ctrl_c_ends_the_wait_and_breaks_nothing(context, has_begun, monkeypatch):
    may_go, begun, is_queued, ran = threading.Event(), threading.Event(), threading.Event(), []
    main = threading.get_ident()
    put = GlThread.put

    def noted_put(self, job):
        put(self, job)
        if job.is_waited_for:
            is_queued.set()

    def block():
        begun.set()
        may_go.wait(PATIENCE_S)
        ran.append("first")

    def interrupt():
        begun.wait(PATIENCE_S)
        is_queued.wait(PATIENCE_S)
        signal.pthread_kill(main, signal.SIGINT)

    monkeypatch.setattr(GlThread, "put", noted_put)
    if not has_begun:
        context.post(block)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            context.run(block if has_begun else lambda: ran.append("second"))
    finally:
        may_go.set()
        thread.join(PATIENCE_S)

    assert context.run(lambda: list(ran)) == ["first"]


def test_a_context_that_ended_says_so(either):
    assert either.close()
    assert either.is_closed
    assert "closed" in repr(either)
    for use in (either.run, either.post):
        with pytest.raises(
            GpuUnavailableError, match="'either' was used after its end; make another with GlContext"
        ):
            use(lambda: None)
    with pytest.raises(GpuUnavailableError, match="was used after its end"):
        either.attachment("key", list)
    with pytest.raises(GpuUnavailableError, match="was used after its end"):
        GlContext.create(either)
    assert either.close()
    assert either.post_deletion(lambda: None) is False


def test_close_does_what_was_posted(either):
    seen = []
    for number in range(5):
        either.post(lambda n=number: seen.append((n, GlContext.current() is either)))

    assert either.close()
    assert seen == [(number, True) for number in range(5)]


def test_close_waits_no_longer_than_asked_and_the_end_comes_all_the_same(make_context):
    context = make_context()
    may_go = threading.Event()
    context.post(lambda: may_go.wait(PATIENCE_S))

    assert not context.close(timeout=0.01)
    may_go.set()
    assert context.close(timeout=PATIENCE_S)


def test_close_in_a_job_of_the_context_ends_it_after_the_job(either):
    def end():
        assert either.close() is False
        return gl.make("Framebuffer")

    assert either.run(end) > 0
    assert either.close()
    assert either.is_closed


def test_who_waits_behind_the_end_is_told(context):
    may_go, errors, is_queued = threading.Event(), queue.SimpleQueue(), threading.Event()

    class Watched:
        """Queues after the present jobs, and records that."""

        def __call__(self):
            errors.put("it ran")

    def late():
        is_queued.set()
        try:
            context.thread.run(context, Watched(), None)
        except GpuUnavailableError as error:
            errors.put(str(error))

    context.post(lambda: may_go.wait(PATIENCE_S))
    assert not context.close(timeout=0)
    thread = threading.Thread(target=late)
    thread.start()
    is_queued.wait(PATIENCE_S)
    may_go.set()
    thread.join(PATIENCE_S)

    assert errors.get(timeout=PATIENCE_S).startswith("context 'main' has ended; make another")


def test_a_thread_that_dies_takes_its_context_along_and_tells_who_waits(make_context, monkeypatch, caplog):
    context = make_context(name="mortal")
    may_go = threading.Event()
    context.post(lambda: may_go.wait(PATIENCE_S))
    errors = queue.SimpleQueue()

    def wait():
        try:
            context.run(lambda: None)
        except GpuUnavailableError as error:
            errors.put(str(error))

    waiting = threading.Thread(target=wait)
    monkeypatch.setattr(
        "penstock_gpu.contexts.gl_thread.drain_errors", lambda _: (_ for _ in ()).throw(SystemExit)
    )
    waiting.start()
    may_go.set()
    waiting.join(PATIENCE_S)
    monkeypatch.undo()

    assert errors.get(timeout=PATIENCE_S).startswith("context 'mortal' ")
    assert context.thread.join(PATIENCE_S)
    assert context.is_closed
    assert "the thread of context 'mortal' died" in caplog.text
    with pytest.raises(GpuUnavailableError, match="'mortal' was used after its end"):
        context.run(lambda: None)


def test_attachments_are_made_once_in_the_context_and_disposed_in_it_last_made_first(either):
    seen = []

    def make(name):
        assert either.is_current()
        seen.append(f"make {name}")
        return name

    def dispose(name):
        seen.append(f"dispose {name} {GlContext.current() is either} {gl.make('Framebuffer') > 0}")

    assert either.attachment(1, lambda: make("a"), dispose) == "a"
    assert either.run(lambda: either.attachment(2, lambda: make("b"), dispose)) == "b"
    assert either.attachment(1, lambda: make("again"), dispose) == "a"
    assert either.attachment(3, lambda: None) is None
    either.close()

    assert seen == ["make a", "make b", "dispose b True True", "dispose a True True"]


def test_an_attachment_whose_disposal_fails_keeps_no_other_from_its_own(either, caplog):
    disposed = []
    either.attachment("good", list, lambda _: disposed.append(1))
    either.attachment("bad", list, lambda _: 1 // 0)
    with caplog.at_level(logging.ERROR, "penstock.gpu"):
        assert either.close()

    assert disposed == [1]
    assert "division" in caplog.text


def test_a_with_block_ends_the_context(gl_available):
    with GlContext.create() as context:
        assert not context.is_closed
    assert context.is_closed
