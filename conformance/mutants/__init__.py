"""Deliberately broken variants of the reference, and the proof that each is noticed."""
