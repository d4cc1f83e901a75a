"""Text from data is safe to show, and two different texts never look equal by invisible means."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.text import storable, visible


class TestVisible:
    @pytest.mark.parametrize("text", ["Dentist", "Zahnarzt (Müller)", "牙医", "موعد", "a b", "[x]", "naïve", "👩"])
    def test_plain_text_stays_as_it_is(self, text):
        assert visible(text) == text

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("a\u200bb", "a[U+200B]b"),
            ("a\u202eb", "a[U+202E]b"),
            ("a\x00b", "a[U+0000]b"),
            ("a\u00a0b", "a[U+00A0]b"),
            ("a\ufe0fb", "a[U+FE0F]b"),
            ("a\ue000b", "a[U+E000]b"),
            ("a\u3164b", "a[U+3164]b"),
            ("a\nb", "a[U+000A]b"),
            ("a   b", "a [×3] b"),
            (" a", "[U+0020]a"),
            ("a ", "a[U+0020]"),
            ("a[U+200B]b", "a[U+005B]U+200B]b"),
            ("a\U000e0041b", "a[U+E0041]b"),
            ("a\u2800b", "a[U+2800]b"),
            ("a\ufffcb", "a[U+FFFC]b"),
            ("Cafe\u0301", "Cafe[U+0301]"),
            ("o\u0302\u0323", "o[U+0302][U+0323]"),
            ("\u1100\u1161", "\u1100[U+1161]"),
            ("4 \u212a", "4 [U+212A]"),
        ],
    )
    def test_what_cannot_be_seen_becomes_a_token(self, text, shown):
        assert visible(text) == shown

    def test_line_breaks_may_stay(self):
        assert visible("a\nb", keep_newlines=True) == "a\nb"

    @given(st.text())
    def test_nothing_invisible_is_left(self, text):
        shown = visible(text)
        assert all(
            unicodedata.category(character) not in ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp") for character in shown
        )
        assert "  " not in shown

    @given(st.text(), st.text())
    def test_different_texts_look_different(self, one, other):
        if one != other:
            assert visible(one) != visible(other)

    @pytest.mark.parametrize("text", ["Tiếng Việt", "हिन्दी", "ไทย", "한국어", "שָׁלוֹם", "नमस्ते"])
    def test_letters_with_marks_stay_as_they_are_written_today(self, text):
        composed = unicodedata.normalize("NFC", text)
        assert visible(composed) == composed

    @given(st.text(alphabet="aeo\u0301\u0323\u0302\u1100\u1161\u11a8Åé\u212b"))
    def test_two_spellings_of_a_letter_look_different(self, text):
        assert unicodedata.is_normalized("NFC", visible(text))
        for form in ("NFC", "NFD"):
            other = unicodedata.normalize(form, text)
            assert other == text or visible(other) != visible(text)


class TestStorable:
    @pytest.mark.parametrize("text", ["", "a", "é", "👩", "\u200b"])
    def test_text_is(self, text):
        assert storable(text)

    @pytest.mark.parametrize("text", ["a\x00", "\ud800", "a\udfff"])
    def test_what_a_database_refuses_is_not(self, text):
        assert not storable(text)
