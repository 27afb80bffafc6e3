"""Where do x, its normalized forms and the outputs lie in three dimensions, and what does that picture leave out?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import Floats, centre, epsilon, frozen, one_vector, parameter, rms_divisor, std_divisor
from normviz.errors import InputError
from normviz.geometry.frames import length, rest, scaled, share, unit

# One point each 3 degrees, and the first one again at the end.
RING_POINTS = 121
# Below this part of an output's length, what lies off the plane span{1, x} is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Space:
    r"""Coordinates of x, its normalized forms and both outputs along three orthonormal directions.

    For d = 3 these are the entries themselves. For d > 3 they are $\mathbf 1/\sqrt d$, $(x-\bar x)/\|x-\bar x\|$ and
    the direction perpendicular to both that holds most of what weight and bias add to the outputs. The points before
    weight and bias lie in the first two, so that their lengths and angles are those of the d-dimensional vectors; of an
    output the picture may leave a share out.

    Attributes
    ----------
    exact
        Whether d = 3, where the axes are the entries of x and nothing is left out.
    frame
        The three directions as rows, shape [3, d]; the identity for d = 3. A point of d numbers is at `frame @ point`.
    ones
        The unit vector of the all-ones direction in the picture, shape [3].
    across
        Two unit vectors in the picture, perpendicular to `ones` and to each other, shape [2, 3].
    x, mean_part, centered
        The vector, its projection on the all-ones direction, and what is left; shape [3].
    layer_norm, rms_norm
        The normalized vectors before weight and bias, shape [3]; None where 0/0 has no value.
    layer_output, rms_output
        After the weight, and after the bias for LayerNorm (RMSNorm has none), projected on the picture, shape [3].
    ring
        Where LayerNorm lands at eps 0 before weight and bias: a closed circle of radius $\sqrt d$, shape [121, 3].
    ellipse
        The ring times weight plus bias, projected on the picture, shape [121, 3]; None without weight and bias.
    layer_outside, rms_outside
        The share (0 to 1) of the output's squared length that lies outside the picture; None where there is no output.
    radius
        $\sqrt d$: at eps 0 both normalized points lie on the sphere of this radius.
    d, eps
        The length of x, and what was added inside the roots.
    """

    exact: bool
    frame: Floats
    ones: Floats
    across: Floats
    x: Floats
    mean_part: Floats
    centered: Floats
    layer_norm: Floats | None
    rms_norm: Floats | None
    layer_output: Floats | None
    rms_output: Floats | None
    ring: Floats
    ellipse: Floats | None
    layer_outside: float | None
    rms_outside: float | None
    radius: float
    d: int
    eps: float


def space(x: ArrayLike, *, weight: ArrayLike | None = None, bias: ArrayLike | None = None, eps: float = 0.0) -> Space:
    r"""Coordinates of x, $x-\bar x$, LN(x), RMSNorm(x) and both outputs in three dimensions.

    With orthonormal rows $f_1=\mathbf 1/\sqrt d$, $f_2=(x-\bar x)/\|x-\bar x\|$ and $f_3$, a vector $v$ is at
    $(f_1\cdot v,f_2\cdot v,f_3\cdot v)$. $f_3$ is the first right singular vector of what
    $\gamma\odot\mathrm{LN}+\beta$ and $\gamma\odot\mathrm{RMSNorm}$ have outside span{1, x}, with the sign that puts
    the larger of them in front. Where they have nothing there, it is a fixed direction, as $f_2$ is for a constant x.
    For d = 3 the rows are the axes of the entries.

    Parameters
    ----------
    x
        One vector, shape [d] with d >= 3.
    weight, bias
        Gain $\gamma$ and bias $\beta$, shape [d]; None leaves the step out.
    eps
        $\varepsilon\ge0$, inside both roots, in units of x squared.

    Raises
    ------
    InputError
        If x has fewer than three numbers, or an argument is out of its range (as for the norms). A point without a
        value is None, not an error.
    """
    vector, eps = one_vector(x), epsilon(eps)
    d = vector.size
    if d < 3:
        raise InputError("a picture in space needs x with 3 numbers or more; got {d}.", d=d)
    gain, shift = parameter(weight, "weight", d), parameter(bias, "bias", d)
    radius = float(np.sqrt(d))
    mean, centered = centre(vector)
    layer = None if eps == 0 and not centered.any() else centered / std_divisor(mean, centered, eps)
    rms = None if eps == 0 and not vector.any() else vector / rms_divisor(vector, eps)
    layer_output, rms_output = _affine(layer, gain, shift), _affine(rms, gain, None)

    if d == 3:
        frame, ones = np.eye(3), np.full(3, 1 / radius)
        across = np.array([[1.0, -1.0, 0.0] / np.sqrt(2), [1.0, 1.0, -2.0] / np.sqrt(6)])
    else:
        moved = [] if gain is None and shift is None else [layer_output, rms_output]
        frame, ones, across = _frame(centered, *moved), np.eye(3)[0], np.eye(3)[1:]

    angles = np.linspace(0, 2 * np.pi, RING_POINTS)
    ring = radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1) @ across
    ring[-1] = ring[0]
    ellipse = None
    if gain is not None or shift is not None:
        # The ring's points are ring @ frame in d dimensions; the weight between two frames keeps this O(d).
        ellipse = ring if gain is None else ring @ np.array([frame @ (row * gain) for row in frame])
        ellipse = ellipse + (0.0 if shift is None else frame @ shift)

    layer_outside, layer_seen = _seen(layer_output, frame)
    rms_outside, rms_seen = _seen(rms_output, frame)
    return Space(
        exact=d == 3,
        frame=frozen(frame),
        ones=frozen(ones),
        across=frozen(across),
        x=frozen(frame @ vector),
        mean_part=frozen(mean[0] * frame.sum(axis=1)),
        centered=frozen(frame @ centered),
        layer_norm=None if layer is None else frozen(frame @ layer),
        rms_norm=None if rms is None else frozen(frame @ rms),
        layer_output=layer_seen,
        rms_output=rms_seen,
        ring=frozen(ring),
        ellipse=None if ellipse is None else frozen(ellipse),
        layer_outside=layer_outside,
        rms_outside=rms_outside,
        radius=radius,
        d=d,
        eps=eps,
    )


def _affine(vector: Floats | None, gain: Floats | None, shift: Floats | None) -> Floats | None:
    if vector is None:
        return None
    output = vector if gain is None else vector * gain
    return output if shift is None else output + shift


def _seen(output: Floats | None, frame: Floats) -> tuple[float | None, Floats | None]:
    """The share of an output's squared length outside the picture, and the output's place in the picture."""
    if output is None:
        return None, None
    point = frozen(frame @ output)
    # Nothing is outside of three dimensions, and of a zero output.
    whole = output.size == 3 or not output.any()
    return 0.0 if whole else 1 - share(point, output), point


def _frame(centered: Floats, *outputs: Floats | None) -> Floats:
    """Three orthonormal rows: all ones, x minus mean, and what the outputs add to these."""
    d = centered.size
    frame = np.empty((3, d))
    frame[0] = 1 / np.sqrt(d)
    across = centered if centered.any() else np.eye(1, d)[0] - np.eye(1, d, 1)[0]
    frame[1] = unit(rest(unit(across), frame[:1]))

    found = []
    for output in outputs:
        if output is not None:
            near_one, exponent = scaled(output)
            size = length(near_one)
            outside = rest(near_one, frame[:2])
            if length(outside) > ROUNDING * size:
                found.append((outside, exponent))
    if found:
        # Relative to the larger output, so that the squares of the largest weights stay inside float64.
        top = max(exponent for _, exponent in found)
        added = [np.ldexp(outside, exponent - top) for outside, exponent in found]
        products = np.array([[one @ other for other in added] for one in added])
        main = np.linalg.eigh(products)[1][:, -1]
        third = sum(part * row for part, row in zip(main, added, strict=True))
        largest = int(products.diagonal().argmax())
        third = third if main @ products[largest] > 0 else -third
    else:
        # The entry that the plane holds least of: at least half of its squared length is outside for d > 3.
        third = np.eye(1, d, int(np.abs(frame[1]).argmin()))[0]
    frame[2] = unit(rest(unit(third), frame[:2]))
    return frame
