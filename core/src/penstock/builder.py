"""The door to `penstock_builder`; penstock-builder declares it."""

from penstock.doors import door

__getattr__ = door("builder")
