"""What a field may hold that nobody meant."""

LONG = "x" * 1_000_000
JSON_VALUES = {
    "null": "null",
    "true": "true",
    "list": "[]",
    "object": "{}",
    "blank": '""',
    "infinite": "1e309",
    "nan": "NaN",
    "surrogate": '"\\ud800"',
    "long": f'"{LONG}"',
    "nul": '"\\u0000"',
    "negative": "-1",
    "huge": "9" * 30,
    "nested": '{"a":[{"b":[[null,""]]}]}',
}
"""As JSON writes them; several are none."""
TEXT_VALUES = {
    **{name: JSON_VALUES[name] for name in ("null", "true", "list", "object", "infinite", "nan", "negative", "huge")},
    "blank": "",
    "surrogate": "%ED%A0%80",
    "long": LONG,
    "nul": "%00",
    "nested": "%7B%22a%22%3A%5B%5D%7D",
}
"""As an address or a form writes them, escaped already."""
assert list(TEXT_VALUES) != [] and set(TEXT_VALUES) == set(JSON_VALUES)  # noqa: PT018
