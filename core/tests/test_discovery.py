from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from penstock.errors import InvalidArgumentError, NameClashError, PluginError, UnknownNameError
from penstock.plugins import discovery
from penstock.plugins.discovery import Discovered, PluginHost, Switches
from penstock.plugins.plugin_components import Components
from penstock.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = "from penstock import Components, hookimpl\n"

GATE = """
@hookimpl
def penstock_components():
    return Components(calculators={"Gate": "heavy_gate:Gate"})
"""


class Install(Protocol):
    def __call__(
        self, name: str, source: str, *, point: str = ..., value: str = ..., site: str = ...
    ) -> Path: ...


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a distribution on sys.path as pip would: a module and a dist-info, no mocks.

    Each has a directory of its own, the latest first on the path; its modules are forgotten after
    the test.
    """
    for variable in ("PENSTOCK_BLOCK_PLUGINS", "PENSTOCK_PLUGINS", "PENSTOCK_NO_PLUGINS"):
        monkeypatch.delenv(variable, raising=False)
    before = set(sys.modules)

    def _install(name: str, source: str, *, point: str = "", value: str = "", site: str = "") -> Path:
        directory = tmp_path / (site or name)
        distribution(directory, name, source, point=point, value=value)
        monkeypatch.syspath_prepend(directory)
        return directory

    yield _install
    for module in set(sys.modules) - before:
        if module.startswith(("penstock_try_", "heavy_")):
            del sys.modules[module]


def distribution(directory: Path, name: str, source: str, *, point: str = "", value: str = "") -> None:
    info = directory / f"penstock_try_{name}-1.5.dist-info"
    info.mkdir(parents=True)
    (directory / f"penstock_try_{name}.py").write_text(HEAD + textwrap.dedent(source))
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: penstock-try-{name}\nVersion: 1.5\n")
    target = value or f"penstock_try_{name}"
    (info / "entry_points.txt").write_text(f"[penstock]\n{point or name} = {target}\n")


def load(*names: str, **switches: object) -> tuple[PluginHost, dict[str, Discovered]]:
    """Load just these plugins, whatever else is installed here; return host and records by plugin."""
    host = PluginHost(only=names, **switches)
    return host, {record.name: record for record in host.records if record.name in names}


def filled(host: PluginHost) -> Registry:
    return Registry(host.fill)


# --- what is found ----------------------------------------------------------------------------


def test_a_plugin_is_recorded_with_all_that_its_distribution_says(install) -> None:
    install("gates", GATE + "    # no more")

    host, records = load("gates")

    assert records["gates"] == Discovered(
        name="gates",
        distribution="penstock-try-gates",
        version="1.5",
        module="penstock_try_gates",
        state="loaded",
        components={"calculator": 1},
    )
    assert filled(host).origin("calculator", "Gate").distribution == "penstock-try-gates"


def test_what_a_plugin_brings_is_in_the_registry_by_kind(install) -> None:
    install(
        "all",
        """
        @hookimpl
        def penstock_components():
            return Components(
                calculators={"C": "heavy:C"},
                input_stream_handlers={"I": "heavy:I"},
                output_stream_handlers={"O": "heavy:O"},
                executors={"E": "heavy:E"},
                tracers={"T": "heavy:T"},
                subgraphs={"S": "heavy:S"},
                services={"penstock-try-all.service": "heavy:V"},
                graph_readers={"R": "heavy:R"},
                options={"penstock.XOptions": ("penstock.CalculatorOptions", 7, "heavy:XOptions")},
            )
        """,
    )

    host, records = load("all")
    registry = filled(host)

    assert dict(records["all"].components) == {
        "calculator": 1,
        "input stream handler": 1,
        "output stream handler": 1,
        "executor": 1,
        "tracer": 1,
        "subgraph": 1,
        "service": 1,
        "graph reader": 1,
        "option": 1,
    }
    assert registry.origin("calculator", "C").target == "heavy:C"
    assert registry.origin("input stream handler", "I").target == "heavy:I"
    assert registry.origin("output stream handler", "O").target == "heavy:O"
    assert registry.origin("executor", "E").target == "heavy:E"
    assert registry.origin("tracer", "T").target == "heavy:T"
    assert registry.origin("subgraph", "S").target == "heavy:S"
    assert registry.origin("service", "penstock-try-all.service").target == "heavy:V"
    assert registry.origin("graph reader", "R").target == "heavy:R"
    assert registry.option("penstock.XOptions").origin.plugin == "all"
    assert "heavy" not in sys.modules


def test_a_plugin_may_bring_only_hooks(install) -> None:
    install("quiet", "")

    _, records = load("quiet")

    assert (records["quiet"].state, dict(records["quiet"].components)) == ("loaded", {})


@pytest.mark.parametrize("order", ["abc", "cab", "bca"])
def test_plugins_come_in_name_order_whatever_the_path_order(install, order: str) -> None:
    for name in order:
        install(name, "")

    host = PluginHost(only=list("abc"))

    assert [record.name for record in host.records if record.state == "loaded"] == ["a", "b", "c"]


def test_an_entry_point_may_name_an_object_in_a_module(install) -> None:
    install(
        "object",
        """
        class Plugin:
            @hookimpl
            def penstock_components(self):
                return Components(calculators={"Gate": "heavy_gate:Gate"})

        plugin = Plugin()
        """,
        value="penstock_try_object:plugin",
    )

    _, records = load("object")

    assert (records["object"].state, dict(records["object"].components)) == ("loaded", {"calculator": 1})


def test_a_distribution_that_sys_path_leads_to_twice_counts_once(install, tmp_path, monkeypatch) -> None:
    install("twice", GATE)
    distribution(tmp_path / "again", "twice", GATE)
    monkeypatch.syspath_prepend(tmp_path / "again")

    host, _ = load("twice")

    (record,) = [record for record in host.records if record.name == "twice"]
    assert record.state == "loaded"


# --- what is broken ---------------------------------------------------------------------------


def test_one_broken_plugin_does_not_take_the_others_down(install) -> None:
    install("broken", "import no_such_driver")
    install("good", GATE)

    host, records = load("broken", "good")

    assert records["good"].state == "loaded"
    assert records["broken"].state == "failed"
    assert records["broken"].reason == "ModuleNotFoundError: No module named 'no_such_driver'"
    assert "import no_such_driver" in records["broken"].traceback
    assert filled(host).failures["broken"] == records["broken"].reason


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise SystemExit('no licence')", "SystemExit: no licence"),
        ("raise RuntimeError", "RuntimeError"),
        ("def f(:", "SyntaxError: invalid syntax"),
        (
            """
            @hookimpl
            def penstock_components():
                raise OSError("no table\\n  of names")
            """,
            "OSError: no table of names",
        ),
        (
            """
            @hookimpl
            def penstock_components():
                return {"calculators": {}}
            """,
            "discovery: penstock_components returned dict, not Components",
        ),
        (
            """
            @hookimpl
            def penstock_components():
                return Components(calculators={"Gate": "no target"})
            """,
            "InvalidArgumentError: calculator 'Gate': the registry entry's target 'no target' must be ",
        ),
        (
            """
            @hookimpl
            def penstock_component():
                return Components()
            """,
            (
                "it implements 'penstock_component', a hook that discovery does not know; did you mean "
                "'penstock_components"
            ),
        ),
        (
            """
            @hookimpl
            def something_else():
                pass
            """,
            "it implements 'something_else', a hook that discovery does not know; hooks are penstock_cli, ",
        ),
        (
            """
            @hookimpl(wrapper=True)
            def penstock_run_started(graph):
                return (yield)
            """,
            "its penstock_run_started is a hook wrapper; implementations of plugins are called one by one",
        ),
        (
            """
            @hookimpl
            def penstock_run_started(graph, surprise):
                pass
            """,
            "PluginValidationError: Plugin 'odd' for hook 'penstock_run_started' hookimpl definition: ",
        ),
    ],
)
def test_a_plugin_that_is_wrong_fails_with_its_reason_and_brings_nothing(install, source, reason) -> None:
    install(
        "odd",
        textwrap.dedent(source)
        + """
