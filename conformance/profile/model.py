"""The profile: what cannot be known from the specification about one implementation."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from conformance.contract.vocabulary import REQUESTS, TRIGGERS, nearest
from conformance.profile.bindings.all_areas import Bindings
from conformance.profile.features import Features, Irreversible
from conformance.profile.names import problems_of_steps, problems_of_trigger, returned_by
from conformance.profile.part import VARIABLE, ProfilePart
from conformance.profile.resources import Corridor, Resources
from conformance.profile.triggers import Step, Trigger
from conformance.profile.webhooks import Webhooks

_NAMES_OF_TRIGGERS = frozenset(
    {"origin", "base_url", *(name for names in TRIGGERS.values() for name in names)}
)

PROBLEM = "profile_problem"
"""The type of pydantic's errors that say all that there is to say."""


class Environment(StrEnum):
    """Where the target runs: `sandbox`, or `production`, which is the default.

    Only a sandbox is sent requests that change anything.
    """

    SANDBOX = "sandbox"
    PRODUCTION = "production"


class Implementation(ProfilePart):
    """The name and version of the implementation, as the report shows them."""

    name: str = Field(description="Its name.")
    version: str = Field("", description="Its version, if it has one.")


class Credentials(ProfilePart):
    """Names of the environment variables that hold the credentials, never their values."""

    token_id: str = Field(
        "PAYMENTS_API_TOKEN_ID",
        pattern=VARIABLE,
        description="The variable of the API token id, which is sent as username.",
    )
    client_secret: str = Field(
        "PAYMENTS_API_CLIENT_SECRET",
        pattern=VARIABLE,
        description="The variable of the API client secret, which is sent as password.",
    )


class Tls(ProfilePart):
    """Whom the suite trusts to say who the target is."""

    certificate_authority: str | None = Field(
        None,
        description="A file beside the profile with certificates, in PEM, of authorities that "
        "are trusted beside the usual ones; null for none.",
    )


class Timing(ProfilePart):
    """How long the suite waits for what the specification gives no time for, in seconds."""

    request: float = Field(
        30.0, gt=0, description="One request, from sending to the last byte of its response."
    )
    event: float = Field(10.0, gt=0, description="A webhook after its cause.")
    state: float = Field(10.0, gt=0, description="A resource to come to a state.")
    poll: float = Field(
        0.02, gt=0, description="The first pause between two polls; it doubles up to a second."
    )
    quiet: float = Field(
        0.3, ge=0, description="How long nothing may arrive before an event counts as not sent."
    )
    outage: float = Field(
        60.0,
        gt=0,
        description="How long the target may answer no request, at least five in a row, before "
        "it is given up and what is left of the run is inconclusive.",
    )


class Budget(ProfilePart):
    """What a run may use up on the target."""

    requests: int = Field(100_000, gt=0, description="Requests.")
    created: int = Field(40_000, gt=0, description="Requests that create a resource.")
    amount: int = Field(
        10_000_000, gt=0, description="The largest deposit, in the currency's smallest unit."
    )


def _trigger_names(schema: dict[str, Any]) -> None:
    """Let the JSON Schema of the triggers name them, and take ``null``, which files may hold."""
    schema["type"] = ["object", "null"]
    schema["propertyNames"] = {"enum": sorted(TRIGGERS)}
    schema["additionalProperties"] = {"anyOf": [schema["additionalProperties"], {"type": "null"}]}


class Profile(ProfilePart):
    """Everything that a run knows about its target beside the base URL."""

    implementation: Implementation
    environment: Environment = Environment.PRODUCTION
    credentials: Credentials = Credentials()
    features: Features = Features()
    irreversible: Irreversible = Irreversible()
    tls: Tls = Tls()
    webhooks: Webhooks = Webhooks()
    bindings: Bindings = Bindings()
    resources: Resources = Resources()
    triggers: dict[str, Trigger] = Field(
        default_factory=dict,
        description="How the target's surroundings are made to act; null takes out a trigger "
        "that the specification offers itself.",
        json_schema_extra=_trigger_names,
    )
    setup: tuple[Step, ...] = Field(
        (),
        description="What is done once, before the first test of a run: requests and commands. "
        "What they return, triggers and `teardown` have as names in braces.",
    )
    teardown: tuple[Step, ...] = Field(
        (), description="What is done once, after the last test of a run."
    )
    timing: Timing = Timing()
    budget: Budget = Budget()
    secrets: dict[str, Annotated[str, Field(pattern=VARIABLE)]] = Field(
        default_factory=dict,
        description="Further names for the headers of triggers, each with the environment variable "
        "that holds the secret, never its value.",
    )
    variables: dict[str, str] = Field(
        default_factory=dict,
        description="Further names for the texts of triggers. No secrets: the values are part of "
        "the report.",
    )

    @field_validator("triggers")
    @classmethod
    def _known_triggers(cls, triggers: Mapping[str, Trigger]) -> Mapping[str, Trigger]:
        for name in triggers:
            if name not in TRIGGERS:
                hint = nearest(name, TRIGGERS)
                raise ValueError(
                    f"unknown trigger {name!r}; "
                    + (f"the nearest is {hint!r}" if hint else f"known are {', '.join(TRIGGERS)}")
                )
            if name in REQUESTS and triggers[name].http is None:
                raise ValueError(
                    f"{name} is a request whose answer is looked at: it is mapped by http alone"
                )
        return triggers

    def to_json(self) -> dict[str, Any]:
        """Return what the profile says, and nothing that it leaves to the defaults, as JSON values.

        Some defaults are guesses, and a guess that the target refuses breaks nothing.
        """
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    @model_validator(mode="after")
    def _known_signatures(self) -> Self:
        if self.features.webhook_signatures and self.webhooks.signature is None:
            raise ValueError("features.webhook_signatures needs webhooks.signature")
        return self

    @model_validator(mode="after")
    def _known_names(self) -> Self:
        words = (self.variables, self.secrets)
        problems = [
            problem
            for name, trigger in self.triggers.items()
            for problem in problems_of_trigger(name, trigger, words, self.established)
        ]
        problems += problems_of_steps("setup", self.setup, words)
        problems += problems_of_steps("teardown", self.teardown, words, self.established)
        for name in self.secrets.keys() & {*self.variables, *_NAMES_OF_TRIGGERS}:
            problems.append((("secrets", name), "has a meaning already; give it another name"))
        if problems:
            raise ValidationError.from_exception_data(
                type(self).__name__,
                [
                    InitErrorDetails(
                        # What it shows is no template of pydantic's.
                        type=PydanticCustomError(PROBLEM, "{text}", {"text": text}),
                        loc=place,
                        input=None,
                    )
                    for place, text in problems
                ],
            )
        return self

    @property
    def established(self) -> tuple[str, ...]:
        """The names of what the requests of `setup` return."""
        return tuple(name for step in self.setup for name in returned_by(step))

    @property
    def usual_corridor(self) -> Corridor:
        """The corridor of whatever needs no other: the first same-currency one, or the first."""
        corridors = self.resources.corridors
        return next((c for c in corridors if c.sending == c.receiving), corridors[0])

    @property
    def currency(self) -> str:
        """The currency of whatever needs no other."""
        return self.usual_corridor.sending
