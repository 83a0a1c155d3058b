"""Tests of the suite itself: what it claims about others has to hold of itself first."""
