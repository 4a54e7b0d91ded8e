"""Nodes that work elsewhere: what an executor needs to make them there, and to call them."""
