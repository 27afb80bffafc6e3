"""Which wiring, names and arithmetic do real models use, and which model does a list of names belong to?"""

from normviz.families.counts import Count, Sizes, norm_parameters, sizes_needed
from normviz.families.decode import Decoded, FoundNorm, Said, decode
from normviz.families.find import find
from normviz.families.known import KNOWN, KnownModel
from normviz.families.names import LARGEST_HEADER, Names, read_names
from normviz.families.porting import MISTAKES, Ported, PortingConfig, applicable, port, wrong_eps
from normviz.families.record import ROLES, Family, NormSite
from normviz.families.table import FAMILIES

__all__ = [
    "FAMILIES",
    "KNOWN",
    "LARGEST_HEADER",
    "MISTAKES",
    "ROLES",
    "Count",
    "Decoded",
    "Family",
    "FoundNorm",
    "KnownModel",
    "Names",
    "NormSite",
    "Ported",
    "PortingConfig",
    "Said",
    "Sizes",
    "applicable",
    "decode",
    "find",
    "norm_parameters",
    "port",
    "read_names",
    "sizes_needed",
    "wrong_eps",
]