@hookimpl
def penstock_run_ended(graph, error):
    raise AssertionError("called")

@hookimpl
def penstock_doctor():
    raise AssertionError("called")
""",
    )
    install("good", GATE)

    host, records = load("good", "odd")

    assert records["odd"].state == "failed"
    assert records["odd"].reason.startswith(reason)
    assert "\n" not in records["odd"].reason
    assert dict(records["odd"].components) == {}
    assert (host.run_started, host.run_ended, host.implementations("penstock_doctor")) == ((), (), ())
    assert filled(host).names("calculator") == ["Gate"]


def test_a_failed_plugin_is_a_warning_in_the_log(install, caplog: pytest.LogCaptureFixture) -> None:
    install("broken", "import no_such_driver")

    with caplog.at_level(logging.WARNING, logger="penstock"):
        load("broken")

    assert [record.getMessage() for record in caplog.records if "broken" in record.getMessage()] == [
        "plugin 'broken' of penstock-try-broken failed: ModuleNotFoundError: No module named 'no_such_driver'"
    ]


def test_of_two_plugins_with_one_name_the_first_stays(install) -> None:
    install("a", GATE, point="try_image")
    install("b", GATE.replace("Gate", "Mux"), point="try_image")

    host = PluginHost(only=["try_image"])
    first, second = (record for record in host.records if record.name == "try_image")

    assert (first.distribution, first.state) == ("penstock-try-a", "loaded")
    assert (second.distribution, second.state) == ("penstock-try-b", "failed")
    assert second.reason == (
        "the plugin name 'try_image' of penstock-try-b is taken by penstock-try-a; "
        "rename the entry point of one, or uninstall one"
    )
    assert "penstock_try_b" not in sys.modules
    assert filled(host).names("calculator") == ["Gate"]
    assert dict(filled(host).failures)["try_image of penstock-try-b"] == second.reason


def test_one_module_under_two_plugin_names_is_loaded_once(install) -> None:
    install("one", GATE)
    install("two", "", value="penstock_try_one")

    _, records = load("one", "two")

    assert records["one"].state == "loaded"
    assert (
        records["two"].reason
        == "the plugin's module is loaded already, as plugin 'one'; give each plugin its own"
    )


def test_a_distribution_without_a_version_is_reported(install) -> None:
    directory = install("bare", GATE)
    (directory / "penstock_try_bare-1.5.dist-info" / "METADATA").write_text("Name: penstock-try-bare\n")

    host, _ = load("bare")

    (record,) = [record for record in host.records if record.distribution == "penstock-try-bare"]
    assert (record.state, record.reason) == (
        "failed",
        "cannot be read: the plugin's METADATA has no Version; install it again",
    )


def test_malformed_entry_points_are_reported_for_penstocks_group_and_ignored_elsewhere(install) -> None:
    ours = install("torn", GATE) / "penstock_try_torn-1.5.dist-info" / "entry_points.txt"
    ours.write_text("[penstock]\ntorn\n")
    theirs = install("foreign", "") / "penstock_try_foreign-1.5.dist-info" / "entry_points.txt"
    theirs.write_text("[other]\ntorn\n")
    install("good", GATE)

    host, records = load("good")

    assert records["good"].state == "loaded"
    (torn,) = [record for record in host.records if record.distribution == "penstock-try-torn"]
    assert (torn.state, torn.reason.startswith("cannot be read: ")) == ("failed", True)
    assert not [record for record in host.records if record.distribution == "penstock-try-foreign"]


def test_entry_points_that_are_no_text_are_reported(install) -> None:
    file = install("binary", GATE) / "penstock_try_binary-1.5.dist-info" / "entry_points.txt"
    file.write_bytes(b"[penstock]\n\xff\xfe = x\n")
    install("good", GATE)

    host, records = load("good")

    assert records["good"].state == "loaded"
    (record,) = [record for record in host.records if record.distribution == "penstock-try-binary"]
    assert record.reason.startswith("cannot be read: UnicodeDecodeError: ")


# --- switches ---------------------------------------------------------------------------------

LOUD = "raise AssertionError('imported')"


def test_a_blocked_plugin_is_reported_and_never_imported(install) -> None:
    install("loud", LOUD)
    install("good", GATE)

    host, records = load("good", "loud", block=["loud"])

    assert (records["loud"].state, records["loud"].reason) == (
        "blocked",
        "blocked by name, see PENSTOCK_BLOCK_PLUGINS",
    )
    assert records["good"].state == "loaded"
    with pytest.raises(
        UnknownNameError, match=r"plugins that are not loaded: .*loud \(blocked by name, see PENSTOCK_"
    ):
        filled(host).find("calculator", "Loud")


def test_only_the_named_plugins_are_loaded(install) -> None:
    install("loud", LOUD)
    install("good", GATE)

    host = PluginHost(only=["good"])
    states = {record.name: (record.state, record.reason) for record in host.records}

    assert states["good"] == ("loaded", "")
    assert states["loud"] == ("ignored", "only other plugins are loaded, see PENSTOCK_PLUGINS")


def test_no_plugin_is_loaded(install) -> None:
    install("loud", LOUD)

    host = PluginHost(none=True)

    assert {record.state for record in host.records} == {"ignored"}
    assert {record.reason for record in host.records} == {"no plugins are loaded, see PENSTOCK_NO_PLUGINS"}
    assert filled(host).names("calculator") == []


def test_the_environment_switches_do_the_same_and_arguments_count_more(install, monkeypatch) -> None:
    install("loud", LOUD)
    install("good", GATE)

    monkeypatch.setenv("PENSTOCK_BLOCK_PLUGINS", "loud, other")
    assert {r.name: r.state for r in PluginHost().records}["loud"] == "blocked"
    monkeypatch.setenv("PENSTOCK_BLOCK_PLUGINS", "")
    monkeypatch.setenv("PENSTOCK_PLUGINS", "good")
    assert {r.name: r.state for r in PluginHost().records if r.state == "loaded"} == {"good": "loaded"}
    monkeypatch.setenv("PENSTOCK_NO_PLUGINS", "1")
    assert not [r for r in PluginHost().records if r.state == "loaded"]
    assert [r.name for r in PluginHost(none=False).records if r.state == "loaded"] == ["good"]
    assert not [r for r in PluginHost(none=False, only=[]).records if r.state == "loaded"]


@pytest.mark.parametrize(
    ("variables", "switches"),
    [
        ({}, Switches()),
        ({"PENSTOCK_NO_PLUGINS": "0", "PENSTOCK_PLUGINS": ""}, Switches(only=frozenset())),
        ({"PENSTOCK_BLOCK_PLUGINS": " a ,,b"}, Switches(block=frozenset("ab"))),
    ],
)
def test_switches_are_read_from_the_environment(monkeypatch, variables, switches) -> None:
    monkeypatch.setattr(os, "environ", variables)

    assert Switches.from_environment() == switches


def test_a_switch_of_another_form_is_refused(install, monkeypatch) -> None:
    install("good", GATE)

    with pytest.raises(
        InvalidArgumentError, match=r"^plugin names 'good': must be a collection of names, not a str$"
    ):
        PluginHost(block="good")
    monkeypatch.setenv("PENSTOCK_NO_PLUGINS", "maybe")
    with pytest.raises(
        InvalidArgumentError, match=r"^PENSTOCK_NO_PLUGINS='maybe': must be 1 \(load no plugins\) or 0$"
    ):
        PluginHost()


def test_a_switch_that_names_no_plugin_is_a_warning_in_the_log(install, caplog) -> None:
    install("good", GATE)

    with caplog.at_level(logging.WARNING, logger="penstock"):
        load("good", block=["goood"])

    assert "no plugin is named 'goood'; it is mentioned in a switch" in caplog.messages


# --- clashes and imports, end to end ----------------------------------------------------------


def test_two_distributions_that_claim_one_name_are_both_named_when_it_is_used(install) -> None:
    install("a", GATE)
    install("b", GATE)

    host, records = load("a", "b")
    registry = filled(host)

    assert {record.state for record in records.values()} == {"loaded"}
    with pytest.raises(
        NameClashError, match=r"penstock-try-a \(plugin 'a', .* penstock-try-b \(plugin 'b', .*=b$"
    ):
        registry.find("calculator", "Gate")
    assert filled(load("a", "b", block=["b"])[0]).origin("calculator", "Gate").plugin == "a"


def test_a_component_that_fails_to_import_is_an_error_when_it_is_used(install) -> None:
    directory = install("late", GATE)
    (directory / "heavy_gate.py").write_text("import no_such_driver\n")

    host, records = load("late")

    assert records["late"].state == "loaded"
    with pytest.raises(
        PluginError, match=r"^calculator 'Gate': penstock-try-late \(plugin 'late', heavy_gate:Gate\) "
    ):
        filled(host).find("calculator", "Gate")


# --- hooks ------------------------------------------------------------------------------------


def test_run_hooks_are_tuples_that_are_empty_without_implementations(install) -> None:
    install("good", GATE)

    host, _ = load("good")

    assert (host.run_prepared, host.run_started, host.run_ended) == ((), (), ())


def test_run_hooks_take_the_specifications_arguments_whatever_the_implementation_asks_for(install) -> None:
    install(
        "a",
        """
        seen = []

        @hookimpl
        def penstock_run_started(graph):
            seen.append(("started", graph))

        @hookimpl
        def penstock_run_ended(error):
            seen.append(("ended", error))
        """,
    )
    install(
        "b",
        """
        @hookimpl
        def penstock_run_ended(error, graph):
            import penstock_try_a
            penstock_try_a.seen.append(("b", graph, error))
        """,
    )

    host, _ = load("a", "b")
    for hook in host.run_started:
        hook.call("the graph")
    for hook in host.run_ended:
        hook.call("the graph", "the error")

    assert [hook.plugin for hook in host.run_ended] == ["b", "a"]
    assert sys.modules["penstock_try_a"].seen == [
        ("started", "the graph"),
        ("b", "the graph", "the error"),
        ("ended", "the error"),
    ]


def test_an_unknown_hook_is_refused() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"plugin hook 'penstock_go': must be one of penstock_cli, penstock_comp"
    ):
        PluginHost(none=True).implementations("penstock_go")


# --- components -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"calculators": ["Gate"]}, r"^the plugin's components \['Gate'\]: must map names to targets$"),
        ({"executors": None}, r"^the plugin's components None: must map names to targets$"),
        ({"executors": {"": "m:E"}}, r"^executor: registry entry name '' must be 'Name'"),
        ({"services": {"s": None}}, r"^service 's': the registry entry's target None must be"),
        (
            {"options": {"p.A": ("e.E", "m:A")}},
            r"^the plugin's components: option 'p.A': \('e.E', 'm:A'\) must be \(extendee, extension",
        ),
        (
            {"options": {"p.A": "A"}},
            r"^option 'p.A': the registry entry's target 'A' must be 'module:attribute'",
        ),
        (
            {"options": {"p.A": ("e.E", -1, "m:A")}},
            r"^option 'p.A': the entry's extension number -1 must be an int",
        ),
    ],
)
def test_components_of_another_form_are_refused(fields, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        Components(**fields)


def test_components_are_a_copy_that_cannot_be_changed() -> None:
    names = {"Gate": "m:Gate"}
    components = Components(calculators=names)
    names["Mux"] = "m:Mux"

    assert dict(components.calculators) == {"Gate": "m:Gate"}
    with pytest.raises(TypeError, match="does not support item assignment"):
        components.calculators["Mux"] = "m:Mux"


# --- in a clean process -----------------------------------------------------------------------


def python(script: str, *sites: Path, **environment: str) -> str:
    """Run a script in a new interpreter that sees `sites`; return what it prints."""
    paths = [str(site) for site in sites]
    env = {key: value for key, value in os.environ.items() if not key.startswith("PENSTOCK_")}
    env["PYTHONPATH"] = os.pathsep.join([*paths, *filter(None, [env.get("PYTHONPATH")])])
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**env, **environment},
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.timing
def test_a_hundred_plugins_are_found_without_importing_what_they_bring(tmp_path: Path) -> None:
    source = """
    @hookimpl
    def penstock_components():
        return Components(calculators={f"Calculator{n}_{i}": f"heavy_{n}:Calculator{i}" for i in range(20)})
    """
    sites = []
    for number in range(100):
        site = tmp_path / f"site{number}"
        distribution(site, f"n{number:03}", f"n = {number}\n" + textwrap.dedent(source))
        (site / f"heavy_{number}.py").write_text("raise AssertionError('imported')")
        sites.append(site)
    script = """
    import sys, time
    import penstock.plugins.discovery
    from penstock.plugins.default_registry import default_registry, default_plugin_host
    start = time.perf_counter()
    names = [name for name in default_registry().names("calculator") if name.startswith("Calculator")]
    seconds = time.perf_counter() - start
    assert not [name for name in sys.modules if name.startswith("heavy_")]
    loaded = [record for record in default_plugin_host().records if record.name.startswith("n0")]
    assert len(loaded) == 100 and {record.state for record in loaded} == {"loaded"}
    print(len(names), seconds)
    """

    count, seconds = python(script, *sites).split()

    assert int(count) == 2000
    assert float(seconds) < 5


def test_the_default_registry_is_filled_by_installed_plugins_when_it_is_first_asked(tmp_path: Path) -> None:
    distribution(tmp_path, "gates", GATE)
    (tmp_path / "heavy_gate.py").write_text("class Gate: pass")
    script = """
    import sys
    from penstock.plugins.default_registry import default_registry
    assert "penstock_try_gates" not in sys.modules
    assert "importlib.metadata" not in sys.modules or "penstock.plugins.discovery" not in sys.modules
    print(default_registry().find("calculator", "Gate"))
    """

    assert python(script, tmp_path) == "<class 'heavy_gate.Gate'>\n"


def test_a_plugin_that_asks_for_the_plugins_while_it_is_loaded_fails(
    tmp_path: Path,
) -> None:
    text = "from penstock.plugins import default_registry\ndefault_registry.default_plugin_host()\n"
    distribution(tmp_path, "eager", text)
    script = """
    from penstock.plugins.default_registry import default_plugin_host
    print(*[record.reason for record in default_plugin_host().records if record.name == "eager"])
    """

    assert python(script, tmp_path) == (
        "FailedPreconditionError: the default registry is loading plugins; "
        "a plugin module must not ask for them or run graphs\n"
    )


def test_a_plugin_that_looks_a_name_up_while_it_is_loaded_sees_what_is_there_so_far(tmp_path: Path) -> None:
    distribution(
        tmp_path,
        "eager",
        "from penstock.plugins.default_registry import default_registry\n"
        "seen = default_registry().names('calculator')\n",
    )
    script = """
    from penstock.plugins.default_registry import default_registry
    default_registry().names("calculator")
    import penstock_try_eager
    print(penstock_try_eager.seen)
    """

    assert python(script, tmp_path) == "[]\n"


def test_threads_that_ask_first_together_load_the_plugins_once(tmp_path: Path) -> None:
    distribution(
        tmp_path, "gates", "import builtins\nbuiltins.loads = getattr(builtins, 'loads', 0) + 1\n" + GATE
    )
    script = """
    import builtins, threading
    from penstock.plugins.default_registry import default_registry, default_plugin_host
    barrier = threading.Barrier(8)
    seen = []

    def ask():
        barrier.wait(30)
        seen.append((id(default_plugin_host()), default_registry().has("calculator", "Gate")))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(builtins.loads, len(seen), len(set(seen)))
    """

    assert python(script, tmp_path) == "1 8 1\n"


def test_a_name_registered_in_process_and_by_a_plugin_is_a_clash_when_it_is_used(tmp_path: Path) -> None:
    distribution(tmp_path, "gates", GATE)
    script = """
    import penstock
    from penstock.errors import NameClashError
    from penstock.plugins.default_registry import default_registry

    @penstock.register_calculator
    class Gate(penstock.Calculator):
        pass

    try:
        default_registry().find("calculator", "Gate")
    except NameClashError as error:
        print(error)
    """

    assert python(script, tmp_path) == (
        "calculator 'Gate' is claimed by this process (__main__:Gate) and by penstock-try-gates "
        "(plugin 'gates', heavy_gate:Gate); rename one, or block a plugin: PENSTOCK_BLOCK_PLUGINS=gates\n"
    )
    assert (
        python(
            script.replace("default_registry().find", "print('mine:', default_registry().find").replace(
                '"Gate")', '"Gate"))'
            ),
            tmp_path,
            PENSTOCK_BLOCK_PLUGINS="gates",
        )
        == "mine: <class '__main__.Gate'>\n"
    )


def test_only_discovery_and_the_command_read_entry_points() -> None:
    root = Path(discovery.__file__).parents[1]
    readers = {
        file.relative_to(root).as_posix()
        for file in root.rglob("*.py")
        if re.search(r"importlib\.metadata|ordinary_points\(", file.read_text(encoding="utf-8"))
    }

    assert readers == {"entry_points.py", "plugins/discovery.py", "__main__.py", "freezing/pack_contents.py"}
