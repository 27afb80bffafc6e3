"""Does the axes lab count, compute and explain what the sizes ask for?"""

import numpy as np
import pytest

from normviz.grid import sample_grid
from tests.labs.conftest import said


def counts(page):
    return page.table[0].value


def test_layer_norm_has_a_statistic_per_token_and_batch_norm_one_per_channel(open_lab):
    table = counts(open_lab("axes", batch="3", tokens="5", d="7"))
    assert table.loc["LayerNorm", "Statistics"] == "15 × (mean, std)"
    assert table.loc["BatchNorm", "Statistics"] == "7 × (mean, std)"
    assert table.loc["LayerNorm", "Parameters"] == "weight [7], bias [7]"
    assert table.loc["RMSNorm", "Parameters"] == "weight [7]"


@pytest.mark.parametrize(("norm", "axis"), [("layer_norm", 2), ("batch_norm", (0, 1))])
def test_the_selected_cells_mean_is_that_of_its_row_or_column(open_lab, norm, axis):
    page = open_lab("axes", norm=norm, cell="1.2.0")
    mean = np.broadcast_to(sample_grid(2, 3, 4, seed=0).mean(axis=axis, keepdims=True), (2, 3, 4))[1, 2, 0]
    assert f"= {mean:.4f}" in said(page)


def test_a_grid_that_shrinks_below_the_cell_says_so(open_lab):
    page = open_lab("axes", cell="1.2.3")
    page.slider(key="axes.d").set_value(2).run()
    assert not page.exception
    assert "outside the grid" in said(page)


def test_groups_that_do_not_divide_the_channels_are_explained(open_lab):
    page = open_lab("axes", norm="group_norm", d="7", groups="2")
    assert not page.exception
    assert len(page.error) == 1
    assert "2" in page.error[0].value
    assert "7" in page.error[0].value


def test_padding_is_explained_before_and_after_it_is_on(open_lab):
    page = open_lab("axes")
    assert "Switch" in said(page)
    page.toggle(key="axes.pad").set_value(True).run()
    assert not page.exception
    assert "cannot touch its neighbours" in said(page)


@pytest.mark.parametrize("cell", ["0.0.0", "1.2.0"])
def test_a_masked_pad_is_in_no_statistic(open_lab, cell):
    page = open_lab("axes", norm="batch_norm", pad="1", masked="1", cell=cell)
    assert not page.exception


@pytest.mark.parametrize("sizes", [("1", "1", "1"), ("8", "32", "64")])
@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm", "batch_norm", "instance_norm", "group_norm"])
def test_the_smallest_and_the_largest_grid_open(open_lab, norm, sizes):
    batch, tokens, d = sizes
    page = open_lab("axes", norm=norm, batch=batch, tokens=tokens, d=d, groups="1", pad="1")
    assert not page.exception
