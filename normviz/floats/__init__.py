"""What do the numbers of float32, bfloat16, float16 and float8 do to a norm?"""

from __future__ import annotations

from normviz.floats.arithmetic import ARITHMETICS, WIDE, Arithmetic, rms_norm_as
from normviz.floats.claims import Claim, variance_errors
from normviz.floats.decay import FORMS, weight_decay
from normviz.floats.difference import Difference, difference, differing_share
from normviz.floats.formats import FORMATS, Format, Neighbours, neighbours, rounded
from normviz.floats.incidents import INCIDENTS, Incident, Setting
from normviz.floats.lost import Landing, landing, residual_path
from normviz.floats.steps import ACCUMULATIONS, norm_steps
from normviz.floats.summation import float32_mean
from normviz.floats.trace import MARKS, FloatStep, FloatTrace

__all__ = [
    "ACCUMULATIONS",
    "ARITHMETICS",
    "FORMATS",
    "FORMS",
    "INCIDENTS",
    "MARKS",
    "WIDE",
    "Arithmetic",
    "Claim",
    "Difference",
    "FloatStep",
    "FloatTrace",
    "Format",
    "Incident",
    "Landing",
    "Neighbours",
    "Setting",
    "difference",
    "differing_share",
    "float32_mean",
    "landing",
    "neighbours",
    "norm_steps",
    "residual_path",
    "rms_norm_as",
    "rounded",
    "variance_errors",
    "weight_decay",
]
