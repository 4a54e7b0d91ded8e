"""The families of calculators that are named for an element type: names, types, docstrings, laziness."""

from __future__ import annotations

import importlib
import pickle
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import get_origin

import numpy as np
import pytest

from penstock import CalculatorGraph, Packet, Timestamp
from penstock.errors import PacketTypeError
from penstock_calculators.lists.containers import AFFINE_MATRICES, TENSORS, ListOf, MessageOf
from penstock_calculators.plugin import penstock_components
from penstock_formats import Landmark, LandmarkList, Matrix, Tensor

FAMILIES = ("begin_loop", "end_loop", "concatenate", "split")
#: The part of the names after the family: the element of a list, or a message.
LOOPS = {
    "AffineMatrix": "tuple[float, ...]", "Image": "Image", "RenderData": "RenderData",
    "Tensor": "Tensor", "TfLiteTensor": "Tensor",
    "Boolean": "bool", "ClassificationList": "ClassificationList", "Detection": "Detection", "Float": "float",
    "ImageFrame": "ImageFrame", "ImageSize": "tuple[int, int]", "Int": "int",
    "LandmarkListVector": "LandmarkList", "Matrix": "Matrix", "MatrixVector": "list[Matrix]",
    "NormalizedLandmarkListVector": "NormalizedLandmarkList", "NormalizedRect": "NormalizedRect",
    "String": "str", "Uint64t": "int",
}  # fmt: skip
VECTORS = {
    "AffineMatrix": "tuple[float, ...]", "Image": "Image", "RenderData": "RenderData",
    "Tensor": "Tensor", "TfLiteTensor": "Tensor",
    "Bool": "bool", "ClassificationList": "ClassificationList", "Detection": "Detection", "Float": "float",
    "ImageFrame": "ImageFrame", "Int32": "int", "LandmarList": "NormalizedLandmarkList",
    "Landmark": "NormalizedLandmark", "LandmarkList": "LandmarkList", "Matrix": "Matrix",
    "NormalizedLandmarkList": "NormalizedLandmarkList", "NormalizedRect": "NormalizedRect",
    "String": "str", "UInt64": "int", "Uint64t": "int",
}  # fmt: skip
MESSAGES = {
    "ClassificationList": "Classification", "JointList": "Joint", "LandmarkList": "Landmark",
    "NormalizedLandmarkList": "NormalizedLandmark",
}  # fmt: skip


def calculators():
    """Return the registered names of the families with the parts that they consist of."""
    targets = penstock_components().calculators
    places = {name: target.partition(":") for name, target in targets.items()}
    return {
        name: getattr(importlib.import_module(module), attribute)
        for name, (module, _, attribute) in places.items()
        if module.rpartition(".")[2] in FAMILIES
    }


def given(payload):
    """Return an input port with the attributes that a container reads."""
    return SimpleNamespace(name="x", payload=payload, packet=Packet(payload, 7))


CALCULATORS = calculators()
every_name = pytest.mark.parametrize("name", sorted(CALCULATORS))


def types_by_name(name):
    """Return the container and the element that a registered name says, as texts."""
    stem = name.removesuffix("Calculator").removeprefix("Movable")
    for family in ("BeginLoop", "EndLoop"):
        if stem.startswith(family):
            element = LOOPS[stem.removeprefix(family)]
            return f"list[{element}]", element
    stem = stem.removeprefix("Concatenate").removeprefix("Split")
    if stem.endswith("Vector"):
        element = VECTORS[stem.removesuffix("Vector")]
        return f"list[{element}]", element
    return stem, MESSAGES[stem]


def types_of(container):
    """Return the types of a container and its elements, as the same texts: names without their modules."""
    whole, element = container.type, container.element_type
    texts = [str(one) if get_origin(one) else one.__name__ for one in (whole, element)]
    return tuple(re.sub(r"\w[\w.]*\.", "", text) for text in texts)


