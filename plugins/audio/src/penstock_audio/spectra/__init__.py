"""Spectra, features of spectra, and sound as tensors for models."""
