"""ResourceProviderCalculator: files, found by their names, as side packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.access import ACCESS, Searched, SearchedPort
from penstock.errors import InvalidArgumentError
from penstock_tensors.messages.resource_provider_pb2 import ResourceProviderCalculatorOptions
from penstock_tensors.models.resource_finder import RESOURCES, FoundResource

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class ResourceProviderCalculator(penstock.Calculator):
    """Finds files by their names, such as models, and gives each as a side packet.

    Input side packets: RESOURCE_ID:i (str, optional): the name of file i. Output side packets: RESOURCE:i
    (FoundResource): file i; at least one. The names come from the side packets or from the option, not both,
    and there are as many as outputs. The service RESOURCES (`penstock_tensors.RESOURCES`) finds the files;
    the README of penstock-tensors says where. No file is ever downloaded.

    Options `ResourceProviderCalculatorOptions`: `resource_id` (several): the names; `read_mode` has no
    effect.

    Raises InvalidArgumentError in `get_contract`: the numbers of names and outputs differ, or names come from
    both. In `open`: NotFoundError, which names the places searched; InvalidArgumentError for a file that
    cannot be read.

    Source of the behaviour: MediaPipe `calculators/util/resource_provider_calculator.cc`.

    Config::

        node {
          calculator: "ResourceProviderCalculator"
          output_side_packet: "RESOURCE:palm_model"
          node_options {
            [type.googleapis.com/penstock.ResourceProviderCalculatorOptions] {
              resource_id: "mediapipe/modules/palm_detection/palm_detection_full.tflite"
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a side packet for each name.

        Raises:
            InvalidArgumentError: as the class says.
        """
        named = len(cc.options(ResourceProviderCalculatorOptions).resource_id)
        given = cc.input_side_packets.count("RESOURCE_ID")
        outputs = cc.output_side_packets.count("RESOURCE")
        if named and given:
            raise InvalidArgumentError(
                f"the provider's names of resources come from {given} side packets RESOURCE_ID and from "
                f"{named} resource_id of the options; leave out one of the two"
            )
        if not outputs or max(named, given) != outputs:
            raise InvalidArgumentError(
                f"the resource provider has {max(named, given)} names of files and {outputs} outputs "
                "RESOURCE, but needs as many outputs as names, and at least one; set resource_id in the "
                "options, or connect RESOURCE_ID"
            )
        for i in range(given):
            cc.input_side_packets["RESOURCE_ID", i].set(str, "the name of a file")
        for i in range(outputs):
            cc.output_side_packets["RESOURCE", i].set(FoundResource, "the file")
        cc.set_timestamp_offset(0)
        cc.use_service(RESOURCES)
        names = cc.options(ResourceProviderCalculatorOptions).resource_id
        ports = [cc.input_side_packets["RESOURCE_ID", i] for i in range(given)]
        cc.declare(may_skip=False, stateless=False, reads=[*map(Searched, names), *map(SearchedPort, ports)])

    def open(self, cc: CalculatorContext) -> None:
        """Find and read the files."""
        finder, access = cc.service(RESOURCES), cc.service(ACCESS)
        names = list(cc.options(ResourceProviderCalculatorOptions).resource_id)
        if not names:
            ids = [key for key in cc.input_side_packets.ids() if key[0] == "RESOURCE_ID"]
            names = [cc.input_side_packets[key].get(str) for key in ids]
        for i, name in enumerate(names):
            cc.output_side_packets["RESOURCE", i].set(finder.find(name, access))

    def process(self, cc: CalculatorContext) -> None:
        """Do nothing: the node has no streams."""
