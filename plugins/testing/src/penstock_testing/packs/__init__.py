"""`check_pack` looks at an installed pack and reports each fault with what to do."""

from penstock_testing.packs.check import check_pack
from penstock_testing.packs.report import PackFault, PackReport

__all__ = ["PackFault", "PackReport", "check_pack"]
