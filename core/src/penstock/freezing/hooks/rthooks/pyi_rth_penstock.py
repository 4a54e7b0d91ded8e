# ruff: noqa: INP001  # PyInstaller looks for it in this folder
"""Runs before a program that PyInstaller has made, which may be a process that the program has started."""

from penstock.frozen_children import serve_before_script

serve_before_script()
