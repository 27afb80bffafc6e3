"""What is said about the picture in space, and which numbers stand in its table?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from normviz.figures.cloud import told
from normviz.figures.words import listed, number, paragraph, spaced
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.geometry import Cloud, Space

# A share below this is rounding.
_NONE = 1e-12


def vector_names(space: Space, t: Text) -> dict[str, str]:
    """What the vectors are called, by their attributes of `Space`; after gain and bias only where there is one."""
    names = {
        "mean_part": t("mean part"),
        "centered": t("centred part"),
        "x": "x",
        "layer_norm": "LN(x)",
        "rms_norm": "RMSNorm(x)",
    }
    return names if space.ellipse is None else {**names, "layer_output": "γ LN(x) + β", "rms_output": "γ RMSNorm(x)"}


def space_title(space: Space, t: Text) -> str:
    """Whether the picture is exact, and else which share of the outputs lies outside."""
    if space.exact:
        return t(
            "x, LN(x) and RMSNorm(x) in space, exact: the axes are the entries; the sphere has radius √d = {radius}",
            radius=number(space.radius),
        )
    shares = {"LN": space.layer_outside, "RMSNorm": space.rms_outside}
    outside = {
        name: number(100 * share if share > _NONE else 0.0) for name, share in shares.items() if share is not None
    }
    if all(share == "0" for share in outside.values()):
        return t(
            "Three of {d} dimensions, exact: along 1, along x − mean, and a third direction; nothing lies outside",
            d=space.d,
        )
    parts = [t("{share} % of the output of {name}", name=name, share=share) for name, share in outside.items()]
    return spaced(
        t(
            "Three of {d} dimensions, exact within them: along 1, along x − mean, and a third direction; "
            "outside lies, in squared length, {parts}",
            d=space.d,
            parts=listed(t, parts),
        )
    )


def space_story(space: Space, names: dict[str, str], cloud: Cloud | None, t: Text) -> str:
    """The text alternative: title, ring and sphere, lengths, what is undefined, the cloud that is drawn."""
    title = space_title(space, t)
    lengths = [
        t("{name} has L2 norm {length}.", name=name, length=number(float(np.linalg.norm(point))))
        for key, name in names.items()
        if (point := getattr(space, key)) is not None
    ]
    missing = [t("{name} is undefined here.", name=name) for key, name in names.items() if getattr(space, key) is None]
    ring = t(
        "The plane perpendicular to 1 holds the centred part; at eps 0 LN lands on its ring of radius √d = {radius}, "
        "RMSNorm on the sphere of that radius.",
        radius=number(space.radius),
    )
    bent = "" if space.ellipse is None else t("Gain turns the ring into an ellipse, bias moves it.")
    random = [] if cloud is None else told(cloud, t)
    return paragraph(t, [t("{title}.", title=title), ring, bent, *lengths, *missing, *random])


def space_table(space: Space, names: dict[str, str], t: Text) -> pd.DataFrame:
    """The coordinates of each vector along the three axes, and its length in the picture."""
    known = {name: point for key, name in names.items() if (point := getattr(space, key)) is not None}
    axes = ["x₁", "x₂", "x₃"] if space.exact else [t("along 1"), t("along x − mean"), t("third direction")]
    points = np.array(list(known.values()))
    return pd.DataFrame(
        {
            t("vector"): list(known),
            **dict(zip(axes, points.T, strict=True)),
            t("L2 norm"): np.linalg.norm(points, axis=1),
        }
    )
