"""How does plain PyTorch show what pads do to the other tokens, and which two tokens a norm makes equal?"""

from __future__ import annotations

from textwrap import indent

from normviz.snippets.axes.data import grid_lines, padding_lines, row_lines, tokens_more, word_comment
from normviz.snippets.axes.given import AxesGiven
from normviz.snippets.axes.lines import torch_line
from normviz.snippets.given import NAMES, left_out

MOST_PAIRS = 500
"""As many as `normviz.grid.pairs` looks at."""


def padding_view(given: AxesGiven) -> str:
    """One sentence longer or shorter, and a channel with more and more pads."""
    return f"""\
{row_lines(given)}{padding_lines(given)}

x, real = padded(rows)
{left_out("The change", given.no_change, _changed(given))}
{left_out("The bias", given.no_bias, _biased(given))}"""


def _changed(given: AxesGiven) -> str:
    """The outputs of three norms before and after a sentence gets longer or shorter."""
    b, shape = given.row, given.made.x.shape
    length = f"len(rows[{b}]) {'-' if given.change < 0 else '+'} {abs(given.change)}"
    return f"""\


def layer_norm(x, real):
{_body(torch_line("layer_norm", shape, eps=given.eps))}


def batch_norm(x, real):
{_body(torch_line("batch_norm", shape, eps=given.eps))}


def masked(x, real):
{_body(torch_line("batch_norm", shape, eps=given.eps, masked=True))}


# Sentence {b} with {tokens_more(given)}: how far the outputs of the other sentences move; nan elsewhere.
resized = list(rows)
resized[{b}] = rows[{b}][np.arange({length}) % len(rows[{b}])]  # a longer one starts over
stays = real.clone()
stays[{b}] = False
places = stays.nonzero(as_tuple=True)
moved = {{}}
for norm in (layer_norm, batch_norm, masked):
    before, after = norm(x, real), norm(*padded(resized))
    moved[norm.__name__] = torch.full(real.shape, torch.nan)
    moved[norm.__name__][places] = (after[places] - before[places]).abs().amax(1)
    print(norm.__name__, moved[norm.__name__])
"""


def _body(line: str) -> str:
    return indent(f"{line}\nreturn y" if "\n" in line else line.replace("y =", "return", 1), "    ")


def _biased(given: AxesGiven) -> str:
    """A channel of BatchNorm with more and more pads."""
    count = "max(0, pad_counts[-1] - len(own))"
    if given.pads == "garbage":
        more = f"(10 * np.random.default_rng([seed, len(rows) + 1]).standard_normal({count})).round(1)"
    else:
        more = f"pads(len(rows), {count})[:, channel]"
    return f"""\
# Channel {given.channel} with more and more pads in the batch: measured, and in closed form.
eps, channel = {given.eps!r}, {given.channel}
tokens, own = x[real][:, channel], x[~real][:, channel]
shares = np.linspace(0, 0.9, 19)
pad_counts = np.unique([*np.rint(len(tokens) * shares / (1 - shares)).astype(int), len(own)])
more = {more}
held = torch.cat([own, torch.from_numpy(more)])
module = nn.BatchNorm1d(1, eps=eps)
measured, law = [], []
for count in pad_counts.tolist():
    cells = torch.cat([tokens, held[:count]])
    outputs = module(cells[:, None])[: len(tokens)]
    seen = cells.mean(), cells.var(unbiased=False), outputs.mean(), outputs.std(unbiased=False)
    measured.append(torch.stack(seen))

    p, mu, sigma2 = count / len(cells), tokens.mean(), tokens.var(unbiased=False)
    c, v = (held[:count].mean(), held[:count].var(unbiased=False)) if count else (0.0, 0.0)
    mean = (1 - p) * mu + p * c
    var = (1 - p) * sigma2 + p * v + p * (1 - p) * (mu - c) ** 2
    law.append(torch.stack([mean, var, (mu - mean) / torch.sqrt(var + eps), torch.sqrt(sigma2 / (var + eps))]))
    print("share of pads", p, "mean, variance, shift, stretch:", measured[-1].tolist(), "law:", law[-1].tolist())
"""


def tokens_view(given: AxesGiven) -> str:
    """One token at another scale and offset, and the distances of the batch's pairs."""
    weight = (
        "None"
        if given.p_seed is None
        else f"1 + 0.5 * torch.from_numpy(np.random.default_rng(({given.p_seed}, 0)).standard_normal(d))"
    )
    answers = [left_out(name, given.undefined.get(norm), f"""\
print("{name}:", {norm}(token), "and", {norm}(other))
""") for norm, name in NAMES.items()]  # fmt: skip
    return f"""\
{grid_lines(given)}
eps, weight = {given.eps!r}, {weight}


def layer_norm(x):
    return F.layer_norm(x, (d,), weight, eps=eps)


def rms_norm(x):
    return F.rms_norm(x, (d,), weight, eps)


{word_comment(given)}token, scale, shift = x[{given.row}, {given.word}], {given.scale!r}, {given.shift!r}
other = scale * token + shift
print("x:", token, "scale * x + shift:", other)
{"".join(answers)}
{left_out("The pairs", given.no_pairs, _pairs(given))}"""


def _pairs(given: AxesGiven) -> str:
    """The distances of all pairs, or of some where there are many."""
    n = int(given.made.mask.sum())
    choice = ""
    if n * (n - 1) // 2 > MOST_PAIRS:
        choice = f"""\
some = np.sort(np.random.default_rng(0).choice(len(first), {MOST_PAIRS}, replace=False))  # not all of them
first, second = first[some], second[some]
"""
    return f"""\
# The distances of pairs of the batch's tokens, before and after.
tokens = {"x[real]" if given.ragged else "x.flatten(0, 1)"}
first, second = torch.triu_indices(len(tokens), len(tokens), offset=1)
{choice}distances = {{}}
for name, vectors in (("before", tokens), ("layer_norm", layer_norm(tokens)), ("rms_norm", rms_norm(tokens))):
    distances[name] = (vectors[first] - vectors[second]).norm(dim=1)
    print(name, distances[name])
"""
