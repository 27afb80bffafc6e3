"""Which sequences of words are in a text that a person typed, and which grid do they make?"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import numpy as np

from normviz.arrays import whole_number
from normviz.errors import InputError
from normviz.grid.batches import Batch, batch, embedding
from normviz.grid.padding import grid_sizes

LARGEST_TEXT = 200_000
"""Characters: 10,000 words of any language, and room."""

LONGEST_WORD = 40
"""Characters: longer than any word of a dictionary, shorter than a link or a table row that was pasted by mistake."""

# Han with kana; Thai and Lao; Myanmar; Khmer: their sentences have no spaces between words.
_SPACELESS = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U000323af\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff\u19e0-\u19ff]"
)
# They end a word where text in those scripts has them, and a file may start with the second.
_SPACES = re.compile("[\N{ZERO WIDTH SPACE}\N{ZERO WIDTH NO-BREAK SPACE}]")
# Control characters, halves of UTF-16 pairs, and marks that would turn the direction of what stands beside a word.
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200e\u200f\u202a-\u202e\u2060-\u2069\ud800-\udfff]")
# What comes after them belongs to the same sign: emoji of several parts, stacked consonants of Khmer and Myanmar.
_JOINERS = "\N{ZERO WIDTH JOINER}\N{KHMER SIGN COENG}\N{MYANMAR SIGN VIRAMA}"
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


@dataclass(frozen=True, kw_only=True)
class Sentences:
    """The sentences of a text as words.

    Attributes
    ----------
    words
        One tuple of at least one word per sentence.
    by_character
        Whether a sentence without spaces was split by character.
    dropped_words
        Words that were left out at the end of the sentences in `words`.
    dropped_sentences
        Sentences that were left out at the end of the text.
    """

    words: tuple[tuple[str, ...], ...]
    by_character: bool
    dropped_words: int
    dropped_sentences: int


def split_sentences(text: str, *, most_sentences: int = 8, most_words: int = 32) -> Sentences:
    """One sentence per line, words at white space; what is written without spaces is split by character.

    A line without white space that has Han characters, kana, Thai, Lao, Khmer or Myanmar letters is split by
    character: combining marks stay with their base, and a run of other letters or digits stays one word. Lines without
    a word are skipped. Control characters are left out, and letters are composed (Unicode NFC), so that words that look
    alike are alike.

    Parameters
    ----------
    text
        Up to 200,000 characters.
    most_sentences, most_words
        How many sentences, and words per sentence, are kept; the rest is counted.

    Raises
    ------
    InputError
        If no word is left, the text is too long, or a kept word has more than 40 characters.
    """
    whole_number(most_sentences, "most_sentences", 1)
    whole_number(most_words, "most_words", 1)
    if len(text) > LARGEST_TEXT:
        raise InputError("A text has at most {limit} characters; got {n}.", limit=LARGEST_TEXT, n=len(text))
    visible = _UNSEEN.sub("", _SPACES.sub(" ", text))
    lines = [words for line in visible.splitlines() if (words := line.split())]
    if not lines:
        raise InputError("The text holds no word: type one sentence per line, with spaces between its words.")
    kept, by_character = [], False
    for words in lines[:most_sentences]:
        if len(words) == 1 and _SPACELESS.search(words[0]):
            words = _characters(words[0])
            by_character = by_character or len(words) > 1
        kept.append(words)
    for words in kept:
        for word in words[:most_words]:
            if len(word) > LONGEST_WORD:
                raise InputError(
                    'A word has at most {limit} characters; "{start}…" has {n}. Put spaces between the words.',
                    limit=LONGEST_WORD,
                    start=word[:12],
                    n=len(word),
                )
    return Sentences(
        # Composed only now: its time grows with the square of the marks on one letter, 20 s for a whole text of them.
        words=tuple(tuple(unicodedata.normalize("NFC", word) for word in words[:most_words]) for words in kept),
        by_character=by_character,
        dropped_words=sum(max(0, len(words) - most_words) for words in kept),
        dropped_sentences=max(0, len(lines) - most_sentences),
    )


def sentences_batch(text: str, d: int, *, seed: int = 0, pads: str = "zero") -> Batch:
    """The batch that a text makes: a sequence per sentence, the embedding of a word per token.

    Parameters
    ----------
    text, seed, pads
        As in `split_sentences` and `batch`.
    d
        Channels of an embedding, at least 1.

    Raises
    ------
    InputError
        As `split_sentences`, `embedding` and `batch`.
    """
    words = split_sentences(text).words
    grid_sizes(batch=len(words), tokens=max(map(len, words)), d=d)
    return batch(
        [np.stack([embedding(word, d, seed) for word in row]) for row in words], words=words, pads=pads, seed=seed
    )


def _characters(line: str) -> list[str]:
    """The signs of a line; letters and digits of a script that is written with spaces stay together."""
    starts = [0]
    in_run = _in_run(line[0])
    for at in range(1, len(line)):
        sign = line[at]
        if unicodedata.category(sign)[0] == "M" or sign in _JOINERS + _SKIN_TONES or line[at - 1] in _JOINERS:
            continue
        was_in_run, in_run = in_run, _in_run(sign)
        if not (was_in_run and in_run):
            starts.append(at)
    return [line[start:end] for start, end in zip(starts, [*starts[1:], len(line)], strict=True)]


def _in_run(sign: str) -> bool:
    return sign.isalnum() and not _SPACELESS.match(sign)
