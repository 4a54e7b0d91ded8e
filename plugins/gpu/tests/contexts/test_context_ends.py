"""The end of contexts that are not closed: by their last reference, with Python, or never after a fork."""

from __future__ import annotations

import gc
import os
import threading
import time
import weakref
from pathlib import Path

import pytest

from penstock_gpu import egl, gl
from penstock_gpu.contexts import ending, gl_thread, native
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.contexts.gl_thread import Deletion, GlThread
from penstock_gpu.contexts.share_group import ShareGroup
from penstock_gpu.errors import GpuUnavailableError

PATIENCE_S = 20

pytestmark = [pytest.mark.gpu, pytest.mark.heavy]


def resident_pages():
    return int(Path("/proc/self/statm").read_text().split()[1])


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="counts by /proc")


@needs_proc
@pytest.mark.parametrize("has_thread", [True, False])
def test_two_hundred_contexts_leave_no_thread_file_object_or_memory(has_thread, make_context, monkeypatch):
    keeper = make_context(name="keeper")
    textures, fences = [], []
    make_fence, delete_fence = gl.glFenceSync, gl.glDeleteSync

    def counted_make(*arguments):
        fences.append(make_fence(*arguments))
        return fences[-1]

    def counted_delete(fence):
        fences.remove(fence)
        delete_fence(fence)

    monkeypatch.setitem(vars(gl), "glFenceSync", counted_make)
    monkeypatch.setitem(vars(gl), "glDeleteSync", counted_delete)

    def make():
        textures.append(gl.make("Texture"))
        gl.glBindTexture(gl.GL_TEXTURE_2D, textures[-1])  # it exists from here on
        assert gl.glIsTexture(textures[-1])
        return textures[-1]

    def cycle(count):
        for _ in range(count):
            with GlContext.create(keeper, thread=has_thread) as context:
                context.attachment("texture", make, lambda name: gl.delete("Texture", name))
                token = context.run(context.create_sync)
                assert token.wait(PATIENCE_S)
                del token

    cycle(40)
    gc.collect()
    threads, files, pages = threading.active_count(), open_files(), resident_pages()
    objects = len(gc.get_objects())

    cycle(200)

    gc.collect()
    assert (threading.active_count(), open_files()) == (threads, files)
    assert len(textures) == 240
    assert not any(keeper.run(lambda: [gl.glIsTexture(name) for name in textures]))
    assert fences == []
    assert len(gc.get_objects()) - objects < 100
    assert keeper.share_group.contexts() == (keeper,)
    assert (resident_pages() - pages) * os.sysconf("SC_PAGE_SIZE") < 16e6  # a context takes more than 80 kB


def test_a_context_that_nobody_refers_to_ends_by_itself():
    disposed = []
    context = GlContext.create(name="forgotten")
    context.attachment(
        "key", lambda: gl.make("Texture"), lambda _: disposed.append(threading.current_thread().name)
    )
    thread = context.thread
    gone = weakref.ref(context)

    del context

    assert thread.join(PATIENCE_S)
    assert disposed == ["penstock-gpu forgotten"]
    assert gone() is None


def test_a_context_ends_although_its_attachments_refer_to_it():
    def make():
        context = GlContext.create()
        context.attachment("key", lambda: [context])
        return context.thread, weakref.ref(context)

    thread, gone = make()
    deadline = time.monotonic() + PATIENCE_S
    gc.collect()
    while not thread.join(0.1) and time.monotonic() < deadline:
        gc.collect()  # the thread had not left its last job yet

    assert thread.join(0)
    assert gone() is None


def test_a_posted_job_keeps_its_context_until_it_has_run():
    context = GlContext.create()
    may_go, seen = threading.Event(), []
    thread = context.thread
    context.post(lambda: may_go.wait(PATIENCE_S))
    context.post(lambda: seen.append(GlContext.current().name))
    name = context.name

    del context
    may_go.set()

    assert thread.join(PATIENCE_S)
    assert seen == [name]


def test_a_posted_job_that_failed_keeps_no_context(monkeypatch):
    monkeypatch.setattr(gl_thread, "log_lost", lambda *_: None)  # records that tests keep have the traceback
    context = GlContext.create()
    thread = context.thread

    def fail():
        raise ValueError("nobody hears it")

    gc.collect()
    gc.disable()
    try:
        context.post(fail)
        del context
        assert thread.join(PATIENCE_S), "a reference cycle of the error keeps the context"
    finally:
        gc.enable()


