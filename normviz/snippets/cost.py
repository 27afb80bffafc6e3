"""What would a person type to count and time norms, with normviz and in plain PyTorch?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from normviz.cost import DTYPES, PAPER, BenchConfig, LayerSizes, norm_cost
from normviz.errors import InputError
from normviz.snippets.cost_torch import bench_lines

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "counts": "What the norms of a tensor [tokens, d] cost on paper.",
        "bench": "How long the norms of a tensor [tokens, d] take here, in copies of that tensor.",
        "layer": "What the norms take of a whole Transformer layer.",
        "paper": "The time that RMSNorm saves in the tables of its paper (arXiv:1910.07467).",
    }
)
"""View of the cost lab -> the first line of its script."""


def cost_script(view: str, *, config: BenchConfig | None = None, sizes: LayerSizes | None = None) -> str:
    """One view of the cost lab as a script that uses normviz.

    Parameters
    ----------
    view
        A key of `TITLES`.
    config
        Norms, sizes and format of the views "counts" and "bench", and of what "paper" times; None is the default.
    sizes
        The layer of the view "layer"; None is the default.

    Returns
    -------
    str
        Python that prints the view's numbers.

    Raises
    ------
    InputError
        If there is no such view.
    """
    body = _OWN[_known(view)](config or BenchConfig(), sizes or LayerSizes())
    return f'"""{TITLES[view]}"""\n\n{body}'


def cost_torch_script(view: str, *, config: BenchConfig | None = None, sizes: LayerSizes | None = None) -> str:
    """One view of the cost lab as a script that needs nothing but PyTorch; the counts do not even need that.

    Parameters
    ----------
    view, config, sizes
        As for `cost_script`.

    Returns
    -------
    str
        Python that prints the view's numbers.

    Raises
    ------
    InputError
        If there is no such view.
    """
    body = _PLAIN[_known(view)](config or BenchConfig(), sizes or LayerSizes())
    return f'"""{TITLES[view]}"""\n\n{body}'


def _known(view: str) -> str:
    if view not in TITLES:
        raise InputError("{field} can be {allowed}; got {got}", field="view", allowed=", ".join(TITLES), got=repr(view))
    return view


def _counts(config: BenchConfig, _: LayerSizes) -> str:
    return f"""\
from normviz import cost

costs = {{}}
for kind in {_listed(config.kinds)}:
    for way in {_listed(config.ways)}:
        one = cost.norm_cost(kind, {config.tokens}, {config.d}, "{config.dtype}", way=way)
        costs[f"{{kind}}/{{way}}"] = one
        print(f"{{kind}}, {{way}}: {{one.parameters}} parameters, {{one.flops:.4g}} FLOPs, {{one.bytes:.4g}} bytes,")
        print(f"    {{one.intensity:.3g}} FLOP/byte in {{len(one.kernels)}} kernels")
        print("    bytes read:", one.formulas["bytes_read"], "written:", one.formulas["bytes_written"])
"""


def _bench(config: BenchConfig, _: LayerSizes) -> str:
    fields = "".join(f"    {name}={_literal(value)},\n" for name, value in config.to_dict().items() if name != "run")
    return f"""\
from normviz import cost
from normviz.cost.timing import measure

config = cost.BenchConfig(
{fields})
result = cost.collect(config, measure(config, 0))
for name in result.measured:
    copies = result.copies(name)
    print(f"{{name}}: {{copies.middle:.2f}} copies of x ({{copies.low:.2f}} to {{copies.high:.2f}}),", end=" ")
    print(f"{{result.expected_copies(name):.2f}} by its bytes, {{result.copy_share(name):.0%}} of the copy's bandwidth")
for way, reason in result.point.why_not.items():
    print(way, "is missing:", reason)
roof = result.roof()
print(f"copy: {{roof.bandwidth / 1e9:.3g}} GB/s, matrix product: {{roof.rate / 1e9:.3g}} GFLOP/s")
"""


def _layer(_: BenchConfig, sizes: LayerSizes) -> str:
    fields = "".join(f"    {name}={_literal(getattr(sizes, name))},\n" for name in sizes.__dataclass_fields__)
    return f"""\
from normviz import cost

sizes = cost.LayerSizes(
{fields})
share = cost.layer_share(sizes)
for part in share.parts:
    print(f"{{part.id}}: {{part.flops:.4g}} FLOPs ({{share.flops_share(part.id):.3%}}),", end=" ")
    print(f"{{part.bytes:.4g}} bytes ({{share.bytes_share(part.id):.3%}})")
"""


def _paper(_: BenchConfig, __: LayerSizes) -> str:
    return """\
from normviz import cost

saved = {}
for row in cost.PAPER:
    saved[row.id] = row.saved, row.p_saved
    partial = "" if row.p_saved is None else f", pRMSNorm {row.p_saved:.1%}"
    print(f"{row.label}: LayerNorm {row.layer_norm:g} {row.unit}, RMSNorm {row.rms_norm:g} {row.unit};", end=" ")
    print(f"RMSNorm saves {row.saved:.1%}{partial}")
