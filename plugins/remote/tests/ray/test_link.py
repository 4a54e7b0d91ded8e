"""The driver's end of an actor whose process dies, with a cluster that is made up. Needs no Ray."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from penstock.lowlevel import CLOSE, PROCESS
from penstock_ray.link import ActorLink, Lane, Needs
from penstock_ray.options import RayExecutorOptions
from penstock_ray.process_state import Identity
from penstock_remote.api import Call, WorkerDiedError

PATIENCE_S = 20


class RayError(Exception):
    pass


class ActorError(RayError):
    actor_init_failed = False


class Cluster:
    """As the module `ray`: an actor that says that it is ready, takes calls, and dies when a test says so."""

    exceptions = SimpleNamespace(
        RayError=RayError,
        RayActorError=ActorError,
        OutOfMemoryError=type("OutOfMemoryError", (RayError,), {}),
        GetTimeoutError=type("GetTimeoutError", (RayError,), {}),
    )

    def __init__(self):
        self.is_dead = threading.Event()

    def remote(self, _):
        method = SimpleNamespace(remote=lambda *_: "reply")
        ready = SimpleNamespace(remote=lambda: "ready")
        actor = SimpleNamespace(call=method, ready=ready)
        maker = SimpleNamespace(remote=lambda _: actor)
        return SimpleNamespace(options=lambda **_: maker)

    def get(self, ref, timeout):
        if ref == "ready":
            return 7, "10.0.0.1", "node", Identity(7, "1", "here")
        if not self.is_dead.wait(timeout):
            raise self.exceptions.GetTimeoutError
        raise ActorError("The actor is dead because it was killed.")

    def wait(self, refs, **_):
        pass

    def kill(self, actor, **_):
        self.is_dead.set()

    def get_runtime_context(self):
        return SimpleNamespace(get_node_id=lambda: "elsewhere")


@pytest.fixture
def link():
    one = ActorLink(1, Needs(0, 0, (), 1), RayExecutorOptions(batch=4), None, Cluster())
    yield one
    one.join(None)


def test_calls_after_the_death_of_an_actor_with_full_hands_are_answered(link):
    node = SimpleNamespace(name="n", inputs=(), outputs=())
    lane = Lane(1, node, batch=4)

    def called(method, stamp):
        return link.call(lane, None, Call(method, stamp, [], []), lambda _: None)

    calls = [called(PROCESS, stamp) for stamp in range(3)]  # two messages are under way, one call waits
    link._ray.is_dead.set()
    for call in calls:
        assert isinstance(call.exception(PATIENCE_S), WorkerDiedError)

    last = called(CLOSE, 9)

    assert isinstance(last.exception(PATIENCE_S), WorkerDiedError)
