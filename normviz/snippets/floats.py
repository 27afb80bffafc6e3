"""What would a person type to get the numbers of the numerics lab, with normviz and without it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from reprlib import repr as shown
from types import MappingProxyType

from normviz.arrays import Floats
from normviz.errors import InputError
from normviz.floats import INCIDENTS, Setting, weight_decay
from normviz.snippets.arrays_text import NUMPY
from normviz.snippets.float_incidents import PLAIN_INCIDENTS
from normviz.snippets.float_steps import steps_lines
from normviz.snippets.given import left_out, refusal

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "steps": "One norm, with every step rounded as the format rounds it.",
        "arithmetics": "How many elements depend on where RMSNorm is rounded?",
        "decay": "Where does weight decay pull the scale of a norm?",
        "incident": "",
    }
)
"""View -> the first line of its script; that of an incident is its own sentence."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FloatsGiven:
    """The knobs of the numerics lab, as far as its scripts need them.

    Attributes
    ----------
    view
        The part of the lab: a key of `TITLES`.
    setting
        What "steps" computes.
    first, second, format, d, rows, spread, seed
        As for `normviz.floats.difference`.
    start, lr, decay, steps
        As for `normviz.floats.weight_decay`.
    incident
        A key of `normviz.floats.INCIDENTS`.
    """

    view: str
    setting: Setting | None = None
    first: str = "cast_then_multiply"
    second: str = "multiply_then_cast"
    format: str = "bfloat16"
    d: int = 1024
    rows: int = 64
    spread: float = 0.3
    seed: int = 0
    start: float = 1.5
    lr: float = 1e-3
    decay: float = 0.1
    steps: int = 1000
    incident: str = "sum"

    def __post_init__(self) -> None:
        for field, value, allowed in (("view", self.view, TITLES), ("incident", self.incident, INCIDENTS)):
            if value not in allowed:
                raise InputError(
                    "{field} can be {allowed}; got {got}", field=field, allowed=", ".join(allowed), got=shown(value)
                )

    @property
    def chosen(self) -> Setting:
        """What "steps" computes; the incident's norm where nothing else was given."""
        return self.setting or INCIDENTS[self.incident].setting

    @cached_property
    def refused(self) -> str | None:
        """Why the norm of "steps" cannot be computed, or None."""
        return refusal(self.chosen.trace)

    @cached_property
    def no_decay(self) -> str | None:
        """Why the scale has no path, or None."""
        return refusal(lambda: weight_decay("w", start=self.start, lr=self.lr, decay=self.decay, steps=self.steps))


def floats_script(given: FloatsGiven) -> str:
    """One view of the numerics lab as a script that uses normviz.

    Parameters
    ----------
    given
        The page's knobs.

    Returns
    -------
    str
        Python that prints the view's numbers.
    """
    body = _VIEWS[given.view](given)
    numbers = "import numpy as np\n\n" if "np." in body else ""
    return f'"""{_title(given)}"""\n\n{numbers}from normviz import floats\n\n{body}'


def floats_torch_script(given: FloatsGiven) -> str:
    """One view of the numerics lab without normviz: NumPy with the types of ml_dtypes, or PyTorch.

    Parameters
    ----------
    given
        The page's knobs.

    Returns
    -------
    str
        Python that prints the view's numbers.
    """
    body = _PLAIN_VIEWS[given.view](given)
    modules = [f"import {name}\n" for name in ("math", "ml_dtypes") if f"{name}." in body]
    modules += ["import numpy as np\n"] if "np." in body else []
    modules += ["import torch\n"] if "torch." in body else []
    if modules[:1] == ["import math\n"] and len(modules) > 1:
        modules[0] += "\n"
    room = "\n\n" if body.startswith("def ") else "\n"
    return f'"""{_title(given)}"""\n\n{"".join(modules)}{room}{body}'


def _title(given: FloatsGiven) -> str:
    return TITLES[given.view] if given.view != "incident" else INCIDENTS[given.incident].sentence


def _arrays(x: Floats, weight: Floats | None) -> str:
    lines = [NUMPY.array("x", x)]
    if weight is not None:
        lines.append(NUMPY.array("weight", weight))
    return "\n".join(lines)


def _steps(given: FloatsGiven) -> str:
    chosen = given.chosen
    weight = "" if chosen.weight is None else f', weight=weight, arithmetic="{chosen.arithmetic}"'
    call = f'x, "{chosen.norm}", "{chosen.format}", eps={chosen.eps!r}, accumulate="{chosen.accumulate}"{weight}'
    computed = left_out("The norm", given.refused, f"""\
trace = floats.norm_steps(
    {call}
)
for step in trace.steps:
    print(step.id, "in", step.format, step.value, "instead of", step.exact)
    for mark in sorted(set(step.marks.tolist())):
        print("  ", mark, (step.marks == mark).sum(), "of", step.marks.size)
    if step.first_overflow is not None:
        print("  the running sum leaves the format at term", step.first_overflow + 1)
    if step.first_lost is not None:
        print("  the first term that leaves the running sum as it was is term", step.first_lost + 1)
""")  # fmt: skip
    return f"{_arrays(chosen.x, chosen.weight)}\n{computed}"


