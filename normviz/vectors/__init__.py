"""Where does a vector come from? From text, a file, or a preset with a seed."""

from normviz.vectors.files import LARGEST_FILE, read_vector_file
from normviz.vectors.parameters import random_bias, random_weight
from normviz.vectors.presets import (
    LARGEST_VECTOR,
    MASSIVE,
    VECTORS,
    VectorPreset,
    hidden_state,
    random_vector,
)
from normviz.vectors.text import format_vector, parse_parameter, parse_vector

__all__ = [
    "LARGEST_FILE",
    "LARGEST_VECTOR",
    "MASSIVE",
    "VECTORS",
    "VectorPreset",
    "format_vector",
    "hidden_state",
    "parse_parameter",
    "parse_vector",
    "random_bias",
    "random_vector",
    "random_weight",
    "read_vector_file",
]
