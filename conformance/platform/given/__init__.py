"""The parts of the platform by area: each arranges resources and returns them."""
