"""The system under test: where it is, how it is asked, and the sandbox of the reference."""
