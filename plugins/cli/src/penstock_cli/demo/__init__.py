"""`penstock demo`: its graphs, and where it draws."""
