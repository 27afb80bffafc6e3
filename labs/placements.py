"""Placement lab: which wiring does each model family use, and what do its module names mean?"""

from normviz.ui import placements
from normviz.ui.controls import control
from normviz.ui.language import words
from normviz.ui.lesson import lesson

t = words()
lesson("placements", "intro", t)
view = control("placements", "view", t)
placements.draw(view, t)
