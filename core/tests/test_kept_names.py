"""What plugins bring, kept from one process to the next."""

from __future__ import annotations

import _imp
import marshal
import os
import shutil
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING

import pluggy
import pytest

from penstock.plugins import hookspecs, kept_names

if TYPE_CHECKING:
    from pathlib import Path

#: A package of a plugin, which says when it is imported.
PLUGIN = """
import builtins
from penstock import Components, hookimpl
from penstock_try.names import CALCULATORS

builtins.imports = getattr(builtins, "imports", 0) + 1

@hookimpl
def penstock_components():
    return Components(calculators=CALCULATORS)
"""
NAMES = 'CALCULATORS = {"Turnstile": "penstock_try.code:Turnstile"}\n'

ASKING = """
import builtins
from penstock.plugins.default_registry import default_registry
names = [name for name in default_registry().names("calculator") if name.startswith("Turnstile")]
print(getattr(builtins, "imports", 0), *names)
"""


class Machine:
    """Runs programs one after the other, in an environment with one plugin."""

    def __init__(self, folder: Path) -> None:
        self.caches = folder / "caches"
        self.site = folder / "site"
        self.package = self.site / "penstock_try"
        self.package.mkdir(parents=True)
        self.write("__init__", "")
        self.write("plugin", PLUGIN)
        self.write("names", NAMES)
        self.write("code", "class Turnstile: pass\nclass TurnstileToo: pass\n")
        self.install(self.site, "penstock_try", "try = penstock_try.plugin")
        self.path = [self.site]
        self.variables: dict[str, str] = {}
        #: Where programs run.
        self.folder: Path | None = None

    def write(self, module: str, text: str) -> None:
        """Write a module of the plugin's package as of a minute ago, and later than it was written before."""
        path = self.package / f"{module}.py"
        then = path.stat().st_mtime_ns + 1 if path.exists() else time.time_ns() - 60 * 10**9
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(then, then))

    def install(self, site: Path, name: str, points: str) -> None:
        info = site / f"{name}-1.5.dist-info"
        info.mkdir(parents=True)
        text = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.5\n"
        (info / "METADATA").write_text(text, encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[penstock]\n{points}\n", encoding="utf-8")

    def run(self, program: str = ASKING) -> str:
        kept = ("PENSTOCK_", "PYTHONDONTWRITEBYTECODE")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(kept)}
        environment |= {
            "XDG_CACHE_HOME": str(self.caches),
            "PYTHONPATH": os.pathsep.join(map(str, self.path)),
        }
        ended = subprocess.run(
            [sys.executable, "-P", "-c", textwrap.dedent(program)],
            env=environment | self.variables,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()

    @property
    def file(self) -> Path:
        (file,) = (self.caches / "penstock").iterdir()
        return file


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_second_process_has_the_names_without_importing_the_plugin(machine: Machine) -> None:
    assert machine.run() == "1 Turnstile"
    assert machine.run() == "0 Turnstile"

    found = machine.run("""
        from penstock.plugins.default_registry import default_registry
        registry = default_registry()
        origin = registry.origin("calculator", "Turnstile")
        print(registry.find("calculator", "Turnstile").__name__, origin.owner)
        print(sorted(registry.loaded("calculator")), registry.has("calculator", "TurnstileToo"))
        """)

    assert found.splitlines() == [
        "Turnstile penstock-try (plugin 'try', penstock_try.code:Turnstile)",
        "['Turnstile'] False",
    ]


def test_a_name_that_the_application_registers_too_is_still_a_clash(machine: Machine) -> None:
    machine.run()

    said = machine.run("""
        from penstock.errors import NameClashError
        from penstock.plugins.default_registry import default_registry
        class Turnstile: pass
        default_registry().add("calculator", "Turnstile", Turnstile)
        try:
            default_registry().find("calculator", "Turnstile")
        except NameClashError as error:
            print(error)
        """)

    assert "claimed by this process (__main__:Turnstile) and by penstock-try (plugin 'try', " in said


def test_a_plugin_that_is_asked_for_is_imported(machine: Machine) -> None:
    machine.run()

    assert (
        machine.run("""
        import builtins
        from penstock.plugins.default_registry import default_plugin_host, default_registry
        default_registry().names("calculator")
        print({one.name: one.state for one in default_plugin_host().records}["try"], builtins.imports)
        """)
        == "loaded 1"
    )


@pytest.mark.parametrize("module", ["plugin", "names", "__init__"])
def test_a_module_of_the_plugin_that_has_changed_is_imported_again(machine: Machine, module: str) -> None:
    machine.run()
    machine.write("names", NAMES)  # the same, with another time
    texts = {
        "plugin": PLUGIN + "#",
        "names": NAMES.replace('"Turnstile"', '"TurnstileToo"'),
        "__init__": "# changed",
    }
    machine.write(module, texts[module])

    assert machine.run().startswith("1 Turnstile")
    assert machine.run() == ("0 TurnstileToo" if module == "names" else "0 Turnstile")


def test_a_distribution_that_comes_is_seen_and_so_is_one_that_goes(machine: Machine) -> None:
    machine.run()
    other = machine.site.parent / "other"
    machine.install(other, "penstock_further", "further = penstock_further")
    text = PLUGIN.replace("from penstock_try.names import CALCULATORS", 'CALCULATORS = {"TurnstileB": "a:B"}')
    machine.package = other
    machine.write("penstock_further", text)

    machine.path = [machine.site, other]
    assert machine.run() == "2 Turnstile TurnstileB"
    assert machine.run() == "0 Turnstile TurnstileB"

    machine.path = [machine.site]
    assert machine.run() == "1 Turnstile"


def test_another_entry_point_of_the_same_distribution_is_seen(machine: Machine) -> None:
    machine.run()
    points = machine.site / "penstock_try-1.5.dist-info" / "entry_points.txt"
    points.write_text("[penstock]\nrenamed = penstock_try.plugin\n", encoding="utf-8")

    assert machine.run() == "1 Turnstile"


@pytest.mark.parametrize("spelling", ["penstock_try/__init__.py", "penstock_try.py"])
def test_a_package_of_that_name_earlier_on_the_path_is_seen(machine: Machine, spelling: str) -> None:
    machine.run()
    shadow = machine.site.parent / "shadow"
    (shadow / spelling).parent.mkdir(parents=True)
    (shadow / spelling).write_text("", encoding="utf-8")
    machine.path = [shadow, machine.site]

    said = machine.run("""
        from penstock.plugins.default_registry import default_registry
        print(default_registry().failures["try"])
        """)

    assert said.startswith("ModuleNotFoundError: No module named 'penstock_try.plugin'")


@pytest.mark.parametrize(
    "plugin",
    [
        PLUGIN.replace("CALCULATORS)", "CALCULATORS, is_fixed=False)"),
        PLUGIN.replace("calculators=CALCULATORS", "calculators={**CALCULATORS, 'TurnstileB': Components}"),
        PLUGIN.replace("calculators=", "options={'turnstile.Options': object}, calculators="),
    ],
    ids=["says that it changes", "an object", "fails"],
)
def test_a_plugin_whose_answer_cannot_be_kept_is_imported_each_time(machine: Machine, plugin: str) -> None:
    machine.write("plugin", plugin)

    assert machine.run() == machine.run() != ""
    assert not machine.caches.exists()


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("PENSTOCK_BLOCK_PLUGINS", "try", "0"),
        ("PENSTOCK_PLUGINS", "try", "1 Turnstile"),
        ("PENSTOCK_NO_PLUGINS", "1", "0"),
        ("PENSTOCK_SHORTCUTS", "0", "1 Turnstile"),
    ],
)
def test_with_a_switch_nothing_is_kept_or_read(
    machine: Machine, variable: str, value: str, said: str
) -> None:
    machine.variables = {variable: value}
    assert machine.run() == said
    assert not machine.caches.exists()

    machine.variables = {}
    machine.run()
    machine.variables = {variable: value}

    assert machine.run() == said


