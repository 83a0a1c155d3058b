"""Mutants: known by requirement and name, wherever they are declared."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.proof import mutant as module
from conformance.proof.mutant import DuplicateMutant, Registry, mutant
from conformance.proof.patch import Function, MutantError, NoSuchTarget, NothingChanged, Patch
from conformance.reference.quotes import quotes


class TestRegistry:
    """Mutants are known by requirement and name."""

    def test_a_mutant_is_named_after_its_function(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With hyphens."""
        registry = Registry()
        monkeypatch.setattr(module, "declare", registry.declare)

        @mutant("QUO-110", "an expired quote can still be executed")
        def expired_executes(patch: Patch) -> None:
            patch.replace(quotes, "is_expired", lambda *_: False)

        (declared,) = registry
        assert (declared.id, declared.requirement) == ("QUO-110/expired-executes", "QUO-110")
        assert declared.statement == "an expired quote can still be executed"
        assert declared.patch is expired_executes

    def test_with_a_place_the_function_takes_the_place(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A mutant with a place has the name of its function, which takes the place."""
        registry = Registry()
        monkeypatch.setattr(module, "declare", registry.declare)

        @mutant("QUO-110", "a quote expires when it should not", (quotes, "is_expired"))
        def the_other_way_round(is_expired: Function, *arguments: Any) -> bool:
            return not is_expired(*arguments)

        (declared,) = registry
        patch = Patch()
        declared.patch(patch)
        patch.revert()
        assert declared.id == "QUO-110/the-other-way-round"
        assert patch.places == {"conformance.reference.quotes.quotes:is_expired"}

    def test_one_requirement_may_have_several(self) -> None:
        """In the order of their declaration."""
        registry = Registry()

        for name in ("b", "a"):
            registry.declare("QUO-110", name, "x", lambda _patch: None)

        assert [declared.id for declared in registry] == ["QUO-110/b", "QUO-110/a"]
        assert len(registry) == 2

    def test_two_of_one_name_are_refused(self) -> None:
        """One would hide the other."""
        registry = Registry()
        registry.declare("QUO-110", "same_name", "x", lambda _patch: None)

        with pytest.raises(DuplicateMutant, match="QUO-110/same-name is declared twice"):
            registry.declare("QUO-110", "same-name", "y", lambda _patch: None)


def test_every_way_to_be_unusable_is_a_mutant_error() -> None:
    """The runner needs one name."""
    assert all(
        issubclass(kind, MutantError) for kind in (DuplicateMutant, NoSuchTarget, NothingChanged)
    )
