"""Text of others: what may be shown of it, and how templates are filled in."""
