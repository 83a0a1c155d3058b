"""The data that the suite sends: examples, documents, and values that differ for each test."""
