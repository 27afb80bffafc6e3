"""Where do x, its parts, LN(x) and RMSNorm(x) lie in three dimensions, and where can they land?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from normviz.figures import theme
from normviz.figures.cloud import styles
from normviz.figures.labels import Path, places, text_size
from normviz.figures.picture import Picture
from normviz.figures.solid import Camera, arrow, fitted, line, note, scene, sphere, square
from normviz.figures.space_text import space_story, space_table, space_title, vector_names
from normviz.figures.tips import joined_names
from normviz.figures.words import number
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.geometry import Cloud, Space

Array = npt.NDArray[np.float64]

# The all-ones direction leads to the upper right for d = 3 and upwards else; the ring is seen from 20 degrees above.
_CAMERAS = {
    True: Camera(eye=3.0 * np.array([0.81, -0.47, 0.35])),
    False: Camera(eye=3.0 * np.array([0.47, -0.81, 0.35])),
}
# The order in which coordinates become right, away and up: for d > 3 the all-ones direction leads up.
_ORDER = {True: [0, 1, 2], False: [1, 2, 0]}

# CSS pixels of the figure in the narrowest column, and the room for words around the drawing.
_FIGURE = np.array([320.0, 320.0])
_ROOM = 34.0
_LEGEND = 44  # px under the drawing, for the names of a cloud's points
_HEAD = 0.11  # of an arrow, in units of half the box
_BROAD, _STRONG, _THIN = 7, 6, 3  # line widths in px
_PLANE = 1.12  # half the side of the drawn part of the plane, in units of what lies in it
_BEHIND, _WORD = 0.05, 8.0  # how bad it is that a word stands on a thin line or another word; on an arrow it is 1
_NEAR = 0.05  # tips closer than this share one name, in units of the longest arrow
_SPHERE = 0.55  # how pale the sphere's lines are
_GLASS = {"light": 0.14, "dark": 0.17}
_DOT = 1.6  # px; plotly draws a diamond of this size three times as wide
_NORMS = {"layer_norm": "layer_norm", "layer_output": "layer_norm", "rms_norm": "rms_norm", "rms_output": "rms_norm"}


def space_picture(space: Space, cloud: Cloud | None, *, t: Text, mode: str) -> Picture:
    r"""x, its parts, LN(x), RMSNorm(x), the sphere and the ring of radius sqrt(d), and what weight and bias do to them.

    Parameters
    ----------
    space
        From `normviz.space`.
    cloud
        From `normviz.cloud`: its vectors are drawn as small points where both have three dimensions. None draws none.
    t, mode
        The reader's language, and "light" or "dark".

    Returns
    -------
    Picture
        In three dimensions, equal units along the axes. A vector that is undefined is left out, and the text
        alternative says so.
    """
    names = vector_names(space, t)
    order = _ORDER[space.exact]
    points = {name: point[order] for name in names if (point := getattr(space, name)) is not None}
    axes = _axes(space, points, t)
    corners = _corners(space)[:, order]
    rings = [space.ring[:, order], *([] if space.ellipse is None else [space.ellipse[:, order]])]
    ball = sphere(space.ones[order], space.radius)
    camera = _CAMERAS[space.exact]
    outline = np.concatenate([ball, corners, *rings, np.array([*points.values()]), *axes.values()])
    bottom = _LEGEND if space.exact and cloud is not None and cloud.points is not None else 0
    figure = _FIGURE - np.array([0, bottom])
    middle, zoom = fitted(outline, camera, figure, _ROOM)
    reach = float(np.abs(outline - middle).max())
    dots = _dots(space, cloud, (middle - reach, middle + reach), t, mode)
    data = [
        line(ball, theme.mix(theme.MUTED[mode], theme.BACKGROUND[mode], _SPHERE), 1),
        square(corners, theme.NORM_COLORS[mode]["layer_norm"], _GLASS[mode]),
        *_lines(space, points, axes, rings, t, mode),
        *dots,
        *_arrows(points, names, space, _HEAD * reach, t, mode),
    ]
    notes = _notes(points, names, axes, rings, (camera, middle, zoom, figure), mode)
    layout = theme.layout(
        mode,
        tallest=float(_FIGURE[1] / _FIGURE[0]),
        height=500,
        margin={"l": 0, "r": 0, "t": 0, "b": bottom},
        scene=scene(camera, outline, middle, zoom, notes),
        showlegend=bool(dots),
    )
    layout["legend"]["itemsizing"] = "constant"
    return Picture(
        name="normviz-space",
        title=space_title(space, t),
        alt=space_story(space, names, cloud if dots else None, t),
        spec={"data": data, "layout": layout},
        table=space_table(space, names, t),
    )


def _axes(space: Space, points: dict[str, Array], t: Text) -> dict[str, Array]:
    """The lines through the origin by their names, which stand at their ends: start and end, [2, 3]."""
    order, radius = _ORDER[space.exact], space.radius
    ones = space.ones[order]
    mean = float(points["mean_part"] @ ones)
    # Beyond the mean part, so that both can be named.
    along = np.outer([min(-1.35 * radius, mean - 0.2 * radius), max(1.35 * radius, mean + 0.5 * radius)], ones)
    if space.exact:
        entries = zip("₁₂₃", np.eye(3), strict=True)
        return {"(1, 1, 1)": along, **{f"x{digit}": np.outer([-1.3, 1.3], radius * axis) for digit, axis in entries}}
    return {"1 = (1, …, 1)": along, t("third"): np.outer([-1.6, 1.6], radius * np.eye(3)[2][order])}


def _corners(space: Space) -> Array:
    """The drawn part of the plane perpendicular to 1, going round."""
    side = _PLANE * max(space.radius, float(np.linalg.norm(space.centered)))
    corners: Array = side * np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) @ space.across
    return corners


def _lines(
    space: Space, points: dict[str, Array], axes: dict[str, Array], rings: list[Array], t: Text, mode: str
) -> list[dict[str, Any]]:
    muted, layer = theme.MUTED[mode], theme.NORM_COLORS[mode]["layer_norm"]
    ones, *others = axes.values()
    drawn = [line(axis, theme.fade(muted, 0.6), 1.5) for axis in others]
    drawn.append(line(ones, theme.INK[mode], 2))
    for part in ("centered", "mean_part"):
        drawn.append(line(np.array([points["x"], points[part]]), muted, 2))
    said = t("LN(x) lands on this ring at eps 0: mean 0, length √d")
    ring = {"name": "ring", "hovertemplate": f"{said}<extra></extra>", "hoverinfo": "all"}
    drawn.append(line(rings[0], layer, 4 if space.ellipse is None else 3, **ring))
    if space.ellipse is not None:
        said = t("the ring after gain and bias: γ LN(x) + β lands here at eps 0")
        ellipse = {"name": "ellipse", "hovertemplate": f"{said}<extra></extra>", "hoverinfo": "all"}
        drawn.append(line(rings[1], theme.mix(layer, theme.INK[mode], 0.25), 6, **ellipse))
    return drawn


def _arrows(
    points: dict[str, Array], names: dict[str, str], space: Space, head: float, t: Text, mode: str
) -> list[dict[str, Any]]:
    ink, page = theme.INK[mode], theme.BACKGROUND[mode]
    layer, rms = theme.NORM_COLORS[mode]["layer_norm"], theme.NORM_COLORS[mode]["rms_norm"]
    before = _STRONG if space.ellipse is None else _THIN
    styles = {
        "mean_part": (theme.mix(theme.MUTED[mode], page, 0.35), _THIN),
        "centered": (theme.mix(layer, page, 0.5), _BROAD),
        "x": (ink, _BROAD),
        "layer_norm": (layer, before),
        "rms_norm": (rms, before),
        "layer_output": (layer, _STRONG),
        "rms_output": (rms, _STRONG),
    }
    traces = []
    for name, point in points.items():
        color, width = styles[name]
        place = ", ".join(number(value, 4) for value in getattr(space, name).tolist())
        length = t("L2 norm {length}", length=number(float(np.linalg.norm(point)), 5))
        hover = f"<b>{names[name]}</b><br>({place})<br>{length}<extra></extra>"
        size = head * (0.75 if width == _THIN else 1.0)
        traces += arrow(point, color, width, head=size, name=names[name], hover=hover)
    return traces


def _dots(space: Space, cloud: Cloud | None, box: tuple[Array, Array], t: Text, mode: str) -> list[dict[str, Any]]:
    """The vectors of a cloud inside the box, so that far ones do not make the rest of the drawing small."""
    if cloud is None or cloud.points is None or not space.exact:
        return []
    names = (t("random x"), t("their LN(x)"), t("their RMSNorm(x)"))
    kinds = (cloud.points, cloud.layer_points, cloud.rms_points)
    return [
        {
            **line(points[((points >= box[0]) & (points <= box[1])).all(axis=1)], color, 1, mode="markers", name=name),
            "marker": {"symbol": "cross" if symbol == "x" else symbol, "size": _DOT, "color": color, "opacity": 0.8},
            "showlegend": True,
        }
        for name, points, (symbol, color) in zip(names, kinds, styles(mode), strict=True)
        if points is not None
    ]


def _notes(
    points: dict[str, Array],
    names: dict[str, str],
    axes: dict[str, Array],
    rings: list[Array],
    view: tuple[Camera, Array, float, Array],
    mode: str,
) -> list[dict[str, Any]]:
    """The names of the axes on their ends, and those of the arrows where they cover least as the camera stands."""
    camera, middle, zoom, figure = view

    def pixels(corners: Array) -> Array:
        found: Array = camera.flat((corners - middle) * zoom) * figure[1] / 2
        return found

    reach = max(float(np.linalg.norm(point)) for point in points.values())
    groups = joined_names(points, names, reach=reach, near=_NEAR)
    tips = np.array([points[name] for name in groups])
    paths = [Path(corners=pixels(np.array([np.zeros(3), point]))) for point in points.values()]
    paths += [Path(corners=pixels(ring), weight=_BEHIND) for ring in rings]
    for text, axis in axes.items():
        paths.append(Path(corners=pixels(axis), weight=_BEHIND))
        around = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * text_size(text) / 2
        paths.append(Path(corners=pixels(axis[1:]) + around, weight=_WORD))
    found = places(list(groups.values()), list(pixels(tips)), paths, (-figure / 2, figure / 2))
    norms = {name: theme.NORM_COLORS[mode][norm] for name, norm in _NORMS.items()}
    return [
        *(note(text, axis[1], 0, 0, theme.MUTED[mode], mode) for text, axis in axes.items()),
        *(
            note(text, points[name], place.right, place.up, norms.get(name, theme.INK[mode]), mode)
            for (name, text), place in zip(groups.items(), found, strict=True)
        ),
    ]
