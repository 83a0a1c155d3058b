"""The context of a part of the platform, with a stand-in in the place of the client."""

from __future__ import annotations

from typing import Any, cast

from conformance.platform.api import Api
from conformance.platform.ledger import Ledger
from conformance.platform.memory import Memory
from conformance.platform.part import Context
from conformance.platform.waiting import Patience
from conformance.platform.webhooks import Webhooks
from conformance.profile.model import Profile
from conformance.testdata.samples import Samples
from conformance.webhooks.inbox import Inbox


def context_of(client: Any, profile: Profile, observed: list[str] | None = None) -> Context:
    """Return the context of a test which maps no trigger and whose requests go to ``client``.

    Observations are appended to ``observed``.
    """
    ledger = Ledger()
    return Context(
        api=Api(client, profile, ledger),
        profile=profile,
        triggers=cast("Any", None),
        webhooks=Webhooks(Inbox(), profile, Patience()),
        samples=Samples(1, "test"),
        ledger=ledger,
        memory=Memory(),
        observe=(observed if observed is not None else []).append,
    )
