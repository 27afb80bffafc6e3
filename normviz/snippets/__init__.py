"""What would a person type to get the numbers of this page without the page?"""

from normviz.snippets.arrays_text import LISTED
from normviz.snippets.axes import AxesGiven, axes_script, axes_torch_script, torch_line
from normviz.snippets.cost import cost_script, cost_torch_script
from normviz.snippets.depth import depth_script
from normviz.snippets.families import counts_script, decoder_script, family_script
from normviz.snippets.floats import FloatsGiven, floats_script, floats_torch_script
from normviz.snippets.given import VIEWS
from normviz.snippets.placements import porting_script, wirings_script
from normviz.snippets.standalone import standalone_script
from normviz.snippets.vector import vector_script
from normviz.snippets.vector_torch import torch_script

__all__ = [
    "LISTED",
    "VIEWS",
    "AxesGiven",
    "FloatsGiven",
    "axes_script",
    "axes_torch_script",
    "cost_script",
    "cost_torch_script",
    "counts_script",
    "decoder_script",
    "depth_script",
    "family_script",
    "floats_script",
    "floats_torch_script",
    "porting_script",
    "standalone_script",
    "torch_line",
    "torch_script",
    "vector_script",
    "wirings_script",
]
