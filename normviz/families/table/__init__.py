"""Which families are there? A record in one of these tables is all that adds one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from normviz.families.record import Family
from normviz.families.table.classic import CLASSIC
from normviz.families.table.outputs import OUTPUTS
from normviz.families.table.parallel import PARALLEL
from normviz.families.table.plain import PLAIN
from normviz.families.table.zero_centred import ZERO_CENTRED_FAMILIES

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {family.id: family for family in (*PLAIN, *ZERO_CENTRED_FAMILIES, *OUTPUTS, *CLASSIC, *PARALLEL)}
)
"""`model_type` -> family."""
