"""What does the vector lab need from the session: the vector, its weight, bias and eps, and the view of them?"""

from normviz.ui.vector.given import Given
from normviz.ui.vector.parameters import epsilon, parameters
from normviz.ui.vector.scripts import export
from normviz.ui.vector.source import presets, source
from normviz.ui.vector.views import draw

__all__ = ["Given", "draw", "epsilon", "export", "parameters", "presets", "source"]
