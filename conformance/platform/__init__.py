"""The suite in the part of a platform."""
