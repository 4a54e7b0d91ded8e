"""A registry made by hand, with calculators that declare ports and never run, and made-up options."""

import sys
import textwrap
from types import SimpleNamespace

import pytest

from penstock.config import build_plan
from penstock.errors import GraphConfigError
from penstock.registry import Registry

_OPTIONS_MODULE = """
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from penstock.config import calculator_pb2  # knows all that can be extended

file = descriptor_pb2.FileDescriptorProto(name="penstock_config_tests/{name}.proto", package="penstock")
for dependency in ("calculator", "calculator_options", "mediapipe_options"):
    file.dependency.append(f"penstock/config/{{dependency}}.proto")
message = file.message_type.add(name="{name}")
message.field.add(name="size", number=1, type=5, label=1)
message.field.add(name="ratio", number=3, type=2, label=1)
message.field.add(name="inner", number=2, type=11, label=3, type_name=".penstock.CalculatorGraphConfig.Node")
message.extension.add(
    name="ext", number={number}, type=11, label=1, type_name=".penstock.{name}", extendee=".{extendee}"
)
pool = descriptor_pool.Default()
pool.AddSerializedFile(file.SerializeToString())
{name} = message_factory.GetMessageClass(pool.FindMessageTypeByName("penstock.{name}"))
"""


def passing(cc):
    """One or more inputs, as many outputs, each of the same type."""
    for reader, writer in zip(cc.inputs, cc.outputs, strict=False):
        reader.set_any()
        writer.set_same_as(reader)
    for reader in list(cc.inputs)[len(cc.outputs) :]:
        reader.set_any()
    for side in (*cc.input_side_packets, *cc.output_side_packets):
        side.set_any()


@pytest.fixture
def registry():
    made = Registry()
    made.add("input stream handler", "DefaultInputStreamHandler", type("DefaultInputStreamHandler", (), {}))
    made.add("executor", "ThreadPoolExecutor", type("ThreadPoolExecutor", (), {}))
    return made


@pytest.fixture
def declare(registry):
    """Register a calculator whose contract a function fills in; return its class."""

    def declare(name, fill=passing):
        made = type(name, (), {"get_contract": classmethod(lambda _cls, cc: fill(cc))})
        registry.add("calculator", name, made)
        return made

    declare("PassCalculator")
    declare("SourceCalculator", lambda cc: [port.set_any() for port in cc.outputs])
    return declare


@pytest.fixture
def plan(registry, declare):  # declares the calculators that tests take for granted
    return lambda graph: build_plan(textwrap.dedent(graph) if isinstance(graph, str) else graph, registry)


@pytest.fixture
def faults(plan):
    """Return the faults of a graph that has some, as (code's name, message)."""

    def faults(graph):
        with pytest.raises(GraphConfigError) as caught:
            plan(graph)
        return [(fault.code.name, str(fault)) for fault in caught.value.faults]

    return faults


@pytest.fixture
def make_options(registry, tmp_path, monkeypatch):
    """Declare an options message. Its module is on the path, and is imported when the message is used."""
    monkeypatch.syspath_prepend(tmp_path)

    def make_options(name, number, extendee="penstock.CalculatorOptions", *, known=True):
        module = f"penstock_config_tests_{name.lower()}"
        source = _OPTIONS_MODULE.format(name=name, number=number, extendee=extendee)
        (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
        monkeypatch.delitem(sys.modules, module, raising=False)
        if known:
            registry.add_option(f"penstock.{name}", extendee, number, f"{module}:{name}")
        return SimpleNamespace(
            is_imported=lambda: module in sys.modules, load=lambda: getattr(__import__(module), name)
        )

    return make_options
