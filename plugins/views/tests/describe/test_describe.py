from __future__ import annotations

import pytest

from penstock import Calculator, Registry
from penstock.config.calculator_pb2 import ExecutorConfig
from penstock.errors import InvalidArgumentError, UnknownNameError
from penstock_views.describe import InputPolicy, describe


class Doubles(Calculator):
    """Doubles each number of every input.

    Example config::

        node { calculator: "Doubles" input_stream: "a" output_stream: "b" output_stream: "ODD:c" }
    """

    @classmethod
    def get_contract(cls, cc):
        if cc.outputs.count("") != cc.inputs.count(""):
            raise InvalidArgumentError("each input needs an output")
        for i in range(cc.inputs.count("")):
            cc.inputs[i].set(list[int], "numbers")
            cc.outputs[i].set_same_as(cc.inputs[i], "twice as much")
        cc.outputs["ODD"].set(bool).optional()
        cc.inputs["SKIP"].set_any("left out where this comes").optional()
        cc.input_side_packets["FACTOR"].set_one_of(int, float, description="instead of 2").optional()
        cc.set_timestamp_offset(0)
        cc.set_process_timestamp_bounds()


class Bare(Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.inputs["IN"].set(int, "what comes")
        cc.set_input_stream_handler("Other")


def _read_options(cc):
    return cc.options(ExecutorConfig)


class ReadsOptions(Bare):
    """Asks for its options in open, with the help of a function."""

    def open(self, cc):
        self._options = _read_options(cc)


class Picky(Calculator):
    """Wants what no example gives."""

    @classmethod
    def get_contract(cls, cc):
        raise InvalidArgumentError("connect something")


class Handler:
    """Waits for everything."""


@pytest.fixture
def registry():
    registry = Registry()
    for name, cls in {"Doubles": Doubles, "Twice": Doubles, "Bare": Bare, "Picky": Picky}.items():
        registry.add("calculator", name, cls, distribution=None if name == "Twice" else "penstock-core")
    registry.add("calculator", "ReadsOptions", ReadsOptions)
    registry.add("input stream handler", "Handler", Handler)
    return registry


def test_connected_and_unconnected_ports_are_described(registry):
    found = describe("Doubles", registry)

    assert [(port.name, port.type, port.optional, port.description) for port in found.inputs] == [
        ("0", "list[int]", False, "numbers"),
        ("SKIP", "any type", True, "left out where this comes"),
    ]
    assert [(port.name, port.type) for port in found.outputs] == [("0", "same as input 0"), ("ODD", "bool")]
    assert [(port.name, port.type) for port in found.input_side_packets] == [("FACTOR", "int | float")]


def test_ports_that_may_be_repeated_are_found_by_asking(registry):
    found = describe("Doubles", registry)

    assert {port.name: port.repeats for port in found.inputs} == {"0": True, "SKIP": False}
    assert {port.name: port.repeats for port in found.outputs} == {"0": True, "ODD": False}


def test_behaviour_and_provider_are_described(registry):
    found = describe("Doubles", registry)

    assert (found.kind, found.distribution, found.target) == (
        "calculator",
        "penstock-core",
        f"{__name__}:Doubles",
    )
    assert found.input_policy == InputPolicy("DefaultInputStreamHandler", "default")
    assert (found.timestamp_offset, found.processes_bounds) == (0, True)


def test_a_second_name_of_a_class_has_the_example_under_that_name(registry):
    found = describe("Twice", registry)

    assert found.example.startswith('node { calculator: "Twice" ')
    assert [port.name for port in found.inputs] == ["0", "SKIP"]
    assert found.distribution is None


def test_a_policy_of_the_example_wins_over_that_of_the_calculator(registry):
    class Own(Bare):
        """It.

        Example config::

            node {
              calculator: "Own"
              input_stream: "IN:a"
              input_stream_handler { input_stream_handler: "Mine" }
            }
        """

    registry.add("calculator", "Own", Own)

    assert describe("Own", registry).input_policy == InputPolicy("Mine", "example")
    assert describe("Bare", registry).input_policy == InputPolicy("Other", "calculator")


def test_without_docstring_and_example_the_ports_of_the_bare_contract_are_shown(registry):
    found = describe("Bare", registry)

    assert (found.summary, found.example) == ("", "")
    assert [(port.name, port.type, port.optional) for port in found.inputs] == [("IN", "int", False)]


def test_options_that_only_the_code_of_open_names_are_found(registry):
    registry.add_option(
        "penstock.ExecutorConfig", "penstock.MediaPipeOptions", 9, f"{__name__}:ExecutorConfig"
    )
    registry.add_option("penstock.NotNamed", "penstock.MediaPipeOptions", 10, f"{__name__}:NoSuch")

    assert [message.name for message in describe("ReadsOptions", registry).options][:1] == [
        "penstock.ExecutorConfig"
    ]
    assert describe("Bare", registry).options == ()


def test_where_the_contract_fails_the_description_says_why(registry):
    assert describe("Picky", registry).ports_unknown == "it has no example of a node"

    class Wrong(Picky):
        """It.

        Example config::

            node { calculator: "Wrong" }
        """

    class Garbled(Picky):
        """It.

        Example config::

            node { calculator
        """

    registry.add("calculator", "Wrong", Wrong)
    registry.add("calculator", "Garbled", Garbled)
    assert describe("Wrong", registry).ports_unknown == "get_contract() failed: connect something"
    assert describe("Garbled", registry).ports_unknown.startswith("its example cannot be read: ")


def test_a_subgraph_shows_its_file(registry, tmp_path):
    file = tmp_path / "two.pbtxt"
    file.write_text('# Two nodes,\n# one after the other.\n\ninput_stream: "in"\n', encoding="utf-8")
    registry.add("subgraph", "Two", file)

    found = describe("Two", registry)

    assert (found.kind, found.summary) == ("subgraph", "Two nodes, one after the other.")
    assert found.example == 'input_stream: "in"'


def test_other_kinds_have_their_docstring_and_no_ports(registry):
    found = describe("Handler", registry)

    assert (found.kind, found.summary) == ("input stream handler", "Waits for everything.")
    assert found.input_policy is None
    assert found.inputs == ()


def test_an_unknown_name_names_near_ones_of_every_kind(registry):
    with pytest.raises(
        UnknownNameError, match=r"no component 'Handlr' is registered \(did you mean 'Handler'"
    ):
        describe("Handlr", registry)
    with pytest.raises(UnknownNameError, match="install it: pip install penstock-calculators"):
        describe("GateCalculator", registry)
