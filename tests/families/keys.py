"""How does a test get the names of a tiny model, and the norms that it really has?"""

from __future__ import annotations

from functools import cache
from typing import Any

from normviz.families import Names
from tests.families.tiny import tiny


@cache
def model(family: str) -> Any:
    """The family's tiny model, built once; tests do not change it."""
    return tiny(family)


def names(of: Any, *, shapes: bool = True) -> Names:
    """The names and shapes of a model's state dict."""
    state = of.state_dict()
    return Names(keys=tuple(state), shapes={key: tuple(value.shape) for key, value in state.items()} if shapes else {})


def norm_modules(of: Any) -> dict[str, Any]:
    """Name -> module, of all modules whose class says that they are a norm; the modules of norms per head as well."""
    return {
        name: module
        for name, module in of.named_modules()
        if any(word in type(module).__name__ for word in ("Norm", "L2Norm")) and "PerHead" not in type(module).__name__
    }


def norm_keys(of: Any) -> list[str]:
    """The state dict's keys that belong to such a module."""
    modules = norm_modules(of)
    return [key for key in of.state_dict() if key.rpartition(".")[0] in modules]
