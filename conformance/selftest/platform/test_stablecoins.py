"""Stablecoins as the suite registers them: by which link to a provider."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.exchange.client import RecordingClient
from conformance.platform.given.stablecoins import Coin, Stablecoins
from conformance.profile.model import Profile
from conformance.selftest.contexts import context_of
from conformance.selftest.standins import Behaviour, StandIn, answers

LINK = "StablecoinProviderAccount:1"
SELECTION = "stablecoinProviderAccountId"


@pytest.mark.parametrize(
    ("shape", "sent"),
    [
        pytest.param({"name": "{name}"}, {SELECTION: LINK}, id="beside what the profile names"),
        pytest.param(
            {"by": {"link": f"{{{SELECTION}}}"}},
            {"by": {"link": LINK}},
            id="where the profile says so",
        ),
    ],
)
def test_a_registration_names_one_of_several_links(
    stand_in: Callable[[Behaviour], StandIn],
    connect: Callable[..., RecordingClient],
    make_profile: Callable[..., Profile],
    shape: dict[str, Any],
    sent: dict[str, Any],
) -> None:
    """It is sent as a mint sends it; without any, nothing stands in its place."""
    profile = make_profile(bindings={"stablecoin": shape}, features={"stablecoins": True})
    client = connect(stand_in(answers(201, {"id": "Stablecoin:1"})).base_url)
    accounts = cast("Any", SimpleNamespace())
    stablecoins = Stablecoins(context_of(client, profile), accounts, accounts)

    chosen = stablecoins.operate("register", Coin("Stablecoin:1"), provider_account=LINK)
    usual = stablecoins.operate("register", Coin("Stablecoin:1"))

    assert sent.items() <= chosen.exchange.request_body.items()
    assert LINK not in str(usual.exchange.request_body)
