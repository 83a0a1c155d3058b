"""Where the suite listens for webhooks, and how they are signed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import (
    Field,
)

from conformance.profile.part import VARIABLE, ProfilePart


class Signature(ProfilePart):
    """How the target signs its webhooks, which the specification leaves open."""

    header: str = Field(min_length=1, description="The header that holds the signature.")
    algorithm: Literal[
        "hmac-sha256", "hmac-sha512", "ecdsa-p256-sha256", "ed25519", "rsa-sha256"
    ] = Field(description="How the signature is made.")
    key: str = Field(
        min_length=1,
        description="Of hmac the environment variable that holds the secret; of the others the "
        "public key in PEM, or its file beside the profile, whose name ends in .pem.",
    )
    key_encoding: Literal["text", "base64"] = Field(
        "text",
        description="Of hmac: how the variable spells the secret, as a text or as bytes; `whsec_` "
        "before base64 is no part of it.",
    )
    encoding: Literal["hex", "base64"] = Field(
        "base64", description="How the header spells the signature."
    )
    prefix: str = Field(
        "",
        description="What stands before each signature in the header, for example `sha256=` or "
        "`v1,`.",
    )
    signed: str = Field(
        "{body}",
        description="What is signed: `{body}` is the raw body; any other name in braces is a "
        "header, or a name=value of the signature's own header, for example "
        "`{t}.{body}`.",
    )

    @property
    def symmetric(self) -> bool:
        """Whether the key is a secret that both sides hold."""
        return self.algorithm.startswith("hmac-")

    def known(self, environ: Mapping[str, str]) -> bool:
        """Return whether the key is there, which may stand in the environment alone."""
        return not self.symmetric or bool(environ.get(self.key))

    def model_post_init(self, _context: Any) -> None:
        """Refuse a key that is none of the algorithm, and a message without the body."""
        # What stands there may be the secret itself, and is not shown.
        if self.symmetric and not re.fullmatch(VARIABLE, self.key):
            raise ValueError(
                "key: of hmac it is the name of an environment variable, never its value"
            )
        if not self.symmetric and "-----BEGIN" not in self.key:
            raise ValueError("key: expected a public key in PEM, or a file that ends in .pem")
        if "{body}" not in self.signed:
            raise ValueError("signed: expected a text with {body} in it")


class Webhooks(ProfilePart):
    """Where the suite listens for webhooks, and under which URL the target reaches it."""

    listen: str = Field(
        "127.0.0.1:0", description="host:port to listen on; port 0 takes a free one."
    )
    public_url: str | None = Field(
        None,
        description="The URL that the target sends to, where it is not the listening address: of "
        "a tunnel, for example.",
    )
    signature: Signature | None = Field(
        None, description="How webhooks are signed; `features.webhook_signatures` needs it."
    )
