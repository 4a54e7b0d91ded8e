"""Images to tensors, models, and what models say.

The names are imported when they are first used, so finding this pack imports neither NumPy nor a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_tensors.inference.onnx_inference import (
        OnnxInferenceCalculatorOptions as OnnxInferenceCalculatorOptions,
    )
    from penstock_tensors.messages.ssd_anchors_pb2 import Anchor as Anchor
    from penstock_tensors.models.backend import Backend as Backend
    from penstock_tensors.models.backend import BackendModel as BackendModel
    from penstock_tensors.models.backend import Session as Session
    from penstock_tensors.models.backend import add_backend as add_backend
    from penstock_tensors.models.backend import load_model as load_model
    from penstock_tensors.models.backend import remove_backend as remove_backend
    from penstock_tensors.models.custom_ops import CustomOp as CustomOp
    from penstock_tensors.models.custom_ops import Kernel as Kernel
    from penstock_tensors.models.custom_ops import OpResolver as OpResolver
    from penstock_tensors.models.installed_operations import standard_operations as standard_operations
    from penstock_tensors.models.model import Model as Model
    from penstock_tensors.models.model_metadata import ModelMetadata as ModelMetadata
    from penstock_tensors.models.model_metadata import TokenizerMetadata as TokenizerMetadata
    from penstock_tensors.models.model_metadata import TokenizerMetadataKind as TokenizerMetadataKind
    from penstock_tensors.models.resource_finder import RESOURCES as RESOURCES
    from penstock_tensors.models.resource_finder import FoundResource as FoundResource
    from penstock_tensors.models.resource_finder import ResourceFinder as ResourceFinder
    from penstock_tensors.models.run_settings import RunSettings as RunSettings
    from penstock_tensors.models.tensor_info import TensorInfo as TensorInfo

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_tensors.inference.onnx_inference": "OnnxInferenceCalculatorOptions",
    "penstock_tensors.messages.ssd_anchors_pb2": "Anchor",
    "penstock_tensors.models.backend": "Backend BackendModel Session add_backend load_model remove_backend",
    "penstock_tensors.models.custom_ops": "CustomOp Kernel OpResolver",
    "penstock_tensors.models.model": "Model",
    "penstock_tensors.models.run_settings": "RunSettings",
    "penstock_tensors.models.model_metadata": "ModelMetadata TokenizerMetadata TokenizerMetadataKind",
    "penstock_tensors.models.resource_finder": "RESOURCES FoundResource ResourceFinder",
    "penstock_tensors.models.tensor_info": "TensorInfo",
    "penstock_tensors.models.installed_operations": "standard_operations",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
