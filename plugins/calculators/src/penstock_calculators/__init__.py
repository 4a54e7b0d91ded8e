"""The standard calculators that need no further library."""
