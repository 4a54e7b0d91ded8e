from __future__ import annotations

import sys
import textwrap
import threading
from typing import TYPE_CHECKING

import attrs
import pytest

from penstock.attrs_options import attrs_name
from penstock.engine.calculator import Calculator
from penstock.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NameClashError,
    PenstockError,
    PluginError,
    UnknownNameError,
)
from penstock.plugins.default_registry import default_registry
from penstock.plugins.register_calculator import register_calculator
from penstock.registry import Origin, Registry
from penstock.registry_entries import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

OF_A = {"distribution": "penstock-a", "plugin": "a"}
OF_B = {"distribution": "penstock-b", "plugin": "b"}


class Gate(Calculator):
    pass


class Mux(Calculator):
    pass


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Write an importable module; it is forgotten after the test."""
    written: list[str] = []

    def _write(name: str, source: str) -> None:
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
        written.append(name)

    monkeypatch.syspath_prepend(tmp_path)
    yield _write
    for name in written:
        sys.modules.pop(name, None)


# --- names and targets ------------------------------------------------------------------------


def test_a_target_is_imported_when_its_name_is_used_and_not_before(module) -> None:
    module("lazy_one", "class Gate: pass")
    registry = Registry()
    registry.add("calculator", "Gate", "lazy_one:Gate")

    assert registry.has("calculator", "Gate")
    assert registry.names("calculator") == ["Gate"]
    assert "lazy_one" not in sys.modules

    found = registry.find("calculator", "Gate")

    assert found is sys.modules["lazy_one"].Gate
    del sys.modules["lazy_one"]
    assert registry.find("calculator", "Gate") is found


def test_a_target_may_be_an_attribute_of_an_attribute(module) -> None:
    module("nested", "class Outer:\n    class Inner: pass")
    registry = Registry()
    registry.add("calculator", "Inner", "nested:Outer.Inner")

    assert registry.find("calculator", "Inner") is sys.modules["nested"].Outer.Inner


def test_a_target_may_be_the_object_itself() -> None:
    registry = Registry()
    registry.add("calculator", "Gate", Gate)

    assert registry.find("calculator", "Gate") is Gate
    assert registry.origin("calculator", "Gate") == Origin(None, None, f"{__name__}:Gate")


def test_kinds_do_not_share_names() -> None:
    registry = Registry()
    registry.add("calculator", "Gate", Gate)
    registry.add("executor", "Gate", object)

    assert registry.find("executor", "Gate") is object
    assert registry.names("subgraph") == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_registered_and_found(kind: str) -> None:
    registry = Registry()
    registry.add(kind, "x.Name", Gate)

    assert registry.find(kind, "x.Name") is Gate


@pytest.mark.parametrize("name", ["", " ", "a b", ".Gate", "Gate.", "a..b", 7, None])
def test_a_name_that_no_graph_could_write_is_refused(name: object) -> None:
    registry = Registry()

    with pytest.raises(InvalidArgumentError, match=r"^calculator: registry entry name .* must be 'Name'"):
        registry.add("calculator", name, Gate)

    assert registry.names("calculator") == []


@pytest.mark.parametrize(
    "target", ["", "Gate", "pack.gate", "pack:", ":Gate", "a b:Gate", "pack:Gate()", None]
)
def test_a_target_of_another_form_is_refused(target: object) -> None:
    with pytest.raises(InvalidArgumentError, match=r"must be 'module:attribute' or the object$"):
        Registry().add("calculator", "Gate", target)


def test_an_unknown_kind_is_refused_by_every_method() -> None:
    registry = Registry()
    for call in (
        lambda: registry.add("policy", "X", Gate),
        lambda: registry.find("policy", "X"),
        lambda: registry.has("policy", "X"),
        lambda: registry.names("policy"),
    ):
        with pytest.raises(
            InvalidArgumentError, match=r"the registry's kind 'policy': must be one of 'calculator', "
        ):
            call()


# --- namespaces -------------------------------------------------------------------------------


def test_a_name_is_looked_up_from_the_innermost_package_outwards() -> None:
    registry = Registry()
    registry.add("calculator", "Gate", Gate)
    registry.add("calculator", "x.Gate", Mux)

    assert registry.find("calculator", "Gate") is Gate
    assert registry.find("calculator", "Gate", "x") is Mux
    assert registry.find("calculator", "Gate", "x.y") is Mux
    assert registry.find("calculator", "Gate", "other") is Gate
    assert registry.find("calculator", "x.Gate") is Mux
    assert registry.has("calculator", "Gate", "x.y")


def test_a_name_that_begins_with_a_dot_is_absolute() -> None:
    registry = Registry()
    registry.add("calculator", "Gate", Gate)
    registry.add("calculator", "x.Gate", Mux)

    assert registry.find("calculator", ".Gate", "x") is Gate
    assert registry.find("calculator", ".x.Gate", "x") is Mux
    assert not registry.has("calculator", ".y.Gate", "x")


@pytest.mark.reference("framework/calculator_base_test.cc", "CalculatorTest.CreateByName")
@pytest.mark.parametrize(
    ("package", "name", "is_known"),
    [
        ("", "mediapipe.test_ns.DeadEndCalculator", True),
        ("", ".mediapipe.test_ns.DeadEndCalculator", True),
        ("alpha", ".mediapipe.test_ns.DeadEndCalculator", True),
        ("alpha", "mediapipe.test_ns.DeadEndCalculator", True),
        ("mediapipe", "mediapipe.test_ns.DeadEndCalculator", True),
        ("mediapipe.test_ns.sub_ns", "DeadEndCalculator", True),
        ("mediapipe", "DeadEndCalculator", False),
        ("", "DeadEndCalculator", False),
    ],
)
def test_a_qualified_name_is_found_from_inside_its_package_and_in_full(package, name, is_known) -> None:
    registry = Registry()
    registry.add("calculator", "mediapipe.test_ns.DeadEndCalculator", Gate)

    if is_known:
        assert registry.find("calculator", name, package) is Gate
    else:
        with pytest.raises(PenstockError) as caught:
            registry.find("calculator", name, package)
        assert caught.value.code.name == "NOT_FOUND"


def test_a_child_answers_with_its_own_entries_first() -> None:
    registry = Registry()
    registry.add("calculator", "Gate", Gate)
    registry.add("calculator", "Other", Gate)
    child = registry.child()
    child.add("calculator", "Gate", Mux)

    assert child.find("calculator", "Gate") is Mux
    assert child.find("calculator", "Other") is Gate
    assert child.names("calculator") == ["Gate", "Other"]
    assert registry.find("calculator", "Gate") is Gate


def test_a_child_has_its_parents_options_and_failures() -> None:
    registry = Registry()
    registry.add_option("p.Options", "penstock.CalculatorOptions", 7, "m:Options")
    registry.fail("gl", "no EGL device")
    child = registry.child()
    child.fail("own", "why not")

    assert child.option("p.Options").number == 7
    assert dict(child.failures) == {"gl": "no EGL device", "own": "why not"}
    assert dict(registry.failures) == {"gl": "no EGL device"}


# --- unknown names ----------------------------------------------------------------------------


def test_an_unknown_name_gives_near_names_and_plugins_that_are_not_loaded() -> None:
    registry = Registry()
    registry.add("calculator", "GateCalculator", Gate)
    registry.fail("gl", "no EGL device")

    with pytest.raises(UnknownNameError) as caught:
        registry.find("calculator", "GateCalculater")

    assert str(caught.value) == (
        "no calculator 'GateCalculater' is registered (did you mean 'GateCalculator'?); "
        "plugins that are not loaded: gl (no EGL device)"
    )
    assert caught.value.near == ("GateCalculator",)
    assert isinstance(caught.value, LookupError)


def test_an_unknown_calculator_may_be_near_a_subgraph() -> None:
    registry = Registry()
    registry.add("subgraph", "TwoGates", Gate)

    with pytest.raises(UnknownNameError, match=r"^no calculator 'TwoGate' .*did you mean 'TwoGates'"):
        registry.find("calculator", "TwoGate")


def test_origin_of_an_unknown_name_is_the_same_error() -> None:
    with pytest.raises(
        UnknownNameError, match=r"^no executor 'Nope' is registered; install the pack that has it$"
    ):
        Registry().origin("executor", "Nope")


# --- clashes ----------------------------------------------------------------------------------


def test_two_distributions_that_claim_one_name_are_an_error_when_it_is_used() -> None:
    registry = Registry()
    registry.add("calculator", "Gate", "pack_a:Gate", **OF_A)
    registry.add("calculator", "Gate", "pack_b:Gate", **OF_B)
    registry.add("calculator", "Mux", Mux, **OF_B)

    assert registry.find("calculator", "Mux") is Mux
    assert registry.has("calculator", "Gate")
    message = (
        r"^calculator 'Gate' is claimed by penstock-a \(plugin 'a', pack_a:Gate\) and by "
        r"penstock-b \(plugin 'b', pack_b:Gate\); rename one, or block a plugin: PENSTOCK_BLOCK_PLUGINS=b$"
    )
    with pytest.raises(NameClashError, match=message):
        registry.find("calculator", "Gate")
    with pytest.raises(NameClashError, match=message):
        registry.origin("calculator", "Gate")


def test_a_name_of_a_plugin_that_the_process_registers_too_is_a_clash() -> None:
    registry = Registry()
    registry.add("calculator", "Gate", Gate)
    registry.add("calculator", "Gate", "pack_a:Gate", **OF_A)

    with pytest.raises(
        NameClashError, match=r"^calculator 'Gate' is claimed by this process \(.*:Gate\) and by pe"
    ):
        registry.find("calculator", "Gate")


def test_an_owner_that_gives_a_name_to_something_else_is_refused_and_nothing_changes() -> None:
    registry = Registry()
    registry.add("calculator", "Gate", Gate)

    with pytest.raises(
        AlreadyExistsError, match=r"^the registry has calculator 'Gate' for .*:Gate already, not for .*:Mux; "
    ):
        registry.add("calculator", "Gate", Mux)

    assert registry.find("calculator", "Gate") is Gate


def test_a_class_that_is_defined_again_replaces_the_former() -> None:
    def define() -> type:
        class Cell(Calculator):
            pass

        return Cell

    first, second = define(), define()
    registry = Registry()
    registry.add("calculator", "Cell", first)
    assert registry.find("calculator", "Cell") is first

    registry.add("calculator", "Cell", second)

    assert registry.find("calculator", "Cell") is second


# --- imports that fail ------------------------------------------------------------------------


def test_a_target_that_fails_to_import_names_plugin_distribution_target_and_cause(module) -> None:
    module("needs_driver", "import no_such_driver")
    registry = Registry()
    registry.add("calculator", "Gate", "needs_driver:Gate", **OF_A)

    with pytest.raises(PluginError) as caught:
        registry.find("calculator", "Gate")

    assert str(caught.value) == (
        "calculator 'Gate': penstock-a (plugin 'a', needs_driver:Gate) cannot provide it: "
        "ModuleNotFoundError: No module named 'no_such_driver'; "
        "repair or install what is missing, or block the plugin"
    )
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_a_target_without_the_attribute_is_the_plugins_failure(module) -> None:
    module("no_gate", "")
    registry = Registry()
    registry.add("executor", "Pool", "no_gate:Pool", **OF_A)

    with pytest.raises(PluginError, match=r"AttributeError: module 'no_gate' has no attribute 'Pool'"):
        registry.find("executor", "Pool")


def test_a_target_that_exits_does_not_end_the_process(module) -> None:
    module("exits", "raise SystemExit(3)")
    registry = Registry()
    registry.add("calculator", "Gate", "exits:Gate", **OF_A)

    with pytest.raises(PluginError, match=r"cannot provide it: SystemExit: 3;"):
        registry.find("calculator", "Gate")


def test_a_failed_import_is_tried_again(module, tmp_path: Path) -> None:
    module("repaired", "import no_such_driver")
    registry = Registry()
    registry.add("calculator", "Gate", "repaired:Gate", **OF_A)
    with pytest.raises(PluginError, match="no_such_driver"):
        registry.find("calculator", "Gate")

    # Another length, so that the cached byte code is stale whatever the clock's resolution.
    (tmp_path / "repaired.py").write_text("class Gate:\n    'now it works without the driver'\n")

    assert registry.find("calculator", "Gate").__name__ == "Gate"


def test_a_calculator_that_is_no_class_is_the_plugins_failure() -> None:
    registry = Registry()
    registry.add("calculator", "len", "builtins:len", **OF_A)

    with pytest.raises(
        PluginError,
        match=r"^calculator 'len': penstock-a .* gives <built-in .*, which is no class; decorate a function ",
    ):
        registry.find("calculator", "len")


# --- options ----------------------------------------------------------------------------------

MESSAGE = """
class Descriptor:
    full_name = "p.Options"

