"""What do LayerNorm and RMSNorm do to one vector: in its plane, in its right triangle, entry by entry?"""

from normviz.figures.entries import bars_picture
from normviz.figures.plane import plane_picture
from normviz.figures.triangle import triangle_picture

__all__ = ["bars_picture", "plane_picture", "triangle_picture"]
