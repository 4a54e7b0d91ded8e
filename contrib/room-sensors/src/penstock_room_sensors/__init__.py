"""Sensor fusion for rooms: a pack for Penstock as a third party writes one."""
