"""Which theory applies to a measured quantity, and what does it say at every layer?"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from normviz.depth.config import SweepConfig
from normviz.depth.theory.moments import NoLaw, activation_moment, scales
from normviz.depth.theory.tokens import token_theory
from normviz.depth.theory.uniform import uniform_mean_field
from normviz.placements import PLACEMENTS
from normviz.text import N_

Array = npt.NDArray[np.float64]

LAW_QUANTITIES: tuple[str, ...] = (
    "residual_mean_square", "pre_norm_mean_square", "grad_w2", "grad_w1", "grad_wv", "grad_residual",
)  # fmt: skip

UNIFORM = N_("mean-field recursion for uniform attention, infinite width")
PAIRS = N_("recursion over all pairs of tokens, infinite width")
UNIT = N_("1 after every layer: a norm comes last")
ADDS_ONE = N_("q_0 + 2l: each sublayer adds 1")
INNER = N_("q_0 + l ln(2L) (d sigma_O^2 + d_ff sigma_2^2), with the variances before Sub-LN's factor")
FEED_FORWARD = N_("1 + c_F: a norm, then what one feed-forward sublayer writes")
IDENTITY = N_("the gates start at 0: the stream is not changed, the matrices get no gradient")
DERIVED = "derived"

ENDS_NORMED = ("post_norm", "deep_norm", "keel", "b2t", "resi_dual")
ADDING_ONE = ("sandwich_norm", "peri_ln", "output_norm")


@dataclass(frozen=True, kw_only=True, eq=False)
class Law:
    """What theory says about a quantity of one placement and depth, at the positions where it is measured.

    Attributes
    ----------
    layer, value
        Float64 arrays of one length. Gradients' values are for one seed's expected squared norm, as a root.
    name
        English message: which formula or recursion.
    source
        "arXiv:..." of the paper whose setting or formula it is, or "derived".
    """

    layer: Array
    value: Array
    name: str
    source: str


def law(config: SweepConfig, quantity: str, placement: str, depth: int) -> Law:
    """The expected profile of a quantity over the layers, at the layers of the measured profile.

    Parameters
    ----------
    quantity
        One of `LAW_QUANTITIES`.
    placement
        Id of `normviz.placements.PLACEMENTS`.
    depth
        Number of layers L.

    Raises
    ------
    NoLaw
        If no law is known for this choice; the sentence says which knob stands in the way.
    """
    _check(config, quantity, placement)
    if quantity == "residual_mean_square":
        found = _closed_stream(config, placement, depth)
        if found is not None:
            return found
    if _is_xiong(config, placement):
        return _uniform(config, quantity, placement, depth)
    theory = token_theory(config, placement, depth)
    name = IDENTITY if placement == "rezero" else PAIRS
    if quantity == "pre_norm_mean_square":
        layers = sorted(theory.entering)
        if not layers:
            raise NoLaw(
                "Placement {placement} has no norm on the identity path; choose one that has", placement=placement
            )
        return _law(np.array(layers), np.array([theory.entering[layer] for layer in layers]), name)
    if quantity in ("residual_mean_square", "grad_residual"):
        values = theory.stream if quantity == "residual_mean_square" else theory.grad_residual
        return _law(np.arange(depth + 1.0), values, name)
    return _law(np.arange(1.0, depth + 1), getattr(theory, quantity), name)


def top_gradient(config: SweepConfig, placement: str, depth: int, entering: float) -> float:
    r"""Norm of dLoss/dW2 of the last layer in closed form, for N answering tokens with independent labels.

    With $\|g\|^2 = d\sigma_{head}^2$ and q the mean square that enters the last norm on the way to the head: post_norm
    and pre_norm $\|g\|\sqrt{d_{ff}m_2/(Nq)}$ ($q = 1 + c_F$ for post_norm, $q_L$ for pre_norm);
    sandwich_norm, peri_ln and output_norm $\|g\|/(\sigma_2\sqrt{Nq_L})$, whatever activation and $d_{ff}$.
    In the setting of Xiong et al. and one token: $\sqrt{d/3}$ for post_norm, $\sqrt{d/2q_L}$ for pre_norm.

    Raises
    ------
    NoLaw
        For other placements, or where the activation has no closed form.

    References
    ----------
    Derived; that it falls like $1/\sqrt L$ for pre_norm is theorem 1 of arXiv:2002.04745.
    """
    found = scales(config, placement, depth)
    answering = config.batch * (config.seq_len if config.loss == "mean" else 1)
    if placement in ADDING_ONE:
        written = config.d_ff / found.outer
    elif placement in ("post_norm", "pre_norm"):
        written = config.d_ff * activation_moment(config.activation, found.inner)
    else:
        raise NoLaw("The gradient of the last layer has no closed form for placement {placement}", placement=placement)
    return sqrt(found.head * written / (answering * entering))


def _law(layer: Array, value: Array, name: str, source: str = DERIVED) -> Law:
    # A copy: theories are cached.
    return Law(layer=layer, value=np.array(value, dtype=np.float64), name=name, source=source)


def _check(config: SweepConfig, quantity: str, placement: str) -> None:
    if quantity not in LAW_QUANTITIES:
        raise NoLaw("No law is known for this quantity; there are laws for the residual stream and for gradients")
    if placement not in PLACEMENTS:
        raise NoLaw("No theory has been worked out for placement {placement}; choose another one", placement=placement)
    if config.dtype not in ("float32", "mixed"):
        raise NoLaw("The laws are for exact arithmetic, not for dtype {got}; float32 comes close", got=config.dtype)
    if config.norm not in ("layer_norm", "rms_norm") and placement not in ("no_norm", "rezero"):
        raise NoLaw(
            "The laws are for layer_norm and rms_norm, not for norm {got}; choose one of these", got=config.norm
        )
    if placement == "sub_ln" and not config.output_projection:
        raise NoLaw("The law of sub_ln is for attention with an output projection; turn it on to see the law")


def _closed_stream(config: SweepConfig, placement: str, depth: int) -> Law | None:
    """The stream's mean square where a formula gives it without a recursion."""
    layer, found = np.arange(depth + 1.0), scales(config, placement, depth)
    start = found.tokens
    if PLACEMENTS[placement].embedding_norm:
        start = start / (start + config.eps)
    if placement in ENDS_NORMED:
        # eps matters here only for tokens as small as those of the 0.02 inits.
        return _law(layer, np.where(layer == 0, start, 1 / (1 + config.eps)), UNIT)
    if placement == "sub_ln" and (config.eps == 0 or config.init == "xavier"):
        return _law(layer, start + layer * (found.output + found.outer), INNER)
    if placement in ADDING_ONE:
        return _adds_one(config, placement, depth, start)
    if placement == "rezero":
        return _law(layer, np.full(depth + 1, start), IDENTITY, "arXiv:2003.04887")
    if placement == "hybrid_norm" and config.activation != "swiglu":
        written = found.outer * activation_moment(config.activation, found.inner)
        return _law(layer, np.where(layer == 0, start, 1 + written), FEED_FORWARD)
    return None


