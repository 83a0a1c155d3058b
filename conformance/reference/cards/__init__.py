"""Cards, and what happens to them at merchants."""
