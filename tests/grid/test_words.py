"""Is a text in any script split into the words that a person sees, and is every other text refused by a sentence?"""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.errors import InputError
from normviz.grid import sentences_batch, split_sentences


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("The cat sat.", ["The", "cat", "sat."]),
        ("one", ["one"]),
        ("x", ["x"]),
        ("  a\tb\u00a0c\u3000d\u202fe  ", ["a", "b", "c", "d", "e"]),
        ("我 喜欢 模型", ["我", "喜欢", "模型"]),
        ("今日は\u3000いい天気", ["今日は", "いい天気"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("مرحبا", ["مرحبا"]),
        ("שלום", ["שלום"]),
        ("안녕하세요", ["안녕하세요"]),
        ("안녕하세요 세계", ["안녕하세요", "세계"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("😀 👨‍👩‍👧 👍🏽", ["😀", "👨‍👩‍👧", "👍🏽"]),
        ("<b>bold</b> $x$", ["<b>bold</b>", "$x$"]),
        ("สวัสดี\u200bครับ", ["สวัสดี", "ครับ"]),
        ("\ufeffThe cat", ["The", "cat"]),
        ("a\x00b \x07c\x1b[0m \ud800d", ["ab", "c[0m", "d"]),
        ("\u202eabc\u202c \u2067d\u2069", ["abc", "d"]),
        ("cafe\u0301 café", ["café", "café"]),
        ("中", ["中"]),
    ],
)
def test_words_stand_between_white_space(line: str, words: list[str]) -> None:
    found = split_sentences(line)
    assert found.words == (tuple(words),)
    assert not found.by_character
    assert (found.dropped_words, found.dropped_sentences) == (0, 0)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("我喜欢模型。", ["我", "喜", "欢", "模", "型", "。"]),
        ("  我喜欢\u3000", ["我", "喜", "欢"]),
        ("我用GPT2和Transformer模型", ["我", "用", "GPT2", "和", "Transformer", "模", "型"]),
        ("学习naïve贝叶斯", ["学", "习", "naïve", "贝", "叶", "斯"]),
        ("学习nai\u0308ve法", ["学", "习", "naïve", "法"]),
        ("人々がテストする", ["人", "々", "が", "テ", "ス", "ト", "す", "る"]),
        ("か\u3099き", ["が", "き"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("ສະບາຍດີ", ["ສ", "ະ", "ບ", "າ", "ຍ", "ດີ"]),
        ("ខ្មែរ", ["ខ្មែ", "រ"]),
        ("မြန်မာ", ["မြ", "န်", "မာ"]),
        ("我爱👨‍👩‍👧和👍🏽", ["我", "爱", "👨‍👩‍👧", "和", "👍🏽"]),
        ("中^文", ["中", "^", "文"]),
        ("𠀀𠀁", ["𠀀", "𠀁"]),
        ("한국語", ["한국", "語"]),
    ],
)
def test_a_line_without_spaces_is_split_by_character(line: str, words: list[str]) -> None:
    found = split_sentences(line)
    assert found.words == (tuple(words),)
    assert found.by_character


def test_one_line_by_character_is_enough_to_say_so() -> None:
    found = split_sentences("the cat\n我喜欢")
    assert found.words == (("the", "cat"), ("我", "喜", "欢"))
    assert found.by_character
    assert not split_sentences("the cat\n我喜欢", most_sentences=1).by_character


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r", "\n\n \t\n", "\u2028", "\u2029"])
def test_one_sentence_per_line(ending: str) -> None:
    assert split_sentences(f"{ending}a b{ending}c{ending}").words == (("a", "b"), ("c",))


def test_what_is_left_out_is_counted() -> None:
    found = split_sentences(" ".join(["word"] * 10_000))
    assert found.words == (("word",) * 32,)
    assert (found.dropped_words, found.dropped_sentences) == (9968, 0)
    found = split_sentences("\n".join(["a b c"] * 50), most_words=2)
    assert found.words == (("a", "b"),) * 8
    assert (found.dropped_words, found.dropped_sentences) == (8, 42)
    found = split_sentences("猫" * 100)
    assert (len(found.words[0]), found.dropped_words, found.by_character) == (32, 68, True)


def test_a_long_word_counts_only_where_it_is_shown() -> None:
    assert split_sentences("a " * 32 + "x" * 1000).dropped_words == 1
    assert split_sentences("x" * 40).words == (("x" * 40,),)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The text holds no word"),
        (" \n\t\u3000\n\x00\u200b\ufeff", "The text holds no word"),
        ("a " + "x" * 10_000, 'A word has at most 40 characters; "xxxxxxxxxxxx…" has 10000'),
        ("x" * 41, "has 41. Put spaces between the words"),
        ("猫" + "x" * 41, "has 41"),
        ("x" * 200_001, "A text has at most 200000 characters; got 200001"),
    ],
)
def test_every_refusal_has_its_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        split_sentences(text)
    assert sentence in str(caught.value)


def test_a_limit_is_at_least_one() -> None:
    with pytest.raises(InputError, match="most_words is a whole number, 1 or more; got 0"):
        split_sentences("a", most_words=0)
    with pytest.raises(InputError, match="most_sentences is a whole number, 1 or more; got 0"):
        split_sentences("a", most_sentences=0)


@given(st.text(st.characters(), max_size=60))
def test_any_text_is_a_batch_or_an_input_error(text: str) -> None:
    try:
        found = split_sentences(text)
    except InputError:
        return
    for words in found.words:
        assert 1 <= len(words) <= 32
        for word in words:
            assert word
            assert not any(sign.isspace() or unicodedata.category(sign) in ("Cc", "Cs") for sign in word)
    made = sentences_batch(text, 2)
    assert made.words == found.words
    assert made.lengths == tuple(map(len, found.words))


@given(st.lists(st.lists(st.text("abcäßжω", min_size=1, max_size=9), min_size=1, max_size=32), min_size=1, max_size=8))
def test_words_come_back_from_their_lines(sentences: list[list[str]]) -> None:
    assert split_sentences("\n".join(map(" ".join, sentences))).words == tuple(map(tuple, sentences))


@pytest.mark.parametrize("text", ["猫" * 200_000, "猫" + "\u0301\u0327" * 99_999, "a\u0301" * 100_000, "猫a" * 100_000])
def test_a_hostile_text_is_not_composed_before_it_is_judged(text: str) -> None:
    # The time of Unicode's composition grows with the square of the marks on one letter.
    if "\u0301" in text:
        with pytest.raises(InputError, match="A word has at most 40 characters"):
            split_sentences(text)
    else:
        assert split_sentences(text).dropped_words == 200_000 - 32
