"""The door to `penstock_failures`; penstock-failures declares it."""

from penstock.doors import door

__getattr__ = door("failures")
