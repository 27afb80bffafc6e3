"""Which published settings can a sweep start from, and what does each leave out?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from reprlib import repr as shown
from types import MappingProxyType
from typing import Any

from normviz.depth.config import SweepConfig
from normviz.errors import InputError
from normviz.text import N_


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A published setting as fields of a configuration, small enough to be measured in about a second.

    Attributes
    ----------
    id
        The identifier in links, on the command line and in `preset`.
    label
        The name on screen.
    reproduces, leaves_out
        One sentence each on what is as published and what is not (English messages).
    source
        arXiv id of the paper, or the report's title where there is none.
    fields
        The fields of `SweepConfig` that differ from its defaults.
    """

    id: str
    label: str
    reproduces: str
    leaves_out: str
    source: str
    fields: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", MappingProxyType(dict(self.fields)))


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        entry.id: entry
        for entry in (
            Preset(
                id="classroom",
                label=N_("Classroom"),
                reproduces=N_(
                    "A small causal Transformer with Post-Norm and with Pre-Norm, 2 to 32 layers, measured in about a "
                    "second."
                ),
                leaves_out=N_("It is no published model: its sizes are chosen so that nobody waits."),
                source="",
                fields={},
            ),
            Preset(
                id="xiong_2020",
                label=N_("Xiong et al. 2020, theory"),
                reproduces=N_(
                    "The setting in which the paper proves its theorem: one head, every token attends to all tokens "
                    "alike, no W_O, d_ff = d, ReLU, weights N(0, 1/d), no eps."
                ),
                leaves_out=N_(
                    "The paper's experiments: training with and without warm-up, and decoders with cross-attention."
                ),
                source="2002.04745",
                fields={
                    "placements": ("post_norm", "pre_norm"),
                    "depths": (2, 4, 8, 16, 32),
                    "d_model": 128,
                    "n_heads": 1,
                    "d_ff": 128,
                    "batch": 8,
                    "seq_len": 16,
                    "seeds": (0, 1),
                    "attention": "uniform",
                    "output_projection": False,
                    "eps": 0.0,
                },
            ),
            Preset(
                id="gpt2",
                label="GPT-2",
                reproduces=N_(
                    "Pre-Norm with LayerNorm, GELU, causal attention, and weights of deviation 0.02 that are divided "
                    "by sqrt(2L) where they write to the stream."
                ),
                leaves_out=N_(
                    "The width (768 to 1600; here 128), the vocabulary, the head tied to the embedding, dropout, and "
                    "the tanh form of GELU."
                ),
                source="Radford et al. 2019, Language Models are Unsupervised Multitask Learners",
                fields={
                    "placements": ("pre_norm",),
                    "d_model": 128,
                    "d_ff": 512,
                    "init": "gpt2",
                    "activation": "gelu",
                },
            ),
            Preset(
                id="bert",
                label="BERT",
                reproduces=N_(
                    "Post-Norm with LayerNorm and a norm after the embedding, GELU, attention in both directions, "
                    "weights of deviation 0.02, eps 1e-12."
                ),
                leaves_out=N_(
                    "The width (768; here 128), masked words as the task (here every token has a random label), the "
                    "head's extra layer, and dropout."
                ),
                source="1810.04805",
                fields={
                    "placements": ("post_norm",),
                    "d_model": 128,
                    "d_ff": 512,
                    "init": "std02",
                    "attention": "bidirectional",
                    "activation": "gelu",
                    "eps": 1e-12,
                },
            ),
            Preset(
                id="llama",
                label="Llama",
                reproduces=N_(
                    "Pre-Norm with RMSNorm, SwiGLU, causal attention, weights of deviation 0.02 at every depth, eps "
                    "1e-5."
                ),
                leaves_out=N_(
                    "The width (4096 and more; here 128), d_ff = 8/3 d rounded to 3 d, rotary positions, and grouped "
                    "queries."
                ),
                source="2302.13971",
                fields={
                    "placements": ("pre_norm",),
                    "norm": "rms_norm",
                    "d_model": 128,
                    "d_ff": 384,
                    "init": "std02",
                    "activation": "swiglu",
                },
            ),
            Preset(
                id="gemma2",
                label="Gemma 2",
                reproduces=N_(
                    "Sandwich-Norm with RMSNorm, a gated feed-forward sublayer, causal attention, weights of deviation "
                    "0.02, eps 1e-6."
                ),
                leaves_out=N_(
                    "The width (2304 and more; here 128), the embedding times sqrt(d), GELU in the gate (here "
                    "SwiGLU's SiLU), capped logits, local attention, rotary positions, and grouped queries."
                ),
                source="2408.00118",
                fields={
                    "placements": ("sandwich_norm",),
                    "norm": "rms_norm",
                    "d_model": 128,
                    "d_ff": 512,
                    "init": "std02",
                    "activation": "swiglu",
                    "eps": 1e-6,
                },
            ),
            Preset(
                id="olmo2",
                label="OLMo 2",
                reproduces=N_(
                    "Norms on the sublayers' outputs only, RMSNorm, QK-norm over the whole projection, SwiGLU, causal "
                    "attention, weights of deviation 0.02, eps 1e-6."
                ),
                leaves_out=N_(
                    "The width (4096 and more; here 128), d_ff = 2.7 d rounded to 3 d, rotary positions, and the loss "
                    "on large logits."
                ),
                source="2501.00656",
                fields={
                    "placements": ("output_norm",),
                    "norm": "rms_norm",
                    "d_model": 128,
                    "d_ff": 384,
                    "init": "std02",
                    "activation": "swiglu",
                    "qk_norm": True,
                    "eps": 1e-6,
                },
            ),
        )
    }
)


def preset(name: str, **changes: Any) -> SweepConfig:
    """A published setting as a configuration.

    Parameters
    ----------
    name
        A key of `PRESETS`.
    changes
        Fields of `SweepConfig` to take instead. Where the width is one of them and d_ff is not, d_ff keeps its ratio
        to the width.

    Returns
    -------
    SweepConfig
        The preset's fields, then the changes; all others have their defaults.

    Raises
    ------
    InputError
        If there is no such preset, or a change is not usable; the message names what is allowed.

    Examples
    --------
    >>> preset("xiong_2020", depths=(64,)).attention
    'uniform'
    """
    if name not in PRESETS:
        raise InputError(
            "{field} can be {allowed}; got {got}", field="preset", allowed=", ".join(PRESETS), got=shown(name)
        )
    fields = PRESETS[name].fields
    config = SweepConfig.from_dict({**fields, **changes})
    if "d_model" in changes and "d_ff" not in changes:
        published = SweepConfig(**fields)
        config = replace(config, d_ff=published.d_ff // published.d_model * config.d_model)
    return config