@pytest.mark.parametrize("has_thread", [True, False])
@pytest.mark.parametrize("is_dropped", [True, False])
def test_a_close_that_ctrl_c_has_interrupted_is_made_good_by_the_next_one_or_with_the_last_reference(
    has_thread, is_dropped, monkeypatch
):
    context = GlContext.create(thread=has_thread)
    thread = context.thread

    def interrupt(*_):
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(type(thread), "put" if has_thread else "finish", interrupt)
    with pytest.raises(KeyboardInterrupt):
        context.close()
    assert context.is_closed
    if not is_dropped:
        assert context.close(PATIENCE_S)
    del context
    gc.collect()

    ending.end_orphans()
    assert thread.join(PATIENCE_S) if has_thread else thread.has_ended


def test_a_context_whose_thread_cannot_start_is_given_back(monkeypatch):
    made = []
    destroy = native.NativeContext.destroy
    monkeypatch.setattr(native.NativeContext, "destroy", lambda self: (made.append(self), destroy(self)))

    def refuse(_):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            GlContext.create()

    assert len(made) == 1
    with GlContext.create() as context:
        assert context.run(lambda: "well") == "well"


def test_ctrl_c_while_a_context_is_made_leaves_no_thread(monkeypatch):
    start = threading.Thread.start
    started = []

    def interrupt(thread):
        start(thread)
        started.append(thread)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupt)
        with pytest.raises(KeyboardInterrupt):
            GlContext.create()

    started[0].join(PATIENCE_S)
    assert not started[0].is_alive()


def test_a_driver_that_does_not_answer_is_an_error_that_says_so(monkeypatch):
    may_go = threading.Event()
    enter = GlThread._enter

    def stuck(thread):
        may_go.wait(PATIENCE_S)
        enter(thread)

    monkeypatch.setattr(GlThread, "_enter", stuck)
    monkeypatch.setattr(gl_thread, "_START_S", 0.01)
    before = set(threading.enumerate())
    with pytest.raises(
        GpuUnavailableError,
        match=r"the GL driver has not made context 'slow' current on its thread within 0\.01 s",
    ):
        GlContext.create(name="slow")
    may_go.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


@pytest.mark.parametrize("timeout", [float("inf"), 1e12, -1])
def test_close_takes_any_time_out(timeout):
    context = GlContext.create()
    context.close(timeout)

    assert context.close(PATIENCE_S)


def test_a_context_may_be_dropped_on_its_own_thread():
    box = [GlContext.create()]
    thread = box[0].thread
    may_go = threading.Event()
    box[0].post(lambda: may_go.wait(PATIENCE_S) and box.clear())
    may_go.set()

    assert thread.join(PATIENCE_S)
    assert box == []


@pytest.mark.parametrize("has_thread", [True, False])
def test_the_last_reference_may_go_on_any_thread(has_thread):
    disposed = []
    box = [GlContext.create(thread=has_thread)]
    box[0].attachment("key", list, lambda _: disposed.append(threading.get_ident()))
    inner = box[0].thread
    dropper = threading.Thread(target=box.clear)
    dropper.start()
    ident = dropper.ident
    dropper.join(PATIENCE_S)

    if has_thread:
        assert inner.join(PATIENCE_S)
    else:
        assert not inner.has_ended, "a finaliser must not call GL"
        GlContext.create(thread=False).close()
    assert inner.has_ended
    assert len(disposed) == 1
    assert disposed[0] != ident


def test_a_deletion_runs_in_its_context_or_in_another_of_the_group(make_context):
    first, second = make_context(name="first"), make_context(name="second", thread=True)
    third = make_context(first, name="third")
    seen = []

    def note():
        seen.append(GlContext.current().name)

    first.share_group.discard(note, first)
    first.run(lambda: None)
    assert seen == ["first"]

    first.close()
    first.share_group.discard(note, first)
    third.run(lambda: None)
    assert seen == ["first", "third"]

    third.close()
    first.share_group.discard(note, first)
    second.run(lambda: None)
    ShareGroup().discard(note)
    assert seen == ["first", "third"]


@pytest.mark.parametrize("has_thread", [True, False])
def test_a_deletion_that_comes_a_moment_too_late_is_handed_on(has_thread, make_context):
    keeper, seen = make_context(name="keeper"), []
    context = GlContext.create(keeper, thread=has_thread)
    context.close()

    context.thread.put(Deletion(context, lambda: seen.append(GlContext.current().name)))
    keeper.run(lambda: None)

    assert seen == ["keeper"]


@pytest.mark.parametrize("has_thread", [True, False])
def test_deletions_posted_while_a_context_ends_are_done(has_thread, make_context):
    keeper = make_context()
    context = GlContext.create(keeper, thread=has_thread)
    texture = context.run(lambda: gl.make("Texture"))
    context.run(lambda: gl.glBindTexture(gl.GL_TEXTURE_2D, texture))
    context.attachment(
        "owner", list, lambda _: context.share_group.discard(lambda: gl.delete("Texture", texture), context)
    )
    assert keeper.run(lambda: gl.glIsTexture(texture))

    context.close()

    assert not keeper.run(lambda: gl.glIsTexture(texture))


