"""The calculators of the pack, a module for each."""
