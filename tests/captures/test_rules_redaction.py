import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.captures.rules import redact

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA0123456789abcdef\nabc=\n-----END RSA PRIVATE KEY-----"

HEAD = "-----BEGIN PRIVATE KEY-----"


class TestRedaction:
    @pytest.mark.parametrize(
        ("text", "wanted"),
        [
            ("password: hunter2", "password: [REDACTED]"),
            ("my password is safe", "my password is safe"),
            ("API_KEY=abc", "API_KEY=[REDACTED]"),
            ("api key : abc and more", "api key : [REDACTED] and more"),
            ("x-api-key:abc", "x-api-key:[REDACTED]"),
            ("aws_secret_access_key = abc/def+1", "aws_secret_access_key = [REDACTED]"),
            ("client_secret=abc", "client_secret=[REDACTED]"),
            ("passwd=abc.", "passwd=[REDACTED]."),
            ("(token: abc), then", "(token: [REDACTED]), then"),
            ('{"password":"two words","x":1}', '{"password":"[REDACTED]","x":1}'),
            ('{\\"password\\": \\"two words\\"}', '{\\"password\\": [REDACTED]"}'),
            ('password: "unfinished', "password: [REDACTED]"),
            ("password := abc", "password := [REDACTED]"),
            ("password:\nhunter2", "password:\n[REDACTED]"),
            ("Authorization: Bearer abcdefghijklmnop", "Authorization: [REDACTED]"),
            ("Authorization: Basic YWxhZGRpbjpvcGVu", "Authorization: [REDACTED]"),
            ("curl -H 'Bearer abcdefghijklmnop'", "curl -H 'Bearer [REDACTED]'"),
            ("bearer of bad news", "bearer of bad news"),
            ("sk-abcdefghijklmnopqrst", "[REDACTED]"),
            ("risk-assessment", "risk-assessment"),
            ("ghp_0123456789abcdefghij", "[REDACTED]"),
            ("github_pat_0123456789abcdefghij", "[REDACTED]"),
            ("xoxb-123456789012-abcdef", "[REDACTED]"),
            (f"key:\n{PEM}\nend", "key:\n[REDACTED]\nend"),
            (PEM.replace("\n", "\\n"), "[REDACTED]"),
            (PEM.partition("-----END")[0] + "and then prose", "[REDACTED]\nand then prose"),
            ("-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",) * 2,
            ("the tokens: 5", "the tokens: 5"),
            ("secretary: Bob", "secretary: Bob"),
            ('the "token:"', 'the "token:"'),
        ],
    )
    def test_secrets_are_replaced_and_the_rest_stays(self, text, wanted):
        assert redact(text) == wanted

    @settings(deadline=None)
    @given(st.text(alphabet="abcdefghij0123456789", min_size=1, max_size=30), st.sampled_from(["", '"', "'", "`"]))
    def test_no_labelled_value_survives(self, secret, quote):
        secret = f"Z{secret}Z"
        for label in ("api_key", "Access-Key", "secret", "PASSWORD", "passwd", "token", "authorization"):
            for between in (":", " = ", ": "):
                assert secret not in redact(f"so {label}{between}{quote}{secret}{quote} it is")

    @pytest.mark.parametrize("piece", [HEAD, f"{HEAD}\na", "token:'", 'token:"', "token", "bearer ", "api "])
    def test_no_text_makes_it_slow(self, piece):
        text = piece * (200_000 // len(piece))
        begun = time.process_time()
        redact(text)
        assert time.process_time() - begun < 5
