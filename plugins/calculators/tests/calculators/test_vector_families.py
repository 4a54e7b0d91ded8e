"""The vector calculators under all their names: the type of each, and a docstring that can be pasted."""

from __future__ import annotations

import importlib
import re

import pytest

from penstock import CalculatorGraph
from penstock_calculators.plugin import penstock_components

#: Registered name → the list that it is for.
LISTS = {
    "ClassificationListVectorSizeCalculator": "ClassificationList",
    "ClipDetectionVectorSizeCalculator": "Detection",
    "ClipNormalizedRectVectorSizeCalculator": "NormalizedRect",
    "GetClassificationListVectorItemCalculator": "ClassificationList",
    "GetDetectionVectorItemCalculator": "Detection",
    "GetLandmarkListVectorItemCalculator": "LandmarkList",
    "GetNormalizedLandmarkListVectorItemCalculator": "NormalizedLandmarkList",
    "GetNormalizedRectVectorItemCalculator": "NormalizedRect",
    "GetRectVectorItemCalculator": "Rect",
    "IntVectorIndicesCalculator": "int",
    "LandmarkListVectorSizeCalculator": "LandmarkList",
    "MergeDetectionsToVectorCalculator": "Detection",
    "MergeImagesToVectorCalculator": "ImageFrame",
    "NormalizedLandmarkListVectorIndicesCalculator": "NormalizedLandmarkList",
    "Uint64tVectorIndicesCalculator": "int",
}
SINGLE = (
    "DequantizeByteArrayCalculator",
    "MakePairCalculator",
    "MatrixMultiplyCalculator",
    "MatrixSubtractCalculator",
    "MatrixToVectorCalculator",
    "QuantizeFloatVectorCalculator",
)


def calculator_of(name):
    module, _, attribute = penstock_components().calculators[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize(("name", "element"), LISTS.items())
def test_a_name_stands_for_lists_of_its_type(name, element):
    calculator = calculator_of(name)

    assert calculator.__name__ == name
    assert calculator.container.element_type.__name__ == element
    assert f"list[{element}]" in calculator.__doc__


@pytest.mark.parametrize("name", [*LISTS, *SINGLE])
def test_the_docstring_of_each_name_ends_in_a_graph_that_loads(name):
    text, _, example = calculator_of(name).__doc__.partition("Example config::")
    streams = re.findall(r'input_stream: "(?:\w+:)?(\w+)"', example)
    sides = re.findall(r'input_side_packet: "(?:\w+:)?(\w+)"', example)

    graph = CalculatorGraph(
        "\n".join(
            [f'input_stream: "{one}"' for one in streams] + [f'input_side_packet: "{one}"' for one in sides]
        )
        + example
    )

    assert f'calculator: "{name}"' in graph.text_config
    assert "order of arrival" in text
    assert "<" not in text
