"""Is a pack as packs should be? `check_pack` looks at an installed one and says each fault with its cure."""

from penstock_testing.packs.check import check_pack
from penstock_testing.packs.report import PackFault, PackReport

__all__ = ["PackFault", "PackReport", "check_pack"]
