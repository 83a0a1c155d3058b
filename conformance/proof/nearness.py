"""How near a test is to what is broken: those that speak of it most likely notice it."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Mapping

import pytest

from conformance.contract.catalogue import catalogue
from conformance.items import requirements_named_by

_OWN_WEIGHT = 10
"""How much more a word of what is broken itself counts than one beside it."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]{3,}")
"""A word of a name in any spelling: termsVersion, terms_version and TERMS_VERSION have the same."""

_LEAST_CHARS = 3


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, or of the names in it, in lower case."""
    found = (word.lower() for word in _WORD.findall(text))
    return frozenset(word for word in found if len(word) >= _LEAST_CHARS)


def words_of_test(test: pytest.Item) -> frozenset[str]:
    """Return the words of a test, of its requirements and of their operations."""
    entries = [catalogue()[name] for name in requirements_named_by(test)]
    texts = [test.nodeid, *(entry.statement for entry in entries)]
    texts += [name for entry in entries for name in entry.operations]
    if isinstance(test, pytest.Function):
        texts.append(inspect.getsource(test.function))
    return words_of(" ".join(texts))


def distances(
    tests: Mapping[str, frozenset[str]], own: frozenset[str], beside: frozenset[str] = frozenset()
) -> dict[str, float]:
    """Return how far each test is from what is broken; the nearest has the least.

    Args:
        tests: the words of each test, by its name.
        own: the words of what is broken.
        beside: words that stand beside it.
    """
    spoken = {name: words & (own | beside) for name, words in tests.items()}
    # A word that many tests speak of tells little.
    common = Counter(word for words in spoken.values() for word in words)
    return {
        name: -sum((_OWN_WEIGHT if word in own else 1) / common[word] for word in words)
        for name, words in spoken.items()
    }
