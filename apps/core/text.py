"""The one place where data becomes safe to show.

Control, format, bidi, private-use, unassigned, default-ignorable and blank characters become visible tokens, runs of
spaces collapse visibly, and so do characters that only another spelling of the same letter needs; two different texts
never look equal by invisible means.
"""

from __future__ import annotations

import re
import unicodedata

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"})
_IGNORABLE = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0})
# Symbols and marks by category, but nothing is seen of them.
_BLANK = frozenset({0x2800, 0x16FE4, 0x1D159, 0xFFFC})
_SPACES = re.compile(r" {2,}")
_TOKEN = re.compile(r"\[((?:U\+|×))")
_PLAIN = re.compile(r"[ !-~]*")


def visible(text: str, *, keep_newlines: bool = False) -> str:
    """Return the text with every invisible or direction-changing character shown as a token such as `[U+200B]`."""
    if _PLAIN.fullmatch(text) and "  " not in text and "[" not in text and text == text.strip():
        return text
    # A text that spells a token itself must not look like one.
    spelled = _TOKEN.sub(r"[U+005B]\1", text)
    shown = "".join(_shown(character, keep_newlines) for character in spelled)
    if not unicodedata.is_normalized("NFC", shown):
        shown = _composed(shown)
    shown = _SPACES.sub(lambda run: f" [×{len(run.group())}] ", shown)
    return _edges(shown)


def _shown(character: str, keep_newlines: bool) -> str:
    if character == "\n" and keep_newlines:
        return character
    code = ord(character)
    category = unicodedata.category(character)
    odd_space = category == "Zs" and character != " "
    variation = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF
    if category in _UNSAFE_CATEGORIES or code in _IGNORABLE or code in _BLANK or odd_space or variation:
        return f"[U+{code:04X}]"
    return character


def _composed(text: str) -> str:
    """Return the text with what NFC would change as tokens: `e` and an accent are no `é`, the Kelvin sign is no `K`."""
    shown: list[str] = []
    letter = ""
    for character in text:
        alone = unicodedata.normalize("NFC", character) != character
        if alone or unicodedata.normalize("NFC", letter + character) != letter + character:
            shown.append(f"[U+{ord(character):04X}]")
            continue
        letter = letter + character if unicodedata.combining(character) else character
        shown.append(character)
    return "".join(shown)


def _edges(text: str) -> str:
    head = "[U+0020]" if text.startswith(" ") else ""
    tail = "[U+0020]" if len(text) > 1 and text.endswith(" ") else ""
    return f"{head}{text.strip(' ') if head or tail else text}{tail}"


def storable(text: str) -> bool:
    """Tell whether both databases can keep the text: no NUL and no lone surrogate."""
    if "\x00" in text:
        return False
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return True
