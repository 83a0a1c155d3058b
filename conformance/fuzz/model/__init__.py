"""A model of the platform's money, and walks through it by chance."""
