"""OnnxBatchInferenceCalculator: tensors of several streams, in one call of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

import penstock
from penstock.access import ACCESS, Searched
from penstock.errors import InvalidArgumentError
from penstock_detect.option_checks import check_least
from penstock_formats import Tensor
from penstock_tensors import RESOURCES, Model, RunSettings, load_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_TAG: Final = "TENSORS"
_OPEN: Final = -1
#: Before all timestamps.
_NEVER: Final = -(2**63)


@attrs.frozen(kw_only=True)
class OnnxBatchInferenceCalculatorOptions:
    """Which model runs, and which tensors are one batch.

    Attributes:
        model_path: the .onnx file, searched by the service RESOURCES; its inputs and outputs have an open
            first axis.
        providers: execution providers of onnxruntime, the best one first.
        threads: of one call on the CPU.
        window: microseconds by which timestamps of one batch may differ; 0: they are equal.
        max_batch: at most so many are one batch; 0: as many as there are streams.
    """

    model_path: str = ""
    providers: tuple[str, ...] = ()
    threads: int = 1
    window: int = 0
    max_batch: int = 0

    def __attrs_post_init__(self) -> None:
        if not self.model_path:
            raise InvalidArgumentError(
                "the batch inference's model_path is not set; name an .onnx file in the options"
            )
        check_least("threads", self.threads, 1)
        check_least("window", self.window, 0)
        check_least("max_batch", self.max_batch, 0)


class OnnxBatchInferenceCalculator(penstock.Calculator):
    """Runs an .onnx model once for the tensors of several streams, whose first axis is the batch.

    Inputs: TENSORS:0, TENSORS:1, ... (list[Tensor]: one for each input of the model, of a batch of 1, all
    streams with the same shapes). Outputs: TENSORS:0, TENSORS:1, ... (list[Tensor]: the results of the input
    of the same number, of a batch of 1, at its timestamp). Which tensors are one batch follows from
    timestamps alone, so two runs make the same batches:

    - With `window: 0` tensors with the same timestamp are one batch. Timestamp offset 0.
    - With a window, a batch begins with a tensor and ends when all streams have one, when `max_batch` is
      reached, before the second tensor of a stream, and when every stream is settled more than `window` after
      its first one. A result then waits for that: a source that is silent must settle its stream, or the
      others wait for it.

    Nothing is sent for a timestamp without a tensor. The session of the model is shared with all nodes that
    run the model. Results of one batch are views of the same memory. With `window: 0`, `max_in_flight` of the
    node lets several calls run at the same time.

    Options `OnnxBatchInferenceCalculatorOptions`: `model_path` (required), `providers` (the CPU), `threads`
    (1), `window` (0 microseconds), `max_batch` (as many as streams).

    Raises in `get_contract`: InvalidArgumentError for a model_path that is not set, and for another number of
    outputs than of inputs. In `open`: FailedPreconditionError where onnxruntime is not installed,
    NotFoundError where the model is not found, InvalidArgumentError for a model whose batch is not open. In
    `process`: InvalidArgumentError for tensors that the model does not take, and for results without a batch.

    Config::

        node {
          calculator: "OnnxBatchInferenceCalculator"
          input_stream: "TENSORS:0:left_tensors"
          input_stream: "TENSORS:1:right_tensors"
          output_stream: "TENSORS:0:left_outputs"
          output_stream: "TENSORS:1:right_outputs"
          node_options {
            [type.googleapis.com/penstock_detect.OnnxBatchInferenceCalculatorOptions] {
              model_path: "best.onnx" window: 20000
            }
          }
        }
    """

    Options = OnnxBatchInferenceCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            InvalidArgumentError: as the class says.
        """
        options = cc.options(OnnxBatchInferenceCalculatorOptions)
        count = cc.inputs.count(_TAG)
        if cc.outputs.count(_TAG) != count or not count:
            raise InvalidArgumentError(
                f"the batch inference has {count} inputs TENSORS and {cc.outputs.count(_TAG)} outputs "
                "TENSORS, but must have an output for each input, and one at least"
            )
        for i in range(count):
            cc.inputs[_TAG, i].set(list[Tensor], "what the model takes, a batch of 1")
            cc.outputs[_TAG, i].set(list[Tensor], "what it makes of that, a batch of 1")
        cc.use_service(RESOURCES)
        if options.window:
            cc.set_process_timestamp_bounds()
        else:
            cc.set_timestamp_offset(0)
        cc.declare(
            may_skip=False, stateless=not options.window, cost="high", reads=[Searched(options.model_path)]
        )

    def open(self, cc: CalculatorContext) -> None:
        """Load the model.

        Raises:
            PenstockError: as the class says.
        """
        options = cc.options(OnnxBatchInferenceCalculatorOptions)
        model = Model.of(cc.service(RESOURCES).find(options.model_path, cc.service(ACCESS)))
        loaded = load_model(model, RunSettings(threads=options.threads, providers=options.providers))
        self._name, self._inputs = model.name, loaded.inputs
        for info in (*loaded.inputs, *loaded.outputs):
            if not info.shape or info.shape[0] != _OPEN:
                raise InvalidArgumentError(
                    f"{info.name!r} of the model {model.name!r} is {info}, but the first axis of all inputs "
                    "and outputs must be open for batches; export the model with dynamic=True"
                )
        self._session = loaded.session()
        self._window = options.window
        self._most = options.max_batch or len(cc.inputs)
        #: Number of a stream, the timestamp of its tensors, and these; in the order of timestamps.
        self._waiting: list[tuple[int, int, Sequence[Tensor]]] = []
        #: Of each stream, the timestamp of its last results.
        self._sent = [_NEVER] * len(cc.inputs)

    def process(self, cc: CalculatorContext) -> None:
        """Take the tensors of one timestamp, and run the batches that are complete.

        Raises:
            InvalidArgumentError: as the class says.
        """
        stamp = cc.stamp
        come = [(i, stamp, port.payload) for i, port in enumerate(cc.inputs) if not port.is_empty()]
        if not self._window:
            for start in range(0, len(come), self._most):
                self._run(cc, come[start : start + self._most])
            return
        if self._waiting and stamp > self._waiting[0][1] + self._window:
            self._end(cc)
        for one in come:
            if any(number == one[0] for number, _, _ in self._waiting):
                self._end(cc)
            self._waiting.append(one)
            if len(self._waiting) >= self._most:
                self._end(cc)
        bound = self._waiting[0][1] if self._waiting else stamp + 1
        for port, sent in zip(cc.outputs, self._sent, strict=True):
            port.set_next_timestamp_bound(max(bound, sent + 1))

    def close(self, cc: CalculatorContext) -> None:
        """Run what has waited for others.

        Raises:
            InvalidArgumentError: as the class says.
        """
        self._end(cc)

    def _end(self, cc: CalculatorContext) -> None:
        """Run the batch that is there."""
        batch, self._waiting = self._waiting, []
        self._run(cc, batch)

    def _run(self, cc: CalculatorContext, batch: Sequence[tuple[int, int, Sequence[Tensor]]]) -> None:
        """Run the model once, and send each stream its part."""
        if not batch:
            return
        arrays = [self._joined(i, [tensors for _, _, tensors in batch]) for i in range(len(self._inputs))]
        found = self._session.run(arrays)
        for array in found:
            if array.ndim == 0 or len(array) != len(batch):
                raise InvalidArgumentError(
                    f"the model {self._name!r} made a result {'x'.join(map(str, array.shape)) or 'scalar'}"
                    f" of a batch of {len(batch)}, which cannot be told apart; export it with an open batch"
                )
        for row, (number, stamp, _) in enumerate(batch):
            made = [Tensor(array[row : row + 1]) for array in found]
            cc.outputs[_TAG, number].add(made, stamp)
            self._sent[number] = stamp

    def _joined(self, which: int, given: Sequence[Sequence[Tensor]]) -> NDArray[Any]:
        """Return the tensors of all streams for one input of the model as one array.

        Raises:
            InvalidArgumentError: a stream has none, or they differ.
        """
        info = self._inputs[which]
        for tensors in given:
            if len(tensors) != len(self._inputs):
                raise InvalidArgumentError(
                    f"the batch inference got {len(tensors)} tensors, but the model {self._name!r} takes "
                    f"{len(self._inputs)}: {', '.join(f'{one.name!r} ({one})' for one in self._inputs)}"
                )
        arrays = [tensors[which].array for tensors in given]
        first = arrays[0]
        for array in arrays:
            if array.shape != first.shape or array.dtype.name != info.element_type or array.shape[:1] != (1,):
                raise InvalidArgumentError(
                    f"the input {info.name!r} ({info}) of the model {self._name!r} got a tensor "
                    f"{array.dtype} {'x'.join(map(str, array.shape))} beside one {first.dtype} "
                    f"{'x'.join(map(str, first.shape))}; give all streams tensors of one shape, with a batch "
                    "of 1"
                )
        return first if len(arrays) == 1 else np.concatenate(arrays)
