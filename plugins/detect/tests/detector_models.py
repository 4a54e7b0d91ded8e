"""Random outputs of each layout, and .onnx models that give them."""

from __future__ import annotations

import numpy as np
import pytest

WIDTH, HEIGHT = 64, 32
#: Cells of grids of 8, 16 and 32 pixels.
CELLS = 8 * 4 + 4 * 2 + 2 * 1
CLASSES = 3
LABELS = ("cat", "dog", "bird")
POINTS = 2


def _boxes(random, count):
    """Return centres and sizes in pixels."""
    centres = random.uniform((5, 5), (WIDTH - 5, HEIGHT - 5), (count, 2))
    return np.concatenate([centres, random.uniform(2, 12, (count, 2))], axis=1).astype(np.float32)


def _corners(boxes):
    return np.concatenate([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], axis=1)


def _shares(random, *shape):
    return random.uniform(0, 1, shape).astype(np.float32) ** 3


def outputs_of(layout, seed=0):  # noqa: PLR0911, C901  # one return for each layout
    """Return name → array for a layout, random."""
    random = np.random.default_rng(seed)
    boxes = _boxes(random, CELLS)
    scores = _shares(random, CELLS, CLASSES)
    coefficients = random.normal(size=(CELLS, 4)).astype(np.float32)
    masks = {"masks": random.normal(size=(1, 4, HEIGHT // 4, WIDTH // 4)).astype(np.float32)}
    points = random.uniform(0, 30, (CELLS, POINTS * 3)).astype(np.float32)
    if layout in ("YOLO_V8", "YOLO_V8_SEGMENT", "YOLO_V8_POSE"):
        further = {"YOLO_V8_SEGMENT": [coefficients], "YOLO_V8_POSE": [points]}.get(layout, [])
        rows = np.concatenate([boxes, scores, *further], axis=1)
        return {"output0": rows.T[None].copy(), **(masks if layout.endswith("SEGMENT") else {})}
    if layout in ("YOLO_V5", "YOLO_V5_SEGMENT"):
        boxes, scores, coefficients = (np.tile(one, (3, 1)) for one in (boxes, scores, coefficients))
        boxes += random.uniform(0, 4, boxes.shape).astype(np.float32)
        there = random.uniform(0.2, 1, (3 * CELLS, 1)).astype(np.float32)
        further = [coefficients] if layout.endswith("SEGMENT") else []
        rows = np.concatenate([boxes, there, scores, *further], axis=1)
        return {"output0": rows[None], **(masks if layout.endswith("SEGMENT") else {})}
    if layout == "YOLOX":
        rows = np.concatenate(
            [random.normal(0, 0.5, (CELLS, 4)), _shares(random, CELLS, 1) ** 0.3, scores], axis=1
        )
        return {"output": rows.astype(np.float32)[None]}
    classes = random.integers(0, CLASSES, CELLS)
    best = _shares(random, CELLS, 1)
    if layout.startswith("YOLO_END_TO_END"):
        count = 20
        further = {"YOLO_END_TO_END_SEGMENT": [coefficients], "YOLO_END_TO_END_POSE": [points]}.get(
            layout, []
        )
        rows = [_corners(boxes), best, classes[:, None], *further]
        whole = np.concatenate([one[:count] for one in rows], axis=1).astype(np.float32)
        return {"output0": whole[None], **(masks if layout.endswith("SEGMENT") else {})}
    if layout == "SSD":
        count = 30
        edges = (_corners(boxes) / [WIDTH, HEIGHT, WIDTH, HEIGHT])[:, [1, 0, 3, 2]].astype(np.float32)
        return {
            "detection_boxes": edges[None],
            "detection_classes": classes.astype(np.float32)[None],
            "detection_scores": best.T.copy(),
            "num_detections": np.array([count], np.float32),
        }
    if layout == "DETR":
        size = np.array([WIDTH, HEIGHT] * 2, np.float32)
        return {
            "logits": random.normal(-1, 2, (1, CELLS, CLASSES)).astype(np.float32),
            "pred_boxes": (boxes / size)[None].astype(np.float32),
        }
    if layout == "DETR_ROWS":
        size = np.array([WIDTH, HEIGHT] * 2, np.float32)
        rows = np.concatenate([boxes / size, scores], axis=1)
        return {"output0": rows[None, :30].astype(np.float32)}
    if layout == "DETR_END_TO_END":
        size = np.array([WIDTH, HEIGHT] * 2, np.float32)
        rows = np.concatenate([boxes / size, best, classes[:, None]], axis=1)
        return {"output0": rows[None, :30].astype(np.float32)}
    if layout == "LABELS_BOXES_SCORES":
        return {"labels": classes[None], "boxes": _corners(boxes)[None], "scores": best.T.copy()}
    if layout == "RTMDET":
        return {"dets": np.concatenate([_corners(boxes), best], axis=1)[None], "labels": classes[None]}
    shape = (HEIGHT // 4, WIDTH // 4)
    heat = {"CENTERNET": CLASSES, "CENTERFACE": 1}
    if layout in heat:
        maps = {
            "hm": _shares(random, 1, heat[layout], *shape),
            "wh": random.uniform(0.5, 2, (1, 2, *shape)).astype(np.float32),
            "reg": random.uniform(0, 1, (1, 2, *shape)).astype(np.float32),
        }
        if layout == "CENTERNET":
            return maps
        named = dict(zip(("537", "538", "539"), maps.values(), strict=True))
        return {**named, "540": random.uniform(-1, 1, (1, 10, *shape)).astype(np.float32)}
    assert layout == "CLASSES"
    return {"output0": np.array([[0.1, 0.6, 0.3]], np.float32)}


#: Layout → what the metadata of an export says beside the names.
TASKS = {
    "YOLO_V8_POSE": {"task": "pose", "kpt_shape": f"[{POINTS}, 3]"},
    "YOLO_END_TO_END_POSE": {"task": "pose", "kpt_shape": f"[{POINTS}, 3]"},
    "DETR_ROWS": {"task": "detect"},
    "DETR_END_TO_END": {"task": "detect", "head": "RTDETRDecoder"},
}
TOLD = [
    "YOLO_V5", "YOLO_V8", "YOLO_END_TO_END", "SSD", "DETR", "LABELS_BOXES_SCORES", "RTMDET", "CENTERNET",
    "CENTERFACE", "YOLO_V5_SEGMENT", "YOLO_V8_SEGMENT", "YOLO_V8_POSE", "YOLO_END_TO_END_SEGMENT",
    "YOLO_END_TO_END_POSE", "DETR_ROWS", "DETR_END_TO_END",
]  # fmt: skip
DETECTING = [*TOLD, "YOLOX"]


def onnx_model(  # noqa: PLR0913  # what a file says
    outputs,
    *,
    shape=(1, 3, HEIGHT, WIDTH),
    kind="FLOAT",
    metadata=None,
    sizes=False,
    shapes=None,
    is_old=False,
):
    """Return the bytes of an .onnx file with constant outputs.

    Args:
        outputs: name → array.
        shape: of the input "images"; text is an open size.
        kind: ONNX's name of the input's element type.
        metadata: key → text.
        sizes: whether a second input takes the size of the image.
        shapes: name of an output → the shape that the file says.
        is_old: whether the weights are among the inputs.
    """
    from onnx import TensorProto, helper, numpy_helper

    inputs = [helper.make_tensor_value_info("images", getattr(TensorProto, kind), list(shape))]
    if sizes:
        inputs.append(helper.make_tensor_value_info("orig_target_sizes", TensorProto.INT64, [1, 2]))
    weights, nodes, infos = [], [], []
    for name, array in outputs.items():
        weights.append(numpy_helper.from_array(array, f"{name}_value"))
        nodes.append(helper.make_node("Identity", [f"{name}_value"], [name]))
        element = helper.np_dtype_to_tensor_dtype(array.dtype)
        if is_old:
            inputs.append(helper.make_tensor_value_info(f"{name}_value", element, array.shape))
        infos.append(helper.make_tensor_value_info(name, element, (shapes or {}).get(name, array.shape)))
    graph = helper.make_graph(nodes, "tiny", inputs, infos, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, metadata or {})
    return model.SerializeToString()


def mean_colours(path, height, width, **metadata):
    """Write a model to a file whose scores are the mean colours of its input, RGB from 0 to 1."""
    onnx = pytest.importorskip("onnx", reason='no onnx: pip install "penstock-detect[testing]"')
    pytest.importorskip("onnxruntime", reason='no onnxruntime: pip install "penstock-detect[onnx]"')
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("ReduceMean", ["images"], ["output0"], axes=[2, 3], keepdims=0)],
        "mean",
        [helper.make_tensor_value_info("images", kind, [1, 3, height, width])],
        [helper.make_tensor_value_info("output0", kind, [1, 3])],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(made, metadata)
    path.write_bytes(made.SerializeToString())
    return path


def tflite_model(outputs, *, shape=(1, HEIGHT, WIDTH, 3), kind="FLOAT32", scale=None, metadata=None):
    """Return the bytes of a .tflite file with constant outputs.

    Args:
        outputs: name → array, float32 or int8.
        shape: of the input "images".
        kind: the schema's name of the input's element type.
        scale: what outputs of int8 are quantized by.
        metadata: name → text of files that are packed into it, as Ultralytics does.
    """
    import io
    import zipfile

    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    model, graph = schema.ModelT(), schema.SubGraphT()
    model.version, model.buffers = 3, [schema.BufferT()]
    graph.tensors, graph.operators = [_tensor(schema, "images", shape, kind)], []
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.RESHAPE
    code.version, model.operatorCodes = 1, [code]
    for name, array in outputs.items():
        for values, given in ((array, array.shape), (np.array(array.shape, np.int32), (array.ndim,))):
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(values.tobytes(), np.uint8)
            model.buffers.append(buffer)
            of = values.dtype.name.upper()
            own = scale if values is array else None
            graph.tensors.append(_tensor(schema, f"{name}_{of}", given, of, len(model.buffers) - 1, own))
        graph.tensors.append(_tensor(schema, name, array.shape, array.dtype.name.upper(), 0, scale))
        operator, last = schema.OperatorT(), len(graph.tensors) - 1
        operator.opcodeIndex, operator.inputs, operator.outputs = 0, [last - 2, last - 1], [last]
        graph.operators.append(operator)
    graph.inputs = [0]
    graph.outputs = [operator.outputs[0] for operator in graph.operators]
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    file = io.BytesIO(bytes(builder.Output()))
    if metadata:
        with zipfile.ZipFile(file, "a") as packed:
            for name, text in metadata.items():
                packed.writestr(name, text)
    return file.getvalue()


def _tensor(schema, name, shape, kind, buffer=0, scale=None):  # noqa: PLR0913, PLR0917  # of one
    tensor = schema.TensorT()
    tensor.name, tensor.shape, tensor.buffer = name, list(shape), buffer
    tensor.type = getattr(schema.TensorType, kind)
    if scale is not None:
        tensor.quantization = schema.QuantizationParametersT()
        tensor.quantization.scale, tensor.quantization.zeroPoint = [scale], [0]
    return tensor
