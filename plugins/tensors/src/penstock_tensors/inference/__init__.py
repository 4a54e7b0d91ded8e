"""Calculators that load and run models."""
