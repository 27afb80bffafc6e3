"""How do property tests run? Without a time limit per example, which a busy machine would break at random."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("normviz", deadline=None, print_blob=True)
settings.load_profile("normviz")
