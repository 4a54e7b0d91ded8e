"""Hands, faces and poses in videos and camera images: graphs, and commands that run them."""