EXIT = """
import threading
from penstock_gpu import gl
from penstock_gpu.contexts.context import GlContext
"""


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("a = GlContext.create(); b = GlContext.create(a, thread=False)", ""),
        ("a = GlContext.create(); a.attachment(1, list, lambda _: print('disposed'))", "disposed\n"),
        (
            "a = GlContext.create(thread=False); a.attachment(1, list, lambda _: print('disposed'))",
            "disposed\n",
        ),
        (
            "a = GlContext.create(thread=False); a.attachment(1, list, lambda _: print('disposed')); del a",
            "disposed\n",
        ),
        ("a = GlContext.create(); t = a.run(a.create_sync)", ""),
        ("a = GlContext.create(); a.post(threading.Event().wait)", ""),
        ("a = GlContext.create(); a.run(lambda: exit())", ""),
        (
            "a = GlContext.create(); threading.Thread(target=a.run, args=[lambda: print('ran')]).start()",
            "ran\n",
        ),
    ],
)
def test_python_ends_quickly_and_quietly_with_open_contexts(python, script, said):
    done = python(EXIT + script, timeout=40)

    assert (done.stdout, done.stderr, done.returncode) == (said, "", 0)


def test_python_ends_although_a_thread_of_gl_is_busy_within_its_time(python):
    done = python(
        EXIT
        + """
import atexit, time
begin = time.monotonic()
a = GlContext.create()
a.post(threading.Event().wait)
atexit._run_exitfuncs()
print(time.monotonic() - begin < 8)
"""
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)


FORK = """
import os, sys, warnings
warnings.simplefilter("ignore")  # newer Pythons warn of threads at a fork
from penstock_gpu import gl
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.errors import GpuUnavailableError

def in_child(work):
    child = os.fork()
    if not child:
        work()
        sys.stdout.flush()
        sys.exit(0)
    print(os.waitpid(child, 0)[1])

def attempt(call):
    try:
        print("no error:", call())
    except GpuUnavailableError as error:
        print(error)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("has_thread", [True, False])
def test_after_a_fork_every_use_says_what_to_do_instead_and_nothing_hangs(python, has_thread):
    done = python(
        FORK
        + f"""
context = GlContext.create(thread={has_thread}, name="c")
token = context.run(context.create_sync)
texture = context.run(lambda: gl.make("Texture"))

def work():
    global context, token
    for call in (lambda: context.run(int), lambda: context.post(int), lambda: context.attachment(1, list),
                 context.create_sync, lambda: GlContext.create(context), GlContext.create):
        attempt(call)
    context.share_group.discard(lambda: print("deleted"), context)
    print(context.close(), context.is_current())
    del token, context

in_child(work)
print(context.run(lambda: bool(gl.glIsTexture(texture)) or "the texture is there"), token.is_ready())
"""
    )

    reason = (
        "was used after fork: this process was forked from one that had native contexts, and drivers do not "
        "survive"
        ' that; start processes with native contexts by "spawn" instead: multiprocessing.get_context("spawn")'
    )
    *errors, closed, status, parent = done.stdout.splitlines()
    assert errors == [f"context 'c' {reason}"] * 4 + [f"GlContext.create {reason}"] * 2
    assert (closed, status) == ("True False", "0")
    assert parent.endswith("True")
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_inside_a_job_does_not_run_on_in_the_child(python):
    done = python(
        FORK
        + """
context = GlContext.create(name="c")

def job():
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    attempt(lambda: context.run(gl.glFlush))
    sys.stdout.flush()
    os._exit(0)

print(context.run(job))
"""
    )
    first, second = done.stdout.splitlines()
    assert first.startswith("context 'c' was used after fork: ")
    assert (second, done.stderr, done.returncode) == ("0", "", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_forked_before_gl_was_used_may_use_it(python):
    done = python(
        FORK
        + """
def work():
    with GlContext.create() as context:
        print(context.run(lambda: gl.make("Texture")) > 0)

in_child(work)
"""
    )
    assert (done.stdout, done.stderr) == ("True\n0\n", "")


def test_contexts_are_watched_only_while_they_live():
    before = len(ending._contexts)
    context = GlContext.create()
    assert len(ending._contexts) == before + 1
    context.close()
    del context
    gc.collect()
    assert len(ending._contexts) <= before


def test_a_thread_leaves_nothing_current_and_frees_what_egl_keeps_for_it(monkeypatch):
    seen = []
    release = egl.Egl.release_thread

    def note(library):
        seen.append((threading.current_thread().name, library.current()))
        release(library)

    monkeypatch.setattr(egl.Egl, "release_thread", note)
    GlContext.create(name="last").close()

    assert seen == [("penstock-gpu last", egl.Binding())]
