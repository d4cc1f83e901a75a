"""Read and compile the translations; `python -m tests.translations` writes each .mo file from its .po file."""

from pathlib import Path

import polib

LOCALE = Path(__file__).parent.parent / "locale"


def catalogs() -> list[Path]:
    """List the .po files."""
    return sorted(LOCALE.glob("*/LC_MESSAGES/*.po"))


def messages(catalog: polib.POFile | polib.MOFile) -> dict[tuple[str | None, str, str], object]:
    """Map each translated message to its translation, the same for both kinds of file."""
    return {
        (entry.msgctxt, entry.msgid, entry.msgid_plural): dict(entry.msgstr_plural) or entry.msgstr
        for entry in catalog
        if isinstance(entry, polib.MOEntry) or entry.translated()
    }


if __name__ == "__main__":
    for path in catalogs():
        polib.pofile(str(path)).save_as_mofile(str(path.with_suffix(".mo")))
        print("compiled", path.relative_to(LOCALE.parent))
