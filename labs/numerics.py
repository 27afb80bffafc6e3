"""Numerics lab: why float32 inside, where does a format overflow, and what does the order of casts change?"""

from normviz.ui import numerics
from normviz.ui.controls import control
from normviz.ui.language import words
from normviz.ui.lesson import lesson

t = words()
lesson("numerics", "intro", t)
view = control("numerics", "view", t)
numerics.draw(view, t)
