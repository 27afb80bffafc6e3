"""Which published sentences does the run on screen bear out?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from normviz.depth.claims import Claim, Verdict, judge_all
from normviz.depth.points import QUANTITIES
from normviz.depth.results import DepthSweep
from normviz.link import KNOBS
from normviz.placements import PLACEMENTS
from normviz.text import N_, Text
from normviz.ui.depth.knobs import turn_to_test

_STATES = {
    "holds": ("✅", N_("holds")),
    "fails": ("❌", N_("does not hold")),
    "untested": ("◌", N_("not tested by this run")),
}


def claims(result: DepthSweep, t: Text) -> None:
    """Draw every claim with its verdict: those that the run tests first."""
    judged = judge_all(result)
    counts = {name: sum(verdict.state == name for _, verdict in judged) for name in _STATES}
    st.markdown(" · ".join(f"{sign} {t(words)}: {counts[name]}" for name, (sign, words) in _STATES.items()))
    for claim, verdict in sorted(judged, key=lambda pair: pair[1].state == "untested"):
        _claim(claim, verdict, result, t)


def _claim(claim: Claim, verdict: Verdict, result: DepthSweep, t: Text) -> None:
    sign, words = _STATES[verdict.state]
    measured = t(verdict.words, **_named(verdict.values, t))
    short = "" if verdict.state == "untested" else f" :gray[{measured}]"
    with st.expander(f"{sign} {t(claim.sentence)}{short}"):
        st.markdown(f"**{t(words)}**: {measured}")
        st.caption(
            " · ".join(
                (
                    t("Test: {test}", test=t(claim.test)),
                    t("about: {quantity}", quantity=t(QUANTITIES[claim.quantity].label)),
                    t("source: {source}", source=t(claim.source)),
                )
            )
        )
        if verdict.state == "untested":
            st.button(
                t("Set the knobs that test it"),
                key=f"depth.claim.{claim.id}",
                on_click=turn_to_test,
                args=(result.config, claim.knobs),
            )


def _named(values: Mapping[str, Any], t: Text) -> dict[str, Any]:
    """The values of a verdict, with ids as a person reads them."""
    labels = {name: placement.label for name, placement in PLACEMENTS.items()}
    labels |= {name: quantity.label for name, quantity in QUANTITIES.items()}
    for knob in KNOBS["depth"]:
        if knob.id in ("norm", "init", "attention", "activation"):
            labels |= knob.options
    return {
        name: t(labels[value]) if isinstance(value, str) and value in labels else value
        for name, value in values.items()
    }
