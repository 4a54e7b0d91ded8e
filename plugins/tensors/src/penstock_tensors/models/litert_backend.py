"""The backend for .tflite models: ai-edge-litert, with XNNPACK or its own kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError, PenstockError
from penstock_tensors.models.cut_model import cut_model
from penstock_tensors.models.litert_session import LiteRtModel

if TYPE_CHECKING:
    from penstock_tensors.models.backend import BackendModel
    from penstock_tensors.models.model import Model
    from penstock_tensors.models.run_settings import RunSettings

#: What bytes 4 to 8 of each .tflite file are.
_IDENTIFIER: Final = b"TFL3"


class LiteRt:
    """Runs .tflite models with ai-edge-litert."""

    def recognizes(self, model: Model) -> bool:
        """Return whether the bytes are those of a .tflite file."""
        return model.data[4:8] == _IDENTIFIER

    def load(self, model: Model, settings: RunSettings) -> BackendModel:
        """Prepare a model; one with custom operations is cut into parts between them.

        Raises:
            FailedPreconditionError: ai-edge-litert is not installed.
            InvalidArgumentError: the file is damaged, or has a custom operation that nothing provides.
        """
        try:
            return LiteRtModel(model, settings)
        except PenstockError:
            raise
        except RuntimeError as error:  # how the runtime reports operations that it does not have
            cut = cut_model(model, settings)
            if cut is None:
                raise InvalidArgumentError(
                    f"the LiteRT backend cannot load the model {model.name!r}: {error}"
                ) from error
            return cut


BACKEND: Final = LiteRt()
