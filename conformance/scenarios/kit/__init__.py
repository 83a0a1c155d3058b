"""What scenarios of several areas share."""
