"""Helpers that scenarios of several areas share."""
