"""Names that mutants of several webhooks use."""

from __future__ import annotations

OUTGOING = "OUTGOING_PAYMENT."
