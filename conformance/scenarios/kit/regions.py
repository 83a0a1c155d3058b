"""Regions of customers, where a profile names them by ISO 3166-1 alpha-2 codes."""

EU = (
    *("AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE"),
    *("IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK"),
)
"""The countries of the European Union."""
