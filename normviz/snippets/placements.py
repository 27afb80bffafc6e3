"""What would a person type to see wirings traced, and a wrong port beside the right one?"""

from __future__ import annotations

from collections.abc import Sequence

from normviz.families import PortingConfig


def wirings_script(placements: Sequence[str]) -> str:
    """Some placements, traced, as a script with normviz.

    Parameters
    ----------
    placements
        Keys of `normviz.placements.PLACEMENTS`.
    """
    return f'''"""Where do these placements put their norms? Their functions are run, and what they did is counted."""

from normviz.placements import PLACEMENTS, trace

for name in {list(placements)!r}:
    placement = PLACEMENTS[name]
    found = trace(placement, layer=12, depth=12)
    print(name, placement.formula)
    print("  norms in a layer:", sum(found.norms), "on the identity path:", len(found.identity_norms))
    print("  outside of the layers:", placement.embedding_norm + placement.final_norm + placement.two_streams)
'''


def porting_script(config: PortingConfig) -> str:
    """A right and a wrong port of the same random weights as a script with normviz."""
    return f'''"""Where does a wrong port part from the right one?"""

from normviz.families import PortingConfig, port

config = PortingConfig(
    family={config.family!r},
    n_layers={config.n_layers},
    d_model={config.d_model},
    seed={config.seed},
    dtype={config.dtype!r},
    mistakes={config.mistakes!r},
)
ported = port(config)
for passed, error in zip(ported.passed, ported.layers):
    print("after", passed, "sublayers, relative error of the stream:", error)
print("of the output, after the final norm:", ported.output)
print("first difference after so many sublayers:", ported.first)
'''
