"""What happens to the numbers of a norm in a format of few bits?"""

from normviz.figures.numerics.decay import decay_picture
from normviz.figures.numerics.differing import differing_picture
from normviz.figures.numerics.incidents import incident_pictures
from normviz.figures.numerics.landing import landing_picture
from normviz.figures.numerics.neighbours import neighbours_picture
from normviz.figures.numerics.residual import residual_picture
from normviz.figures.numerics.steps import steps_picture
from normviz.figures.numerics.sums import running_sum_picture
from normviz.figures.numerics.variance import variance_picture
from normviz.figures.numerics.words import claim_text, held

__all__ = [
    "claim_text",
    "decay_picture",
    "differing_picture",
    "held",
    "incident_pictures",
    "landing_picture",
    "neighbours_picture",
    "residual_picture",
    "running_sum_picture",
    "steps_picture",
    "variance_picture",
]
