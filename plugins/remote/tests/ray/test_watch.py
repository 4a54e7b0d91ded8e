"""The watch over an actor's process: what the system tells of it, and when it is given up. Needs no Ray."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest
from driving import wait_until

from penstock_ray import process_state, watch
from penstock_ray.messages import Ready
from penstock_ray.process_state import Identity, State, end, own_identity, state_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how a process is")


@pytest.fixture
def child():
    """A process that sleeps, and its identity."""
    one = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    began = process_state._fields(str(one.pid))[process_state._BEGAN]
    yield one, Identity(one.pid, began, own_identity().namespace)
    one.kill()
    one.communicate()


def test_this_process_runs():
    assert state_of(own_identity()) is State.RUNS


def test_a_process_is_seen_to_stop_go_on_and_end(child):
    one, identity = child

    one.send_signal(signal.SIGSTOP)
    assert wait_until(lambda: state_of(identity) is State.STOPPED, 5)
    one.send_signal(signal.SIGCONT)
    assert wait_until(lambda: state_of(identity) is State.RUNS, 5)
    one.kill()
    assert wait_until(lambda: state_of(identity) is State.ENDED, 5), "also while nobody has waited for it"
    one.wait()
    assert state_of(identity) is State.ENDED


def test_a_stopped_process_is_killed(child):
    one, identity = child
    one.send_signal(signal.SIGSTOP)
    assert wait_until(lambda: state_of(identity) is State.STOPPED, 5)

    assert end(identity) is State.STOPPED
    assert one.wait(5) == -signal.SIGKILL
    assert end(identity) is State.ENDED


def test_another_process_with_the_same_number_is_left_alone(child):
    one, identity = child

    assert end(identity._replace(began="1")) is State.ENDED
    assert end(identity._replace(namespace="pid:[1]")) is State.UNKNOWN
    assert end(identity._replace(began="")) is State.UNKNOWN
    assert one.poll() is None


def test_a_child_of_an_actor_lets_go_of_rays_sockets_and_of_no_other(tmp_path):
    folder = tmp_path / "sockets"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as rays:
        server.bind(str(folder / "raylet"))
        server.listen()
        rays.connect(str(folder / "raylet"))
        other, peer = socket.socketpair()
        with other, peer:
            pid = os.fork()
            if not pid:
                process_state.leave_ray()
                try:
                    os.fstat(rays.fileno())
                except OSError:
                    other.send(b"y")  # which shows that this one is open too
                os._exit(0)
            os.waitpid(pid, 0)
            peer.settimeout(5)
            assert peer.recv(1) == b"y"
        assert rays.getpeername() == str(folder / "raylet"), "the parent has it still"


# --- the watch --------------------------------------------------------------------------------


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def watched(monkeypatch):
    """Return a watch on this host with a limit of 10 s, the states that it will see, and its clock."""
    states, asked = [], []

    def state_of(_):
        return states.pop(0)

    def end(identity):
        asked.append(identity)
        return State.STOPPED

    monkeypatch.setattr(watch, "state_of", state_of)
    monkeypatch.setattr(watch, "end", end)
    here = SimpleNamespace(get_node_id=lambda: "here")
    clock = Clock()
    one = watch.Watch(SimpleNamespace(get_runtime_context=lambda: here), 10.0, clock)
    one.begin(Ready(7, "10.0.0.1", "here", Identity(7, "1", "pid:[2]")))
    return one, states, clock, asked


def test_a_process_that_is_stopped_for_too_long_is_killed_and_given_up(watched):
    one, states, clock, killed = watched
    states += [State.STOPPED] * 3
    one.look()
    clock.now = 9.9
    one.look()
    assert not killed
    clock.now = 10.0

    with pytest.raises(watch.LostError, match=r"for 10 s \(stopped_timeout_s\), and was killed"):
        one.look()
    assert killed == [Identity(7, "1", "pid:[2]")]


@pytest.mark.parametrize("between", [State.RUNS, State.UNKNOWN, None])
def test_a_process_that_went_on_meanwhile_is_not_given_up(watched, between):
    one, states, clock, killed = watched
    states += [State.STOPPED, *([] if between is None else [between]), State.STOPPED]
    one.look()
    clock.now = 8.0
    if between is None:
        one.reply_came()
    else:
        one.look()
    clock.now = 16.0
    one.look()
    assert not states
    assert not killed


def test_an_end_that_ray_does_not_see_is_told_at_the_second_look(watched):
    one, states, _, _ = watched
    states += [State.ENDED] * 2
    one.look()

    with pytest.raises(watch.LostError, match="has ended, and Ray has not seen it"):
        one.look()


def test_an_actor_that_has_not_said_who_it_is_is_not_looked_for():
    watch.Watch(None, 1.0).look()
