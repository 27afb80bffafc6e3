"""What would a person type to see each view of the axes lab with normviz?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from normviz.snippets.axes.data import batch_lines, tokens_more, word_comment
from normviz.snippets.axes.given import AxesGiven
from normviz.snippets.given import left_out


def grid_view(given: AxesGiven) -> str:
    """The statistics of one norm, how many every norm takes, and one cell."""
    groups = f", groups={given.groups}"
    mask = ", mask=batch.mask" if given.hides else ""
    asked = f'"{given.norm}"{groups if given.norm == "group_norm" else ""}{mask}, eps={given.eps!r}'
    cell = ", ".join(map(str, given.cell))
    normalized = left_out("The norm", given.no_norm, f"""\
trace = grid.normalize_grid(batch.x, {asked})
print("statistics:", trace.n_statistics, "over so many cells each:", trace.count)
print("mean:", trace.mean)
print("variance:", trace.var)
print("RMS:", trace.rms)
print("output:", trace.output, sep="\\n")

chosen = grid.cell(trace, {cell})
print("cells that share the statistic of cell ({cell}):", chosen.count)
print("mean:", chosen.mean, "variance:", chosen.var, "RMS:", chosen.rms)
print(chosen.value, "becomes", chosen.output)
""")  # fmt: skip
    alone, norms = "", "grid.AXES"
    if given.made.mask.size == 1:
        alone = "# BatchNorm is left out, because a single token has no variance.\n"
        norms = '[norm for norm in grid.AXES if norm != "batch_norm"]'
    return f"""\
{batch_lines(given)}
{normalized}
# How many statistics every norm takes of this grid, and the shapes of its weight and bias.
{alone}counts = {{}}
for norm in {norms}:
    other = grid.normalize_grid(batch.x, norm{groups})
    counts[norm] = other.n_statistics
    print(norm, counts[norm], "weight:", other.parameter_shape, "bias:", other.bias_shape)
"""


def padding_view(given: AxesGiven) -> str:
    """What one sentence's length does to the others, and what pads do to a channel's statistics."""
    changed = left_out("The change", given.no_change, f"""\
# Sentence {given.row} with {tokens_more(given)}: how far the outputs of the other sentences move; nan elsewhere.
moved = grid.moved(batch, {given.row}, {given.change}, eps={given.eps!r})
for norm, shift in moved.shift.items():
    print(norm, shift, sep="\\n")
""")  # fmt: skip
    biased = left_out("The bias", given.no_bias, f"""\
# Channel {given.channel} with more and more pads in the batch: measured, and in closed form.
bias = grid.padding_bias(batch, {given.channel}, eps={given.eps!r})
print("share of pads:", bias.share)
print("mean that BatchNorm takes:", bias.mean, "law:", bias.mean_law)
print("variance that BatchNorm takes:", bias.var, "law:", bias.var_law)
print("mean of the real tokens' outputs:", bias.shift, "law:", bias.shift_law)
print("their standard deviation:", bias.stretch, "law:", bias.stretch_law)
print("this batch:", bias.share[bias.current])
""")  # fmt: skip
    return f"{batch_lines(given)}\n{changed}\n{biased}"


def batches_view(given: AxesGiven) -> str:
    """The spread of the statistics, and of one token's output, over many batches."""
    outputs = left_out("That token in batches of one size", given.no_outputs, f"""\
# That token's output in many batches of {given.batch} x {given.seq} tokens.
outputs = streams.token_outputs(population, {given.batch}, z={given.z!r}, seed={given.seed})
print("outputs:", outputs)
print("mean:", outputs.mean(), "standard deviation:", outputs.std())
""")  # fmt: skip
    return f"""\
population = streams.Population(kind="{given.population}", tokens={given.seq}, correlation={given.correlation!r})
# For each size of the batch: how far its mean, its variance and one token's output scatter around the truth.
estimates = streams.estimates(population, z={given.z!r}, seed={given.seed})
print("tokens:", estimates.counts, "worth so many independent ones:", estimates.effective)
print("mean:", estimates.mean_sd, "law:", estimates.mean_law)
print("variance:", estimates.var_sd, "law:", estimates.var_law)
print("output of a token with the value {given.z:g}:", estimates.output_sd, "law:", estimates.output_law)

{outputs}"""


def running_view(given: AxesGiven) -> str:
    """Running statistics batch by batch, and the outputs in training and at inference."""
    mode = "training" if given.training else "inference"
    return f"""\
{_stream(given)}
history = streams.history(stream, {given.fed})
print("means of the batches:", history.batch_mean, sep="\\n")
print("their variances:", history.batch_var, sep="\\n")
for convention, path in history.running.items():
    print(convention, "running mean:", path.mean[-1], "running variance:", path.var[-1])
print("true mean:", history.truth[-1], "expected running mean:", history.expected_mean[-1])
print("its spread:", history.spread, "its lag:", history.lag)
print("training against inference, batch by batch:", history.mismatch, "level:", history.mismatch_law)

# The next batch.
print("tokens:", history.tokens, sep="\\n")
outputs = history.{"train" if given.training else "eval"}
print("outputs of BatchNorm in {mode}:", outputs, sep="\\n")
print("outputs of LayerNorm:", history.layer_norm, sep="\\n")
"""


def power_view(given: AxesGiven) -> str:
    """PowerNorm along a stream."""
    return f"""\
{_stream(given)}
path = streams.power_path(stream, {given.fed}, alpha={given.alpha!r})
print("psi of the batches:", path.batch, sep="\\n")
print("running psi:", path.running, sep="\\n")
print("nu:", path.nu, sep="\\n")
print("error of the approximate gradient:", path.error)
for norm, outputs in path.outputs.items():
    print("one token under", norm, outputs)
"""


def _stream(given: AxesGiven) -> str:
    drift = f", drift={given.drift!r}" if given.stream == "drift" else ""
    asked = f'kind="{given.stream}", tokens={given.n}, momentum={given.momentum!r}{drift}, seed={given.seed}'
    return f"stream = streams.Stream({asked})"


def tokens_view(given: AxesGiven) -> str:
    """One token at another scale and offset, and the distances of the batch's pairs."""
    drawn = "" if given.p_seed is None else f"weight = random_weight({given.d}, {given.p_seed})\n"
    weight = "" if given.p_seed is None else ", weight=weight"
    distances = left_out("The pairs", given.no_pairs, f"""\
# The distances of pairs of the batch's tokens, before and after.
pairs = grid.pairs(batch{weight}, eps={given.eps!r})
print("pairs:", pairs.first, pairs.second, sep="\\n")
print("before:", pairs.before)
print("after LayerNorm:", pairs.layer_norm)
print("after RMSNorm:", pairs.rms_norm)
""")  # fmt: skip
    return f"""\
{batch_lines(given)}
{drawn}{word_comment(given)}x = batch.x[{given.row}, {given.word}]
affine = nv.affine(x, {given.scale!r}, {given.shift!r}{weight}, eps={given.eps!r})
print("x:", affine.x, "scale * x + shift:", affine.moved)
print("LayerNorm:", affine.layer_before, "and", affine.layer_after, affine.layer_verdict, affine.layer_moved)
print("RMSNorm:", affine.rms_before, "and", affine.rms_after, affine.rms_verdict, affine.rms_moved)

{distances}"""


VIEWS: Mapping[str, Callable[[AxesGiven], str]] = MappingProxyType(
    {
        "grid": grid_view,
        "padding": padding_view,
        "batches": batches_view,
        "running": running_view,
        "power": power_view,
        "tokens": tokens_view,
    }
)
"""View -> the script's lines below its imports."""
