"""Names and values that the specification leaves open, a module for each area."""
