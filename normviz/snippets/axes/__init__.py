"""What would a person type to get the numbers of the axes lab, with normviz and in plain PyTorch?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from normviz.snippets.axes.given import TITLES, AxesGiven
from normviz.snippets.axes.lines import torch_line
from normviz.snippets.axes.torch_grid import grid_view
from normviz.snippets.axes.torch_power import power_view
from normviz.snippets.axes.torch_streams import batches_view, running_view
from normviz.snippets.axes.torch_tokens import padding_view, tokens_view
from normviz.snippets.axes.views import VIEWS

__all__ = ["AxesGiven", "axes_script", "axes_torch_script", "torch_line"]


def axes_script(given: AxesGiven) -> str:
    """One view of the axes lab as a script that uses normviz.

    Parameters
    ----------
    given
        The page's knobs, as far as the view needs them.

    Returns
    -------
    str
        Python that makes the same data and prints the view's numbers.

    Raises
    ------
    InputError
        If the text of the source "words" has no sentence.
    """
    body = VIEWS[given.view](given)
    parts = ", ".join(name for name in ("grid", "streams") if f"{name}." in body)
    imports = [
        "import numpy as np\n" if "np." in body else "",
        "import normviz as nv" if "nv." in body else "",
        f"from normviz import {parts}",
        "from normviz.vectors import random_weight" if "random_weight(" in body else "",
    ]
    return f'"""{TITLES[given.view]}"""\n\n' + "\n".join([*filter(None, imports), "", body])


def axes_torch_script(given: AxesGiven) -> str:
    """One view of the axes lab as a script that needs nothing but PyTorch and NumPy, with the same data.

    Parameters
    ----------
    given
        As for `axes_script`.

    Returns
    -------
    str
        Python that prints the view's numbers.

    Raises
    ------
    InputError
        As `axes_script`.
    """
    body = TORCH_VIEWS[given.view](given)
    functional = "import torch.nn.functional as F\n" if "F." in body else ""
    modules = "from torch import nn\n" if "nn." in body else ""
    trains = "" if "requires_grad" in body else "torch.set_grad_enabled(False)  # nothing is trained here\n"
    return (
        f'"""{TITLES[given.view]}\n\nIn plain PyTorch, 2.4 or newer.\n"""\n\n'
        f"import numpy as np\nimport torch\n{functional}{modules}\n"
        f"torch.set_default_dtype(torch.float64)\n{trains}torch.set_printoptions(precision=8)\n\n{body}"
    )


TORCH_VIEWS: Mapping[str, Callable[[AxesGiven], str]] = MappingProxyType(
    {
        "grid": grid_view,
        "padding": padding_view,
        "batches": batches_view,
        "running": running_view,
        "power": power_view,
        "tokens": tokens_view,
    }
)
"""View -> the lines of its script in PyTorch below the imports."""
