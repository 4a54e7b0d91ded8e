from __future__ import annotations

import importlib.metadata
import json
import os
import sys
import sysconfig
import tempfile

import click
import pytest

from penstock import DoctorCheck, Registry
from penstock.packs import engine_form
from penstock.plugins.discovery import PluginHost
from penstock_cli.graphs.plugin_list import print_records
from penstock_cli.machine import doctor, health

pytestmark = pytest.mark.heavy

HONEST = """
    from penstock import DoctorCheck, hookimpl

    @hookimpl
    def penstock_doctor():
        yield DoctorCheck("lens", True, "clean")
        yield DoctorCheck("shutter", False, "stuck", "oil it")
"""

RAISING = """
    from penstock import hookimpl

    @hookimpl
    def penstock_doctor():
        raise OSError("no bus")
"""

TALKING = """
    from penstock import hookimpl

    @hookimpl
    def penstock_doctor():
        return ["fine"]
"""

BROKEN = """
    raise RuntimeError("no device")
"""

RIVAL = """
    from penstock import Components, hookimpl

    @hookimpl
    def penstock_components():
        return Components(executors={"ThreadPoolExecutor": "nowhere:Nothing"})
"""


@pytest.fixture
def examined(installed, monkeypatch):
    """Return a function that installs plugins and returns all checks, by area and name."""
    before = set(sys.modules)

    def examine(requires=(), block=(), **plugins):
        for name, source in plugins.items():
            monkeypatch.syspath_prepend(installed(name, source, requires))
        host = PluginHost(block=block)
        registry = Registry(host.fill)
        return {
            (area, check.what): check for area, checks in health.areas(host, registry) for check in checks
        }

    yield examine
    for name in set(sys.modules) - before:
        if name.endswith("_module"):
            del sys.modules[name]


def test_a_good_installation_is_well_and_is_listed(invoke):
    done = invoke("doctor")

    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())  # however long the interpreter's path, and where lines end
    assert f"ok Python CPython {sys.version.split()[0]}, {sys.executable} " in said
    assert done.output.splitlines()[-1].startswith("all checks passed (")
    assert f"ok engine {engine_form()} " in said
    assert f"numpy {importlib.metadata.version('numpy')}" in said
    assert "plugin video" in said


def test_json_has_every_check_with_its_area(invoke):
    done = invoke("doctor", "--json")

    found = json.loads(done.stdout)
    by_name = {(check["area"], check["what"]): check for check in found["checks"]}
    assert (done.exit_code, found["is_well"]) == (0, True)
    assert set(by_name["plugins", "default executor"]) == {"area", "what", "is_well", "detail", "cure"}
    assert by_name["plugins", "default executor"]["detail"] == "ThreadPoolExecutor of penstock-executors"
    core = importlib.metadata.version("penstock-core")
    protobuf = importlib.metadata.version("protobuf")
    assert f"protobuf {protobuf}" in by_name["Penstock", f"penstock-core {core}"]["detail"]


def test_a_check_that_is_not_well_gives_exit_code_1_and_its_cure(command, installed):
    done = command("doctor", PYTHONPATH=installed("camera", HONEST), COLUMNS=80)

    lines = done.stdout.splitlines()
    assert done.returncode == 1, done.stderr
    at = lines.index("plugin camera")
    assert lines[at + 1 : at + 4] == [
        "  ok  lens     clean",
        "  !!  shutter  stuck",
        "               do: oil it",
    ]
    assert lines[-1].startswith("1 of ")
    assert lines[-1].endswith(" checks failed")


def test_a_hook_that_raises_is_a_check_that_is_not_well(examined):
    checks = examined(camera=RAISING)

    assert checks["plugin camera", "penstock_doctor"] == DoctorCheck(
        "penstock_doctor", is_well=False, detail="the check failed: OSError: no bus"
    )
    assert ("plugin video", "FFmpeg libraries") in checks


def test_a_hook_that_returns_anything_else_is_not_well(examined):
    check = examined(camera=TALKING)["plugin camera", "penstock_doctor"]

    assert (check.is_well, check.detail) == (False, "returned a str, must be a penstock.DoctorCheck")


def test_a_plugin_that_failed_has_its_reason_and_how_to_block_it(examined):
    check = examined(camera=BROKEN)["plugins", "camera"]

    assert (check.is_well, check.detail) == (False, "failed: RuntimeError: no device")
    assert check.cure == (
        "repair or uninstall camera, or keep the plugin out with PENSTOCK_BLOCK_PLUGINS=camera; "
        "penstock plugins --debug shows how it failed"
    )


def test_a_plugin_that_is_blocked_is_named_with_its_switch_and_is_well(examined):
    check = examined(block=["video"])["plugins", "video"]

    assert (check.is_well, check.detail) == (True, "blocked: blocked by name, see PENSTOCK_BLOCK_PLUGINS")


def test_a_default_that_is_missing_is_not_well(examined):
    check = examined(block=["executors"])["plugins", "default executor"]

    assert (check.is_well, check.cure) == (False, "install or unblock penstock-executors")
    assert check.detail.startswith("no executor 'ThreadPoolExecutor' is registered")


def test_a_name_that_two_plugins_claim_is_not_well(examined):
    checks = examined(rival=RIVAL)

    assert not checks["plugins", "ThreadPoolExecutor"].is_well
    assert "is claimed by penstock-executors" in checks["plugins", "ThreadPoolExecutor"].detail


