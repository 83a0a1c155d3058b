"""The suite as a client: sends, records, listens, arranges."""
