"""What would a person type to see which cells of a grid share a statistic?"""

from __future__ import annotations

from collections.abc import Sequence

from normviz.grid import pad_lengths


def axes_script(
    norm: str,
    batch: int,
    tokens: int,
    d: int,
    *,
    seed: int = 0,
    groups: int = 1,
    pad: bool = False,
    masked: bool = False,
    cell: Sequence[int] = (0, 0, 0),
    eps: float = 1e-5,
) -> str:
    """The axes lab as a script: the grid, its statistics, one cell, and what pads do.

    Parameters
    ----------
    norm
        One of `normviz.grid.AXES`.
    batch, tokens, d, seed
        Sizes of the grid, and the seed of its values.
    groups
        Groups of channels, for "group_norm".
    pad, masked
        Whether the later sequences end in pads, and whether those are left out of the statistics.
    cell
        (sequence, token, channel) of the selected cell, from 0.
    eps
        Added to the variance or the mean square.
    """
    asked = [f'x, "{norm}"', f"eps={eps!r}"]
    if norm == "group_norm":
        asked.insert(1, f"groups={groups}")
    if pad and masked:
        asked.append("mask=real")
    lines = [
        '"""Which cells of [B, T, d] share a statistic, and what are those statistics?"""\n\nimport normviz as nv\n',
        f"x = nv.sample_grid({batch}, {tokens}, {d}, seed={seed})",
    ]
    if pad:
        lines += [
            f"real = nv.pad_mask({batch}, {tokens}, {list(pad_lengths(batch, tokens))})",
            "x = x * real[..., None]  # pads are zeros",
        ]
    lines += [
        f"trace = nv.normalize_grid({', '.join(asked)})",
        'print("statistics:", trace.n_statistics)',
        'print("mean:", trace.mean)',
        'print("variance:", trace.var)',
        'print("RMS:", trace.rms)',
        'print("output:", trace.output, sep="\\n")',
        'print("shape of weight:", trace.parameter_shape, "of bias:", trace.bias_shape)\n',
        f"chosen = nv.cell(trace, {', '.join(str(int(index)) for index in cell)})",
        'print("cells that share its statistic:", chosen.count)',
        'print("mean:", chosen.mean, "variance:", chosen.var, "RMS:", chosen.rms)',
        'print(chosen.value, "becomes", chosen.normalized)',
    ]
    if pad:
        lines += [
            "\n# Largest change of each real token's output when pads are counted; nan on pads.",
            "shifts = {}",
            'for axis in ("layer_norm", "batch_norm"):',
            f"    shifts[axis] = nv.padding_shift(x, real, axis, eps={eps!r})",
            "    print(axis, shifts[axis])",
        ]
    return "\n".join(lines) + "\n"
