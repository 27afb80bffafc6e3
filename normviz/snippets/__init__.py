"""What would a person type to get the numbers of this page without the page?"""

from normviz.snippets.axes import axes_script
from normviz.snippets.depth import depth_script
from normviz.snippets.standalone import standalone_script
from normviz.snippets.vector import LISTED, vector_script

__all__ = ["LISTED", "axes_script", "depth_script", "standalone_script", "vector_script"]
