"""The cron dialect beyond the vectors: sizes, blanks, messages."""

import pytest

from apps.schedules.rules.cron import canonical_expression, parse_expression
from apps.schedules.rules.errors import InvalidRule


def canonical(expression):
    return canonical_expression(parse_expression(expression))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0\u00a0\u30000\ufeff* \t* *", "0 0 * * *"),
        (f"{'0' * 5000}5 0 * * *", "5 0 * * *"),
        (f"*/{'9' * 5000} 0 * * *", "*/60 0 * * *"),
        ("0 0 1,2 * *", "0 0 1-2 * *"),
        ("0 0 */2,4,8 * *", "0 0 */2,4-8/4 * *"),
        ("5,* 0 * * *", "0-59 0 * * *"),
    ],
)
def test_it_is_read_as_written(expression, expected):
    assert canonical(expression) == expected
    assert canonical(expected) == expected


def test_blanks_of_other_languages_do_not_separate():
    with pytest.raises(InvalidRule):
        parse_expression("0\u001c0 * * *")


@pytest.mark.parametrize(
    ("expression", "field", "words"),
    [
        ("61,, 0 * * *", "minute", "outside 0 to 59"),
        (",61 0 * * *", "minute", "empty element"),
        ("*/0 99 * * *", "minute", "a step of 0"),
        ("*5 0 * * *", "minute", "not understood"),
        ("70/2 0 * * *", "minute", "outside 0 to 59"),
        ("5/0 0 * * *", "minute", "a step without a range"),
        ("9-70/0 0 * * *", "minute", "outside 0 to 59"),
        ("9-7/0 0 * * *", "minute", "end lies before its start"),
        ("0 0 * * 1-8", "day-of-week", "outside 0 to 7"),
    ],
)
def test_the_first_fault_is_named(expression, field, words):
    with pytest.raises(InvalidRule, match=words) as caught:
        parse_expression(expression)
    assert caught.value.extra == {"field": field}
    assert f"The {field} field" in caught.value.message
