"""How many operations, bytes and parameters does a norm take, and in how many kernels?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from normviz.cost.sizes import DTYPES, KINDS, WAYS, check_numbers, choice, size


class Kernel(NamedTuple):
    """One pass over memory.

    What it reads and writes is spelled in letters: x is [tokens, d] in the tensors' own format and w is [d] in it; X is
    [tokens, d] and T is [tokens] in the format of the statistics, float32 at least.
    """

    name: str
    reads: str
    writes: str
    per_entry: int = 0  # operations for each entry of [tokens, d]
    per_token: int = 0


@dataclass(frozen=True, kw_only=True)
class NormCost:
    r"""What one norm of [tokens, d] costs.

    An addition, a multiplication, a division and a reciprocal root are one operation each, and a mean over d numbers is
    d of them. A kernel reads each of its operands once from memory and writes each result once, as on a device whose
    caches hold a row but not the tensor.

    Attributes
    ----------
    kind, way, tokens, d, dtype
        As for `norm_cost`.
    kernels
        The passes over memory, in order.
    parameters
        Numbers learned.
    flops
        Operations.
    bytes_read, bytes_written
        From and to the device's memory.
    formulas
        "parameters", "flops", "bytes_read" and "bytes_written" as LaTeX in N (tokens), d, s (bytes of a number) and u
        (bytes of a number of the statistics).
    """

    kind: str
    way: str
    tokens: int
    d: int
    dtype: str
    kernels: tuple[Kernel, ...]
    parameters: int
    flops: int
    bytes_read: int
    bytes_written: int
    formulas: Mapping[str, str]

    @property
    def bytes(self) -> int:
        """Read and written together."""
        return self.bytes_read + self.bytes_written

    @property
    def intensity(self) -> float:
        """Operations for each byte that moves: FLOP/byte."""
        return self.flops / self.bytes


def norm_cost(
    kind: str, tokens: int, d: int, dtype: str = "float32", *, way: str = "compiled", bias: bool = True
) -> NormCost:
    r"""Count one norm's parameters, operations and bytes.

    In one kernel, RMSNorm reads x and writes y: $2Nds + ds$ bytes for $N(4d+2)$ operations; LayerNorm moves the same
    and takes $N(7d+2)$. With the residual addition in the same kernel, x and f are read and x + f and y are written;
    in two kernels x + f is read once more.

    Parameters
    ----------
    kind
        One of `KINDS`.
    tokens, d
        Rows and width.
    dtype
        One of `DTYPES`; the statistics are computed in float32 at least.
    way
        One of `WAYS`: "compiled" is one kernel for everything, "functional" one for the addition and one for the norm,
        "eager" one for each operation, with a conversion to float32 and back where the format is narrower.
    bias
        Whether a LayerNorm has one beside its gain; RMSNorm never has.

    Raises
    ------
    InputError
        If an argument is not usable, or the tensor would have more than `normviz.cost.sizes.LARGEST` numbers.
    """
    choice(kind, "kind", tuple(KINDS))
    choice(way, "way", tuple(WAYS))
    choice(dtype, "dtype", tuple(DTYPES))
    n, d = size(tokens, "tokens"), size(d, "d")
    check_numbers(n * d)
    own, wide = DTYPES[dtype], max(4, DTYPES[dtype])
    kernels = _kernels(kind, way, converted=own < wide, bias=bias and kind.endswith("layer_norm"))
    read, written = "".join(k.reads for k in kernels), "".join(k.writes for k in kernels)
    per_entry, per_token = sum(k.per_entry for k in kernels), sum(k.per_token for k in kernels)
    gains = 2 if bias and kind.endswith("layer_norm") else 1
    return NormCost(
        kind=kind,
        way=way,
        tokens=n,
        d=d,
        dtype=dtype,
        kernels=kernels,
        parameters=gains * d,
        flops=n * (per_entry * d + per_token),
        bytes_read=_bytes(read, n, d, own, wide),
        bytes_written=_bytes(written, n, d, own, wide),
        formulas=MappingProxyType(
            {
                "parameters": f"{gains if gains > 1 else ''}d",
                "flops": f"N({per_entry}d + {per_token})",
                "bytes_read": _formula(read, wide=own < wide),
                "bytes_written": _formula(written, wide=own < wide),
            }
        ),
    )


def _kernels(kind: str, way: str, *, converted: bool, bias: bool) -> tuple[Kernel, ...]:
    added, norm = kind.startswith("add_"), kind.removeprefix("add_")
    gains = "ww" if bias else "w"
    layer = norm == "layer_norm"
    per_entry = (6 if layer else 4) + bias
    addition = Kernel("x + f", "xx", "x", 1)
    if way == "compiled" and added:
        return (Kernel("x + f, norm", "xx" + gains, "xx", per_entry + 1, 2),)
    if way != "eager":
        one = Kernel("norm", "x" + gains, "x", per_entry, 2)
        return (addition, one) if added else (one,)
    steps = [
        *([addition] if added else []),
        *([Kernel("float32", "x", "X")] if converted else []),
        *([Kernel("mean", "X", "T", 1), Kernel("x - mean", "XT", "X", 1)] if layer else []),
        Kernel("square", "X", "X", 1),
        Kernel("mean square", "X", "T", 1),
        Kernel("+ eps", "T", "T", 0, 1),
        Kernel("1 / root", "T", "T", 0, 1),
        Kernel("times 1 / root", "XT", "X", 1),
        *([Kernel("own format", "X", "x")] if converted else []),
        Kernel("times weight", "xw", "x", 1),
        *([Kernel("+ bias", "xw", "x", 1)] if bias else []),
    ]
    return tuple(steps)


def _bytes(letters: str, n: int, d: int, own: int, wide: int) -> int:
    each = {"x": n * d * own, "w": d * own, "X": n * d * wide, "T": n * wide}
    return sum(each[letter] for letter in letters)


def _formula(letters: str, *, wide: bool) -> str:
    """The bytes as LaTeX; without conversion u is s, and one bracket says it all."""
    names = {"x": ("Nd", "s"), "w": ("d", "s"), "X": ("Nd", "u" if wide else "s"), "T": ("N", "u" if wide else "s")}
    found: dict[str, dict[str, int]] = {}
    for letter in letters:
        what, unit = names[letter]
        terms = found.setdefault(unit, {})
        terms[what] = terms.get(what, 0) + 1
    parts = []
    for unit in sorted(found):
        ordered = [name for name in ("Nd", "N", "d") if name in found[unit]]
        terms_text = [f"{found[unit][name] if found[unit][name] > 1 else ''}{name}" for name in ordered]
        text = " + ".join(terms_text)
        parts.append(f"{unit}({text})" if len(ordered) > 1 else f"{text}\\,{unit}")
    return " + ".join(parts)