def test_all_names_of_the_reference_exist_whose_element_type_exists():
    counts = dict.fromkeys(FAMILIES, 0)
    for calculator in CALCULATORS.values():
        counts[calculator.__module__.rpartition(".")[2]] += 1

    assert counts == {"begin_loop": 12, "end_loop": 15, "concatenate": 19, "split": 16}


@every_name
def test_a_calculator_is_for_the_type_that_its_name_says(name):
    assert types_of(CALCULATORS[name].container) == types_by_name(name)


@every_name
def test_a_calculator_is_the_class_of_its_registered_name(name):
    calculator = CALCULATORS[name]

    assert (calculator.__name__, calculator.__qualname__) == (name, name)
    assert pickle.loads(pickle.dumps(calculator)) is calculator  # noqa: S301  # our own bytes


@every_name
def test_a_docstring_says_the_type_and_ends_in_a_graph_that_loads(name):
    calculator = CALCULATORS[name]

    text, _, example = calculator.__doc__.partition("Example config::")
    graph = CalculatorGraph(
        "\n".join(
            f'input_stream: "{stream}"' for stream in re.findall(r'input_stream: "(?:\w+:)?(\w+)"', example)
        )
        + example
    )

    assert calculator.container.describe() in text
    assert "<" not in text
    assert f'calculator: "{name}"' in graph.text_config


def test_a_loop_over_numbers_imports_neither_numpy_nor_messages():
    program = (
        "import sys\n"
        "from penstock_calculators.lists.begin_loop import BeginLoopFloatCalculator\n"
        "assert BeginLoopFloatCalculator.container.element_type is float\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert not {"numpy", "google", "penstock_formats"} & set(done.stdout.split())


@pytest.mark.parametrize(
    ("container", "elements", "message"),
    [
        (ListOf(int), [1, True], r"'x': element 1 of the list is a 'bool', not a 'int'"),
        (ListOf(int), [1, 2, 0.5], r"element 2 of the list is a 'float', not a 'int'"),
        (ListOf(bool), [1], r"element 0 of the list is a 'int', not a 'bool'"),
        (ListOf(float), ["1"], r"element 0 of the list is a 'str', not a 'float'; convert it"),
        (TENSORS, [[0.5]], r"element 0 of the list is a 'list', not a 'Tensor'"),
        (AFFINE_MATRICES, [[1.0] * 16], r"element 0 of the list is a 'list', not a 'tuple\[float, ...\]'"),
        (ListOf("Matrix"), [[]], r"element 0 of the list is a 'list', not a 'Matrix'"),
        (ListOf(ListOf("Matrix")), [1.0], r"element 0 of the list is a 'float', not a 'list\[Matrix\]'"),
    ],
)
def test_a_list_of_other_elements_is_refused_with_the_place_of_the_first(container, elements, message):
    with pytest.raises(PacketTypeError, match=message) as caught:
        container.elements(given(elements))

    assert (caught.value.stream, caught.value.timestamp) == ("x", 7)


@pytest.mark.parametrize(
    ("container", "elements"),
    [
        (ListOf(float), [1, 2.5]),
        (ListOf(int), [Timestamp(1)]),
        (ListOf(bool), [True]),
        (ListOf("Matrix"), [Matrix(np.zeros((1, 2), np.float32))]),
        (ListOf(ListOf("Matrix")), [[]]),
        (TENSORS, [Tensor(np.zeros((2, 1, 3), np.int8)), Tensor(np.array(0.5, np.float32))]),
        (AFFINE_MATRICES, [(1.0,) * 16]),
    ],
)
def test_a_list_of_fitting_elements_is_forwarded_as_it_is(container, elements):
    assert container.elements(given(elements)) is elements


def test_a_message_gives_its_repeated_field_and_is_packed_into_a_new_one():
    container = MessageOf("LandmarkList", "landmark", "Landmark")
    message = LandmarkList(landmark=[Landmark(x=1), Landmark(x=2)])

    packed = container.pack(container.elements(given(message))[1:])

    assert packed == LandmarkList(landmark=[Landmark(x=2)])
    assert packed.landmark[0] is not message.landmark[1]
