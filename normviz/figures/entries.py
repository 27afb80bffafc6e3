"""What happens to each entry of a vector under LayerNorm and RMSNorm?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from normviz.figures import theme
from normviz.figures.picture import Picture
from normviz.figures.series import Series, drawn, sentences
from normviz.figures.words import paragraph
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.norms import NormTrace


def bars_picture(layer_trace: NormTrace | None, rms_trace: NormTrace | None, *, t: Text, mode: str) -> Picture:
    """x, LN(x) and RMSNorm(x) entry by entry; for more than 64 entries, how their values are distributed.

    Histograms count every entry and their quantiles are exact, for a million entries as well.

    Parameters
    ----------
    layer_trace, rms_trace
        Of the same vector, from `normviz.layer_norm` and `normviz.rms_norm`; None where the result is undefined.
    t, mode
        The reader's language, and "light" or "dark".
    """
    source = layer_trace or rms_trace
    series = [] if source is None else [Series(name="x", values=source.x)]
    if layer_trace is not None:
        series.append(Series(name="LN(x)", values=layer_trace.output, norm="layer_norm"))
    if rms_trace is not None:
        series.append(Series(name="RMSNorm(x)", values=rms_trace.output, norm="rms_norm"))
    missing = [name for name, trace in (("LN(x)", layer_trace), ("RMSNorm(x)", rms_trace)) if trace is None]
    undefined = [t("{name} is undefined here.", name=name) for name in missing]
    spec, table = drawn(series, t, mode)
    if source is None:
        note = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
        spec["layout"]["annotations"] = [{**note, "text": "<br>".join(undefined), "font": {"color": theme.MUTED[mode]}}]
    title = (
        t("How the entries of x, LN(x) and RMSNorm(x) are distributed")
        if any(one.long for one in series)
        else t("x, LN(x) and RMSNorm(x), entry by entry")
    )
    return Picture(
        name="normviz-entries",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *sentences(series, t), *undefined]),
        spec=spec,
        table=table,
    )
