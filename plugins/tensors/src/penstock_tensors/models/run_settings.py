"""How a model should run."""

from __future__ import annotations

import attrs

from penstock_tensors.models.custom_ops import OpResolver  # noqa: TC001  # attrs reads the annotation
from penstock_tensors.models.installed_operations import standard_operations


@attrs.frozen(kw_only=True)
class RunSettings:
    """How a model should run."""

    #: The threads of one run, 1 or more.
    threads: int = 1
    #: Whether the kernels of XNNPACK are wanted; a backend without them ignores it.
    uses_xnnpack: bool = True
    #: The custom operations that the model may use.
    operations: OpResolver = attrs.field(factory=standard_operations)
    #: What runs the model, the first that is there; names of onnxruntime or short ones, such as "cuda". Other
    #: backends ignore it.
    providers: tuple[str, ...] = ()
