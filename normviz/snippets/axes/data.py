"""How does a script make the grid of the page again, with normviz and without?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import indent
from types import MappingProxyType

from normviz.snippets.axes.given import SHOWN, AxesGiven

LONGEST_LINE = 110


def batch_lines(given: AxesGiven) -> str:
    """The lines that make `batch` with normviz."""
    filled = f'pads="{given.pads}", seed={given.seed}'
    if given.source == "words":
        return f"""\
{word_lists(given.made.words or ())}
vectors = [[grid.embedding(word, {given.d}, {given.seed}) for word in sentence] for sentence in words]
batch = grid.batch(vectors, words=words, {filled})
"""
    if given.source == "file":
        return f"""\
x = np.load({quoted(given.file)})
batch = grid.batch(grid.window(x, {_listed(given.window)}), {filled})  # the part that is shown
"""
    rho = f", rho={given.rho!r}" if given.kind == "correlated" else ""
    padded = ", padded=True" if given.padded else ""
    sizes = _listed((given.batch, given.tokens, given.d))
    return (
        f'batch = grid.synthetic_batch("{given.kind}", {sizes}, seed={given.seed}{rho}{padded}, pads="{given.pads}")\n'
    )


def grid_lines(given: AxesGiven) -> str:
    """The lines that make x, a tensor [B, T, d], and real where it has pads, without normviz."""
    if given.ragged:
        return f"{row_lines(given)}{padding_lines(given)}\n\nx, real = padded(rows)\n"
    if given.source == "words":
        return f"{row_lines(given)}x = torch.from_numpy(np.array(rows))\n"
    return f"{_array_lines(given)}x = torch.from_numpy(x)\n"


def row_lines(given: AxesGiven) -> str:
    """The lines that make `rows`, an array [length, d] for each sequence, without normviz."""
    if given.source == "words":
        return f"""\
{word_lists(given.made.words or ())}
d, seed = {given.d}, {given.seed}
{_EMBEDDING}

rows = [np.array([embedding(word) for word in sentence]) for sentence in words]
"""
    if given.ragged:
        return f"""\
{_array_lines(given)}rows = [tokens[:length] for tokens, length in zip(x, {list(given.made.lengths)})]
"""
    return f"{_array_lines(given)}rows = list(x)\n"


def _array_lines(given: AxesGiven) -> str:
    """The lines that make x, an array [B, T, d] before any padding."""
    if given.source == "file":
        seed = f"seed = {given.seed}\n" if given.view == "padding" and given.pads != "zero" else ""
        return f"""\
x = np.load({quoted(given.file)}).astype(np.float64)
{_part(given.window)}
d = x.shape[2]
{seed}"""
    return f"""\
B, T, d, seed = {_listed((given.batch, given.tokens, given.d, given.seed))}
rng = np.random.default_rng(seed)
{_SYNTHETIC[given.kind].format(rho=repr(given.rho), first=given.d // 3)}
"""


def padding_lines(given: AxesGiven) -> str:
    """The functions that pad rows to a grid, without normviz."""
    missing = given.pads == "embedding" and given.source != "words"
    return f"""\
{_EMBEDDING if missing else ""}

def pads(b, count):
    {_PADS[given.pads]}


def padded(rows):
    longest = max(map(len, rows))
    x = np.array([pads(b, longest) for b in range(len(rows))])
    for b, tokens in enumerate(rows):
        x[b, : len(tokens)] = tokens
    real = np.arange(longest) < np.array([[len(tokens)] for tokens in rows])
    return torch.from_numpy(x), torch.from_numpy(real)
"""


def word_lists(words: Sequence[Sequence[str]]) -> str:
    """The assignment of `words`, a list per sentence."""
    return "words = [\n" + indent("".join(map(_sentence, words)), "    ") + "]"


def _sentence(words: Sequence[str]) -> str:
    """A sentence's list, over several lines where it is long."""
    texts = [quoted(word) for word in words]
    if len(line := f"[{', '.join(texts)}],\n") <= LONGEST_LINE:
        return line
    lines = [""]
    for text in texts:
        if lines[-1] and len(lines[-1]) + len(text) > LONGEST_LINE - 4:
            lines.append("")
        lines[-1] += f"{text}, "
    return "[\n" + "".join(f"    {line.rstrip()}\n" for line in lines) + "],\n"


def quoted(text: str) -> str:
    """A person's text as a literal of Python, in double quotes where nothing in it needs care."""
    literal = repr(text)
    return f'"{text}"' if literal == f"'{text}'" and '"' not in text else literal


def word_comment(given: AxesGiven) -> str:
    """A line that says which word the view "tokens" looks at, where its token has one."""
    words = given.made.words
    return "" if words is None else f"# The token of the word {quoted(words[given.row][given.word])}.\n"


def tokens_more(given: AxesGiven) -> str:
    """The change of a sentence's length in words."""
    plural = "" if abs(given.change) == 1 else "s"
    return f"{abs(given.change)} token{plural} {'more' if given.change >= 0 else 'fewer'}"


def _part(window: tuple[int, int, int]) -> str:
    """The line that leaves only the part of a file's x that is shown."""
    if not any(window):
        return f"x = x[{', '.join(f':{most}' for most in SHOWN)}]  # the part that is shown"
    return f"""\
# The part that is shown; it starts earlier where it would reach over the end.
b, t, c = (max(0, min(start, size - most)) for start, size, most in zip({window}, x.shape, {SHOWN}))
x = x[{", ".join(f"{start} : {start} + {most}" for start, most in zip("btc", SHOWN, strict=True))}]"""


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


_EMBEDDING = '''

def embedding(word):
    """The same numbers for a word wherever it stands."""
    return np.random.default_rng([seed, *word.encode()]).standard_normal(d).round(1)
'''

_SYNTHETIC: Mapping[str, str] = MappingProxyType(
    {
        "independent": "x = rng.standard_normal((B, T, d)).round(1)",
        "correlated": """\
own, shared = rng.standard_normal((B, T, d)), rng.standard_normal((B, 1, d))
x = (np.sqrt(1 - {rho}) * own + np.sqrt({rho}) * shared).round(1)""",
        "outlier": """\
x = rng.standard_normal((B, T, d)).round(1)
x[:, :, {first}::16] *= 20  # channels that stand out""",
    }
)
"""Kind -> how its x [B, T, d] is drawn."""

_PADS: Mapping[str, str] = MappingProxyType(
    {
        "zero": "return np.zeros((count, d))",
        "embedding": 'return np.tile(embedding("<pad>"), (count, 1))',
        "garbage": "return (10 * np.random.default_rng([seed, b + 1]).standard_normal((count, d))).round(1)",
    }
)
"""What the pads hold -> the line that makes so many of them in row b."""
