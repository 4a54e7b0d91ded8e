"""Hands, faces, irises and boxes in space."""
