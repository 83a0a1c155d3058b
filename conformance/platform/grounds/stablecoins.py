"""The grounds of the operations of stablecoins."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.platform.given.stablecoins import Kind
from conformance.platform.grounds.ground import Ground
from conformance.platform.platform import Platform


def _of_stablecoin(kind: Kind) -> Callable[[Platform], Ground]:
    def lay(platform: Platform) -> Ground:
        coin = platform.stablecoins.coin(kind)
        platform.stablecoins.stock(kind, coin)
        stocked = int(kind == "burn")
        platform.until(
            lambda: len(platform.stablecoins.operation_rows(coin)), lambda seen: seen >= stocked
        )
        return Ground(
            path={"stablecoinId": coin.id},
            body=platform.stablecoins.body(kind, coin),
            state=lambda: len(platform.stablecoins.operation_rows(coin)),
        )

    return lay


def _create_stablecoin(platform: Platform) -> Ground:
    body = platform.stablecoins.body("register", platform.stablecoins.registered())
    told = [value for value in body.values() if isinstance(value, str)]

    def state() -> int:
        rows = map(str, platform.stablecoins.rows())
        return sum(all(text in row for text in told) for row in rows)

    return Ground(body=body, state=state)


GROUNDS: Mapping[str, Callable[[Platform], Ground]] = {
    "createStablecoin": _create_stablecoin,
    "mintStablecoin": _of_stablecoin("mint"),
    "burnStablecoin": _of_stablecoin("burn"),
    "listStablecoinOperations": _of_stablecoin("mint"),
}
