"""`python -m penstock_cli` is `penstock`."""

from __future__ import annotations

from penstock_cli.main import main

if __name__ == "__main__":
    main()
