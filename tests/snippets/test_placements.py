"""Do the placement lab's scripts print what the page shows?"""

from __future__ import annotations

import numpy as np
import pytest

from normviz.families import PortingConfig, port
from normviz.figures.placements.variants import placement_diagrams
from normviz.placements import PLACEMENTS
from normviz.snippets.placements import porting_script, wirings_script
from normviz.text import Text
from tests.snippets.scripts import run


@pytest.mark.parametrize("name", [name for name in PLACEMENTS if name != "mix_ln"])
def test_the_script_counts_the_norms_of_the_diagram(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(wirings_script([name]))
    said = capsys.readouterr().out
    (drawn,) = placement_diagrams(PLACEMENTS[name], t=Text("en"), mode="light")
    assert f"norms in a layer: {drawn.counts.layer} on the identity path: {drawn.counts.on_path}" in said
    assert f"outside of the layers: {drawn.counts.outside}" in said


def test_the_script_ports_as_the_page_does() -> None:
    config = PortingConfig(family="gemma2", n_layers=2, seed=3, dtype="bfloat16", mistakes=("scale_for_w", "eps"))
    names = run(porting_script(config))
    np.testing.assert_array_equal(names["ported"].layers, port(config).layers)
    assert names["ported"].first == port(config).first
