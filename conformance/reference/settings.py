"""What an operator of the reference implementation may choose."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    """The choices of one running reference; frozen.

    Amounts are integers in the smallest unit of their currency, durations are seconds.
    """

    model_config = ConfigDict(frozen=True)

    api_token_id: str = Field(min_length=1)
    api_client_secret: str = Field(min_length=1, repr=False)
    database_url: str = "sqlite://"
    """A SQLAlchemy URL; the default is an in-memory database of this process alone."""
    version: str = "2025-10-13"
    """The last segment of the base URL."""
    platform_model: Literal["REGULATED", "UNREGULATED"] = "UNREGULATED"
    platform_currency: str = "USD"
    settlement_seconds: float = 0.02
    """Time from execution to the rail's result, and from a failure to its refund."""
    quote_lifetime_seconds: float = 300.0
    challenge_lifetime_seconds: float = 300.0
    kyc_link_lifetime_seconds: float = 86_400.0
    factor_reset_lifetime_seconds: float = 3_600.0
    webhook_timeout_seconds: float = 5.0
    webhook_retry_seconds: float = 0.05
    """Delay before the first repetition of a delivery; it doubles each time."""
    variable_fee_rate: Decimal = Decimal("0.005")
    transaction_limits: dict[str, int] = {"USD": 100_000_000}
    """Largest sending amount of one transaction; other currencies: the equivalent of USD's."""
    daily_limits: dict[str, int] = {"USD": 100_000_000_000}
    """Largest sum a customer may send in 24 hours; other currencies as above."""
    unproven_limits: dict[str, int] = {"USD": 300_000}
    """Largest sending amount to an account whose ownership is not proved; as above."""
    max_body_bytes: int = 1_000_000
    max_upload_bytes: int = 12_000_000
    terms_version: str = "2025-10-01"
    terms_url: str = "https://terms.example/end-users/2025-10-01"
