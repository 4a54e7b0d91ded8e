"""The `penstock` command. `main.py` has the commands; nothing else here is public."""
