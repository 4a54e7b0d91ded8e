"""What the error of a call says: the line of the user's code, and the inputs that were empty."""

from __future__ import annotations

import importlib.util
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.errors import GraphRunError
from penstock_testing import testing_registry

if TYPE_CHECKING:
    from pathlib import Path

TIMEOUT = 20

HEAD = """
import json
import penstock

class Base(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.inputs["A"].set_any()
        cc.inputs["B"].set_any()

"""


def calculator_in(path: Path, body: str) -> Any:
    """Write a module with one calculator, named as the file, and return the calculator."""
    path.write_text(HEAD + textwrap.dedent(body))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, path.stem.capitalize())


def failure_of(calculator: Any, *packets: tuple[str, object, int]) -> str:
    """Return the words of the only error of a run of one node with the inputs A and B."""
    name = calculator.__name__
    graph = penstock.CalculatorGraph(
        f"""input_stream: "a" input_stream: "b"
        node {{ calculator: "{name}" input_stream: "A:a" input_stream: "B:b" }}""",
        registry=testing_registry(calculator),
    )
    graph.start_run()
    with pytest.raises(GraphRunError) as caught:  # noqa: PT012  # an add raises too, once the run has failed
        for stream, payload, t in packets:
            graph.add_packet_to_input_stream(stream, penstock.Packet(payload, t))
        graph.close(TIMEOUT)
    (error,) = caught.value.errors
    return str(error)


def test_the_error_names_file_line_and_function_of_the_users_code(tmp_path) -> None:
    gate = calculator_in(
        tmp_path / "gate.py",
        """
        class Gate(Base):
            def process(self, cc):
                return self.ratio(cc)

            def ratio(self, cc):
                return cc.inputs["A"].payload / 0
        """,
    )
    said = failure_of(gate, ("a", 1, 5), ("b", 1, 5))
    line = len((tmp_path / "gate.py").read_text().splitlines())
    assert said == (
        "node 'Gate' (Gate): process() failed at 5: ZeroDivisionError: division by zero "
        f"(at gate.py:{line} in ratio)"
    )


def test_the_line_is_the_users_own_where_a_library_raises(tmp_path) -> None:
    reader = calculator_in(
        tmp_path / "reader.py",
        """
        class Reader(Base):
            def process(self, cc):
                json.loads(cc.inputs["A"].payload)
        """,
    )
    said = failure_of(reader, ("a", "{", 5), ("b", 1, 5))
    assert "JSONDecodeError: " in said
    assert "(at reader.py:" in said
    assert said.endswith(" in process)")


def test_a_misuse_of_the_framework_names_the_users_line_too(tmp_path) -> None:
    wrong = calculator_in(
        tmp_path / "wrong.py",
        """
        class Wrong(Base):
            def process(self, cc):
                cc.outputs["C"].add(1, cc.input_timestamp)
        """,
    )
    said = failure_of(wrong, ("a", 1, 5), ("b", 1, 5))
    assert "there is no output 'C'" in said
    assert "(at wrong.py:" in said


def test_an_installed_calculator_is_named_by_its_own_package(tmp_path) -> None:
    pack = tmp_path / "site-packages" / "some_pack"
    pack.mkdir(parents=True)
    packed = calculator_in(
        pack / "packed.py",
        """
        class Packed(Base):
            def process(self, cc):
                json.loads(cc.inputs["A"].payload)
        """,
    )
    assert "(at packed.py:" in failure_of(packed, ("a", "{", 5), ("b", 1, 5))


def test_an_error_of_a_coroutine_names_its_line(tmp_path) -> None:
    later = calculator_in(
        tmp_path / "later.py",
        """
        class Later(Base):
            async def process(self, cc):
                raise KeyError("later")
        """,
    )
    assert "KeyError: 'later' (at later.py:" in failure_of(later, ("a", 1, 5), ("b", 1, 5))


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_the_error_lists_the_inputs_that_had_no_packet(tmp_path, kind) -> None:
    total = calculator_in(
        tmp_path / "total.py",
        f"""
        class Total(Base):
            {kind} process(self, cc):
                return cc.inputs["A"].payload + cc.inputs["B"].payload
        """,
    )
    said = failure_of(total, ("a", 1, 5), ("b", 1, 6))
    assert "unsupported operand type(s) for +: 'int' and 'NoneType' (at total.py:" in said
    assert said.endswith("; there was no packet at 5 on input 'B'")


def test_an_error_with_all_inputs_there_lists_none(tmp_path) -> None:
    full = calculator_in(
        tmp_path / "full.py",
        """
        class Full(Base):
            def process(self, cc):
                raise ValueError("full")
        """,
    )
    assert "no packet" not in failure_of(full, ("a", 1, 5), ("b", 1, 5))


def test_the_stream_of_a_foreign_exception_is_not_read(
    tmp_path,
) -> None:
    foreign = calculator_in(
        tmp_path / "foreign.py",
        """
        class ForeignError(Exception):
            @property
            def stream(self):
                raise RuntimeError("closed already")

        class Foreign(Base):
            def process(self, cc):
                raise ForeignError("lost")
        """,
    )
    assert "process() failed at 5: ForeignError: lost" in failure_of(foreign, ("a", 1, 5), ("b", 1, 5))


def test_an_exception_without_readable_text_is_an_error_of_the_run_like_others(tmp_path) -> None:
    mute = calculator_in(
        tmp_path / "mute.py",
        """
        class MuteError(Exception):
            def __str__(self):
                raise RuntimeError("never readable")

        class Mute(Base):
            def process(self, cc):
                raise MuteError
        """,
    )
    assert (
        "node 'Mute' (Mute): process() failed at 5: MuteError: no text, since its __str__ raised "
        "RuntimeError (at mute.py:"
    ) in failure_of(mute, ("a", 1, 5), ("b", 1, 5))
