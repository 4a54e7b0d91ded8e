"""Commands that look at graphs and components without running them."""
