"""Which numbers did a person type or paste, and how is a vector written back?"""

from __future__ import annotations

import math
import re
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import Floats, finite_array, frozen, within_range
from normviz.errors import InputError

# The full-width forms U+FF01 to U+FF5E sit at a fixed distance from ASCII; the rest is what Chinese keyboards, word
# processors and spreadsheets put in the place of an ASCII sign.
_TO_ASCII = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {
    "\N{IDEOGRAPHIC COMMA}": ",",
    "\N{LEFT BLACK LENTICULAR BRACKET}": "[",
    "\N{RIGHT BLACK LENTICULAR BRACKET}": "]",
    "\N{LEFT TORTOISE SHELL BRACKET}": "[",
    "\N{RIGHT TORTOISE SHELL BRACKET}": "]",
    "\N{MINUS SIGN}": "-",
    "\N{EN DASH}": "-",
    "\N{SMALL HYPHEN-MINUS}": "-",
    "\N{INFINITY}": "inf",
    "\N{ZERO WIDTH SPACE}": " ",
    "\N{ZERO WIDTH NO-BREAK SPACE}": " ",
}

_KEYWORDS = r"""(?:,\s*[A-Za-z_]+\s*=\s*(?:<[^<>]*>|'[^']*'|"[^"]*"|\([^()]*\)|[\w.]+)\s*)*,?\s*"""
_MODULE = r"(?:np\.|numpy\.|torch\.|tf\.|jnp\.)?"
# tensor([...], dtype=torch.float64, grad_fn=<MulBackward0>), array([...]), Parameter containing: tensor(...)
_CALL = re.compile(rf"\s*(?:Parameter containing:\s*)?{_MODULE}(?:tensor|Tensor|array|asarray|Array)\((?=\s*\[)")
_CALL_END = re.compile(rf"\s*{_KEYWORDS}\)\s*")
# np.float64(1.5) and tensor(1.5, dtype=torch.float64): one printed number
_SCALAR = re.compile(rf"\b{_MODULE}(?:float\d+|u?int\d+|tensor|array)\(\s*([^\s(),\[\]]+)\s*{_KEYWORDS}\)")
_BRACKETS = str.maketrans("[]()", "    ")
_NOTHING_BETWEEN = re.compile(r"[,;]\s*[,;]")


def parse_vector(text: str, *, limit: int = 1_000_000) -> Floats:
    """Read the numbers of one vector from text that a person typed or pasted.

    Numbers may be separated by commas, semicolons, spaces, tabs or new lines and may stand in one pair of brackets:
    plain lists, JSON, spreadsheet rows and columns, and what NumPy and PyTorch print. Chinese commas and brackets and
    full-width digits are read as their ASCII forms.

    Parameters
    ----------
    text
        What was typed. A single number is a vector with d = 1.
    limit
        How many numbers are read at most.

    Returns
    -------
    read-only array of float64, shape [d] with 1 <= d <= limit

    Raises
    ------
    InputError
        With its own sentence for: no number, text between the numbers, NaN, infinity, a number beyond float64, a
        missing number between two separators, mixed commas and semicolons, nested or several lists, brackets that do
        not match, numbers left out by "...", and too many numbers.

    Examples
    --------
    >>> parse_vector("tensor([1., 2.], dtype=torch.float64)")
    array([1., 2.])
    """
    if not text.isascii():
        # Sign by sign, because str.translate takes seconds for a million numbers.
        for sign in set(text) & _TO_ASCII.keys():
            text = text.replace(sign, _TO_ASCII[sign])
    if "..." in text or "\u2026" in text:
        raise InputError(
            'The vector has "..." in it: numbers were left out when it was printed. Print all of it (for example '
            "x.tolist()) and paste that."
        )
    text = _without_calls(text)
    flat = text.translate(_BRACKETS)
    numbers = _words(flat, limit)
    if not numbers:
        raise InputError("The vector is empty: type at least one number, for example 1, 2, 3, 4.")
    if "_" in flat:  # float() also reads 1_000, which is a slip here
        _refuse_text(numbers)
    values = _values(numbers)
    _check_brackets(text)
    _check_separators(flat)
    return frozen(values)


def parse_parameter(text: str, *, d: int) -> Floats | None:
    """Read a gain or bias that a person typed: nothing, one number for all entries, or one number per entry.

    Parameters
    ----------
    text
        As for `parse_vector`; blank means that there is none.
    d
        Entries of the vector that it belongs to.

    Returns
    -------
    numpy.ndarray or None
        Read-only float64, shape [d]; None for a blank text.

    Raises
    ------
    InputError
        If the text is no vector, or has neither one number nor `d`.
    """
    if not text.strip():
        return None
    values = within_range(parse_vector(text), "gain")
    if values.size not in (1, d):
        raise InputError("One number is allowed, or {d}, one per entry of x; got {n}.", d=d, n=values.size)
    return np.broadcast_to(values, (d,))


