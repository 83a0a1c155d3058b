"""What all parts of a profile have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
"""The name of an environment variable."""


class ProfileError(Exception):
    """The profile cannot be used; the message names the file and the key to change."""


class ProfilePart(BaseModel):
    """A part of a profile: its members do not change, and others than they are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
