"""A language server for graph files. `penstock language-server` starts it; there is nothing to import."""
