"""Does every reader find every word? The message catalogue and the lessons are complete in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from babel.messages.catalog import Catalog

from scripts import catalogue


def catalog(**translations: str) -> Catalog:
    result = Catalog(locale="zh")
    for message, translation in translations.items():
        result.add(message, translation)
    return result


def test_every_message_and_lesson_is_there_in_both_languages() -> None:
    assert catalogue.check() == []


def test_update_would_change_nothing(tmp_path: Path) -> None:
    result, notes = catalogue.merged(catalogue.extract(), catalogue.read(catalogue.CATALOGUE), [])
    catalogue.write(tmp_path / "messages.po", result)
    assert notes == []
    assert (tmp_path / "messages.po").read_text(encoding="utf-8") == catalogue.CATALOGUE.read_text(encoding="utf-8")


def test_messages_are_found_in_calls_of_the_keywords_only() -> None:
    source = 't("a", n=1)\nN_("b " "c")\nraise InputError("d")\nself.t("e")\nprint("f")\nt(name)\n'
    assert [text for _, text in catalogue.messages(source)] == ["a", "b c", "d", "e"]


@pytest.mark.parametrize("call", ['t(f"{n}")', 't("a" if n else "b")', 'N_("a" + b)', 'InputError(f"{n}")'])
def test_a_message_put_together_on_the_spot_is_a_fault(call: str) -> None:
    assert len(catalogue.unreadable(call)) == 1


@pytest.mark.parametrize(
    ("translation", "fault"),
    [
        ("", "missing"),
        ("{n} 个值，{m}", "placeholders differ"),
        ("值", "placeholders differ"),
        ("{n 个值", "placeholders differ"),
    ],
)
def test_a_translation_that_would_not_read_right_is_a_fault(translation: str, fault: str) -> None:
    (found,) = catalogue.faults(catalog(**{"{n} values": ""}), catalog(**{"{n} values": translation}))
    assert found.startswith(fault)


def test_a_fuzzy_message_is_a_fault() -> None:
    fuzzy = Catalog(locale="zh")
    fuzzy.add("mean", "均值", flags=["fuzzy"])
    (found,) = catalogue.faults(catalog(mean=""), fuzzy)
    assert found.startswith("fuzzy")


def test_a_message_that_no_source_uses_is_a_fault() -> None:
    (found,) = catalogue.faults(catalog(mean=""), catalog(mean="均值", median="中位数"))
    assert found == "unused: 'median'"


def test_an_obsolete_message_is_a_fault(tmp_path: Path) -> None:
    file = tmp_path / "messages.po"
    file.write_text('msgid "mean"\nmsgstr "均值"\n\n#~ msgid "median"\n#~ msgstr "中位数"\n', encoding="utf-8")
    assert catalogue.faults(catalog(mean=""), catalogue.read(file)) == ["unused: 'median'"]


def test_merging_keeps_what_is_there_and_fills_gaps() -> None:
    result, notes = catalogue.merged(
        catalog(mean="", rms=""), catalog(mean="均值"), [catalog(mean="平均", rms="均方根", old="旧")]
    )
    assert {message.id: message.string for message in result if message.id} == {"mean": "均值", "rms": "均方根"}
    assert notes == ["not taken: '平均' for 'mean'", "no source uses 'old'"]


def test_a_lesson_in_one_language_only_is_a_fault(tmp_path: Path) -> None:
    for language, name in (("en", "home"), ("zh", "home"), ("en", "depth")):
        (tmp_path / language).mkdir(exist_ok=True)
        (tmp_path / language / f"{name}.md").touch()
    assert catalogue.lesson_faults(tmp_path) == ["lesson missing: zh/depth.md"]
