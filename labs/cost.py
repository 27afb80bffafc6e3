"""Cost lab: what does a norm cost in parameters, operations, bytes and time?"""

from normviz.ui import cost
from normviz.ui.controls import control
from normviz.ui.language import words
from normviz.ui.lesson import lesson

t = words()
lesson("cost", "intro", t)
view = control("cost", "view", t)
cost.draw(view, t)
