"""What do the RMSNorm paper's own tables say about "7 % to 64 % less time"?"""

from __future__ import annotations

from dataclasses import dataclass

from normviz.text import N_

SOURCE = "Zhang & Sennrich 2019, arXiv:1910.07467"

CLAIM = (0.07, 0.64)
"""The abstract's range of time saved, each as a share."""

HARDWARE = N_("whole training steps on the GPUs of 2019, not the norm alone")


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """One experiment of the paper: time with LayerNorm, with RMSNorm, and with pRMSNorm where the table has it.

    pRMSNorm estimates the root mean square from the first 6.25 % of the entries. Times are in `unit` per a fixed number
    of steps, the same within a row.
    """

    id: str
    label: str
    layer_norm: float
    rms_norm: float
    p_rms_norm: float | None = None
    unit: str = "s"

    @property
    def saved(self) -> float:
        """Share of the time that RMSNorm saves."""
        return 1 - self.rms_norm / self.layer_norm

    @property
    def p_saved(self) -> float | None:
        """Share of the time that pRMSNorm saves."""
        return None if self.p_rms_norm is None else 1 - self.p_rms_norm / self.layer_norm


PAPER: tuple[PaperRow, ...] = (
    PaperRow(id="transformer", label="Transformer", layer_norm=248, rms_norm=231),
    PaperRow(id="rnn_torch", label="RNN, PyTorch", layer_norm=857, rms_norm=763),
    PaperRow(id="reader", label=N_("attentive reader"), layer_norm=392, rms_norm=333),
    PaperRow(id="cifar", label=N_("CIFAR-10 classifier"), layer_norm=39, rms_norm=31),
    PaperRow(id="rnn_tf", label="RNN, TensorFlow", layer_norm=665, rms_norm=501, p_rms_norm=493),
    PaperRow(id="rnn_theano", label="RNN, Theano", layer_norm=988, rms_norm=652),
    PaperRow(id="order", label=N_("order embeddings"), layer_norm=12.02, rms_norm=7.12, p_rms_norm=4.34),
)
"""Every timing of the paper that names both norms, from the least to the most that RMSNorm saves."""