def test_with_a_finder_of_the_applications_own_nothing_is_kept_or_read(machine: Machine) -> None:
    hiding = """
        import sys

        class Hidden:
            def find_spec(self, name, path=None, target=None):
                return None

        sys.meta_path.insert(0, Hidden())
        """
    program = textwrap.dedent(hiding) + ASKING
    assert machine.run(program) == "1 Turnstile"
    assert not machine.caches.exists()

    machine.run()
    assert machine.run(program) == "1 Turnstile"
    assert machine.run() == "0 Turnstile"


def marked(value: object, form: int = kept_names.FORM) -> bytes:
    """Return a file with that value."""
    data = marshal.dumps(value)
    return _imp.source_hash(form, data) + data


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: b"no such file",
        lambda data: marshal.dumps(7),
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: marked(marshal.loads(data[8:]), kept_names.FORM + 1),  # noqa: S302  # ours
        lambda data: marked(marshal.loads(data[8:])[:-1]),  # noqa: S302  # as above
    ],
    ids=["empty", "half", "text", "number", "a bit", "another form", "too short"],
)
def test_a_damaged_file_is_not_read_and_written_anew(machine: Machine, damage) -> None:
    machine.run()
    machine.file.write_bytes(damage(machine.file.read_bytes()))

    assert machine.run() == "1 Turnstile"
    assert machine.run() == "0 Turnstile"


