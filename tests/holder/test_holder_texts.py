"""One file of texts a language, for page and command line alike."""

import json
import re
from pathlib import Path

import pytest

import hedgerow.holder
from hedgerow.holder.texts import LANGUAGES, Texts, all_texts, default_language

FOLDER = Path(hedgerow.holder.__file__).parent
TEXTS = {name: json.loads((FOLDER / "texts" / f"{name}.json").read_text("utf-8")) for name in LANGUAGES}


def holes(text):
    return sorted(re.findall(r"\{\w+\}", text))


def test_every_shipped_file_is_a_language():
    assert sorted(path.stem for path in (FOLDER / "texts").glob("*.json")) == sorted(LANGUAGES)
    assert all_texts() == TEXTS


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_all_files_have_the_same_keys_and_placeholders(language):
    assert list(TEXTS[language]) == list(TEXTS["en"])
    for key, text in TEXTS["en"].items():
        assert holes(TEXTS[language][key]) == holes(text), key
        assert TEXTS[language][key].strip() and "<" not in TEXTS[language][key], key


def test_languages_that_are_not_shipped_are_english():
    assert Texts("it").say("yes") == "yes" and Texts("it").tag == "it"
    assert Texts("fr-CA").say("yes") == "oui"


@pytest.mark.parametrize(
    ("environment", "tag"),
    [
        ({}, "en"),
        ({"LANG": "POSIX"}, "en"),
        ({"LANG": "fr_FR.UTF-8@euro"}, "fr-FR"),
        ({"LANG": "de_DE", "LC_ALL": "en_GB.UTF-8"}, "en-GB"),
        ({"LANG": "../../x"}, "en"),
    ],
)
def test_the_locale_says_which(environment, tag):
    assert default_language(environment) == tag


def test_every_text_is_used_and_every_text_used_is_there():
    sources = [*(FOLDER / "web").iterdir(), *FOLDER.glob("*.py"), FOLDER.parent / "commands" / "join.py"]
    source = "\n".join(path.read_text() for path in sources)
    named = set(re.findall(r"""["'>]((?:page|fact|hint|note|picture|join|task)\.\w+)""", source))
    assert {name for name in named if not name.endswith((".py", ".js"))} <= set(TEXTS["en"])
    built = {"language", "decimal", "yes", "no"} | {
        key for key in TEXTS["en"] if key.startswith(("picture.", "fact.", "task.clear_"))
    }
    assert set(TEXTS["en"]) - named <= built
