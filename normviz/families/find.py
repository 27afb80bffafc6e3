"""Which families does a person look for?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from normviz.families.record import ROLES, Family
from normviz.families.table import FAMILIES
from normviz.placements import PLACEMENTS

_WORDS = {"layer_norm": "layernorm ln", "rms_norm": "rmsnorm rms", "parallel_two": "parallel block"}
_NUMBER = re.compile(r"v?(\d+(?:\.\d+)*[bm]?)")
_NAME_AND_NUMBER = re.compile(r"([a-z]+)(\d+(?:\.\d+)*[bm]?)")
_NO_WORDS: Mapping[str, str] = MappingProxyType({})


def find(text: str, words: Mapping[str, str] = _NO_WORDS) -> tuple[str, ...]:
    """Ids of the families that have all words of a search, best first; all of them for a blank one.

    Searched are, in the order in which they count: a family's id and name; its norm, what multiplies and its eps, with
    the names of its norms; its placement; the roles of its norms, with the further words. Capital letters, hyphens and
    underscores do not matter. A number is a version or a size, and stands in the id or the name; one that no family has
    with the other words is ignored ("Llama 3").

    Parameters
    ----------
    text
        What is looked for.
    words
        Family's id -> further words of it, such as its placement and roles in the reader's language.

    Examples
    --------
    >>> find("Gemma sandwich")
    ('gemma2', 'gemma3', 'gemma3n', 'gemma4')
    """
    fields = {id: _fields(family, words.get(id, "")) for id, family in FAMILIES.items()}
    asked = [part for word in text.lower().replace(" + ", "+").split() for part in _parts(word, fields)]
    versions = [match[1] for word in asked if (match := _NUMBER.fullmatch(word))]
    others = [word for word in asked if not _NUMBER.fullmatch(word)]
    ranks = {id: [_rank(word, fields[id], id) for word in others] for id in FAMILIES}
    found = [id for id in FAMILIES if None not in ranks[id]]
    for version in versions:
        have = [id for id in found if version in _versions(FAMILIES[id])]
        found = have if have or not others else found
    return tuple(sorted(found, key=lambda id: sum(rank or 0.0 for rank in ranks[id])))


def _parts(word: str, fields: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The word; its name and its version ("llama3", "Llama-3-8B") where no family has them as one."""
    plain = _plain(word)
    if any(plain in field for every in fields.values() for field in every):
        return (plain,)
    match = _NAME_AND_NUMBER.fullmatch(word)
    if match is not None:
        return (match[1], match[2])
    pieces = re.split(r"[-_]+", word)
    return (plain,) if len(pieces) == 1 else tuple(part for piece in pieces if piece for part in _parts(piece, fields))


def _rank(word: str, fields: tuple[str, ...], id: str) -> float | None:
    """In which field a word stands: 0 for an id itself; None in no one."""
    if word == _plain(id):
        return 0.0
    return next((at + 1.0 for at, field in enumerate(fields) if word in field), None)


def _versions(family: Family) -> set[str]:
    """The numbers in a family's id and name."""
    text = f"{family.id.replace('_', '.')} {family.id} {family.label}".lower()
    return set(re.findall(r"\d+(?:\.\d+)*(?:[bm](?![a-z]))?", text))


def _fields(family: Family, further: str) -> tuple[str, ...]:
    """What is searched, in the order in which it counts."""
    placement = PLACEMENTS.get(family.placement)
    norm = [family.norm, _WORDS[family.norm], family.form, f"{family.eps:g}", "qk-norm" if family.qk_norm else ""]
    names = [site.name for site in family.sites]
    where = [family.placement, _WORDS.get(family.placement, ""), placement.label if placement else ""]
    roles = [f"{site.role} {ROLES[site.role]}" for site in family.sites]
    fields = ([family.id, family.label], norm, names, where, [*roles, further])
    return tuple(_plain(" ".join(field)) for field in fields)


def _plain(text: str) -> str:
    return text.lower().replace("-", "").replace("_", "")
