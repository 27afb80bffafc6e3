"""What should a depth sweep measure, if the theory of infinite width is right?"""

from normviz.depth.theory.laws import LAW_QUANTITIES, Law, law, top_gradient
from normviz.depth.theory.moments import (
    NoLaw,
    Scales,
    activation_moment,
    feed_forward_back_gain,
    feed_forward_gain,
    kappa0,
    kappa1,
    scales,
    slope_moment,
)
from normviz.depth.theory.tokens import TokenTheory, token_theory
from normviz.depth.theory.uniform import MeanField, uniform_mean_field

__all__ = [
    "LAW_QUANTITIES", "Law", "MeanField", "NoLaw", "Scales", "TokenTheory", "activation_moment",
    "feed_forward_back_gain", "feed_forward_gain", "kappa0", "kappa1", "law", "scales", "slope_moment", "token_theory",
    "top_gradient", "uniform_mean_field",
]  # fmt: skip
