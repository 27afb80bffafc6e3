"""What does a depth sweep show: against depth, over the layers of one depth, and against theory?"""

from normviz.figures.depth.attention import entropy_picture, logit_picture
from normviz.figures.depth.divergence import divergence_notes
from normviz.figures.depth.gradients import gradient_picture
from normviz.figures.depth.heatmap import heatmap_picture
from normviz.figures.depth.laws import theory_notes
from normviz.figures.depth.places import PLACES
from normviz.figures.depth.profiles import profile_picture, residual_picture
from normviz.figures.depth.slopes import Slope, slope_notes, slopes
from normviz.figures.depth.stream import cosine_picture, write_picture

__all__ = [
    "PLACES",
    "Slope",
    "cosine_picture",
    "divergence_notes",
    "entropy_picture",
    "gradient_picture",
    "heatmap_picture",
    "logit_picture",
    "profile_picture",
    "residual_picture",
    "slope_notes",
    "slopes",
    "theory_notes",
    "write_picture",
]