def _plain_steps(given: FloatsGiven) -> str:
    return left_out("The norm", given.refused, "") if given.refused else steps_lines(given.chosen)


def _arithmetics(given: FloatsGiven) -> str:
    asked = f'"{given.first}", "{given.second}", format="{given.format}"'
    sizes = f"d={given.d}, rows={given.rows}, spread={given.spread!r}, seed={given.seed}"
    return f"""\
difference = floats.difference(
    {asked}, {sizes}
)
if difference.without_weight:
    print("one of them has no weight: compared with the scale 1")
print("share of the elements that differ:", difference.share)
print("relative errors (RMS):", difference.rms, "largest:", difference.largest, "one rounding:", difference.unit)
"""


_RMS_NORMS: Mapping[str, str] = MappingProxyType(
    {
        "cast_then_multiply": "weight * normalized.to(x.dtype)",
        "t5": "weight * normalized.to(weight.dtype)",
        "multiply_then_cast": "(weight * normalized).to(x.dtype)",
        "gemma": "(normalized * (1.0 + weight.float())).to(x.dtype)",
        "gemma3n": "(normalized * weight.float()).to(x.dtype)",
        "no_weight": "normalized.to(x.dtype)",
    }
)
"""Arithmetic -> its last line."""


def _plain_arithmetics(given: FloatsGiven) -> str:
    without = "no_weight" in (given.first, given.second)
    spread = 0.0 if without else given.spread
    note = "# One of both has no weight: they are compared with the scale 1.\n" if without else ""

    def called(name: str) -> str:
        stored = "scale - 1" if name == "gemma" else "scale"
        return f"({name}, {stored}, {'1' if name == 'gemma' else '0'})"

    functions = "\n\n".join(
        f"def {name}(x, weight, eps=1e-6):\n"
        "    wide = x.float()\n"
        "    normalized = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)\n"
        f"    return {_RMS_NORMS[name]}\n"
        for name in dict.fromkeys((given.first, given.second))
    )
    return f"""\
{functions}

rng = np.random.default_rng({given.seed})
x = torch.from_numpy(rng.standard_normal(({given.rows}, {given.d}))).float().to(torch.{given.format})
{note}scale = torch.from_numpy(1 + {spread!r} * rng.standard_normal({given.d})).float()
smallest = torch.finfo(x.dtype).smallest_normal
outputs, errors = [], []
for norm, stored, less in ({called(given.first)}, {called(given.second)}):
    weight = stored.to(x.dtype)
    outputs.append(norm(x, weight).double())
    exact = x.double() / (x.double().pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * (less + weight.double())
    normal = exact.abs() >= smallest
    errors.append((outputs[-1] / exact - 1)[normal])
share = (outputs[0] != outputs[1]).double().mean().item()
rms = [error.pow(2).mean().sqrt().item() for error in errors]
largest = [error.abs().max().item() for error in errors]
print("share of the elements that differ:", share)
print("relative errors (RMS):", rms, "largest:", largest, "one rounding:", torch.finfo(x.dtype).eps / 2)
"""


def _decay(given: FloatsGiven) -> str:
    asked = f"start={given.start!r}, lr={given.lr!r}, decay={given.decay!r}, steps={given.steps}"
    return left_out("The path", given.no_decay, f"""\
paths = {{form: floats.weight_decay(form, {asked}) for form in floats.FORMS}}
for form, path in paths.items():
    print(form, path)
""")  # fmt: skip


def _plain_decay(given: FloatsGiven) -> str:
    return left_out("The path", given.no_decay, f"""\
# AdamW without a gradient: only the decay moves what is stored.
paths = {{}}
for form, less in (("w", 0.0), ("1+w", 1.0)):
    stored = torch.nn.Parameter(torch.tensor([{given.start!r} - less], dtype=torch.float64))
    stored.grad = torch.zeros_like(stored)
    optimizer = torch.optim.AdamW([stored], lr={given.lr!r}, weight_decay={given.decay!r})
    path = [less + stored.item()]
    for _ in range({given.steps}):
        optimizer.step()
        path.append(less + stored.item())
    paths[form] = path
    print(form, path)
""")  # fmt: skip


def _incident(given: FloatsGiven) -> str:
    return f"""\
incident = floats.INCIDENTS["{given.incident}"]
print(incident.sentence, incident.source)
for claim in incident.claims():
    print(claim.sentence.format(**claim.values))
"""


_VIEWS: Mapping[str, Callable[[FloatsGiven], str]] = MappingProxyType(
    {"steps": _steps, "arithmetics": _arithmetics, "decay": _decay, "incident": _incident}
)
_PLAIN_VIEWS: Mapping[str, Callable[[FloatsGiven], str]] = MappingProxyType(
    {
        "steps": _plain_steps,
        "arithmetics": _plain_arithmetics,
        "decay": _plain_decay,
        "incident": lambda given: PLAIN_INCIDENTS[given.incident],
    }
)
