"""The door to `penstock_templates`; penstock-templates declares it."""

from penstock.doors import behind, member

_MODULE = behind("templates")


def __getattr__(name: str) -> object:
    return member(_MODULE, name)