def test_a_file_of_another_user_is_not_read(machine: Machine) -> None:
    if getattr(os, "geteuid", lambda: 1)() != 0:
        pytest.skip("only root can give a file away")
    machine.run()
    os.chown(machine.file, 12345, -1)

    assert machine.run() == "1 Turnstile"
    assert machine.run() == "0 Turnstile"  # of the user again


def test_a_module_that_changed_since_the_process_began_is_not_kept(machine: Machine) -> None:
    edited = f"""
        import penstock_try.names
        with open({str(machine.package / "names.py")!r}, "a") as file:
            file.write("# changed")
        """
    assert machine.run(textwrap.dedent(edited) + ASKING) == "1 Turnstile"
    assert not machine.caches.exists()


def test_a_distribution_that_comes_while_plugins_are_loaded_is_seen_by_the_next_process(
    machine: Machine,
) -> None:
    installing = """
import pathlib
info = pathlib.Path(__file__).parent.parent / "penstock_later-1.0.dist-info"
if not info.exists():
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: penstock-later\\nVersion: 1.0\\n")
    (info / "entry_points.txt").write_text("[penstock]\\nlater = penstock_try.later\\n")
"""
    machine.write("plugin", PLUGIN + installing)
    machine.write(
        "later", PLUGIN.replace("CALCULATORS)", "{'TurnstileToo': 'penstock_try.code:TurnstileToo'})")
    )

    assert machine.run() == "1 Turnstile"
    assert machine.run() == "2 Turnstile TurnstileToo"


def test_a_distribution_without_entry_points_counts_too(machine: Machine) -> None:
    optional = """
try:
    import penstock_optional
except ImportError:
    CALCULATORS = {}
else:
    CALCULATORS = {"Turnstile": "penstock_try.code:Turnstile"}
"""
    machine.write("names", optional)
    assert machine.run() == "1"
    info = machine.site / "penstock_optional-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: penstock-optional\nVersion: 1.0\n")
    (machine.site / "penstock_optional.py").write_text("")

    assert machine.run() == "1 Turnstile"


def test_a_module_that_the_application_imported_first_and_the_plugin_asks_counts_too(
    machine: Machine,
) -> None:
    helper = machine.site / "turnstile_names.py"
    helper.write_text(NAMES)
    os.utime(helper, (1000, 1000))
    machine.write("names", "from turnstile_names import CALCULATORS\n")
    first = "import turnstile_names\n" + ASKING
    assert machine.run(first) == "1 Turnstile"
    assert machine.run() == "0 Turnstile"

    helper.write_text(NAMES.replace('"Turnstile"', '"TurnstileToo"'))
    assert machine.run() == "1 TurnstileToo"


