"""Conforming variants that do not show optional members of resources, declared from tables."""

from __future__ import annotations

from collections.abc import Callable

from conformance.proof.kit.builders import Json, Place, edited
from conformance.proof.kit.edits import where, with_null, without
from conformance.proof.variant import declare


def declare_optional(
    resource: str,
    place: Place,
    *members: str,
    spared: Callable[[Json], bool] = lambda _body: False,
) -> None:
    """Declare for each member a variant that leaves it out, and one that shows null.

    ``place`` is the function that shows the resource. Resources that are ``spared`` show the
    members as ever.
    """

    def can_change(body: Json) -> bool:
        return not spared(body)

    for member in members:
        declare(
            "M75",
            f"{resource}-without-{member}",
            f"no {resource} shows {member}",
            edited(*place, where(can_change, without(member))),
            "absent",
        )
        declare(
            "M75",
            f"{resource}-with-null-{member}",
            f"{member} of every {resource} is null",
            edited(*place, where(can_change, with_null(member))),
            "null",
        )
