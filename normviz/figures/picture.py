"""What does a figure hand over: to the page, to a notebook, to a reader who cannot see it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

Spec = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One figure as plain data.

    Parameters
    ----------
    name
        Lower-case identifier, the same in every language; the stem of an exported file.
    title
        One sentence in the reader's language that names what is drawn. It is not part of `spec`, so that the page
        can set it as text that wraps on a phone; `figure` and an export put it above the drawing.
    alt
        One or more sentences in the reader's language that say what the drawing shows, with its main numbers.
    spec
        `{"data": [...], "layout": {...}}` in plotly's JSON vocabulary, with NumPy arrays where numbers are many.
        The background is transparent; `spec["layout"]["meta"]["background"]` is the page colour that an export
        needs behind it, and `["tallest"]` the largest height in units of the width at which the drawing is well
        filled, or None.
    table
        What the drawing shows, as a pandas table with column names in the reader's language.
    """

    name: str
    title: str
    alt: str
    spec: Spec
    table: pd.DataFrame

    def figure(self) -> go.Figure:
        """The picture as a `plotly.graph_objects.Figure`, checked by plotly and opaque, for a notebook.

        Returns
        -------
        plotly.graph_objects.Figure
            With the title drawn and without the process-wide default template, which other libraries change.

        Raises
        ------
        ValueError
            If plotly does not know a property or refuses a value.
        """
        import plotly.graph_objects as go

        figure = go.Figure(self.spec)
        background = self.spec["layout"]["meta"]["background"]
        figure.update_layout(template="none", title_text=self.title, paper_bgcolor=background)
        return figure
