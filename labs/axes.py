"""Axes lab: who shares a statistic in [B, T, d], and what does BatchNorm do to sequences?"""

from normviz.ui import axes
from normviz.ui.controls import control
from normviz.ui.language import words
from normviz.ui.lesson import lesson

t = words()
lesson("axes", "intro", t)
view = control("axes", "view", t)
axes.draw(view, t)
