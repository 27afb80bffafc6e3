"""What would a person type in PyTorch to see for themselves what went wrong?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

PLAIN_INCIDENTS: Mapping[str, str] = MappingProxyType(
    {
        "sum": """\
x = torch.full((4096,), 100.0, dtype=torch.float16)
total = x.double().pow(2).sum().item()
largest = torch.finfo(torch.float16).max
times = total / largest

# A running sum in float16: one term after the other.
running, term = torch.zeros((), dtype=torch.float16), 0
while running.isfinite():
    running, term = running + x[0] * x[0], term + 1
naive = (x[0] * (running / len(x)).rsqrt()).item()

# PyTorch's mean adds in float32 and casts once.
mean = x.pow(2).mean().item()
kept = (x[0] * (x.pow(2).mean() + 1e-6).rsqrt()).item()
print("sum:", total, "that is", times, "times", largest)
print("infinite from term", term, "on; output:", naive)
print("with float32 inside the mean:", mean, "output:", kept)
""",
        "square": """\
def naive(value):
    x = torch.full((4096,), value, dtype=torch.float16)
    return (x * (x.pow(2).mean() + 1e-6).rsqrt())[0].item()


largest = torch.finfo(torch.float16).max
square = 256.0**2
fits = torch.nextafter(torch.tensor(256.0, dtype=torch.float16), torch.tensor(0.0, dtype=torch.float16)).item()
assert torch.tensor(fits, dtype=torch.float16).square().isfinite()
inside, beyond = naive(255.0), naive(256.0)
wide = torch.nn.functional.rms_norm(torch.full((4096,), 256.0), (4096,), eps=1e-6).half()[0].item()
share = math.erfc(2.56 / math.sqrt(2))  # of normal numbers with RMS 100
count = 4096 * share
print(fits, "squared is a float16, 256 squared is", square, "above", largest)
print("outputs for 255, 256, and 256 in float32:", inside, beyond, wide)
print("share above 256 where the RMS is 100:", share, "of 4,096:", count)
""",
        "t5": """\
value = 66246.3906
largest = torch.finfo(torch.float16).max
x = torch.tensor([value, 1.0, -2.0, 0.5, 3.0, -1.0, 0.25, -0.5])
half = x.half()
held = half[0].item()
wide = half.float()
output = (wide * torch.rsqrt(wide.pow(2).mean() + 1e-6)).half()
first, other = output[0].item(), output[1:].abs().max().item()
coarse, fine = x[0].bfloat16().item(), x[0].item()
print(value, "is above", largest, "and becomes", held)
print("the next norm returns", first, "for it and", other, "for the others")
print("bfloat16 holds", coarse, "float32", fine)
""",
        "orders": """\
def llama_norm(x, weight):
    return weight * normalized(x).to(x.dtype)


def t5_norm(x, weight):
    return weight * normalized(x).to(weight.dtype)


def olmo_norm(x, weight):
    return (weight * normalized(x)).to(x.dtype)


def gemma_norm(x, weight):
    return (normalized(x) * (1.0 + weight.float())).to(x.dtype)


def gemma3n_norm(x, weight):
    return (normalized(x) * weight.float()).to(x.dtype)


def normalized(x):
    return x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)


def differing(a, b):
    return (a != b).double().mean().item()


def error(y):
    exact = x.double() / (x.double().pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * weight.double()
    return (y.double() / exact - 1).pow(2).mean().sqrt().item()


rng = np.random.default_rng(0)
x = torch.from_numpy(rng.standard_normal((64, 1024))).float().bfloat16()
scale = torch.from_numpy(1 + 0.3 * rng.standard_normal(1024)).float()
weight = scale.bfloat16()
by_llama, by_olmo = llama_norm(x, weight), olmo_norm(x, weight)
olmo = differing(by_llama, by_olmo)
gemma = differing(by_llama, gemma_norm(x, (scale - 1).bfloat16()))
t5 = differing(by_llama, t5_norm(x, weight))
gemma3n = differing(by_olmo, gemma3n_norm(x, weight))
twice, once = error(by_llama), error(by_olmo)
print("Llama differs from OLMo 2 in", olmo, "from Gemma in", gemma, "from T5 in", t5)
print("Gemma 3n differs from OLMo 2 in", gemma3n)
print("relative errors of Llama and OLMo 2:", twice, once)
""",
        "one_plus_w": """\
std = 0.01
w = torch.from_numpy(std * np.random.default_rng(0).standard_normal(100_000)).float().bfloat16()
one = torch.ones((), dtype=torch.bfloat16)
low, high = -torch.finfo(torch.bfloat16).eps / 4, torch.finfo(torch.bfloat16).eps / 2
assert one + torch.tensor(low).bfloat16() == 1 and one + torch.tensor(high).bfloat16() == 1
scale = one + w  # rounded to bfloat16
share = (scale[w != 0] == 1).double().mean().item()
largest = (scale.double() - 1 - w.double()).abs().max().item()
assert not (1.0 + w.float()[w != 0] == 1).any()
print("1 + w is 1 for w from", low, "to", high)
print("share that vanishes:", share, "largest error:", largest)
""",
        "stored": """\
std = 0.01
w = torch.from_numpy(std * np.random.default_rng(0).standard_normal(100_000)).float()
scale = 1 + w.double()
as_w = (w.bfloat16().double() - w.double()).abs().max().item()
as_scale = (scale.float().bfloat16().double() - scale).abs().max().item()
times = as_scale / as_w
print("stored as w:", as_w, "stored as the scale:", as_scale, "times:", times)
""",
        "eps": """\
bert, llama, gpt, square = torch.tensor([1e-12, 1e-6, 1e-5, 1e-4**2]).half().tolist()
x = torch.full((4096,), 1e-4).half()
output = (x * (1 / (x.pow(2).mean() + 1e-12).sqrt()))[0].item()
print("as float16:", bert, llama, gpt, "square of 1e-4:", square)
print("output:", output)
""",
        "one_pass": """\
rows, d = 256, 1024


def errors(ratio):
    x = torch.from_numpy(ratio + np.random.default_rng(0).standard_normal((rows, d))).float()
    exact = x.double().var(-1, unbiased=False, keepdim=True)
    mean = x.mean(-1, keepdim=True)
    one_pass = x.square().mean(-1, keepdim=True) - mean.square()
    two_pass = (x - mean).square().mean(-1, keepdim=True)
    return [(found.double() / exact - 1).pow(2).mean().sqrt().item() for found in (one_pass, two_pass)]


hundred, thousand, more = errors(100.0)[0], errors(1000.0)[0], errors(10_000.0)[0]
two_pass = errors(1000.0)[1]
print("RMS over", rows, "vectors of", d, "numbers:")
print("relative error in one pass:", hundred, thousand, more, "in two:", two_pass)
""",
        "residual": """\
stream = torch.tensor(256.0, dtype=torch.bfloat16)
ulp = torch.nextafter(stream, torch.tensor(torch.inf, dtype=torch.bfloat16)).item() - 256
half, one = (stream + 0.5).item(), (stream + 1.0).item()
steps = 100
for _ in range(steps):
    stream = stream + 1.0
stream, exact = stream.item(), 256.0 + steps
share = torch.finfo(torch.bfloat16).eps / 4
print("spacing at 256:", ulp, "256 + 0.5 is", half, "256 + 1 is", one)
print("after", steps, "additions of 1:", stream, "instead of", exact)
print("always lost below a share of", share)
""",
    }
)
"""Incident -> the lines of its script below the imports; each number of its claims has its name there."""
