"""Ready-made inputs of the figures, in both languages and both modes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.results import DepthPoint, DepthSweep, Profile, collect
from normviz.text import LANGUAGES, Text

Laws = Mapping[str, Callable[[PointKey], tuple[np.ndarray, np.ndarray]]]


@pytest.fixture(params=LANGUAGES)
def t(request: pytest.FixtureRequest) -> Text:
    return Text(request.param)


@pytest.fixture(params=["light", "dark"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make_sweep() -> Callable[..., DepthSweep]:
    """A sweep with chosen values: `laws` maps a quantity to a function of the point's key that gives (layer, value)."""

    def make(config: SweepConfig, laws: Laws, *, arrived: int | None = None) -> DepthSweep:
        points = [
            DepthPoint(
                placement=key.placement,
                depth=key.depth,
                seed=key.seed,
                profiles={
                    quantity: Profile(layer=layer, value=value)
                    for quantity, law in laws.items()
                    for layer, value in [law(key)]
                },
                seconds=0.1,
                device="cpu",
                torch_version="2",
            )
            for key in config.keys()[:arrived]
        ]
        return collect(config, points)

    return make
