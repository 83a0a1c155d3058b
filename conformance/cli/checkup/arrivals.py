"""What the webhooks that came say of their form and of their signature."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.cli.checkup.learned import Learned, question
from conformance.exchange.delivery import Delivery
from conformance.profile.part import ProfileError
from conformance.profile.webhooks import Signature
from conformance.webhooks.signatures import Verifier

SECRET = "PAYMENTS_WEBHOOK_SECRET"  # noqa: S105 - the name of the variable
"""The environment variable with the secret of signed webhooks, where the profile names none."""

_MAX_SHOWN = 6
_MAX_TRIED = 20
_MAX_NAMES = 6
_SIGNING = ("signature", "hmac", "digest")
_SIGNED_TOO = ("timestamp", "time", "date", "id", "nonce")
_NAMED = re.compile(r"(?:^|[,;\s])([A-Za-z0-9_-]{1,20}[=,])")


def told_by(deliveries: Sequence[Delivery], url: str) -> Iterator[Learned]:
    """Yield whether webhooks came, and in which form.

    Args:
        deliveries: those that came.
        url: where they were waited for.
    """
    kinds = Counter(one.type for one in deliveries)
    untold = kinds.pop(None, 0)
    if not deliveries:
        yield question(
            "features.webhooks",
            f"none came to {url}: does the target reach it (webhooks.listen, webhooks.public_url), "
            "and does it know it (triggers.webhook.register, or by hand)?",
        )
    if kinds:
        types = ", ".join(f"{kind}" for kind, _ in kinds.most_common(_MAX_SHOWN))
        text = f"{kinds.total()} webhooks came, of {len(kinds)} types such as {types}"
        yield Learned(("features", "webhooks"), text, value=True)
    if untold:
        yield question(
            "features.webhooks",
            f"{untold} of {len(deliveries)} deliveries are no JSON object with a type, as webhooks "
            "are; who sent them?",
        )


def signature(
    deliveries: Sequence[Delivery], variable: str, environ: Mapping[str, str]
) -> Iterator[Learned]:
    """Yield how webhooks are signed, where a header looks so.

    Args:
        deliveries: those that came.
        variable: the environment variable that holds the secret.
        environ: the environment.
    """
    webhooks = [one for one in deliveries if one.type is not None][:_MAX_TRIED]
    if not webhooks:
        return
    headers = [name for name in webhooks[0].headers if any(part in name for part in _SIGNING)]
    if not headers:
        return
    seen = f"webhooks have the header {', '.join(headers)}"
    if not environ.get(variable):
        yield question(
            "webhooks.signature",
            f"{seen}. Export the secret as {variable} and run init again: it finds the form. "
            "A public key stands in webhooks.signature.key",
        )
        return
    for header in headers:
        for form in _forms(header, webhooks[0], variable):
            try:
                verifier = Verifier(form, environ)
            except ProfileError as error:
                if form.key_encoding == "base64":
                    # Most secrets are texts. This one is, as none of their forms verified.
                    break
                yield question("webhooks.signature", str(error))
                return
            if all(verifier.problem(one) is None for one in webhooks):
                text = f"{seen}, which verifies {len(webhooks)} of them in this form"
                yield Learned(("features", "webhook_signatures"), text, value=True)
                said: dict[str, Any] = form.model_dump(mode="json", exclude_defaults=True)
                yield Learned(("webhooks", "signature"), text, said)
                return
    yield question(
        "webhooks.signature",
        f"{seen}, and no usual form verifies with the secret in {variable}: how are they signed?",
    )


def _forms(header: str, delivery: Delivery, variable: str) -> Iterator[Signature]:
    value = delivery.headers[header]
    named = list(dict.fromkeys(_NAMED.findall(value)))[:_MAX_NAMES]
    words = [name.removesuffix("=") for name in named if name.endswith("=")]
    others = [
        name
        for name in delivery.headers
        if name != header and any(name.endswith(part) for part in _SIGNED_TOO)
    ][:_MAX_NAMES]
    names = [f"{{{name}}}" for name in (*words, *others)]
    signed = [
        "{body}",
        *(f"{name}{sign}{{body}}" for name in names for sign in (".", ":", "")),
        *(f"{first}.{second}.{{body}}" for first, second in itertools.permutations(names, 2)),
    ]
    for key_encoding, algorithm, encoding, prefix, message in itertools.product(
        ("text", "base64"), ("hmac-sha256", "hmac-sha512"), ("hex", "base64"), ("", *named), signed
    ):
        yield Signature.model_validate(
            {
                "header": header,
                "algorithm": algorithm,
                "key": variable,
                "key_encoding": key_encoding,
                "encoding": encoding,
                "prefix": prefix,
                "signed": message,
            }
        )
