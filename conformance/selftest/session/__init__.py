"""Tests of the plugin, the session and what pytest hands on."""
