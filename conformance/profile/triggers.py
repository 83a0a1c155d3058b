"""How the triggers of the vocabulary are caused on one target."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from conformance.profile.part import ProfilePart
from conformance.text import addresses

DOCUMENTED_TRIGGERS = {
    # The specification names the operation and leaves its body open (Endpoints / Internal
    # accounts, line 351).
    "deposit.arrive": {
        "http": {
            "url": "{base_url}/sandbox/internal-accounts/{accountId}/fund",
            "json": {"amount": "{amount}"},
        }
    },
}

MIN_STATUS, MAX_STATUS = 100, 599
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class HttpTrigger(ProfilePart):
    """One HTTP request with the suite's credentials, by which something is caused.

    Texts may hold ``{origin}``, ``{base_url}``, the trigger's parameters, and what earlier requests
    of the same trigger returned.
    """

    method: Literal["POST", "PUT", "PATCH", "DELETE", "GET"] = "POST"
    url: str
    json_body: dict[str, Any] = Field(default_factory=dict, alias="json")
    headers: dict[str, str] = Field(
        default_factory=dict,
        description="Further headers, such as `{X-Admin-Key: '{admin_key}'}`. The names under "
        "`secrets` stand in them alone. With `Authorization` the suite's credentials stay away.",
    )
    returns: dict[str, str] = Field(
        default_factory=dict,
        description="The names of results, each with the dotted path in the response that leads "
        "to it, such as `data.0.id`. A GET is sent again until all are there, for `timing.state`.",
    )
    ok: tuple[int, ...] = Field(
        (),
        description="The statuses that count as success, such as `[200, 409]`; without any, those "
        "from 200 to 299.",
    )
    origins: tuple[str, ...] = Field(
        (),
        description="Where a URL that is a parameter or a result as a whole may lead, such as "
        "`https://verify.example.com`, beside the origin of the base URL.",
    )

    @field_validator("headers")
    @classmethod
    def _are_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        if wrong := [name for name in headers if not _HEADER.fullmatch(name)]:
            raise ValueError(f"expected the name of a header, got {wrong[0]!r}")
        return headers

    @field_validator("ok")
    @classmethod
    def _statuses(cls, ok: tuple[int, ...]) -> tuple[int, ...]:
        if wrong := [status for status in ok if not MIN_STATUS <= status <= MAX_STATUS]:
            raise ValueError(f"expected statuses of HTTP, from 100 to 599, got {wrong[0]}")
        return ok

    @field_validator("origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := [url for url in origins if addresses.origin(url) is None]:
            raise ValueError(f"expected for example https://verify.example.com, got {wrong[0]!r}")
        return origins


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


def _one_or_several(schema: dict[str, Any]) -> None:
    """Let the JSON Schema take one request where a list of them may stand."""
    listed = schema["anyOf"][0]
    schema["anyOf"].insert(0, listed["items"])


Calls = Annotated[tuple[HttpTrigger, ...], BeforeValidator(_as_list), Field(min_length=1)]


class Step(ProfilePart):
    """Something that is done to the target or beside it: by HTTP requests, or by a command."""

    http: Calls | None = Field(
        None,
        description="An HTTP request, or a list of them: one after the other.",
        json_schema_extra=_one_or_several,
    )
    command: list[str] | None = Field(None, min_length=1)

    def model_post_init(self, _context: Any) -> None:
        """Refuse a step of no kind or of several."""
        kinds = self._kinds()
        given = [name for name in kinds if getattr(self, name) is not None]
        if len(given) != 1:
            shown = ", ".join(given) or "none"
            raise ValueError(f"{self._noun()} has exactly one of {', '.join(kinds)}; got {shown}")

    @classmethod
    def _noun(cls) -> str:
        return "a step"

    @classmethod
    def _kinds(cls) -> tuple[str, ...]:
        return ("http", "command")


class WaitTrigger(ProfilePart):
    """Causes a trigger by letting the time pass that a parameter names."""

    until: Literal["expiresAt"]


class Trigger(Step):
    """How one trigger of the vocabulary is caused: exactly one of four kinds."""

    magic: dict[str, Any] | None = None
    wait: WaitTrigger | None = None
    back: Step | None = Field(
        None,
        description="What takes the effect back, at the end of the test that caused it; null where "
        "nothing has to be taken back.",
    )

    scope: Literal["parameters", "next", "all"] = Field(
        "parameters",
        description="Whom it happens to: what its `parameters` name; the `next` that comes, "
        "whatever it is; or `all`, until `back`. Of the last two one happens at a time in a run, "
        "while no other test runs.",
    )
    by: Literal["cause", "answer"] = Field(
        "cause",
        description="What it names: a `cause` in the world, or, where a sandbox has nothing else, "
        "the `answer` that is to come. What it decides is counted apart, and never called proven.",
    )

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.scope == "all" and self.back is None:
            raise ValueError("scope: all needs back, which ends what happens to all")
        if self.scope != "parameters" and self.magic is not None:
            raise ValueError("a magic value happens to what is created with it: it has no scope")
        return self

    @classmethod
    def _noun(cls) -> str:
        return "a trigger"

    @classmethod
    def _kinds(cls) -> tuple[str, ...]:
        return ("http", "command", "magic", "wait")
