"""OnnxInferenceCalculator: which processors run a model, and who shares it."""

from __future__ import annotations

import gc
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import numpy as np
import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError
from penstock_formats import Tensor
from penstock_tensors import RunSettings, load_model
from penstock_tensors.models import onnx_runtime
from penstock_tensors.models.onnx_runtime import wanted_providers

X = np.array([[1, 10, 100, 1000]], np.float32)
CPU, CUDA, CORE = (f"{name}ExecutionProvider" for name in ("CPU", "CUDA", "CoreML"))


def graph_of(path, options="", nodes=1):
    outputs = "".join(f'output_stream: "out{i}"\n' for i in range(nodes))
    return f'input_stream: "x" input_stream: "y"\n{outputs}' + "".join(
        f"""
        node {{
          calculator: "OnnxInferenceCalculator"
          input_stream: "TENSOR:0:x" input_stream: "TENSOR:1:y" output_stream: "TENSOR:out{i}"
          node_options {{ [type.googleapis.com/penstock_tensors.OnnxInferenceCalculatorOptions] {{
            model_path: "{path}" {options} }} }}
        }}"""
        for i in range(nodes)
    )


@pytest.fixture
def path(onnx, tmp_path):
    made = tmp_path / onnx.name
    made.write_bytes(onnx.data)
    return made


def run(path, options="", nodes=1):
    inputs = {name: [(0, Tensor(X))] for name in "xy"}
    outputs = penstock.run(graph_of(path, options, nodes), inputs)
    return [packets[0].payload.array.tolist() for packets in outputs.values()]


def test_a_model_runs(path):
    assert run(path) == [(X * 2).tolist()]
    assert run(path, 'providers: "cpu" threads: 2') == [(X * 2).tolist()]


def test_a_provider_that_is_not_there_is_told(path, caplog):
    with caplog.at_level(logging.WARNING, "penstock"):
        assert run(path, 'providers: "coreml"') == [(X * 2).tolist()]

    (record,) = [one for one in caplog.records if one.name.startswith("penstock.penstock_tensors")]
    assert "runs on CPUExecutionProvider: this onnxruntime cannot use coreml; install" in record.getMessage()


def test_a_provider_of_an_unknown_name_is_refused(path):
    with pytest.raises(
        GraphRunError, match="providers of ONNX Runtime has 'gpu', but must have names of 'cpu'"
    ):
        run(path, 'providers: "gpu"')


def test_the_first_provider_that_is_there_counts_and_the_cpu_comes_last():
    assert wanted_providers(["CUDA", "cpu", CORE], [CORE, CUDA, CPU]) == ([CUDA, CORE, CPU], [])
    assert wanted_providers(["cuda", "coreml"], [CORE, CPU]) == ([CORE, CPU], ["cuda"])
    assert wanted_providers([], [CUDA, CPU]) == ([CPU], [])
    assert wanted_providers(["cuda", CUDA], [CUDA, CPU]) == ([CUDA, CPU], [])
    with pytest.raises(InvalidArgumentError, match="'cudda'"):
        wanted_providers(["cudda"], [CPU])


@pytest.fixture
def counted(monkeypatch):
    """Return a list that gets an entry for each session that is made."""
    made = []
    make = onnx_runtime._session
    monkeypatch.setattr(onnx_runtime, "_session", lambda *given: made.append(given) or make(*given))
    return made


def test_nodes_and_graphs_with_one_model_share_a_session(path, counted):
    first, second = (penstock.CalculatorGraph(graph_of(path, nodes=3)) for _ in range(2))
    first.start_run()
    second.start_run()
    try:
        for graph in (first, second):
            for name in "xy":
                graph.add_packet_to_input_stream(name, penstock.Packet(Tensor(X), 0))
            graph.wait_until_idle()
        assert len(counted) == 1
    finally:
        for graph in (first, second):
            graph.close_all_packet_sources()
            graph.wait_until_done()
    del first, second, graph
    gc.collect()
    assert sha256(path.read_bytes()).digest() not in {key[0] for key in onnx_runtime._SHARED}
    run(path)
    assert len(counted) == 2  # the session went with the graphs


def test_other_settings_get_another_session(onnx, counted):
    kept = [load_model(onnx, RunSettings(threads=count)) for count in (1, 2, 1)]

    assert [threads for _, threads, _ in counted] == [1, 2]
    assert kept[0].session() is kept[2].session()


def test_threads_that_load_a_model_at_the_same_time_share_its_session(onnx, monkeypatch):
    made, is_made, may_go_on = [], threading.Event(), threading.Event()
    make = onnx_runtime._session

    def make_slowly(*given):
        made.append(given)
        is_made.set()
        assert may_go_on.wait(20)
        return make(*given)

    monkeypatch.setattr(onnx_runtime, "_session", make_slowly)
    with ThreadPoolExecutor(3) as pool:
        loads = [pool.submit(load_model, onnx, RunSettings()) for _ in range(3)]
        assert is_made.wait(20)
        may_go_on.set()
        models = [one.result(20) for one in loads]

    assert len(made) == 1
    assert len({id(one.session()) for one in models}) == 1


def test_a_thread_that_waited_for_a_session_that_cannot_be_made_gets_its_own_error(onnx, monkeypatch):
    begin = threading.Barrier(3, timeout=20)

    def fail(*_):
        raise InvalidArgumentError("no model")

    def load():
        begin.wait()
        load_model(onnx, RunSettings())

    monkeypatch.setattr(onnx_runtime, "_session", fail)
    with ThreadPoolExecutor(3) as pool:
        errors = [one.exception(20) for one in [pool.submit(load) for _ in range(3)]]

    assert [str(one) for one in errors] == ["no model"] * 3
    assert len({id(one) for one in errors}) == 3


def test_threads_call_one_session_at_the_same_time(onnx):
    session = load_model(onnx, RunSettings()).session()
    begin = threading.Barrier(4, timeout=20)
    wrong = []

    def call(number):
        begin.wait()
        for _ in range(200):
            (found,) = session.run([X * number, X])
            if found.tolist() != (X * number + X).tolist():
                wrong.append(number)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert not wrong


def test_neither_path_nor_model_is_refused():
    with pytest.raises(GraphConfigError, match="neither model_path nor MODEL"):
        penstock.CalculatorGraph(graph_of(""))
    with pytest.raises(GraphConfigError, match="threads is 0, but must be 1 or more"):
        penstock.CalculatorGraph(graph_of("a.onnx", "threads: 0"))
