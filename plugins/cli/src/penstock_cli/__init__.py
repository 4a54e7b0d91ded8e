"""The `penstock` command. `main.py` has the commands; no other module here is public."""
