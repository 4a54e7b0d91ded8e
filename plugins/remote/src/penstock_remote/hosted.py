"""Makes what the driver has described, a node or a region, at the other end."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from penstock_remote.description import RemoteRegion
from penstock_remote.hosted_node import HostedNode
from penstock_remote.hosted_region import HostedRegion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock import Registry, ServiceKey
    from penstock_remote.description import Described

#: What the other end has for a node of the driver's plan.
Hosted: TypeAlias = HostedNode | HostedRegion


def hosted(  # noqa: PLR0913  # as both
    described: Described,
    registry: Registry,
    services: dict[ServiceKey[Any], object] | None = None,
    allocate: Callable[[Any, Any], Any] | None = None,
    *,
    codes: Mapping[str, object] = MappingProxyType({}),
    is_plain: bool = False,
) -> Hosted:
    """Make the node or region that the driver has described; the arguments are those of `HostedRegion`.

    Raises:
        InvalidArgumentError, GraphConfigError: as `HostedNode` and `HostedRegion`.
    """
    if isinstance(described, RemoteRegion):
        return HostedRegion(described, registry, services, allocate, codes=codes, is_plain=is_plain)
    return HostedNode(described, registry, services, allocate, codes.get(described.code))