def format_vector(x: ArrayLike) -> str:
    """Write a vector with the fewest digits that `parse_vector` reads back to the same float64 values.

    Parameters
    ----------
    x
        Finite numbers, shape [d].

    Raises
    ------
    InputError
        If x is not one vector of finite numbers.

    Examples
    --------
    >>> format_vector([1.0, -0.5, 1e22])
    '1, -0.5, 1e22'
    """
    array = finite_array(x, "x")
    if array.ndim != 1 or array.size == 0:
        raise InputError("x is one vector, shape [d] with d >= 1; got shape {shape}.", shape=list(array.shape))
    return ", ".join(map(_shortest, array.tolist()))


def _shortest(value: float) -> str:
    # repr has the fewest digits that round-trip; what remains is its ".0" and the padding of its exponent.
    digits, _, exponent = repr(value).partition("e")
    digits = digits.removesuffix(".0")
    return f"{digits}e{int(exponent)}" if exponent else digits


def _without_calls(text: str) -> str:
    """The text with the calls that print a number or an array replaced by what is inside them."""
    if "(" not in text:
        return text
    text = _SCALAR.sub(r" \1 ", text)
    call = _CALL.match(text)
    if call is None:
        return text
    end = text.rfind("]") + 1
    return text[call.end() : end] if _CALL_END.fullmatch(text, end) else text


def _words(flat: str, limit: int) -> list[str]:
    words = flat.replace(",", " ").replace(";", " ").split(None, limit)
    if len(words) > limit:
        raise InputError("The vector has more than {limit} numbers, the most that are read at once.", limit=limit)
    return words


def _values(words: list[str]) -> Floats:
    try:
        values = np.array(list(map(float, words)))
    except ValueError:
        _refuse_text(words)
    finite = np.isfinite(values)
    if not finite.all():
        _refuse_value(words, int(np.argmin(finite)))
    return values


def _refuse_text(words: list[str]) -> NoReturn:
    at = next(i for i, word in enumerate(words) if not _is_number(word))
    raise InputError(
        'The vector holds numbers only; entry {position} is "{word}".', position=at + 1, word=_shown(words[at])
    )


def _refuse_value(words: list[str], at: int) -> NoReturn:
    word = words[at]
    if math.isnan(float(word)):
        raise InputError(
            "The vector holds finite numbers; entry {position} is NaN (not a number), and every mean over it would be "
            "NaN.",
            position=at + 1,
        )
    if "inf" in word.lower():
        raise InputError(
            "The vector holds finite numbers; entry {position} is infinite, and no mean over it exists.",
            position=at + 1,
        )
    raise InputError(
        "The vector holds numbers up to 1.8e308 in size, the most float64 can hold; entry {position} is {word}.",
        position=at + 1,
        word=_shown(word),
    )


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word


def _shown(word: str, most: int = 24) -> str:
    return word if len(word) <= most else word[:most] + "\u2026"


def _check_brackets(text: str) -> None:
    opened, closed = text.count("[") + text.count("("), text.count("]") + text.count(")")
    if opened != closed or text.count("[") != text.count("]"):
        raise InputError(
            "The vector's brackets do not match; got {opened} opening and {closed} closing, where every [ needs its ] "
            "and every ( its ).",
            opened=opened,
            closed=closed,
        )
    inside = text.strip().strip(",;").strip()
    if opened > 1 or (opened == 1 and (inside[0] + inside[-1]) not in ("[]", "()")):
        raise InputError(
            "The vector is one list of numbers, with at most one pair of brackets around it; got a list inside or "
            "beside another (opening brackets: {opened}). Paste one row or one column.",
            opened=opened,
        )


def _check_separators(flat: str) -> None:
    if "," in flat and ";" in flat.rstrip().removesuffix(";"):
        raise InputError(
            "The vector mixes commas and semicolons, which may mean rows of a table or decimal commas; separate the "
            "numbers by one of them and write decimals with a point."
        )
    found = re.match(r"\s*[,;]", flat) or _NOTHING_BETWEEN.search(flat)
    if found:
        before = _words(flat[: found.start()], len(flat))
        raise InputError(
            "Entry {position} of the vector is missing: a separator has no number before it.", position=len(before) + 1
        )
