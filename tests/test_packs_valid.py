"""What `penstock validate-pack` asks of strangers' packs holds for those of this workspace."""

from __future__ import annotations

import pytest

from penstock.plugins.default_registry import default_plugin_host
from penstock_testing import check_pack

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("plugin", [record.name for record in default_plugin_host().records])
def test_a_pack_of_the_workspace_has_no_fault(plugin):
    assert [str(fault) for fault in check_pack(plugin).faults] == []
