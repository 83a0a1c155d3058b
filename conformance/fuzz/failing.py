"""The seeds with which a test of generated data has failed, kept in a folder from run to run."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.verdict.decisions import HarnessError


def kept_seeds(place: Path) -> list[int]:
    """Return the seeds in a file; none where there is no file.

    Raises:
        HarnessError: the file holds something else.
    """
    try:
        seeds = json.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except ValueError:
        seeds = None
    if not isinstance(seeds, list) or not all(type(seed) is int for seed in seeds):
        raise HarnessError(
            f"{place}: expected a list of whole numbers, such as [1, 7]; delete the file, or give "
            "--failing-cases another folder"
        )
    return seeds


def keep_seeds(place: Path, seeds: list[int]) -> None:
    """Keep seeds in a file; without any there is no file."""
    if not seeds:
        place.unlink(missing_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(sorted(seeds)), encoding="utf-8")
