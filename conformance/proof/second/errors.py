"""Refusals: what becomes an error object, and the status of each code."""

from typing import Any

INPUT = "INVALID_INPUT"

STATUSES = {
    "UNAUTHORIZED": 401,
    "INVALID_SIGNATURE": 401,
    "WALLET_SIGNATURE_MISSING": 401,
    "WALLET_SIGNATURE_MALFORMED": 401,
    "WALLET_SIGNATURE_BODY_MISMATCH": 401,
    "WALLET_SIGNATURE_INVALID": 401,
    "REQUEST_ID_MISSING": 401,
    "BENEFICIARY_TRUSTED": 409,
    "SCA_SESSION_REQUIRED": 409,
    "CONFLICT": 409,
    "UNSUPPORTED_UMA_VERSION": 412,
    "DOCUMENT_REJECTED": 422,
    "ACCOUNT_LOCKED": 423,
    "PAYREQ_REQUEST_FAILED": 424,
    "COUNTERPARTY_PUBKEY_FETCH_ERROR": 424,
    "NO_COMPATIBLE_UMA_VERSION": 424,
    "LNURLP_REQUEST_FAILED": 424,
    "EMAIL_OTP_CREDENTIAL_SYNC_FAILED": 424,
    "SMS_OTP_CREDENTIAL_SYNC_FAILED": 424,
    "DAILY_VOLUME_LIMIT_EXCEEDED": 429,
    "TOO_MANY_RESETS": 429,
    "INTERNAL_ERROR": 500,
}


class Refusal(Exception):
    """The request is refused; `status` is 400 or 404 where the table of codes has no other one."""

    def __init__(
        self, code: str, reason: str, *, status: int = 0, details: dict[str, Any] | None = None
    ) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        default = 404 if code.endswith("NOT_FOUND") and "VERSION" not in code else 400
        self.status = status or STATUSES.get(code, default)
        self.details = details


def conflict(reason: str) -> Refusal:
    """Return a 409 of a cause for which the text names no code."""
    return Refusal("CONFLICT", reason)


# What one invalid member is refused with where a persona takes another status than 400.
_CODES = {400: INPUT, 409: "CONFLICT", 422: "UNPROCESSABLE"}


def invalid(field: str, message: str, *, kind: str = "text", status: int = 400) -> Refusal:
    """Return the refusal of one member, which `field` names as a dotted path."""
    entry = {"field": field, "constraint": {"format": kind}, "message": message}
    reason = f"{field}: {message}"
    return Refusal(_CODES[status], reason, status=status, details={"errors": [entry]})
