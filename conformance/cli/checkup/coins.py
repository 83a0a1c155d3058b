"""Finds out which bodies register, mint and burn a stablecoin, which are not shown."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from conformance.cli.checkup.fitting import Send, Values, fitted, heeded
from conformance.cli.checkup.learned import Learned, question, refusal, told
from conformance.exchange.answer import Answer
from conformance.platform.given.stablecoins import NOT_PROVISIONED, SELECTION
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, fill_template
from conformance.text.paths import value_at

_COIN: Values = (
    ("ticker", "{symbol}"),
    ("symbol", "{symbol}"),
    ("code", "{symbol}"),
    ("name", "{name}"),
    ("currency", "USD"),
    ("network", "SOLANA"),
    ("chain", "SOLANA"),
    ("decimals", 6),
)


def _ends(word: str, *members: str) -> Values:
    """Return what an operation can hold where it names an account, and its amount."""
    values = (word, *({member: word} for member in (*members, "accountId", "id")))
    names = ("account", "destination", "source", "from", "to")
    return ("amount", "{digits}"), *((name, value) for value in values for name in names)


_INTERNAL = _ends("{accountId}", "internalAccountId")
_EXTERNAL = _ends("{externalAccountId}", "externalAccountId")


def forms(
    platform: Platform, internal: Resource | None, external: Resource | None
) -> Iterator[Learned]:
    """Yield the bindings of stablecoins, by what the target says of their fields.

    Args:
        platform: who registers a stablecoin.
        internal: an internal account to mint to and to burn from; without one neither is tried.
        external: an external account to mint to, if there is one.
    """
    names = platform.profile.bindings
    letters = "".join(string.ascii_uppercase[int(digit)] for digit in platform.samples.digits(6))
    words = {"{name}": f"Conformance {letters}", "{symbol}": letters}

    def register(template: dict[str, Any]) -> Answer:
        body = fill_template(template, words)
        return platform.api.create_stablecoin(body=body, valid=False)

    template, answer = fitted(names.stablecoin, _COIN, register)
    if not answer.accepted:
        yield question("bindings.stablecoin", f"what registers one? {refusal(answer)}")
        return
    yield Learned(("bindings", "stablecoin"), told(answer), template)
    coin = value_at(answer.body, names.stablecoin_id)
    if internal is None or not isinstance(coin, str):
        return
    ends: dict[str, Any] = {
        "{accountId}": internal.id,
        "{externalAccountId}": None if external is None else external.id,
        "{digits}": "100",
        "{amount}": 100,
        # One account at the provider needs no choice.
        f"{{{SELECTION}}}": None,
    }
    for binding, operate, values in (
        ("stablecoin_mint", platform.api.mint_stablecoin, _INTERNAL),
        ("stablecoin_burn", platform.api.burn_stablecoin, _INTERNAL),
        ("stablecoin_external_mint", platform.api.mint_stablecoin, _EXTERNAL),
    ):
        usual = getattr(names, binding)
        if usual is not None and (external is not None or values is _INTERNAL):
            send = partial(_send, operate, coin, ends)
            yield _fitted_operation(binding, usual, values, send)


def _send(
    operate: Callable[..., Answer], coin: str, words: Mapping[str, Any], template: dict[str, Any]
) -> Answer:
    return operate(coin, body=fill_template(template, words), valid=False)


def _fitted_operation(binding: str, usual: dict[str, Any], values: Values, send: Send) -> Learned:
    template, answer = fitted(usual, values, send)
    if answer.accepted and template != usual:
        template = heeded(template, send)
    # A form that the target's own words led to is known, whether the coin is provisioned or not.
    if answer.accepted or (answer.code == NOT_PROVISIONED and template != usual):
        return Learned(("bindings", binding), told(answer), template)
    return question(f"bindings.{binding}", f"which members does it have? {refusal(answer)}")
