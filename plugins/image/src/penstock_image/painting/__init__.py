"""Colours, text and images painted on frames by masks."""
