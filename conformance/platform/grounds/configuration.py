"""The grounds of the operations of configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.platform.grounds.ground import Ground
from conformance.platform.platform import Platform


def _update_config(_: Platform) -> Ground:
    # Every user of the target shares the settings, so that they are changed by none of these.
    return Ground(right={})


GROUNDS: Mapping[str, Callable[[Platform], Ground]] = {
    "updateConfig": _update_config,
}
