"""What do LayerNorm and RMSNorm do to one vector: in space, in its plane, entry by entry, and on the way back?"""

from normviz.figures.affine import affine_picture
from normviz.figures.backward import jacobian_picture, pullback_picture
from normviz.figures.cloud import cloud_picture
from normviz.figures.entries import bars_picture
from normviz.figures.eps import eps_picture
from normviz.figures.lengths import length_picture
from normviz.figures.plane import plane_picture
from normviz.figures.series import quantile_table
from normviz.figures.space import space_picture
from normviz.figures.spectrum import spectrum_picture
from normviz.figures.triangle import triangle_picture

__all__ = [
    "affine_picture",
    "bars_picture",
    "cloud_picture",
    "eps_picture",
    "jacobian_picture",
    "length_picture",
    "plane_picture",
    "pullback_picture",
    "quantile_table",
    "space_picture",
    "spectrum_picture",
    "triangle_picture",
]
