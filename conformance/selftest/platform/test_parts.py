"""The parts of the platform stay small, and are composed instead of inherited."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import pytest

from conformance import platform
from conformance.platform.api import Api
from conformance.platform.resource import Resource
from conformance.verdict.decisions import HarnessError

MAX_NAMES = 27
MAX_CHAIN = 2
ASSIGNED = re.compile(r"^ {8}self\.([a-z]\w*)[:,= ]", re.MULTILINE)


def classes() -> Iterator[type]:
    """Yield every class that a module of the platform defines."""
    for module in pkgutil.walk_packages(platform.__path__, f"{platform.__name__}."):
        loaded = importlib.import_module(module.name)
        for _, member in inspect.getmembers(loaded, inspect.isclass):
            if member.__module__ == loaded.__name__:
                yield member


def suite_classes(kind: type) -> list[type]:
    """Return the classes of the suite in the inheritance of a class, itself included."""
    return [base for base in kind.__mro__ if base.__module__.startswith("conformance.")]


CLASSES = sorted(set(classes()), key=lambda kind: kind.__qualname__)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_no_class_is_a_tower(kind: type) -> None:
    """A class inherits from one class of the suite at most; exceptions may have more."""
    assert len(suite_classes(kind)) <= MAX_CHAIN or issubclass(kind, Exception)


@pytest.mark.parametrize(
    "kind", [kind for kind in CLASSES if kind is not Api], ids=lambda kind: kind.__name__
)
def test_a_class_can_be_learnt_by_heart(kind: type) -> None:
    """A class has 27 public names at most; the generated class of operations is left out."""
    names = {
        name for base in suite_classes(kind) for name in vars(base) if not name.startswith("_")
    }
    for base in suite_classes(kind):
        names |= set(ASSIGNED.findall(inspect.getsource(base)))

    assert len(names) <= MAX_NAMES, sorted(names)


class TestResource:
    """An arranged resource of the target."""

    def test_it_is_read_like_a_dictionary(self) -> None:
        """A resource has exactly the members that the target showed."""
        account = Resource({"id": "InternalAccount:1", "status": "ACTIVE"})

        assert account.id == account["id"] == "InternalAccount:1"
        assert dict(account) == {"id": "InternalAccount:1", "status": "ACTIVE"}
        assert account == {"id": "InternalAccount:1", "status": "ACTIVE"}

    def test_it_knows_its_owner(self) -> None:
        """A copy of a resource with other members has the same owner."""
        customer = Resource({"id": "Customer:1"})
        account = Resource({"id": "InternalAccount:1"}, customer)

        assert account.but(status="CLOSED").owner is customer

    def test_one_without_an_owner_says_so(self) -> None:
        """To ask a resource without an owner for it raises HarnessError."""
        with pytest.raises(HarnessError, match="InternalAccount:1 was arranged without an owner"):
            _ = Resource({"id": "InternalAccount:1"}).owner
