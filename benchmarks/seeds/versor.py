"""Versor layers: multivectors of Cl(3,0) turned by learned rotors, x -> R x ~R.

Given: "versor phase 2" "is compatible with" compiling; its extraction is noted as complete, with
all tests passing.

Chosen: a multivector is eight arrays, one a basis blade, and the geometric product is written out
by components: a sandwich is some two hundred small operations. A layer mixes channels with a
matrix that is the same for all blades, turns each channel by a rotor exp(-B/2), and gates it by
its norm. Two layers learn to reproduce a known rotation of vectors; Adam.
"""

from __future__ import annotations

from typing import Any

from seeds.system import System, training

SIZES = {"tiny": (8, 3), "full": (512, 64)}  # batch, channels
EVEN = (0b000, 0b011, 0b101, 0b110)


def sign(a: int, b: int) -> int:
    """The sign of the product of two basis blades, bit sets of e1, e2, e3 (all squares are 1)."""
    swaps = sum((a >> shift & b).bit_count() for shift in (1, 2))
    return -1 if swaps % 2 else 1


def product(x: dict[int, Any], y: dict[int, Any]) -> dict[int, Any]:
    """The geometric product of multivectors, components by blade; those left out are zero."""
    result: dict[int, Any] = {}
    for a, p in x.items():
        for b, q in y.items():
            term = p * q if sign(a, b) > 0 else -(p * q)
            result[a ^ b] = result[a ^ b] + term if a ^ b in result else term
    return result


def build(mx: Any, nn: Any, optimizers: Any, size: str) -> System:
    batch, channels = SIZES[size]

    def rotor(planes: Any) -> dict[int, Any]:
        """exp(-B/2) of bivectors (3, channels)."""
        angle = mx.sqrt(mx.sum(planes * planes, axis=0) + 1e-12)
        ratio = -mx.sin(angle / 2) / angle
        parts = [mx.cos(angle / 2), *(ratio * planes[i] for i in range(3))]
        return dict(zip(EVEN, parts))

    class Versor(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.planes = mx.random.normal((3, channels)) * 0.5
            self.mix = mx.random.normal((channels, channels)) * (channels ** -0.5)

        def __call__(self, x: dict[int, Any]) -> dict[int, Any]:
            r = rotor(self.planes)
            reverse = {blade: p if blade == 0 else -p for blade, p in r.items()}
            mixed = {blade: p @ self.mix for blade, p in x.items()}
            turned = product(product(r, mixed), reverse)
            norm = mx.sqrt(sum(p * p for p in turned.values()) + 1e-6)
            gate = mx.sigmoid(norm)
            return {blade: p * gate for blade, p in turned.items()}

    class Layers(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [Versor(), Versor()]

        def __call__(self, x: Any) -> Any:
            blades = {blade: x[blade] for blade in range(8)}
            for layer in self.layers:
                blades = layer(blades)
            return mx.stack([blades[blade] for blade in range(8)])

    model = Layers()
    x = mx.random.normal((8, batch, channels))
    parts = {blade: x[blade] for blade in range(8)}
    known = rotor(mx.random.normal((3, channels)))
    back = {blade: p if blade == 0 else -p for blade, p in known.items()}
    turned = product(product(known, parts), back)
    y = mx.stack([turned[blade] for blade in range(8)])

    def loss(x: Any, y: Any) -> Any:
        return nn.losses.mse_loss(model(x), y)

    return training(mx, nn, model, optimizers.Adam(1e-2), loss, (x, y))