def _adds_one(config: SweepConfig, placement: str, depth: int, start: float) -> Law:
    layer = np.arange(depth + 1.0)
    if config.eps == 0 or config.init == "xavier":
        return _law(layer, start + 2 * layer, ADDS_ONE)
    # With the 0.02 inits a branch may be no larger than eps: it adds less than 1, v / (v + eps).
    return _law(layer, token_theory(config, placement, depth).stream, PAIRS)


def _is_xiong(config: SweepConfig, placement: str) -> bool:
    return (
        placement in ("post_norm", "pre_norm")
        and (config.attention, config.activation, config.init) == ("uniform", "relu", "xavier")
        and not config.output_projection
        and config.d_ff == config.d_model
    )


def _uniform(config: SweepConfig, quantity: str, placement: str, depth: int) -> Law:
    theory = uniform_mean_field(
        placement, depth, config.seq_len, width=config.d_model, loss=config.loss, sequences=config.batch
    )
    source = "arXiv:2002.04745"
    if quantity == "pre_norm_mean_square":
        if placement == "pre_norm":
            return _law(np.array([depth + 0.5]), theory.stream[-1:], UNIFORM, source)
        inside = np.stack([theory.attention_sum, theory.feed_forward_sum], axis=1).ravel()
        return _law(np.arange(2 * depth + 1) / 2, np.concatenate([[1.0], inside]), UNIFORM, source)
    if quantity in ("residual_mean_square", "grad_residual"):
        values = theory.stream if quantity == "residual_mean_square" else theory.grad_residual
        return _law(np.arange(depth + 1.0), values, UNIFORM, source)
    return _law(np.arange(1.0, depth + 1), getattr(theory, quantity), UNIFORM, source)
