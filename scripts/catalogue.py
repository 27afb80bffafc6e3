"""Is every message that a person reads there in every language?

`python -m scripts.catalogue check` lists what is missing, unused, fuzzy or broken and exits 1 if anything is.
`python -m scripts.catalogue update [FILE.po ...]` takes new messages from the source, keeps the translations there are,
fills gaps from the files given and drops what no source uses.
"""

from __future__ import annotations

import argparse
import ast
import string
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
KEYWORDS = ("t", "N_", "InputError")
BUILT = (ast.JoinedStr, ast.BinOp, ast.IfExp)
LANGUAGE = "zh"  # the source text is English
CATALOGUE = ROOT / "normviz" / "locale" / LANGUAGE / "messages.po"
LESSONS = ROOT / "assets" / "lessons"
WIDTH = 120
HEADER = f"""\
# The messages of normviz; `python -m scripts.catalogue update` keeps them in step with the source.
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Language: {LANGUAGE}\\n"

"""


def sources() -> list[Path]:
    """The files whose messages are translated: the page list, the pages and the package."""
    files = [ROOT / "app.py", *(ROOT / "labs").glob("*.py"), *(ROOT / "normviz").rglob("*.py")]
    return sorted(file for file in files if file.exists())


def calls(source: str) -> Iterator[tuple[int, str, ast.expr]]:
    """Line, keyword and first argument of each call of a keyword.

    Read from the syntax tree: Babel's own extractor joins the two strings of `t("a" if x else "b")` into one.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args:
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
            if name in KEYWORDS:
                yield node.lineno, name, node.args[0]


def messages(source: str) -> list[tuple[int, str]]:
    """Line and text of each message in a Python source, in the order of the lines."""
    literals = ((line, argument) for line, _, argument in calls(source) if isinstance(argument, ast.Constant))
    return sorted((line, argument.value) for line, argument in literals if isinstance(argument.value, str))


def unreadable(source: str) -> list[tuple[int, str]]:
    """Line and keyword of each call whose message is put together on the spot, so that no catalogue can hold it.

    `t(name)` is fine, since its message was marked with `N_` where it was written.
    """
    return [(line, keyword) for line, keyword, argument in calls(source) if isinstance(argument, BUILT)]


def extract() -> Catalog:
    """All messages of the source with the files that use them."""
    template = Catalog()
    for file in sources():
        for _, text in messages(file.read_text(encoding="utf-8")):
            template.add(text, locations=[(file.relative_to(ROOT).as_posix(), 0)])
    return template


def fields(text: str) -> set[str] | None:
    """Names of the `str.format` fields of a message; None where it is no format string."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError:
        return None


def read(file: Path) -> Catalog:
    """A catalogue file, or an empty catalogue where there is none."""
    if not file.exists():
        return Catalog(locale=LANGUAGE)
    with file.open("rb") as stream:
        return read_po(stream, locale=LANGUAGE)


def faults(template: Catalog, catalogue: Catalog) -> list[str]:
    """What is wrong with a catalogue against the messages of the source, one sentence each."""
    translated = {message.id: message for message in catalogue if message.id}
    found = [f"unused: {text!r}" for text in translated if text not in template]
    found += [f"unused: {text!r}" for text in catalogue.obsolete]
    for message in template:
        if message.id:
            fault = _fault(message, translated.get(message.id))
            if fault:
                found.append(f"{fault}: {message.id!r} ({', '.join(file for file, _ in message.locations)})")
    return found


def _fault(source: Message, translation: Message | None) -> str | None:
    if translation is None or not translation.string:
        return "missing"
    if translation.fuzzy:
        return "fuzzy"
    expected, came = fields(str(source.id)), fields(str(translation.string))
    if expected != came:
        return f"placeholders differ, {sorted(expected or ())} in English and {sorted(came or ())} in {LANGUAGE}"
    return None


def lesson_faults(folder: Path) -> list[str]:
    """Lessons that one language has and another lacks."""
    names = {language: {file.name for file in (folder / language).glob("*.md")} for language in ("en", LANGUAGE)}
    return [
        f"lesson missing: {language}/{name}"
        for language, present in names.items()
        for name in sorted(set().union(*names.values()) - present)
    ]


def check() -> list[str]:
    """Everything that is wrong with the words of this repository."""
    literal = [
        f"no plain literal: {keyword}(...) at {file.relative_to(ROOT).as_posix()}:{line}"
        for file in sources()
        for line, keyword in unreadable(file.read_text(encoding="utf-8"))
    ]
    return [*literal, *faults(extract(), read(CATALOGUE)), *lesson_faults(LESSONS)]


def merged(template: Catalog, catalogue: Catalog, extra: Iterable[Catalog]) -> tuple[Catalog, list[str]]:
    """The template filled with the translations there are, first come first kept, and what was left out."""
    notes: list[str] = []
    given = [catalogue, *extra]
    result = Catalog(locale=LANGUAGE)
    for message in template:
        if message.id:
            strings = [m.string for c in given if (m := c.get(message.id)) is not None and m.string and not m.fuzzy]
            usable = [text for text in strings if fields(str(text)) == fields(str(message.id))]
            result.add(message.id, usable[0] if usable else "", locations=message.locations)
            notes += [f"not taken: {text!r} for {message.id!r}" for text in strings if not usable or text != usable[0]]
    unused = {str(m.id) for c in given for m in c if m.id and m.id not in template}
    return result, [*notes, *(f"no source uses {text!r}" for text in sorted(unused))]


def write(file: Path, catalogue: Catalog) -> None:
    """Write a catalogue so that a diff shows words only: no dates, no line numbers."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        stream.write(HEADER.encode())
        write_po(stream, catalogue, width=WIDTH, omit_header=True, sort_by_file=True, include_lineno=False)


def main() -> int:
    """Run the command; exit 1 when a check finds a fault."""
    parser = argparse.ArgumentParser(description="Check or update the message catalogue.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="list what is missing, unused, fuzzy or broken")
    updating = commands.add_parser("update", help="take new messages from the source")
    updating.add_argument("files", nargs="*", type=Path, help="catalogues with more translations")
    arguments = parser.parse_args()
    if arguments.command == "update":
        result, notes = merged(extract(), read(CATALOGUE), [read(file) for file in arguments.files])
        write(CATALOGUE, result)
        print("\n".join(notes), end="\n" if notes else "")
        missing = sum(not message.string for message in result if message.id)
        print(f"{CATALOGUE.relative_to(ROOT)}: {len(result)} messages, {missing} without a translation")
        return 0
    found = check()
    print("\n".join(found) if found else f"{CATALOGUE.relative_to(ROOT)}: every message is translated")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
