"""The interface as data, and the judge of single messages."""
