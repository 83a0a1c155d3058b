"""Measures what the suite costs; `tox -e bench` fails where it costs more than before."""
