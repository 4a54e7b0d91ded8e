"""`penstock doctor`: this machine and its installation."""
