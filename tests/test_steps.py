"""Do the written-out formulas hold the chapter's numbers, and do they say what the numbers are?"""

import re

import numpy as np
import pytest

import normviz as nv
from normviz.grid import cell, normalize_grid
from normviz.steps import cell_steps, layer_norm_steps, number, rms_norm_steps


def latex(steps):
    return {step.title: step.latex for step in steps}


def last_number(formula):
    return float(re.findall(r"-?\d+(?:\.\d+)?", formula)[-1])


def written(*numbers):
    return "[" + r",\allowbreak\ ".join(numbers) + "]"


def test_layer_norm_of_the_chapters_vector():
    steps = latex(layer_norm_steps(nv.layer_norm([1, 2, 3, 4], eps=0)))
    assert steps["Mean"] == r"\mu = \frac{1}{4}\,(1 + 2 + 3 + 4) = 2.5000"
    assert steps["Subtract the mean"] == r"x - \mu = " + written("-1.5000", "-0.5000", "0.5000", "1.5000")
    assert steps["Variance"].endswith("= 1.2500")
    assert steps["Standard deviation"] == r"\sigma = \sqrt{1.2500} = 1.1180"
    output = written("-1.3416", "-0.4472", "0.4472", "1.3416")
    assert steps["Divide"] == r"\mathrm{LN}(x) = \frac{x - \mu}{\sigma} = " + output


def test_rms_norm_of_the_chapters_vector():
    steps = latex(rms_norm_steps(nv.rms_norm([1, 2, 3, 4], eps=0)))
    assert steps["Mean square"] == r"\mathrm{ms} = \frac{1}{4}\,(1^2 + 2^2 + 3^2 + 4^2) = 7.5000"
    assert steps["Root mean square"] == r"\mathrm{RMS} = \sqrt{7.5000} = 2.7386"
    output = written("0.3651", "0.7303", "1.0954", "1.4606")
    assert steps["Divide"] == r"\mathrm{RMSNorm}(x) = \frac{x}{\mathrm{RMS}} = " + output


def test_negative_entries_are_squared_in_parentheses():
    assert "(-2)^2" in latex(rms_norm_steps(nv.rms_norm([1, -2], eps=0)))["Mean square"]


def test_eps_stands_inside_the_root_and_is_counted():
    steps = latex(layer_norm_steps(nv.layer_norm([1, 2, 3, 4], eps=0.75)))
    assert r"\sqrt{\sigma^2 + \varepsilon}" in steps["Standard deviation"]
    assert last_number(steps["Standard deviation"]) == pytest.approx(np.sqrt(2), abs=1e-4)


def test_weight_and_bias_get_a_step_of_their_own():
    trace = nv.layer_norm([1, 2, 3, 4], weight=[2, 2, 2, 2], bias=[1, 1, 1, 1], eps=0)
    formula = latex(layer_norm_steps(trace))["Multiply by the weight, add the bias"]
    assert r"w \odot \hat x + b" in formula
    assert "-1.6833" in formula


def test_a_long_vector_is_shortened():
    formula = latex(layer_norm_steps(nv.layer_norm(np.arange(100.0), eps=0)))["Divide"]
    assert r"\ldots" in formula
    assert formula.count(",") == 6


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.5, "2.5000"),
        (4.0, "4"),
        (-3.0, "-3"),
        (0.0, "0"),
        (-0.0, "0"),
        (1e-5, r"1.000 \cdot 10^{-5}"),
        (2e6, r"2.000 \cdot 10^{6}"),
    ],
)
def test_numbers_are_shown_with_four_decimals_or_a_power_of_ten(value, text):
    assert number(value) == text


@pytest.mark.parametrize("axis", ["layer_norm", "rms_norm", "batch_norm"])
def test_a_cells_arithmetic_ends_with_the_grids_output(axis):
    x = np.array([[[1.0, -2.0], [3.0, 5.0]]])
    trace = normalize_grid(x, axis, eps=1e-5)
    steps = latex(cell_steps(cell(trace, 0, 1, 0), eps=1e-5))
    assert last_number(steps["This cell"]) == pytest.approx(trace.normalized[0, 1, 0], abs=1e-4)
