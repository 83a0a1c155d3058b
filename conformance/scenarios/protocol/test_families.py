"""Operations of which the specification names the family alone: a profile says where they are."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import requirement


@requirement("FAM-009")
def test_what_the_profile_maps_into_the_interface_breaks_nothing(platform: Platform) -> None:
    """A card is issued, and a purchase with it is authorized and cleared, without a server error.

    The same is asked of every other request of the profile to a path below the base URL, in the
    tests that send it.
    """
    platform.cards.settled_purchase(platform.cards.card())
