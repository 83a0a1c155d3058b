"""What valid accounts hold that the suite had to guess, as the specification does not show it."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.scenarios.kit.refusals import field_errors, path_names
from conformance.testdata.accounts import account_examples
from conformance.verdict.decisions import ResourceMissing

_OPERATORS = (
    "KES_ACCOUNT",
    "TZS_ACCOUNT",
    "ZMW_ACCOUNT",
    "RWF_ACCOUNT",
    "MWK_ACCOUNT",
    "UGX_ACCOUNT",
    "XOF_ACCOUNT",
    "BWP_ACCOUNT",
)

GUESSED: Mapping[str, tuple[str, ...]] = {
    # The names of mobile operators are not shown.
    **dict.fromkeys(_OPERATORS, ("provider",)),
    # A sandbox may have a network of its own, whose addresses and invoices begin otherwise, and
    # whether somebody answers under an address is for the network to say.
    "SPARK_WALLET": ("address",),
    # Wallets alone are said to need no beneficiary.
    "LIGHTNING": ("lightningAddress", "invoice", "bolt12", "beneficiary"),
}
"""By account type the members whose values another implementation may honestly not know."""


def with_known_values(platform: Platform, answer: Answer) -> Answer:
    """Return the answer to a valid account.

    Raises:
        ResourceMissing: it was refused for a guess of the suite and for nothing else. What the
            profile binds is no guess.
    """
    kind = answer.exchange.request_body["accountInfo"]["accountType"]
    examples = [found.name for found in account_examples().values() if found.account_type == kind]
    bindings = platform.profile.bindings.accounts
    bound = {member for name in examples for member in bindings.get(name, ())}
    guessed = set(GUESSED.get(kind, ())) - bound
    found = field_errors(answer)
    listed = found if isinstance(found, list) else []
    paths = [path_names(entry.get("field")) for entry in listed if isinstance(entry, Mapping)]
    named = [guessed.intersection(path) for path in paths]
    if not answer.accepted and named and all(named):
        raise ResourceMissing(
            f"the target does not know the {' or '.join(sorted(set().union(*named)))} that the "
            f"suite sends; give its own in bindings.providers or, for {examples[0]}, in "
            "bindings.accounts of the profile"
        )
    return answer