@pytest.mark.parametrize(
    ("requirement", "is_well", "detail", "cure"),
    [
        ("click>=1", True, f"click {importlib.metadata.version('click')}", ""),
        (
            "click<1",
            False,
            f"click {importlib.metadata.version('click')}, must be <1",
            "pip install 'click<1'",
        ),
        ("no-such-thing>=2", False, "no-such-thing is not installed", "pip install 'no-such-thing>=2'"),
        ("no-such-thing; python_version<'3'", True, "fits", ""),
        ("no-such-thing; extra=='more'", True, "fits", ""),
        ("penstock-core>=0.0.1", True, "fits", ""),
        ("penstock-core<0.0.1", False, None, "pip install 'penstock-core<0.0.1'"),
    ],
)
def test_the_requirements_of_a_distribution_are_checked(examined, requirement, is_well, detail, cure):
    check = examined(camera=HONEST, requires=[requirement])["Penstock", "camera 1.0"]

    assert (check.is_well, check.cure) == (is_well, cure)
    assert detail in {check.detail, None}


def test_an_official_pack_that_is_absent_is_named_with_its_command(monkeypatch, examined):
    real = importlib.metadata.version

    def version(name):
        if name == "penstock-calculators":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    check = examined(block=["calculators"]).get(("Penstock", "penstock-calculators"))

    assert check is not None
    assert "pip install penstock-calculators" in check.detail + check.cure


def test_another_project_with_the_name_of_the_whole_is_told(monkeypatch, examined):
    """On PyPI there is one; it has the module `penstock` too."""
    real_version, real_requires = importlib.metadata.version, importlib.metadata.requires
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "7" if name == "penstock" else real_version(name)
    )
    monkeypatch.setattr(
        importlib.metadata, "requires", lambda name: None if name == "penstock" else real_requires(name)
    )
    check = examined()["Penstock", "penstock 7"]

    assert (check.is_well, check.cure) == (
        False,
        "pip uninstall penstock; pip install --force-reinstall --no-deps penstock-core",
    )
    assert check.detail == "another project, whose modules may have replaced the core's"


def test_without_plugins_those_that_most_graphs_need_are_named(capsys, examined):
    check = examined(block=[record.name for record in PluginHost().records])["plugins", "loaded"]
    print_records([])
    printed = capsys.readouterr().out

    for pack in ("calculators", "stream-handlers", "executors"):
        assert f"pip install penstock-{pack}" in check.cure
        assert pack in printed


# --- the machine ----------------------------------------------------------------------------------


def machine():
    area, checks = next(health.areas(PluginHost(), Registry()))
    assert area == "this machine"
    return {check.what: check for check in checks}


def test_an_untested_newer_python_is_noted_and_an_old_one_is_not_well(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 99, 0, "final", 0))
    assert machine()["Python"].detail.endswith("newer than 3.14, the newest that Penstock is tested with")

    monkeypatch.setattr(sys, "version_info", (3, 10, 0, "final", 0))
    assert (machine()["Python"].is_well, machine()["Python"].cure) == (False, "use Python 3.11 or newer")


def test_a_temporary_directory_that_cannot_be_written_is_not_well(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))

    check = machine()["temporary directory"]

    assert (check.is_well, check.cure) == (False, "point TMPDIR to a directory that can be written")


def test_an_output_that_cannot_show_all_messages_is_not_well(command):
    done = command("doctor", "--json", PYTHONIOENCODING="ascii")

    check = next(one for one in json.loads(done.stdout)["checks"] if one["what"] == "output")
    assert done.returncode == 1
    assert check["detail"] == "ascii cannot write '\\xb5\\u2192\\xb1\\u2500'"
    assert check["cure"].startswith("set PYTHONUTF8=1")


def test_an_interpreter_lock_that_is_on_in_a_free_threaded_build_is_noted(monkeypatch):
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: name == "Py_GIL_DISABLED")
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    assert machine()["interpreter lock"].detail.startswith("on, although this Python can run without it;")

    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert machine()["interpreter lock"].detail == "off"


def test_a_check_that_raises_is_not_well(monkeypatch):
    def fail():
        raise ValueError("odd machine")

    monkeypatch.setattr(os, "cpu_count", fail)

    check = machine()["processors"]
    assert (check.is_well, check.detail) == (False, "the check failed: ValueError: odd machine")


# --- the page -------------------------------------------------------------------------------------


def test_long_details_are_wrapped_beside_their_names_and_paths_stay_whole(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    path = "/a/very/long/path/that/is/wider/than-all"

    doctor.print_areas([("area", [DoctorCheck("thing", is_well=True, detail=f"one two three four {path}")])])

    assert click.unstyle(capsys.readouterr().out).splitlines() == [
        "area",
        "  ok  thing  one two three four",
        f"             {path}",
        "",
        "all checks passed (1)",
    ]


def test_a_cure_is_shown_only_where_it_is_needed(capsys):
    doctor.print_areas([("area", [DoctorCheck("thing", is_well=True, detail="there", cure="buy one")])])

    assert "buy one" not in capsys.readouterr().out


def test_what_to_install_fits_the_environment_on_the_page_and_in_json(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "in_this_environment", lambda text: text.replace("pip", "uv pip"))
    check = DoctorCheck("x", is_well=False, detail="not there; pip install y", cure="pip install x")

    doctor.print_areas([("area", [check])])
    found = json.loads(doctor.as_json([("area", [check])]))["checks"][0]

    assert (found["detail"], found["cure"]) == (
        "not there; uv pip install y",
        "uv pip install x",
    )
    assert "do: uv pip install x" in capsys.readouterr().out
