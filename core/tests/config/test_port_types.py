import itertools
from typing import ClassVar

import pytest

from penstock.check.port_types import PortTypes
from penstock.contract import PortSpec


class Base: ...


class Derived(Base): ...


class Texture:
    __penstock_conversions__: ClassVar = {Base: ("UploadCalculator", "ReadBackCalculator")}


@pytest.fixture
def chain(plan, declare):
    """Plan graphs of calculators named in(to)out, such as "int>str"."""
    types = {"int": int, "str": str, "float": float, "bool": bool, "Base": Base, "Derived": Derived,
             "Texture": Texture, "list[int]": list[int], "list[str]": list[str], "any": object}  # fmt: skip

    def declared(name):
        reads, _, writes = name.partition(">")

        def fill(cc):
            for port in cc.inputs:
                port.set_one_of(*(types[part] for part in reads.split("|")))
            for port in cc.outputs:
                port.set_same_as(cc.inputs[0]) if writes == "same" else port.set_one_of(
                    *(types[part] for part in writes.split("|"))
                )

        declare(name, fill)

    def chain(*names, wiring=None):
        """Wire each to the one before it, or as given: (input, output)."""
        for name in dict.fromkeys(names):
            declared(name)
        nodes = []
        for i, name in enumerate(names):
            reader, writer = (f"s{i}", f"s{i + 1}") if wiring is None else wiring[i]
            ports = (f'input_stream: "{reader}" ' if name[0] != ">" else "") + f'output_stream: "{writer}"'
            nodes.append(f'node {{ calculator: "{name}" {ports} }}')
        return 'input_stream: "s0" ' + "\n".join(nodes)

    return chain


@pytest.mark.parametrize(
    "names",
    [
        ("int>int", "int>int"),
        ("int>Derived", "Base>int"),
        ("int>Base", "Derived>int"),
        ("int>int", "float>int"),
        ("int>any", "str>int"),
        ("int>str", "any>int"),
        ("int>str|int", "str>int"),
        ("int>str", "any>same", "any>same", "str>int"),
        ("int>str", "str|int>same", "str>int"),
        ("int>list[int]", "list[int]>int"),
    ],
)
def test_types_that_agree_are_accepted(names, plan, chain):
    assert plan(chain(*names))


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("int>str", "int>int"), "expects int, but stream 's1' carries str (from node 'int>str')"),
        (("int>bool", "int>int"), "expects int, but stream 's1' carries bool"),
        (("int>list[str]", "list[int]>int"), "expects list[int], but stream 's1' carries list[str]"),
        (
            ("int>str", "any>same", "int>int"),
            "expects int, but stream 's2' carries str (from node 'any>same')",
        ),
        (("int>str", "str|int>same", "int>int"), "expects int, but stream 's2' carries str"),
        (
            ("int>str|list[int]", "int|bool>int"),
            "expects int | bool, but stream 's1' carries str | list[int]",
        ),
    ],
)
def test_types_that_do_not_agree_are_a_fault_that_names_both(names, words, faults, chain):
    ((code, message),) = faults(chain(*names))

    assert code == "UNKNOWN"
    assert words in message


@pytest.mark.parametrize(
    ("names", "cure"),
    [
        (("int>Base", "Texture>int"), "put 'UploadCalculator' in between"),
        (("int>Texture", "Base>int"), "put 'ReadBackCalculator' in between"),
        (("int>str", "Texture>int"), "convert it in between"),
    ],
)
def test_a_mismatch_names_the_calculator_that_one_of_the_types_names(names, cure, faults, chain):
    ((_, message),) = faults(chain(*names))

    assert message.endswith(f"; {cure}")


def test_every_mismatch_is_named_once(faults, chain):
    found = faults(chain("int>str", "int>str", "int>str"))

    assert len(found) == 2


def test_the_first_reader_of_a_graph_input_gives_it_its_type(plan, faults, chain):
    wiring = [("s0", "a"), ("s0", "b")]

    assert plan(chain("int>str", "int>bool", wiring=wiring)).streams[0].classes == (int,)
    ((_, message),) = faults(chain("int>str", "str>int", wiring=wiring))
    assert "expects str, but stream 's0' carries int (as its first reader has it)" in message


def test_a_stream_has_the_classes_that_its_writer_declares(plan, chain):
    made = plan(chain("int>Derived", "Base>float", "any>same", "any>list[int]", "any>any"))

    assert {
        stream.name: (stream.classes, stream.type_name.rpartition(".")[2]) for stream in made.streams
    } == {
        "s0": ((int,), "int"),
        "s1": ((Derived,), "Derived"),
        "s2": ((float, int), "float"),
        "s3": ((float, int), "float"),
        "s4": ((list,), "list[int]"),
        "s5": (None, "any type"),
    }


def test_one_of_several_types_is_narrowed_to_what_fits_the_other_end(plan, chain):
    made = plan(chain("int>str|float", "float>int"))

    assert made.streams[1].type_name == "float"


def test_types_go_through_ports_that_are_the_same_whatever_the_order(plan, chain):
    wiring = [("s0", "x"), ("x", "y"), ("y", "z")]
    made = plan(chain("any>same", "any>same", "str>int", wiring=wiring))

    assert [stream.classes for stream in made.streams] == [(str,), (str,), (str,), (int,)]


def test_the_same_as_an_unconnected_port_is_any(plan, declare):
    def fill(cc):
        cc.inputs["OPTIONAL"].optional()
        cc.outputs[0].set_same_as(cc.inputs["OPTIONAL"])

    declare("LooseCalculator", fill)

    assert plan('node { calculator: "LooseCalculator" output_stream: "x" }').streams[0].classes is None


def test_side_packets_must_agree_with_their_producer(faults, declare):
    declare("MakeCalculator", lambda cc: cc.output_side_packets["S"].set(int))
    declare("UseCalculator", lambda cc: cc.input_side_packets["S"].set(str))

    ((code, message),) = faults("""
        node { calculator: "MakeCalculator" output_side_packet: "S:s" }
        node { calculator: "UseCalculator" input_side_packet: "S:s" }
        """)

    assert code == "UNKNOWN"
    assert (
        "input side packet 'S' expects str, but side packet 's' carries int (from node 'MakeCalc" in message
    )


def test_unknown_calculators_fit_everything(faults, chain):
    found = faults(chain("int>str", "int>int").replace('"int>str"', '"Missing"'))

    assert [code for code, _ in found] == ["NOT_FOUND"]


def test_joining_everything_with_everything_takes_linear_time():
    ports = [PortSpec(index=i).set_any() for i in range(20_000)]
    last = PortSpec().set(int)

    types = PortTypes()
    wrong = types.resolve([*itertools.pairwise(ports), (ports[-1], last)])

    assert wrong == []
    assert types.of(ports[0]) == types.of(ports[10_000]) == (int,)
