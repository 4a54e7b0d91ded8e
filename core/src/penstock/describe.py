"""The door to `penstock_views.describe`; penstock-views declares it."""

from penstock.doors import door

__getattr__ = door("describe")
