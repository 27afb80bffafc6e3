"""Does each page open in each language, and does the language reach every word?"""

import re
from pathlib import Path

import pytest

from normviz.text import LANGUAGES
from tests.labs.conftest import ROOT, said

LABS = sorted(path.stem for path in (ROOT / "labs").glob("*.py"))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("lab", LABS)
def test_a_page_opens_in_each_language(open_lab, lab, lang):
    page = open_lab(lab, lang)
    assert not page.exception
    assert not page.error
    assert bool(re.search("[\u4e00-\u9fff]", page.main.children and said(page))) == (lang == "zh")


def test_no_folder_is_named_pages():
    # Streamlit runs the scripts of such a folder by themselves, without app.py, for a fresh server's first visitor.
    assert not (ROOT / "pages").exists()


@pytest.mark.parametrize("lab", LABS)
def test_every_section_of_a_lesson_exists_in_each_language(lab):
    names = {
        lang: re.findall(
            r"^<!-- (\w+) -->$", Path(ROOT / "assets/lessons" / lang / f"{lab}.md").read_text(), re.MULTILINE
        )
        for lang in LANGUAGES
    }
    assert names["en"] == names["zh"]


def test_the_browsers_language_chooses_the_first_view(open_lab):
    page = open_lab("home", "fr")
    assert not page.exception
    assert "Seven questions" in said(page)


def test_an_unusable_link_is_explained_and_the_default_shown(open_lab):
    page = open_lab("axes", source="synthetic", batch="99", colour="red", d="5")
    assert len(page.warning) == 1
    assert "1 to 8" in page.warning[0].value
    assert "colour" in page.warning[0].value
    assert page.slider(key="axes.batch").value == 2
    assert page.slider(key="axes.d").value == 5


def test_the_link_holds_what_differs_from_the_first_view(open_lab):
    page = open_lab("axes", source="synthetic")
    page.slider(key="axes.tokens").set_value(5).run()
    assert page.query_params["tokens"] == "5"
    assert "batch" not in page.query_params