def test_names_that_cannot_be_written_leave_no_file_and_no_error(machine: Machine) -> None:
    names = "import enum\nclass N(str, enum.Enum):\n    A = 'Turnstile'\n"
    machine.write("names", names + NAMES.replace('"Turnstile"', "N.A"))

    assert (
        machine.run("""
        from penstock.plugins.default_registry import default_registry
        print(default_registry().has("calculator", "Turnstile"))
        """)
        == "True"
    )
    assert not list(machine.caches.rglob("names-*"))


def test_a_module_that_comes_into_the_package_is_seen(machine: Machine) -> None:
    machine.run()
    (machine.package / "names").mkdir()
    (machine.package / "names" / "__init__.py").write_text(NAMES.replace('"Turnstile"', '"TurnstileToo"'))

    assert machine.run() == "1 TurnstileToo"


def test_a_copy_of_the_folder_has_its_own_names(machine: Machine, tmp_path) -> None:
    asking = "import sys; sys.path.insert(0, '')\n" + ASKING
    machine.path = []
    machine.folder = machine.site
    assert machine.run(asking) == "1 Turnstile"
    shutil.copytree(machine.site, tmp_path / "copy")
    (tmp_path / "copy" / "penstock_try" / "names.py").write_text(
        NAMES.replace('"Turnstile"', '"TurnstileToo"')
    )
    machine.folder = tmp_path / "copy"

    assert machine.run(asking) == "1 TurnstileToo"


@pytest.mark.parametrize("caches", ["relative", "~"])
def test_a_cache_that_is_no_whole_path_is_not_used(machine: Machine, tmp_path, caches: str) -> None:
    machine.folder = tmp_path
    machine.variables = {"XDG_CACHE_HOME": caches}

    assert machine.run() == machine.run() == "1 Turnstile"
    assert not (tmp_path / caches).exists()


def test_a_wrapped_hook_is_not_kept_under_the_name_of_another_function(machine: Machine) -> None:
    wrapped = (
        PLUGIN
        + """
import functools

def announce(graph):
    print("bare")

@hookimpl(specname="penstock_run_started")
@functools.wraps(announce)
def started(graph):
    print("wrapped")
"""
    )
    machine.write("plugin", wrapped)
    hooks = """
        from penstock.plugins import default_registry
        default_registry.default_registry().names("calculator")
        for one in default_registry.default_run_hooks("run_started"):
            if one.plugin == "try":
                one.call(None)
        """

    assert machine.run(hooks) == machine.run(hooks) == "wrapped"


def test_the_plugins_own_name_registered_before_is_no_clash(machine: Machine) -> None:
    machine.run()

    assert (
        machine.run("""
        from penstock.plugins.default_registry import default_registry
        registry = default_registry()
        owner = {"distribution": "penstock-try", "plugin": "try"}
        registry.add("calculator", "Turnstile", "penstock_try.code:Turnstile", **owner)
        print(registry.find("calculator", "Turnstile").__name__)
        """)
        == "Turnstile"
    )


def test_where_no_file_can_be_written_the_plugins_are_imported(machine: Machine) -> None:
    machine.caches.write_text("a file in place of the folder", encoding="utf-8")

    assert machine.run() == machine.run() == "1 Turnstile"

    machine.caches.unlink()
    machine.caches.mkdir()
    (machine.caches / "penstock").symlink_to("nowhere/at/all")
    assert machine.run() == "1 Turnstile"


def test_a_pack_that_the_application_imports_first_is_kept_too(machine: Machine) -> None:
    first = "import penstock_try.names, penstock_try.code\n" + ASKING

    assert machine.run(first) == "1 Turnstile"
    assert machine.run(first) == "0 Turnstile"
    machine.write("names", NAMES.replace('"Turnstile"', '"TurnstileToo"'))
    assert machine.run(first) == "1 TurnstileToo"


HOOKED = (
    PLUGIN
    + """
@hookimpl
def penstock_run_started(graph):
    print("started", graph.is_running)

@hookimpl
def penstock_run_ended(error):
    print("ended", error)
"""
)


