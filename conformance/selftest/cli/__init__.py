"""Tests of the console command."""
