"""Workers in a sandbox of the operating system: what they cannot touch, and how they end."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from driving import alive, chains, wait_until

import penstock
from penstock.errors import GraphRunError, InvalidArgumentError, UnavailableError
from penstock_processes.options import SandboxKind, StartMethod
from penstock_processes.process_executor import ProcessExecutor
from penstock_remote.errors import WorkerDiedError

pytestmark = pytest.mark.heavy

#: A file of the sandbox's own home.
ITS_OWN = "~/its own"
SANDBOX = "num_processes: 1 sandbox: BUBBLEWRAP cancel_grace_s: 0.2"


def why_none():
    """Return why no sandbox can be made here; "" where one can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    command = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr


needs_sandbox = pytest.mark.skipif(bool(why_none()), reason=f"no sandbox here: {why_none()}")


@pytest.fixture
def boxed(registry):
    """Make a chain of calculators in sandboxes."""
    with chains(registry, "ProcessExecutor", SANDBOX) as make:
        yield make


@needs_sandbox
@pytest.mark.usefixtures("nothing_left")
def test_a_worker_in_a_sandbox_touches_nothing_of_the_machine(boxed, tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET", "of the driver")
    hidden = tmp_path / "hidden"
    hidden.write_text("a secret")
    here = Path(__file__)
    with socket.create_server(("127.0.0.1", 0)) as server:
        got = boxed("Touches").run(
            ("read", "/etc/passwd"),
            ("read", str(hidden)),
            ("write", str(here.parent / "written")),
            ("connect", server.getsockname()[1]),
            ("environment", "SECRET"),
            ("write", ITS_OWN),
            ("read", ITS_OWN),
            ("processes",),
        )

    assert got[:5] == ["FileNotFoundError", "FileNotFoundError", got[2], "ConnectionRefusedError", None]
    assert got[2] in {"OSError", "FileNotFoundError"}
    assert got[5:7] == [1, "x"]
    assert len(got[7]) <= 2  # bubblewrap's own, and the worker
    assert not Path(ITS_OWN).expanduser().exists()
    assert not (here.parent / "written").exists()


@needs_sandbox
@pytest.mark.usefixtures("nothing_left")
def test_options_open_paths_and_the_network(boxed, tmp_path):
    readable, writable = tmp_path / "in", tmp_path / "out"
    readable.mkdir()
    writable.mkdir()
    (readable / "file").write_text("given")
    allowed = f'{SANDBOX} sandbox_reads: "{readable}" sandbox_writes: "{writable}" sandbox_network: true'
    with socket.create_server(("127.0.0.1", 0)) as server:
        got = boxed("Touches", options=allowed).run(
            ("read", str(readable / "file")),
            ("write", str(readable / "other")),
            ("write", str(writable / "file")),
            ("connect", server.getsockname()[1]),
        )

    assert got == ["given", "OSError", 1, None]
    assert (writable / "file").read_text() == "x"
    assert [path.name for path in readable.iterdir()] == ["file"]


@needs_sandbox
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(
    ("touch", "words"),
    [
        (("signal", signal.SIGKILL), "was killed by SIGKILL"),
        (("signal", signal.SIGSEGV), "was killed by SIGSEGV"),
        (("exit", 3), "ended with exit status 3"),
        (("signal", signal.SIGSTOP), r"was stopped by a signal \(SIGSTOP\) for 1 s"),
    ],
)
def test_a_death_in_a_sandbox_is_reported_as_any_other(boxed, touch, words):
    driven = boxed("Touches", options=f"{SANDBOX} stopped_timeout_s: 1")
    with pytest.raises(GraphRunError, match=words) as caught:
        driven.run(touch)
    causes = [caught.value]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    assert isinstance(causes[-1], WorkerDiedError)


@needs_sandbox
def test_nothing_of_a_sandbox_lives_when_its_graph_is_closed(boxed):
    driven = boxed("Waits")
    driven.graph.start_run()
    driven.add(0)
    driven.graph.wait_for_observed_output(60)
    driven.add(600, start=1)
    family = bubblewraps()
    assert family

    driven.graph.cancel()
    with pytest.raises(GraphRunError, match="cancelled"):
        driven.graph.close(30)

    assert wait_until(lambda: not any(alive(pid) for pid in family))


def bubblewraps():
    """Return the processes called bwrap, the workers among them, which begin as a copy of it."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and alive(path.name):
            try:
                parent = (path / "stat").read_text().rpartition(")")[2].split()[1]
                names = {(path / "comm").read_text(), Path(f"/proc/{parent}/comm").read_text()}
            except OSError:
                continue  # it has ended meanwhile
            if "bwrap\n" in names:
                found.append(int(path.name))
    return found


@needs_sandbox
def test_a_sandbox_ends_with_a_driver_that_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(DRIVER.format(here=str(Path(__file__).parents[1] / "helpers"), options=SANDBOX))
    before = set(bubblewraps())
    driver = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    try:
        assert driver.stdout.readline() == "worker is at work\n"
        family = set(bubblewraps()) - before
        assert family
    finally:
        driver.kill()
        driver.communicate(timeout=30)

    assert wait_until(lambda: not any(alive(pid) for pid in family))


DRIVER = """
import sys
sys.path.insert(0, {here!r})
from driving import Driven, chains, registry_of_tests

if __name__ == "__main__":
    with chains(registry_of_tests(), "ProcessExecutor", {options!r}) as make:
        driven = make("Waits")
        driven.graph.start_run()
        driven.add(0)
        driven.graph.wait_for_observed_output(60)
        driven.add(600, start=1)
        print("worker is at work", flush=True)
        driven.graph.wait_until_idle(600)
"""


def test_without_bubblewrap_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="no program 'bwrap' on the PATH; install it"):
        ProcessExecutor(1, sandbox=SandboxKind.BUBBLEWRAP)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sandbox_network": True}, "sandbox_network is set, but there is no sandbox"),
        ({"sandbox_reads": ("/usr",)}, "sandbox_reads is set, but there is no sandbox"),
        ({"sandbox": SandboxKind.BUBBLEWRAP, "start": StartMethod.SPAWN}, "needs start: FORKSERVER"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, words):
    with pytest.raises(InvalidArgumentError, match=words):
        ProcessExecutor(1, **options)


@needs_sandbox
@pytest.mark.parametrize("name", ["sandbox_reads", "sandbox_writes"])
@pytest.mark.parametrize("path", ["/", "//", "/usr/.."])
def test_the_whole_file_system_is_refused(name, path):
    with pytest.raises(InvalidArgumentError, match=f"the whole file system, since {name} has {path!r}"):
        ProcessExecutor(1, sandbox=SandboxKind.BUBBLEWRAP, **{name: (path,)})


@needs_sandbox
def test_a_path_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"sandbox_writes has '.*none', which does not exist"):
        ProcessExecutor(1, sandbox=SandboxKind.BUBBLEWRAP, sandbox_writes=(str(tmp_path / "none"),))


def test_a_graph_file_with_a_wrong_sandbox_is_refused(registry):
    text = """
        executor { name: "w" type: "ProcessExecutor"
          options { [penstock_processes.ProcessExecutorOptions.ext] { sandbox_network: true } } }"""
    with pytest.raises(penstock.PenstockError, match="sandbox_network is set, but there is no sandbox"):
        penstock.CalculatorGraph(text, registry=registry).start_run()
