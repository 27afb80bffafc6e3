"""How is an array written into a script, so that the script gets it back bit for bit?"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent, wrap

import numpy as np

from normviz.arrays import Floats
from normviz.vectors import format_vector

LISTED = 1000
"""The longest array that stands in a script; a longer one is read from a file, so that the script can be read."""

FEW = 8
"""At most so many entries that are not 0 are set one by one, beside many that are."""


@dataclass(frozen=True, kw_only=True)
class Writing:
    """The way a library makes its float64 arrays, as text with places for what goes in."""

    listed: str
    equal: str
    read: str

    def array(self, name: str, values: Floats) -> str:
        """An assignment that gives back these values, bit for bit."""
        if values.size > 1 and values[0] == values[1] and _same(values, np.full(values.size, values[0])):
            return f"{name} = {self.equal.format(d=values.size, value=repr(float(values[0])))}"
        few = min(FEW, values.size // 16)
        if np.count_nonzero(values) <= few and not np.signbit(values[values == 0]).any():
            zeros = f"{name} = {self.equal.format(d=values.size, value='0.0')}"
            return "\n".join(
                [zeros, *(f"{name}[{place}] = {float(values[place])!r}" for place in np.flatnonzero(values))]
            )
        if values.size > LISTED:
            return f"{name} = {self.read.format(name=name)}  # save its {values.size} numbers as {name}.txt"
        numbers = format_vector(values).split(", ")
        if all(number.removeprefix("-").isdigit() for number in numbers):
            numbers[0] += ".0"  # one float makes the array one of floats
        # The integer -0 has no sign to keep.
        text = ", ".join("-0.0" if number == "-0" else number for number in numbers)
        if len(text) < 80:
            return f"{name} = {self.listed.format(numbers=f'[{text}]')}"
        rows = "[\n" + indent("\n".join(wrap(text, 110)), "    ") + "\n]"
        return f"{name} = {self.listed.format(numbers=rows)}"


def _same(first: Floats, second: Floats) -> bool:
    """Whether two arrays are equal bit for bit, the sign of zero included."""
    return np.array_equal(first, second) and np.array_equal(np.signbit(first), np.signbit(second))


NUMPY = Writing(listed="np.array({numbers})", equal="np.full({d}, {value})", read='np.loadtxt("{name}.txt").ravel()')
TORCH = Writing(
    listed="torch.tensor({numbers}, dtype=torch.float64)",
    equal="torch.full(({d},), {value}, dtype=torch.float64)",
    read='torch.from_numpy(np.loadtxt("{name}.txt")).ravel()',
)
