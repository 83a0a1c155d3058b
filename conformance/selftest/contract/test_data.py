"""The data files ``spec`` and ``fixtures``: where a checkout and an installed package have them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from conformance.contract import data
from conformance.contract.catalogue import Catalogue
from conformance.contract.data import FIXTURES, SPEC
from conformance.contract.document import Document
from conformance.selftest.collection import ROOT


def test_the_wheel_is_the_same_whenever_it_is_built(tmp_path: Path) -> None:
    """Two builds give the same bytes, so that anybody can compare a published wheel."""
    folders = [str(tmp_path / name) for name in ("first", "second")]

    for folder in folders:
        list(WheelBuilder(str(ROOT)).build(directory=folder, versions=["standard"]))

    first, second = (next(Path(folder).iterdir()) for folder in folders)
    assert first.read_bytes() == second.read_bytes()


def test_a_checkout_has_them_beside_the_package() -> None:
    """A checkout has ``spec`` and ``fixtures`` at its top."""
    assert SPEC == ROOT / "spec"
    assert FIXTURES == ROOT / "fixtures"
    assert (SPEC / "openapi.yaml").is_file()


def test_an_installed_package_has_them_inside(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel holds every file of both folders; document and catalogue can be read there."""
    monkeypatch.setattr(data, "_PACKAGE", wheel)

    spec, fixtures = data._room("spec"), data._room("fixtures")

    assert spec == wheel / "spec"
    for shipped, source in ((spec, SPEC), (fixtures, FIXTURES)):
        files = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
        assert {p.relative_to(shipped) for p in shipped.rglob("*") if p.is_file()} == files
    assert Document(spec / "openapi.yaml").operations
    assert Catalogue.load(spec / "requirements")


def test_an_installed_package_has_what_it_reads(wheel: Path) -> None:
    """The wheel holds schemas, the template of the report and the mark ``py.typed``."""
    package = Path(data.__file__).parent
    files = {
        path.relative_to(package)
        for path in package.rglob("*")
        if path.suffix in {".json", ".j2", ".typed"}
        and not {"selftest", "__pycache__"} & set(path.parts)
    }

    assert {path for path in files if not (wheel / path).is_file()} == set()
    assert (wheel / "py.typed").is_file()


def test_an_installed_package_has_no_tests_of_its_own(wheel: Path) -> None:
    """The self-tests are not in the wheel, as they need the checkout."""
    assert not (wheel / "selftest").exists()
