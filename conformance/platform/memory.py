"""What a run has found out about its target, so that no test has to find it out again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.contract.sightings import Sightings
from conformance.platform.waiting import Patience


@dataclass
class Memory:
    """What the tests of one process have learned, none of it a decision about a rule.

    ``approval`` is the way in which the last customer came to be approved, of individuals (False)
    and of businesses (True); "none" if none.
    ``needs_approval`` says whether a customer registers accounts only once it is approved.
    ``works`` says of each circumstance that tests draw whether the first one came about.
    ``sweeps_abroad`` says whether the destination of a sweep can be an external account.
    ``pulls_abroad`` says whether what is pulled can go to one.
    ``confirmation`` is the operation by which an untrusting is confirmed.
    ``papers`` are the documents that a business and its owners need beyond the usual, each by the
    types that are accepted for it.
    ``institutions`` are the ``bankName`` values listed for a country and a currency.
    ``terms`` are the end-user terms, as they were when a customer first consented to them.
    ``unprovisioned`` says that new stablecoins are not provisioned by themselves.
    ``walletless`` says that who transacts in the currency of wallets gets none, and others do.
    ``patience`` knows what was waited for in vain, ``sightings`` what resources have shown.
    """

    needs_approval: bool | None = None
    sweeps_abroad: bool | None = None
    pulls_abroad: bool | None = None
    confirmation: str | None = None
    papers: tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]] | None = None
    terms: Mapping[str, Any] | None = None
    unprovisioned: bool = False
    walletless: bool = False
    approval: dict[bool, str] = field(default_factory=dict)
    works: dict[str, bool] = field(default_factory=dict)
    institutions: dict[tuple[str, str], Sequence[str]] = field(default_factory=dict)
    patience: Patience = field(default_factory=Patience)
    sightings: Sightings | None = None
    folder: Path | None = None
    """Where the processes of a run wait for each other."""

    def forget(self) -> None:
        """Lose all that was learned, as the target may have become another one."""
        self.needs_approval = self.confirmation = self.terms = None
        self.sweeps_abroad = self.pulls_abroad = self.papers = None
        self.unprovisioned = self.walletless = False
        self.approval.clear()
        self.institutions.clear()
        self.works.clear()
        self.patience.forget()
        if self.sightings is not None:
            self.sightings.forget()
