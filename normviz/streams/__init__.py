"""What happens to the statistics of a norm when batches are small, dependent, or come one after another?"""

from __future__ import annotations

from normviz.streams.estimates import TOO_FEW, Estimates, estimates, token_outputs
from normviz.streams.laws import kurtosis, mean_factor, mean_spread, output_spread, var_factor, var_spread
from normviz.streams.population import POPULATIONS, Population, sequences
from normviz.streams.power import PowerState, PowerTrace, power_norm
from normviz.streams.power_gradient import PowerGradient, power_norm_backward, power_norm_v
from normviz.streams.power_path import PowerPath, power_path
from normviz.streams.running import CONVENTIONS, History, RunningPath, history
from normviz.streams.stream import STREAMS, WARM, Stream, batch_at, true_mean

__all__ = [
    "CONVENTIONS",
    "POPULATIONS",
    "STREAMS",
    "TOO_FEW",
    "WARM",
    "Estimates",
    "History",
    "Population",
    "PowerGradient",
    "PowerPath",
    "PowerState",
    "PowerTrace",
    "RunningPath",
    "Stream",
    "batch_at",
    "estimates",
    "history",
    "kurtosis",
    "mean_factor",
    "mean_spread",
    "output_spread",
    "power_norm",
    "power_norm_backward",
    "power_norm_v",
    "power_path",
    "sequences",
    "token_outputs",
    "true_mean",
    "var_factor",
    "var_spread",
]
