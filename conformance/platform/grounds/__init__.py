"""Grounds: for each operation live resources, and a whole request that it accepts on them."""
