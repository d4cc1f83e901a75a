"""Random texts near the limits: short ones, marks that people paste, and long runs of characters of each width."""

from hypothesis import strategies as st

MARKS = ["[truncated 12 bytes]", "omitted_steps", '{"omitted_steps":3}', "[REDACTED]", "[user]", "\n\n[assistant]\n"]
UNITS = ["a", "é", "中", "😀", " ", "\n", '"', "\\", "\x01", *MARKS]
PLAIN = st.text(alphabet="ab cé中😀\n\t", max_size=12)


def runs(*times):
    """Give a unit written often enough to reach the limits, between short texts."""
    long = st.builds(lambda unit, count: (unit * count)[:count], st.sampled_from(UNITS), st.sampled_from(times))
    return st.builds(lambda head, body, tail: head + body + tail, PLAIN, long, PLAIN)


def texts(*times):
    return PLAIN | st.sampled_from(MARKS) | runs(*times)


def blocks(text):
    """Give a text as a string or as the blocks of a message."""
    typed = {"type": "text", "text": text}
    cut = len(text) // 2
    halves = [{"type": "text", "text": text[:cut]}, {"type": "image"}, {"type": "text", "text": text[cut:]}]
    return st.sampled_from([text, [typed], halves])


def in_blocks(strategy):
    return strategy.flatmap(blocks)


def plain(content):
    """Put the text of a message together again."""
    if isinstance(content, str):
        return content.strip()
    return "".join(block.get("text", "") for block in content).strip()