def test_hooks_of_runs_are_called_and_only_their_plugin_is_imported(machine: Machine) -> None:
    machine.write("plugin", HOOKED)
    hooks = """
        import sys
        from penstock.plugins import default_registry
        default_registry.default_registry().names("calculator")
        for hook in ("run_prepared", "run_started", "run_ended"):
            for one in default_registry.default_run_hooks(hook):
                if one.plugin == "try":
                    one.call(type("Graph", (), {"is_running": True}), "no error")
        print("pluggy" in sys.modules)
        """

    assert machine.run(hooks) == "started True\nended no error\nTrue"
    assert machine.run(hooks) == "started True\nended no error\nFalse"


def test_a_hook_that_cannot_be_imported_any_more_has_a_record_that_says_why(machine: Machine) -> None:
    machine.write("plugin", "import penstock_needed\n" + HOOKED)
    needed = machine.site.parent / "needed"
    needed.mkdir()
    machine.package = needed
    machine.write("penstock_needed", "")
    machine.path = [machine.site, needed]
    machine.run()

    said = machine.run("""
        import sys
        from penstock.plugins import default_registry
        default_registry.default_registry().names("calculator")
        sys.modules["penstock_needed"] = None
        print(len([one for one in default_registry.default_run_hooks("run_started") if one.plugin == "try"]))
        print([one.reason for one in default_registry.default_plugin_host().records if one.name == "try"])
        """)

    assert said.splitlines() == [
        "0",
        "['ModuleNotFoundError: import of penstock_needed halted; None in sys.modules']",
    ]


def test_what_is_kept_of_the_installed_packs_is_what_they_bring(machine: Machine) -> None:
    machine.path = []

    said = machine.run("""
        from penstock.plugins import kept_names
        from penstock.plugins.discovery import PluginHost
        from penstock.plugins.kept_names_writer import KeptNamesWriter
        from penstock.registry import Registry
        from penstock.registry_entries import KINDS

        writer = KeptNamesWriter()
        host = PluginHost()
        writer.write(host)
        loaded, restored = Registry(), Registry()
        host.fill(loaded)
        kept = kept_names.read_kept_names()
        if {record.state for record in host.records} == {"loaded"}:
            kept.fill(restored)
            changes = restored.changes
            for kind in KINDS:
                assert restored.names(kind) == loaded.names(kind)
                for name in loaded.names(kind):
                    assert restored.origin(kind, name) == loaded.origin(kind, name)
            assert dict(restored.options()) == dict(loaded.options())
            assert restored.changes == changes  # or plans that are kept for equal graphs would be void
            for hook in kept_names.RUN_HOOKS:
                assert kept.run_hooks(hook) == getattr(host, hook)
        print(len(host.records), kept is None)
        """)

    count, is_missing = said.split()
    if is_missing == "True":
        pytest.skip(f"one of {count} plugins of this environment brings nothing that can be kept")


def test_a_module_that_loads_itself_later_is_not_loaded(machine: Machine) -> None:
    machine.write("heavy", "print('loaded')")
    machine.write("names", NAMES + "if not CALCULATORS:\n    import penstock_try.heavy\n")
    later = """
        import importlib.util, sys
        spec = importlib.util.find_spec("penstock_try.heavy")
        spec.loader = importlib.util.LazyLoader(spec.loader)
        module = sys.modules["penstock_try.heavy"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        """

    assert machine.run(textwrap.dedent(later) + ASKING) == "1 Turnstile"


def test_a_mark_of_a_hook_is_what_pluggy_leaves() -> None:
    def marked(marker, **options):
        def function() -> None: ...

        return vars(marker(**options)(function) if options else marker(function))

    for options in ({}, {"tryfirst": True}, {"specname": "other", "trylast": True}, {"wrapper": True}):
        assert marked(hookspecs.hookimpl, **options) == marked(pluggy.HookimplMarker("penstock"), **options)
    for options in ({}, {"firstresult": True}):
        assert marked(hookspecs.hookspec, **options) == marked(pluggy.HookspecMarker("penstock"), **options)
    with pytest.raises(TypeError, match=r"takes wrapper, hookwrapper, .*, not first"):
        hookspecs.hookimpl(first=True)
