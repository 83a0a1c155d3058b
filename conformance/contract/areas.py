"""The areas of the suite: the one list by which its rooms are divided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from conformance.contract.data import SPEC
from conformance.contract.spec_files import parsed


class AreaError(Exception):
    """The list of areas cannot be used as it is written."""


@dataclass(frozen=True, slots=True)
class Area:
    """One area: ``name`` is that of its folders, ``prefixes`` begin the ids of its requirements.

    ``title`` stands in the report, and is the tag of the area's operations in the OpenAPI document.
    """

    name: str
    title: str
    description: str
    prefixes: tuple[str, ...]


class Areas(Mapping[str, Area]):
    """All areas by name, in the order of the list."""

    def __init__(self, areas: Mapping[str, Area]) -> None:
        self._areas = dict(areas)
        self._by_prefix = {prefix: area for area in areas.values() for prefix in area.prefixes}

    @classmethod
    def load(cls, path: Path) -> Areas:
        """Read the list.

        Raises:
            AreaError: an entry is no area, or two have one name or prefix.
        """
        entries = parsed(path)
        found: dict[str, Area] = {}
        owners: dict[str, str] = {}
        for entry in entries:
            if not isinstance(entry, dict) or entry.keys() != set(Area.__slots__):
                raise AreaError(
                    f"{path.name}: expected {{{', '.join(Area.__slots__)}}}, got {entry!r}"
                )
            area = Area(**{**entry, "prefixes": tuple(entry["prefixes"])})
            if area.name in found:
                raise AreaError(f"{path.name}: there are two areas {area.name}")
            for prefix in area.prefixes:
                if prefix in owners:
                    raise AreaError(
                        f"{path.name}: {area.name} and {owners[prefix]} both have {prefix}"
                    )
                owners[prefix] = area.name
            found[area.name] = area
        return cls(found)

    def of(self, requirement: str) -> Area:
        """Return the area of a requirement by its id, such as ``QUO-110``.

        Raises:
            AreaError: no area has its prefix.
        """
        prefix = requirement.partition("-")[0]
        try:
            return self._by_prefix[prefix]
        except KeyError:
            raise AreaError(
                f"{requirement}: no area has the prefix {prefix}; add it in spec/areas.yaml"
            ) from None

    def __getitem__(self, name: str) -> Area:
        return self._areas[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._areas)

    def __len__(self) -> int:
        return len(self._areas)


@cache
def areas() -> Areas:
    """Return the areas that the suite ships."""
    return Areas.load(SPEC / "areas.yaml")
