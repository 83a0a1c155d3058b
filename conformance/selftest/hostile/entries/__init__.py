"""The entries of the register, by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.selftest.hostile.entries import (
    bodies,
    contents,
    fair,
    framing,
    ids,
    secrets,
    size,
    start,
    timing,
    tls,
    webhooks,
)
from conformance.selftest.hostile.entry import Entry

KINDS: Mapping[str, Sequence[Entry]] = {
    "At the start": start.ENTRIES,
    "TLS": tls.ENTRIES,
    "HTTP and redirects": framing.ENTRIES,
    "Bodies": bodies.ENTRIES,
    "Contents: pages, money, states, texts": contents.ENTRIES,
    "Identifiers": ids.ENTRIES,
    "Credentials told again": secrets.ENTRIES,
    "Size": size.ENTRIES,
    "Time, pace and being gone": timing.ENTRIES,
    "Webhooks": webhooks.ENTRIES,
    "Strange but conforming": fair.ENTRIES,
}
