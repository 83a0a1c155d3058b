"""Who is tested, and what is known about it."""
