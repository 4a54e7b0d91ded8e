"""What the sensors of a room say together: a pack for Penstock as a third party writes one."""
