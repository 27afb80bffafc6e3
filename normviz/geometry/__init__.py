"""Where do a vector and its normalized forms lie, and how do they answer a change of it?"""

from normviz.geometry.cloud import DISTRIBUTIONS, LARGEST_CLOUD, Cloud, cloud, cloud_size
from normviz.geometry.jacobian import LARGEST_JACOBIAN, jacobian
from normviz.geometry.lengths import Lengths, lengths
from normviz.geometry.plane import Plane, Triangle, moved_in_plane, plane, triangle
from normviz.geometry.pullback import Pullback, pullback
from normviz.geometry.space import Space, space
from normviz.geometry.spectrum import LARGEST_SPECTRUM, Spectrum, spectra, spectrum

__all__ = [
    "DISTRIBUTIONS",
    "LARGEST_CLOUD",
    "LARGEST_JACOBIAN",
    "LARGEST_SPECTRUM",
    "Cloud",
    "Lengths",
    "Plane",
    "Pullback",
    "Space",
    "Spectrum",
    "Triangle",
    "cloud",
    "cloud_size",
    "jacobian",
    "lengths",
    "moved_in_plane",
    "plane",
    "pullback",
    "space",
    "spectra",
    "spectrum",
    "triangle",
]
