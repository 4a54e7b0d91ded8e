"""The door to `penstock_views.describe`; penstock-views declares it."""

from penstock.doors import behind, member

_MODULE = behind("describe")


def __getattr__(name: str) -> object:
    return member(_MODULE, name)
