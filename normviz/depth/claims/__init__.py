"""Which published and popular sentences does a run bear out, and which does it not?"""

from normviz.depth.claims.evidence import Claim, Verdict
from normviz.depth.claims.gradients import GRADIENT_CLAIMS
from normviz.depth.claims.streams import STREAM_CLAIMS
from normviz.depth.claims.variants import VARIANT_CLAIMS
from normviz.depth.results import DepthSweep

__all__ = ["CLAIMS", "Claim", "Verdict", "judge_all"]

CLAIMS: tuple[Claim, ...] = (*GRADIENT_CLAIMS, *STREAM_CLAIMS, *VARIANT_CLAIMS)


def judge_all(result: DepthSweep) -> tuple[tuple[Claim, Verdict], ...]:
    """Every claim with its verdict from a run, whole or partial, in the order of `CLAIMS`."""
    return tuple((claim, claim.judge(result)) for claim in CLAIMS)
