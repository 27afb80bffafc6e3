"""Which names of a checkpoint are norms, in which layer, and what else is there?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from normviz.errors import InputError
from normviz.families.names import Names

MOST_LAYERS = 4096
MOST_MODULES = 20_000
"""Different names of norms, layers left out; a published model has tens of them."""

_NORM_LIKE = re.compile(r"norm|(?:^|[._])ln(?:[._]|_?\d|$)", re.IGNORECASE)
_NO_NORM = re.compile(r"normalizer|normal_|normformer\b", re.IGNORECASE)
_FIRST_NUMBER = re.compile(r"((?:[^.]*\.)*?)(\d{1,7})\.(.+)")
_NUMBER = re.compile(r"\.\d+(?=\.|$)")
_ASIDE = re.compile(
    r"(?:^|[._])(?:vision|visual|audio|image|speech|vit|siglip|clip|mtp|draft|projector|qformer|perceiver|resampler|"
    r"connector|eagle|medusa|tower|img|vqmodel|vqgan|aligner|modality)(?:[._]|$)"
)


@dataclass(frozen=True, kw_only=True)
class Key:
    """The key of one norm-like parameter: what it belongs to (with "{i}" for the first number), and which layer."""

    key: str
    module: str
    parameter: str
    layer: int | None


class Listing:
    """A checkpoint's names, sorted once for all families.

    Attributes
    ----------
    names
        As they were given.
    modules
        Norm-like module, with "{i}" for its layer -> its keys.
    layers
        What stands before a key's first number -> that number, the layer -> what stands behind it in its keys.
    others
        Names that are no norms, without their numbers, one a line; "|" stands before each. Those of other parts
        of the model (vision, audio) are left out: they tell nothing about the text stack.
    has_matrices
        Whether there are others inside layers.
    other
        How many names are no norms, those of other parts included.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.modules: dict[str, list[Key]] = {}
        self.layers: dict[str, dict[int, list[str]]] = {}
        self.other = 0
        others = set()
        for key in names.keys:
            start, layer, rest = _split(key)
            if layer is not None:
                self.layers.setdefault(start, {}).setdefault(layer, []).append(rest)
            if norm_like(key):
                read = _read(key, start, layer, rest)
                self.modules.setdefault(read.module, []).append(read)
            else:
                self.other += 1
                if aside(key):
                    continue
                others.add(f"|{start}" + ("#." + _NUMBER.sub(".#", rest) if layer is not None else ""))
            if max(len(self.modules), len(self.layers)) > MOST_MODULES:
                raise InputError(
                    "More than {limit} different names, layers left out: this is no checkpoint.", limit=MOST_MODULES
                )
        self.others = "\n".join(others)
        self.has_matrices = any("#." in name for name in others)


def norm_like(key: str) -> bool:
    """Whether a key sounds like a norm's."""
    return bool(_NORM_LIKE.search(key)) and not _NO_NORM.search(key)


def aside(key: str) -> bool:
    """Whether a key belongs to another part of the model than its text stack."""
    return bool(_ASIDE.search(key))


def _split(key: str) -> tuple[str, int | None, str]:
    """What stands before the first number of a key, the number, and what stands behind it."""
    match = _FIRST_NUMBER.match(key)
    if match is None or int(match[2]) >= MOST_LAYERS:
        return key, None, ""
    return match[1], int(match[2]), match[3]


def _read(key: str, start: str, layer: int | None, rest: str) -> Key:
    name = key if layer is None else f"{start}{{i}}.{rest}"
    module, _, parameter = name.rpartition(".")
    # Old checkpoints of BERT have TensorFlow's names.
    parameter = {"gamma": "weight", "beta": "bias"}.get(parameter, parameter)
    if parameter not in ("weight", "bias"):
        module, parameter = name, ""
    return Key(key=key, module=module, parameter=parameter, layer=layer)
