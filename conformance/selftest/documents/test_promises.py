"""The page of promises (``safety.md``) names tests and entries of the register that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from conformance.contract.data import FIXTURES
from conformance.selftest.hostile.register import REGISTER

PAGE = (FIXTURES / "profiles" / "safety.md").read_text(encoding="utf-8")
SELFTEST = Path(__file__).parents[1]
ENTRIES = {entry.name for _, entry in REGISTER}
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]
TESTS = sorted(set(re.findall(r"`((?:\w+/)?test_\w+\.py(?:::\w+)*)`", PAGE)))


def names_in(path: Path) -> set[str]:
    """Return the names of the tests of a file; a test of a class is ``Class::test``."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            names |= {
                f"{node.name}::{test.name}"
                for test in node.body
                if isinstance(test, ast.FunctionDef)
            }
    return names


@pytest.mark.parametrize("name", TESTS)
def test_a_test_that_is_named_exists(name: str) -> None:
    """Each test that the page names exists in the file that the page names."""
    file, _, test = name.partition("::")

    assert (SELFTEST / file).is_file()
    assert not test or test in names_in(SELFTEST / file)


def test_an_entry_that_is_named_exists() -> None:
    """Each entry that the page names is in the register of hostile targets."""
    entries = {
        name
        for names in re.findall(r"register: ((?:`[^`]+`(?:, )?)+)", PAGE)
        for name in re.findall(r"`([^`]+)`", names)
    }

    assert entries
    assert entries - ENTRIES - set(TESTS) == set()


def test_each_promise_is_shown() -> None:
    """The last column of each promise names a test or an entry of the register."""
    promises = [row for row in ROWS if not row.startswith("| Promise |")]

    assert len(promises) > 25
    assert [row for row in promises if "`" not in row.split(" | ")[-1]] == []
