"""Where does the norm go: what enters a sublayer, and how does its output join the residual stream?"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, Self, TypeVar, cast

from normviz.text import N_


class Stream(Protocol):
    """What a placement handles: tensors in the model, recording stand-ins in a diagram."""

    def __add__(self, other: Self, /) -> Self: ...


T = TypeVar("T", bound=Stream)
Wiring = Generator[T, T, T]


# One function per wiring: yield the sublayer's input, receive its output, return the new residual stream.


def post_norm(x: T, norm: Callable[[T], T]) -> Wiring[T]:
    """Every norm sits on the identity path: N(x + f(x))."""
    y = yield x
    return norm(x + y)


def pre_norm(x: T, norm: Callable[[T], T]) -> Wiring[T]:
    """The identity path stays free: x + f(N(x))."""
    y = yield norm(x)
    return x + y


def sandwich_norm(x: T, norm: Callable[[T], T]) -> Wiring[T]:
    """Each branch arrives with mean square 1: x + N(f(N(x)))."""
    y = yield norm(x)
    return x + norm(y)


def output_norm(x: T, norm: Callable[[T], T]) -> Wiring[T]:
    """The sublayer reads the raw stream, only its output is normalized: x + N(f(x))."""
    y = yield x
    return x + norm(y)


def no_norm(x: T, norm: Callable[[T], T]) -> Wiring[T]:
    """Nothing holds the stream back: x + f(x)."""
    y = yield x
    return x + y


@dataclass(frozen=True, kw_only=True)
class Placement:
    """A wiring with what the house around it needs.

    Attributes
    ----------
    id, label
        The identifier in links and files, and the name on screen (an English message).
    function
        The wiring of one sublayer.
    final_norm, embedding_norm
        Whether a model with this wiring has a norm before its head, and one right after its embedding.
    formula
        LaTeX of one sublayer, with f the sublayer and N the norm.
    used_by
        Published models, by their proper names.
    source
        arXiv id of the paper that introduced or studied it.
    """

    id: str
    label: str
    function: Callable[..., Generator[Any, Any, Any]]
    final_norm: bool
    embedding_norm: bool
    formula: str
    used_by: tuple[str, ...]
    source: str


PLACEMENTS: Mapping[str, Placement] = MappingProxyType(
    {
        placement.id: placement
        for placement in (
            Placement(
                id="post_norm",
                label=N_("Post-Norm"),
                function=post_norm,
                final_norm=False,
                embedding_norm=True,
                formula=r"x \leftarrow \mathrm{N}(x + f(x))",
                used_by=("Transformer", "BERT", "RoBERTa"),
                source="1706.03762",
            ),
            Placement(
                id="pre_norm",
                label=N_("Pre-Norm"),
                function=pre_norm,
                final_norm=True,
                embedding_norm=False,
                formula=r"x \leftarrow x + f(\mathrm{N}(x))",
                used_by=("GPT-2", "T5", "Llama", "Mistral", "Qwen3"),
                source="2002.04745",
            ),
            Placement(
                id="sandwich_norm",
                label=N_("Sandwich-Norm"),
                function=sandwich_norm,
                final_norm=True,
                embedding_norm=False,
                formula=r"x \leftarrow x + \mathrm{N}(f(\mathrm{N}(x)))",
                used_by=("CogView", "Gemma 2", "Gemma 3", "GLM-4"),
                source="2105.13290",
            ),
            Placement(
                id="output_norm",
                label=N_("Output-Norm"),
                function=output_norm,
                final_norm=True,
                embedding_norm=False,
                formula=r"x \leftarrow x + \mathrm{N}(f(x))",
                used_by=("Swin V2", "OLMo 2", "OLMo 3", "EXAONE 4"),
                source="2111.09883",
            ),
            Placement(
                id="no_norm",
                label=N_("No norm"),
                function=no_norm,
                final_norm=False,
                embedding_norm=False,
                formula=r"x \leftarrow x + f(x)",
                used_by=(),
                source="1901.09321",
            ),
        )
    }
)


def join(placement: Placement, x: T, norm: Callable[[T], T], sublayer: Callable[[T], T]) -> T:
    """Send the residual stream `x` through one sublayer, wired as the placement says.

    Raises
    ------
    ValueError
        If the placement's function does not yield exactly once.
    """
    steps = placement.function(x, norm)
    read = next(steps, None)
    if read is not None:
        y = sublayer(read)
        try:
            steps.send(y)
        except StopIteration as stop:
            return cast("T", stop.value)
    raise ValueError(f"{placement.id}: a placement yields the sublayer's input exactly once")


@dataclass(frozen=True, eq=False)
class Node:
    """A recording stand-in: what a placement did, as an expression.

    `kind` is "x" (the stream that came in), "sublayer" (its output; `inputs` holds what it read), "norm" (`index`
    counts the calls) or "add".
    """

    kind: str
    inputs: tuple[Node, ...] = ()
    index: int | None = None

    def __add__(self, other: Node) -> Node:
        return Node("add", (self, other))


@dataclass(frozen=True, kw_only=True)
class Trace:
    """What one sublayer's wiring does, recorded while it ran.

    Attributes
    ----------
    output
        The new residual stream as an expression of `Node`.
    sublayer_input
        What the sublayer reads; the only input of the node of kind "sublayer".
    norms
        How many norms one sublayer has.
    identity_norms
        Which of them, counted from 0 in call order, sit on the identity path: the stream reaches the output through
        them without passing the sublayer.
    """

    output: Node
    sublayer_input: Node
    norms: int
    identity_norms: tuple[int, ...]


def trace(placement: Placement) -> Trace:
    """Run a placement's function with recording stand-ins and read off its wiring.

    Raises
    ------
    ValueError
        If the function does not yield exactly once.
    """
    norms: list[Node] = []
    reads: list[Node] = []

    def norm(x: Node) -> Node:
        norms.append(Node("norm", (x,), len(norms)))
        return norms[-1]

    def sublayer(x: Node) -> Node:
        reads.append(x)
        return Node("sublayer", (x,))

    output = join(placement, Node("x"), norm, sublayer)
    on_path = {node.index for node in _identity_nodes(output) if node.index is not None}
    return Trace(output=output, sublayer_input=reads[0], norms=len(norms), identity_norms=tuple(sorted(on_path)))


def _identity_nodes(node: Node) -> list[Node]:
    """The nodes between `x` and the output, not looking into the sublayer; empty when `x` is not below `node`."""
    if node.kind == "x":
        return [node]
    if node.kind == "sublayer":
        return []
    below = [found for child in node.inputs for found in _identity_nodes(child)]
    return [node, *below] if below else []
