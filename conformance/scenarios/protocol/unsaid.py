"""Values of valid external accounts that the suite guesses, as the specification gives none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.refusals import field_errors, path_names
from conformance.testdata.accounts import account_examples
from conformance.testdata.examples import ABSENT, placed
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
    # The specification shows no names of mobile operators.
    **dict.fromkeys(_OPERATORS, ("provider",)),
    # A sandbox may have a network of its own, whose addresses and invoices begin otherwise, and
    # whether somebody answers under an address is for the network to say.
    "SPARK_WALLET": ("address",),
    # The specification says of wallets alone that they need no beneficiary.
    "LIGHTNING": ("lightningAddress", "invoice", "bolt12", "beneficiary"),
}
"""By account type, the members whose values a conforming implementation may not know."""


def _holds(path: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether a path is that of an object which another path leads into."""
    return len(path) < len(other) and list(other[: len(path)]) == list(path)


def _refusal_without_operator(platform: Platform, sent: Json, first: str) -> Answer | None:
    """Return the refusal of an account without an operator, where its type needs none.

    Whether it does is shown by the first example of the type.
    """
    body = platform.external_accounts.body({"id": sent["customerId"]}, first)
    shown, answer = (
        platform.api.create_external_account(placed(one, "accountInfo.provider", ABSENT))
        for one in (body, sent)
    )
    return answer if shown.accepted and not answer.accepted else None


def with_known_values(platform: Platform, answer: Answer) -> Answer:
    """Return the answer to the creation of a valid external account.

    Where the refusal names nothing, and the type needs no operator, it is the refusal of the same
    account without one.

    Raises:
        ResourceMissing: the refusal names no other members than those with guessed values, or
            none at all. A value that the profile binds is no guess.
    """
    sent = answer.exchange.request_body
    kind = sent["accountInfo"]["accountType"]
    examples = [
        example.name for example in account_examples().values() if example.account_type == kind
    ]
    bindings = platform.profile.bindings.accounts
    bound_members = {member for name in examples for member in bindings.get(name, ())}
    guessed_members = set(GUESSED.get(kind, ())) - bound_members
    errors = field_errors(answer)
    entries = errors if isinstance(errors, list) else []
    paths = [path_names(entry.get("field")) for entry in entries if isinstance(entry, Mapping)]
    # An object may be listed beside what is wrong in it.
    paths = [path for path in paths if not any(_holds(path, other) for other in paths)]
    if not paths and isinstance(answer.body, Mapping):
        # What is wrong with a bank account may be told in words alone.
        paths = [path_names(answer.body.get("reason"))]
    is_silent = not any({*sent, *sent["accountInfo"]}.intersection(path) for path in paths)
    if is_silent:
        paths = [sorted(guessed_members)]
    guesses_by_entry = [guessed_members.intersection(path) for path in paths]
    if not answer.accepted and guesses_by_entry and all(guesses_by_entry):
        if is_silent and kind in _OPERATORS:
            refusal = _refusal_without_operator(platform, sent, examples[0])
            if refusal is not None:
                return refusal
        unknown = " or ".join(sorted(set().union(*guesses_by_entry)))
        raise ResourceMissing(
            f"the target does not know the {unknown} that the "
            f"suite sends; give its own in bindings.providers or, for {examples[0]}, in "
            "bindings.accounts of the profile"
        )
    return answer
