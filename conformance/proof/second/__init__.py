"""A second implementation of the interface, written from its text alone to try the suite on.

It shares nothing with the reference, which those who write it do not read: threads of the standard
library's `http.server`, plain dictionaries behind one lock, tables of routes. `persona.py` lists
the choices that the text leaves open, `bugs.py` the faults that can be planted.
`python -m conformance.proof.second` runs it.
"""
