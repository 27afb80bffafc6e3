"""Which triangles draw the cells of a [B, T, d] grid as blocks?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]

# Corners of a unit cube as (sequence, token, channel) signs, and its faces as pairs of triangles over those corners:
# first the two faces across the sequences, then those across the tokens, then those across the channels.
_CORNERS = np.array([[b, t, c] for b in (-1, 1) for t in (-1, 1) for c in (-1, 1)], dtype=np.float32)
_TRIANGLES = np.array(
    [
        [[0, 1, 3], [0, 3, 2]],
        [[4, 6, 7], [4, 7, 5]],
        [[0, 4, 5], [0, 5, 1]],
        [[2, 3, 7], [2, 7, 6]],
        [[0, 2, 6], [0, 6, 4]],
        [[1, 5, 7], [1, 7, 3]],
    ]
)


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """A mesh of cubes.

    Attributes
    ----------
    vertices
        Positions, float32 [n, 3], as (sequence, token, channel) counted from 1 at the cubes' centres.
    triangles
        Three vertex indices each, uint16 or, for more than 65,536 vertices, uint32 [m, 3].
    cells
        The cell (sequence, token, channel), from 0, that each triangle belongs to, int16 [m, 3].
    """

    vertices: npt.NDArray[np.float32]
    triangles: npt.NDArray[np.uint16 | np.uint32]
    cells: npt.NDArray[np.int16]


def blocks(chosen: Bools, *, half: float, outside_of: Bools | None = None) -> Blocks:
    """Cubes at the chosen cells of a grid.

    Parameters
    ----------
    chosen
        Which cells get a cube, bool [B, T, d].
    half
        Half an edge; 0.5 leaves no gap between neighbours.
    outside_of
        Draw only the faces without a neighbour in this set, bool [B, T, d]; None draws all six.
    """
    cells = np.argwhere(chosen)
    faces = np.ones((len(cells), 6), dtype=np.bool_) if outside_of is None else _open_faces(cells, outside_of)
    cube, face = np.nonzero(faces)
    triangles = (cube[:, None, None] * 8 + _TRIANGLES[face]).reshape(-1, 3)
    used, compact = np.unique(triangles, return_inverse=True)
    return Blocks(
        vertices=(cells[used // 8] + 1 + half * _CORNERS[used % 8]).astype(np.float32),
        triangles=compact.reshape(-1, 3).astype(np.uint16 if used.size <= 2**16 else np.uint32),
        cells=np.repeat(cells[cube].astype(np.int16), 2, axis=0),
    )


def _open_faces(cells: npt.NDArray[np.intp], taken: Bools) -> Bools:
    """Which of the six faces of each cell look at a cell that is not taken, or out of the grid."""
    padded = np.pad(taken, 1)
    sides = []
    for axis in range(3):
        for step in (-1, 1):
            neighbour = cells + 1
            neighbour[:, axis] += step
            sides.append(~padded[tuple(neighbour.T)])
    return np.stack(sides, axis=1)


def edges(cell: tuple[int, int, int], *, half: float) -> npt.NDArray[np.float32]:
    """One path along the twelve edges of a cell's cube, [16, 3], in the coordinates of `Blocks.vertices`."""
    path = [0, 1, 3, 2, 0, 4, 5, 1, 5, 7, 3, 7, 6, 2, 6, 4]
    corners: npt.NDArray[np.float32] = (np.array(cell) + 1 + half * _CORNERS[path]).astype(np.float32)
    return corners
