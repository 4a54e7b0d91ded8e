"""Whether a pack's own .proto file finds the core's under the path that it is installed at."""

import importlib.resources
import os
import subprocess
import sys
from pathlib import Path

import pytest

import penstock

#: The folder that holds the package `penstock`: site-packages, or the core's sources.
_BESIDE = Path(penstock.__file__).resolve().parents[1]
_PROTO = """
syntax = "proto2";
package my_pack;

import "penstock/config/calculator_options.proto";
import "penstock/config/calculator.proto";

message MyOptions {
  extend penstock.CalculatorOptions {
    optional MyOptions ext = 500033001;
  }
  optional int32 size = 1 [default = 3];
  optional penstock.CalculatorGraphConfig.Node inside = 2;
}
"""
_USE = """
from my_pack.my_pb2 import MyOptions
from penstock.config import read_graph
from penstock.config.options.options import Options
from penstock.registry import Registry

registry = Registry()
registry.add_option("my_pack.MyOptions", "penstock.CalculatorOptions", 500033001, "my_pack.my_pb2:MyOptions")
node = read_graph("node { options { [my_pack.MyOptions.ext] { size: 5 } } }", registry).node[0]
print(Options(node.options).get(MyOptions).size, Options().get(MyOptions).size)
"""


def test_the_protos_are_where_protoc_looks_for_them():
    for name in ("calculator", "calculator_options", "mediapipe_options", "stream_handler"):
        assert (_BESIDE / "penstock" / "config" / f"{name}.proto").is_file()


def test_protoc_compiles_a_packs_proto_that_imports_the_cores(tmp_path):
    pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed: protoc comes with it")
    (tmp_path / "my_pack").mkdir()
    (tmp_path / "my_pack" / "my.proto").write_text(_PROTO, encoding="utf-8")
    well_known = importlib.resources.files("grpc_tools") / "_proto"
    include = [f"-I{tmp_path}", f"-I{_BESIDE}", f"-I{well_known}"]
    command = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        *include,
        f"--python_out={tmp_path}",
        "my_pack/my.proto",
    ]

    subprocess.run(command, check=True, cwd=tmp_path)

    path = os.pathsep.join([str(tmp_path), str(_BESIDE)])
    run = [sys.executable, "-c", _USE]
    done = subprocess.run(
        run, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.stdout == "5 3\n"