print("These are", cost.HARDWARE)
"""


def _plain_counts(config: BenchConfig, _: LayerSizes) -> str:
    own, lines = DTYPES[config.dtype], []
    for variant in config.variants:
        kind, way = variant.split("/")
        formulas = norm_cost(kind, config.tokens, config.d, config.dtype, way=way).formulas
        values = [_python(formulas[name]) for name in ("flops", "bytes_read", "bytes_written")]
        lines.append(f'    "{variant}": (\n' + "".join(f"        {value},\n" for value in values) + "    ),\n")
    wide = "" if own >= 4 else f"u = {max(4, own)}  # of the float32 in which the statistics are computed\n"
    return f"""\
N, d = {config.tokens}, {config.d}  # tokens and width
s = {own}  # bytes of a {config.dtype}
{wide}costs = {{  # operations, bytes read, bytes written; one kernel reads its operands and writes its results once
{"".join(lines)}}}
for name, (flops, read, written) in costs.items():
    print(f"{{name}}: {{flops:.4g}} FLOPs, {{read + written:.4g}} bytes, {{flops / (read + written):.3g}} FLOP/byte")
"""


def _plain_bench(config: BenchConfig, _: LayerSizes) -> str:
    return bench_lines(config)


def _plain_paper(config: BenchConfig, _: LayerSizes) -> str:
    rows = "".join(f'    "{row.label}": ({row.layer_norm}, {row.rms_norm}, {row.p_rms_norm}),\n' for row in PAPER)
    pair = replace(config, kinds=("layer_norm", "rms_norm"))
    return f"""\
{bench_lines(pair)}
paper = {{  # seconds of whole training steps with LayerNorm, RMSNorm and, where it was tried, pRMSNorm
{rows}}}
saved = {{name: 1 - rms / layer for name, (layer, rms, _) in paper.items()}}
for name, (layer, rms, partial) in paper.items():
    print(f"{{name}}: RMSNorm saves {{saved[name]:.1%}}", end="" if partial else "\\n")
    if partial:
        print(f", pRMSNorm {{1 - partial / layer:.1%}}")
here = {{}}
for way in {_listed(config.ways)}:
    if f"rms_norm/{{way}}" in ratios and f"layer_norm/{{way}}" in ratios:
        pairs = zip(ratios[f"rms_norm/{{way}}"], ratios[f"layer_norm/{{way}}"])
        here[way] = [1 - rms / layer for rms, layer in pairs]
        low, middle, high = statistics.quantiles(here[way], n=4, method="inclusive")
        print(f"the norm alone here, {{way}}: {{middle:.1%}} (half of the rounds {{low:.1%}} to {{high:.1%}})")
"""


def _plain_layer(_: BenchConfig, sizes: LayerSizes) -> str:
    norm = norm_cost(sizes.norm, sizes.batch * sizes.tokens, sizes.d_model, sizes.dtype).formulas
    bytes_moved = f"({_python(norm['bytes_read'])}) + ({_python(norm['bytes_written'])})"
    inner = "2 * d_ff" if sizes.gated else "d_ff"
    own, heads = DTYPES[sizes.dtype], f"{sizes.n_heads}, {sizes.n_kv_heads}, {sizes.head_dim}"
    return f"""\
batch, tokens, context, s = {sizes.batch}, {sizes.tokens}, {sizes.context}, {own}  # s: bytes of a number
d, d_ff, heads, kv_heads, head_dim = {sizes.d_model}, {sizes.d_ff}, {heads}
N, q, kv = batch * tokens, heads * head_dim, kv_heads * head_dim


def product(a, b):
    return 2 * N * a * b, (N * a + a * b + N * b) * s


def both(one, other):
    return one[0] + other[0], one[1] + other[1]


scores = N * context * heads
parts = {{  # operations, bytes
    "norms": ({sizes.norms} * {_python(norm["flops"])}, {sizes.norms} * ({bytes_moved})),
    "additions": (2 * N * d, 6 * N * d * s),
    "projections": both(product(d, q + 2 * kv), product(q, d)),
    "attention": (scores * (4 * head_dim + 5), (2 * N * q + 2 * batch * context * kv) * s),
    "mlp": both(product(d, {inner}), product(d_ff, d)),
    "activation": (5 * N * d_ff, {3 if sizes.gated else 2} * N * d_ff * s),
}}
flops, moved = (sum(column) for column in zip(*parts.values()))
for name, (operations, size) in parts.items():
    print(f"{{name}}: {{operations:.4g}} FLOPs ({{operations / flops:.3%}}), {{size:.4g}} bytes ({{size / moved:.3%}})")
"""


def _python(formula: str) -> str:
    """A formula of `NormCost` as Python writes it."""
    return re.sub(r"(?<=[0-9A-Za-z)])(?=[A-Za-z(])", " * ", formula.replace("\\,", ""))


def _listed(names: tuple[str, ...]) -> str:
    return "(" + ", ".join(f'"{name}"' for name in names) + ("," if len(names) == 1 else "") + ")"


def _literal(value: object) -> str:
    if isinstance(value, list):
        return _listed(tuple(value))
    return f'"{value}"' if isinstance(value, str) else repr(value)


_Views = Mapping[str, Callable[[BenchConfig, LayerSizes], str]]
_OWN: _Views = MappingProxyType({"counts": _counts, "bench": _bench, "layer": _layer, "paper": _paper})
_PLAIN: _Views = MappingProxyType(
    {"counts": _plain_counts, "bench": _plain_bench, "layer": _plain_layer, "paper": _plain_paper}
)