class Options:
    DESCRIPTOR = Descriptor()
"""


def test_an_options_message_is_found_as_data_and_imported_by_load(module) -> None:
    module("options_a", MESSAGE)
    registry = Registry()
    registry.add_option("p.Options", "penstock.CalculatorOptions", 77, "options_a:Options", **OF_A)

    entry = registry.option("p.Options")

    assert (entry.full_name, entry.extendee, entry.number) == ("p.Options", "penstock.CalculatorOptions", 77)
    assert entry.origin == Origin("penstock-a", "a", "options_a:Options")
    assert "options_a" not in sys.modules
    assert entry.load() is sys.modules["options_a"].Options
    assert registry.option("p.Unknown") is None
    assert list(registry.options()) == ["p.Options"]


def test_an_options_target_that_is_another_message_is_the_plugins_failure(module) -> None:
    module("options_b", MESSAGE)
    registry = Registry()
    registry.add_option("p.Other", "penstock.CalculatorOptions", 77, "options_b:Options", **OF_A)
    registry.add_option("p.Thing", "penstock.CalculatorOptions", 78, "options_b:Descriptor", **OF_A)

    with pytest.raises(
        PluginError, match=r"^option 'p.Other': penstock-a .* gives the message 'p.Options'; correct"
    ):
        registry.option("p.Other").load()
    with pytest.raises(PluginError, match=r"^option 'p.Thing': penstock-a .* gives no message; correct"):
        registry.option("p.Thing").load()


def test_an_options_message_that_two_declare_is_an_error_when_it_is_loaded() -> None:
    registry = Registry()
    registry.add_option("p.Options", "penstock.CalculatorOptions", 77, "a:Options", **OF_A)
    registry.add_option("p.Options", "penstock.CalculatorOptions", 77, "b:Options", **OF_B)

    with pytest.raises(
        NameClashError, match=r"^option 'p.Options' is claimed by penstock-a .* and by penstock-b "
    ):
        registry.option("p.Options").load()


def test_an_extension_number_that_two_declare_is_an_error_whichever_is_loaded() -> None:
    registry = Registry()
    registry.add_option("p.A", "penstock.CalculatorOptions", 77, "a:A", **OF_A)
    registry.add_option("p.B", "penstock.CalculatorOptions", 77, "b:B", **OF_B)
    registry.add_option("p.C", "penstock.MediaPipeOptions", 77, "c:C", **OF_B)

    with pytest.raises(
        NameClashError, match=r"^option 'p.A': its number 77 is claimed by penstock-a .* penstock-b"
    ):
        registry.option("p.A").load()
    with pytest.raises(
        NameClashError, match=r"^option 'p.B': its number 77 is claimed by penstock-b .* penstock-a"
    ):
        registry.option("p.B").load()
    assert registry.option("p.C").rival is None


def test_an_option_may_be_declared_again_but_not_otherwise() -> None:
    registry = Registry()
    registry.add_option("p.A", "penstock.CalculatorOptions", 77, "a:A", **OF_A)
    registry.add_option("p.A", "penstock.CalculatorOptions", 77, "a:A", **OF_A)

    with pytest.raises(
        AlreadyExistsError, match=r"^the registry has option 'p.A' otherwise already, of penstock-a "
    ):
        registry.add_option("p.A", "penstock.CalculatorOptions", 78, "a:A", **OF_A)

    assert (registry.option("p.A").number, registry.option("p.A").rival) == (77, None)


def test_options_that_extend_nothing_have_no_number_to_clash() -> None:
    registry = Registry()
    registry.add_option("p.A", None, None, "a:A", **OF_A)
    registry.add_option("p.B", None, None, "b:B", **OF_B)

    assert [(one.extendee, one.number, one.rival) for one in registry.options().values()] == [
        (None, None, None)
    ] * 2


def test_an_attrs_class_that_is_defined_again_counts() -> None:
    registry = Registry()
    made = [attrs.make_class("AnewOptions", {}) for _ in range(2)]
    name = attrs_name(made[0])
    for cls in made:
        registry.add_option(name, None, None, cls)

    assert registry.option(name).load() is made[1]
    with pytest.raises(AlreadyExistsError, match=r"AnewOptions' otherwise already, of this process"):
        registry.add_option(name, None, None, attrs.make_class("OtherOptions", {}))


def test_what_is_imported_can_be_had_without_importing_more(module) -> None:
    module("loaded_a", "class Gate:\n    pass\n")
    parent = Registry()
    parent.add("calculator", "Gate", "loaded_a:Gate")
    parent.add("calculator", "Other", "loaded_b:Other")
    registry = parent.child()
    registry.add("calculator", "Own", Gate)

    assert dict(registry.loaded("calculator")) == {"Own": Gate}
    gate = registry.find("calculator", "Gate")
    assert dict(registry.loaded("calculator")) == {"Own": Gate, "Gate": gate}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (("", "e.E", 7, "m:A"), r"^option: registry entry name '' must be 'Name'"),
        (("p.A", None, 7, "m:A"), r"^option 'p.A': extendee: registry entry name None must be 'Name'"),
        (("p.A", "e.E", 0, "m:A"), r"extension number 0 must be an int from 1 to 536870911$"),
        (("p.A", "e.E", 2**29, "m:A"), r"extension number 536870912 must be an int"),
        (("p.A", "e.E", True, "m:A"), r"extension number True must be an int"),
        (("p.A", "e.E", "7", "m:A"), r"extension number '7' must be an int"),
        (
            ("p.A", "e.E", 7, "A"),
            r"^option 'p.A': the registry entry's target 'A' must be 'module:attribute'",
        ),
        (
            ("p.A", "e.E", 7, Gate),
            r"^option 'p.A': the registry entry's target .* must be a str 'module:Message', or an attrs",
        ),
    ],
)
def test_options_data_that_cannot_be_right_is_refused(data: tuple, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        Registry().add_option(*data)


# --- filling ----------------------------------------------------------------------------------


def test_fill_runs_once_before_the_first_look_up() -> None:
    calls = []

    def fill(registry: Registry) -> None:
        calls.append(registry)
        registry.add("calculator", "Gate", Gate)

    registry = Registry(fill)
    registry.add("calculator", "Mux", Mux)
    assert calls == []

    assert registry.names("calculator") == ["Gate", "Mux"]
    assert registry.find("calculator", "Gate") is Gate
    assert calls == [registry]


@pytest.mark.parametrize(
    "look_up",
    [
        lambda registry: registry.has("calculator", "Gate"),
        lambda registry: registry.find("calculator", "Gate"),
        lambda registry: registry.origin("calculator", "Gate"),
        lambda registry: registry.names("calculator") == ["Gate"],
        lambda registry: registry.option("p.A"),
        lambda registry: registry.options(),
        lambda registry: registry.failures,
        lambda registry: registry.child().has("calculator", "Gate"),
    ],
)
def test_every_look_up_fills_the_registry_first(look_up) -> None:
    def fill(registry: Registry) -> None:
        registry.add("calculator", "Gate", Gate)
        registry.add_option("p.A", "e.E", 7, "m:A")
        registry.fail("gl", "no EGL device")

    assert look_up(Registry(fill))


def test_a_fill_that_raises_is_called_again_by_the_next_look_up() -> None:
    attempts = []

    def fill(registry: Registry) -> None:
        attempts.append(1)
        registry.add("calculator", "Gate", Gate)
        if len(attempts) == 1:
            raise OSError("the disk is away")

    registry = Registry(fill)

    with pytest.raises(OSError, match="the disk is away"):
        registry.names("calculator")
    assert registry.names("calculator") == ["Gate"]
    assert len(attempts) == 2


def test_a_look_up_from_inside_the_fill_sees_what_is_there_so_far() -> None:
    seen = []

    def fill(registry: Registry) -> None:
        registry.add("calculator", "Gate", Gate)
        seen.append(registry.names("calculator"))
        registry.add("calculator", "Mux", Mux)

    registry = Registry(fill)

    assert registry.names("calculator") == ["Gate", "Mux"]
    assert seen == [["Gate"]]


def test_threads_that_come_first_together_fill_once_and_import_once(module) -> None:
    module("counted", "import builtins\nbuiltins.counted_imports.append(1)\nclass Gate: pass")
    import builtins  # where the module above can reach it

    builtins.counted_imports = []
    fills = []
    barrier = threading.Barrier(8)
    found: list[object] = []

    def fill(registry: Registry) -> None:
        fills.append(1)
        registry.add("calculator", "Gate", "counted:Gate")

    registry = Registry(fill)

    def look_up() -> None:
        barrier.wait(timeout=30)
        found.append(registry.find("calculator", "Gate"))

    threads = [threading.Thread(target=look_up) for _ in range(8)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
        imports = builtins.counted_imports
    finally:
        del builtins.counted_imports

    assert (len(fills), len(imports), len(found), len(set(found))) == (1, 1, 8, 1)


def test_a_look_up_on_another_thread_waits_until_the_fill_is_over() -> None:
    inside, leave = threading.Event(), threading.Event()
    answers: list[list[str]] = []

    def fill(registry: Registry) -> None:
        inside.set()
        assert leave.wait(timeout=30)
        registry.add("calculator", "Gate", Gate)

    registry = Registry(fill)
    threads = [
        threading.Thread(target=lambda: answers.append(registry.names("calculator"))) for _ in range(2)
    ]
    threads[0].start()
    assert inside.wait(timeout=30)
    threads[1].start()

    threads[1].join(timeout=0.2)  # time enough to answer too early; right code never does
    assert answers == []
    leave.set()
    for thread in threads:
        thread.join(timeout=30)

    assert answers == [["Gate"], ["Gate"]]


def test_adding_does_not_wait_for_a_fill_on_another_thread() -> None:
    inside, leave = threading.Event(), threading.Event()

    def fill(_: Registry) -> None:
        inside.set()
        assert leave.wait(timeout=30)

    registry = Registry(fill)
    thread = threading.Thread(target=registry.names, args=("calculator",))
    thread.start()
    assert inside.wait(timeout=30)

    registry.add("calculator", "Gate", Gate)  # would hang here

    leave.set()
    thread.join(timeout=30)
    assert registry.names("calculator") == ["Gate"]


# --- the default registry ---------------------------------------------------------------------


def test_a_calculator_is_registered_by_decorator_by_name_and_by_call() -> None:
    @register_calculator
    class RegisteredByDecorator(Calculator):
        pass

    @register_calculator("RegisteredUnderAName")
    class Another(Calculator):
        pass

    class RegisteredByCall(Calculator):
        pass

    assert register_calculator(RegisteredByCall) is RegisteredByCall
    for name, cls in (
        ("RegisteredByDecorator", RegisteredByDecorator),
        ("RegisteredUnderAName", Another),
        ("RegisteredByCall", RegisteredByCall),
    ):
        assert default_registry().find("calculator", name) is cls


def test_another_class_of_a_registered_name_is_refused() -> None:
    register_calculator("TakenName")(Gate)

    with pytest.raises(
        AlreadyExistsError,
        match=r"^the registry has calculator 'TakenName' for .*:Gate already, not for .*:Mux",
    ):
        register_calculator("TakenName")(Mux)

    assert default_registry().find("calculator", "TakenName") is Gate


@pytest.mark.parametrize("thing", [int, Gate.process, 7, None])
def test_only_calculators_can_be_registered(thing: object) -> None:
    with pytest.raises(
        InvalidArgumentError,
        match=r"must be a subclass of penstock.Calculator to be registered, or decorated with "
        r"@penstock.calculator, which stands below @penstock.register_calculator$",
    ):
        register_calculator(thing)
    with pytest.raises(InvalidArgumentError, match="must be a subclass"):
        register_calculator("SomeName")(thing)


def test_a_function_that_is_no_calculator_yet_is_named() -> None:
    def doubler(number: int) -> int:
        return 2 * number

    with pytest.raises(InvalidArgumentError, match=r"^function 'doubler': must be"):
        register_calculator(doubler)


def test_an_unknown_calculator_may_be_one_that_nobody_registered() -> None:
    registry = Registry()
    cure = "; install the pack that has it, or decorate your own with @penstock.register_calculator"

    with pytest.raises(PenstockError, match=f"no calculator 'Doubler' is registered{cure}$"):
        registry.find("calculator", "Doubler")
    with pytest.raises(
        PenstockError, match=r"no executor 'Doubler' is registered; install the pack that has it$"
    ):
        registry.find("executor", "Doubler")
    registry.add("calculator", "Doubled", Gate)
    with pytest.raises(
        PenstockError, match=r"no calculator 'Doubler' is registered \(did you mean 'Doubled'\?\)$"
    ):
        registry.find("calculator", "Doubler")


def test_registry_errors_are_penstocks() -> None:
    with pytest.raises(PenstockError):
        Registry().find("calculator", "Nope")
