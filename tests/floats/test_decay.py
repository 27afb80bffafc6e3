"""Does weight decay pull the scale where AdamW pulls it?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from normviz.errors import InputError
from normviz.floats import FORMS, weight_decay


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("start", [1.5, 0.2, -1.0, 1.0, 0.0])
def test_the_path_is_that_of_adamw_without_a_gradient(form: str, start: float) -> None:
    less = 1.0 if form == "1+w" else 0.0
    stored = torch.nn.Parameter(torch.tensor([start - less], dtype=torch.float64))
    stored.grad = torch.zeros_like(stored)
    optimizer = torch.optim.AdamW([stored], lr=0.02, weight_decay=0.5)
    expected = [start]
    for _ in range(60):
        optimizer.step()
        expected.append(less + stored.item())
    np.testing.assert_allclose(weight_decay(form, start=start, lr=0.02, decay=0.5, steps=60), expected, atol=1e-14)


def test_the_goals_are_0_and_1() -> None:
    for form, goal in (("w", 0.0), ("1+w", 1.0)):
        path = weight_decay(form, start=3.0, lr=0.1, decay=0.1, steps=5000)
        assert path[-1] == pytest.approx(goal, abs=1e-12)
        steps = np.arange(5001)
        np.testing.assert_allclose(path, goal + 0.99**steps * (3.0 - goal), rtol=1e-10)


def test_no_step_leaves_the_start() -> None:
    assert weight_decay("w", start=2.0, lr=0.1, decay=0.1, steps=0).tolist() == [2.0]
    assert not weight_decay("w", start=2.0, lr=0.1, decay=0.1, steps=3).flags.writeable


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"form": "none"}, "form can be w, 1\\+w"),
        ({"start": np.inf}, "start is one finite number"),
        ({"lr": -1.0}, "lr is 0 or a positive number"),
        ({"decay": -0.1}, "decay is 0 or a positive number"),
        ({"lr": 2.0, "decay": 1.0}, "lr times decay is a share"),
        ({"steps": -1}, "steps is a whole number"),
        ({"steps": 10**6}, "steps is a whole number"),
    ],
)
def test_refusals_name_the_field(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"form": "w", "start": 1.0, "lr": 0.1, "decay": 0.1, "steps": 5, **arguments}
    with pytest.raises(InputError, match=message):
        weight_decay(given.pop("form"), **given)
