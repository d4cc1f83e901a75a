import random
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.core.errors import SaysoError
from apps.sessions.rules.log_frames import MAGIC, frames_of, write_frames
from apps.sessions.rules.log_reader import Limits, LogReader, Torn, peek_header, write_log
from apps.sessions.rules.log_rows import Undecodable, decode_ranges, decode_row, encode_ranges, encode_row
from apps.sessions.rules.price import rough_tokens
from apps.sessions.rules.recognition import removals
from apps.sessions.rules.refusals import LogCorrupt, LogRefused, LogTooLarge
from apps.sessions.rules.repair import orphans_of, reopening_events
from apps.sessions.rules.validator import Validator, load
from tests.conftest import VECTORS
from tests.sessions import logs

SAMPLE = (VECTORS / "sample_session.v4.jsonl.zstd").read_bytes()
EVENTS = list(LogReader(SAMPLE))
HEADER = LogReader(SAMPLE).header
TURNS = logs.numbered([*logs.a_turn(1), *logs.a_turn(2)])


def read(data, **options):
    reader = LogReader(data, **options)
    return list(reader), reader.torn


def outcome(data, **options):
    """Return what could be read, or None for a clear error; anything else is a fault."""
    try:
        events, torn = read(data, **options)
    except SaysoError:
        return None
    return events, torn


class TestSample:
    def test_reads_as_its_makers_say(self):
        events, torn = read(SAMPLE)
        state, ground = load(events, header=HEADER)
        (removal,) = removals(events, ground=ground)
        assert (len(events), torn, len(list(frames_of(SAMPLE)))) == (41, None, 7)
        assert ground.nodes() == [2, 4, 5, 32, 23, 26, 27, 37, 38]
        assert (removal.turn, removal.shadowed) == (2, (10, 11, 13, 16))
        assert rough_tokens(events[seq]["data"] for seq in removal.shadowed) == 215
        assert (state.turn, state.compaction, state.next_turn) == (None, None, 5)

    def test_needs_only_its_first_frame_for_its_header(self):
        first = next(frames_of(SAMPLE))
        assert peek_header(SAMPLE[: first.end]) == HEADER

    def test_is_written_as_it_was_read(self):
        for compressed in (True, False):
            data = write_log(header=HEADER, batches=[EVENTS[:9], [], EVENTS[9:]], compressed=compressed)
            assert read(data, compressed=compressed) == (EVENTS, None)


class TestRows:
    @given(st.lists(st.integers(0, 40), unique=True, max_size=20))
    def test_ranges_come_back(self, seqs):
        assert decode_ranges(encode_ranges(seqs), seq=41) == seqs
        assert decode_ranges(encode_ranges(sorted(seqs)), seq=41) == sorted(seqs)

    @pytest.mark.parametrize("coded", [None, [True], [[1]], [[1, 2, 3]], [1, 1], [[0, 1], 1], [-1], [[0, 8]], ["1"]])
    def test_ranges_are_refused(self, coded):
        with pytest.raises(Undecodable):
            decode_ranges(coded, seq=8)

    def test_ranges_unfold_only_so_far(self):
        with pytest.raises(Undecodable):
            decode_ranges([[0, 10**15]], seq=10**15 + 1)

    def test_a_lone_surrogate_and_a_nul_survive(self):
        event = {"type": "todo/write", "seq": 0, "time": 0, "data": "\ud83d\x00😀"}
        assert decode_row(encode_row(event).strip().encode()) == event
        assert read(write_log(header=logs.HEADER, batches=[[event]])) == ([event], None)

    def test_on_an_ignorable_event_sources_are_whatever_they_are(self):
        event = {"type": "a/b", "seq": 0, "time": 0, "data": 1, "ignorable": True, "sourceEventSeqs": [[9, 1], "x"]}
        assert decode_row(encode_row(event).strip().encode()) == event

    @pytest.mark.parametrize("line", [b"", b"[]", b"{", b'{"type":"a"}', b"\xff", b'{"type":NaN}'])
    def test_a_line_is_no_event(self, line):
        with pytest.raises(Undecodable):
            decode_row(line)


class TestGenerations:
    @pytest.mark.parametrize("version", [0, 1, 2, 3])
    def test_an_older_format_is_refused_by_its_name(self, version):
        with pytest.raises(LogRefused, match=f"format {version}; open it once with the newer harness"):
            LogReader(write_log(header={"version": version, "id": "x"}, batches=[]))

    @pytest.mark.parametrize("first", [b"", b"\n", b"[]\n", b'{"version":4}', b"{\n", b"\xff\n"])
    def test_a_log_without_a_header_is_refused(self, first):
        with pytest.raises(SaysoError):
            LogReader(first, compressed=False)

    def test_the_header_line_says_that_it_is_one(self):
        data = write_log(header={**logs.HEADER, "type": "log"}, batches=[])
        with pytest.raises(LogRefused):
            LogReader(data)


class TestTornTails:
    def test_each_cut_leaves_a_beginning_of_the_log(self):
        ends = {frame.end for frame in frames_of(SAMPLE)}
        header_ends = min(ends)
        for cut in sorted({*range(0, len(SAMPLE), 7), *ends, *(end - 1 for end in ends), *(end + 1 for end in ends)}):
            got = outcome(SAMPLE[:cut])
            assert (got is None) == (cut < header_ends)
            if got:
                events, torn = got
                assert events == EVENTS[: len(events)]
                assert (torn is None) == (cut in ends or cut > len(SAMPLE))
                state, ground = load(events, header=HEADER)
                for event in reopening_events(state=state):
                    Validator(state=state, ground=ground, orphans=orphans_of(state)).accept(event)
                assert (state.turn, state.compaction, state.ends_seed) == (None, None, True)

    def test_a_cut_line_is_dropped(self):
        data = logs.lines(TURNS)
        assert read(data[:-20], compressed=False) == (TURNS[:-1], Torn(events=11, lines=0, bytes_left=66))

    @pytest.mark.parametrize("bad", [b"{]\n", b"7\n", encode_row({**TURNS[0], "seq": 99}).encode()])
    def test_a_bad_line_starts_the_tail_only_if_no_turn_ends_after_it(self, bad):
        head, rows = logs.lines([]), [encode_row(event).encode() for event in TURNS]
        tail = b"".join(rows[7:11])
        assert read(head + b"".join(rows[:7]) + bad + tail, compressed=False)[1] == Torn(
            events=7, lines=5, bytes_left=0
        )
        with pytest.raises(LogCorrupt):
            read(head + b"".join(rows[:7]) + bad + tail + rows[11], compressed=False)

    @pytest.mark.parametrize(
        ("row", "reason"),
        [
            ({**logs.user("u", "x"), "surfaceOp": {"op": "replace", "start": 0, "end": 0}}, "surface.bad_op"),
            (logs.user("u", "x", source={"kind": "plugin"}), "message.source"),
            (logs.system(1, 1, ""), "message.id"),
            ({"type": "request/header", "data": {"header": {"system": "x"}}}, "request.retired_system"),
        ],
    )
    def test_retired_syntax_is_refused_even_in_a_torn_tail(self, row, reason):
        data = logs.lines(TURNS) + b"{]\n" + encode_row({"seq": 13, "time": 0, **row}).encode()
        with pytest.raises(LogRefused) as caught:
            read(data, compressed=False)
        assert caught.value.reason == reason


class TestDamage:
    """Truncated, bent, or made to burst: a clear error or a recovered tail, in bounded memory."""

    @settings(max_examples=150, deadline=None)
    @given(st.integers(0, len(SAMPLE) * 8 - 1))
    def test_a_flipped_bit_is_an_error_or_harmless(self, bit):
        bent = bytearray(SAMPLE)
        bent[bit // 8] ^= 1 << (bit % 8)
        got = outcome(bytes(bent))
        if got is not None:
            events, torn = got
            assert events == EVENTS[: len(events)]
            # What is lost can only be the last batch.
            assert torn is None or len(events) >= 34

    @settings(max_examples=100, deadline=None)
    @given(st.randoms(use_true_random=False), st.integers(1, 12))
    def test_bent_lines_never_break_the_reader(self, chance, times):
        bent = bytearray(logs.lines(EVENTS, header=HEADER))
        for _ in range(times):
            start = chance.randrange(len(bent))
            bent[start : start + chance.randrange(20)] = chance.randbytes(chance.randrange(20))
        got = outcome(bytes(bent), compressed=False)
        if got:
            with suppress(LogRefused):
                load(got[0], header=HEADER)

    @settings(max_examples=100, deadline=None)
    @given(st.binary(max_size=200))
    def test_bytes_of_any_kind_never_break_the_reader(self, data):
        for prefix in (b"", MAGIC, SAMPLE[: next(frames_of(SAMPLE)).end]):
            outcome(prefix + data)
            outcome(prefix + data, compressed=False)

    def test_frames_behind_a_damaged_one_are_not_dropped_in_silence(self):
        frames = list(frames_of(SAMPLE))
        # The third frame claims one more block than it has, so it seems to reach beyond the next.
        bent = bytearray(SAMPLE)
        place = frames[2].start + 4 + 1 + 1 + (0, 2, 4, 8)[bent[frames[2].start + 4] >> 6]
        bent[place] &= 0xFE
        with pytest.raises(LogCorrupt):
            read(bytes(bent))

    @pytest.mark.parametrize("byte", [b" ", b"\n", b"{"])
    def test_a_bomb_is_refused_in_little_memory(self, byte):
        block = (2 | (128 * 1024) << 3).to_bytes(3, "little") + byte
        last = (3 | (1 << 3)).to_bytes(3, "little") + b"\n"
        bomb = MAGIC + b"\x00\x58" + block * 100_000 + last
        data = SAMPLE[: next(frames_of(SAMPLE)).end] + bomb
        tracemalloc.start()
        with pytest.raises(LogTooLarge):
            read(data, limits=Limits(text_bytes=16 * 1024 * 1024, lines=100_000, line_bytes=1024 * 1024))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * 1024 * 1024

    def test_a_frame_that_wants_a_huge_window_is_refused(self):
        data = SAMPLE[: next(frames_of(SAMPLE)).end] + MAGIC + b"\x00\xf8" + b"\x09\x00\x00x"
        with pytest.raises(LogCorrupt):
            read(data)

    def test_source_lists_cannot_unfold_without_end(self):
        rows = [{**logs.user("u", "x"), "sourceEventSeqs": list(range(seq))} for seq in range(1, 400)]
        events = logs.numbered([logs.user("u", "x"), *rows])
        with pytest.raises(LogTooLarge):
            read(write_log(header=logs.HEADER, batches=[events]), limits=Limits(sources=1_000))

    def test_arrays_and_objects_are_counted_before_they_are_made(self):
        rows = logs.numbered([{"type": "todo/write", "data": [[]] * 50} for _ in range(9)])
        data = write_log(header=logs.HEADER, batches=[rows])
        assert read(data, limits=Limits(line_containers=60, containers=500))[0] == rows
        for limits in (Limits(line_containers=50), Limits(containers=400)):
            with pytest.raises(LogTooLarge):
                read(data, limits=limits)

    def test_many_frames_are_one_log(self):
        rows = logs.numbered([{"type": "todo/write", "data": random.Random(seq).random()} for seq in range(300)])
        data = write_log(header=logs.HEADER, batches=[[row] for row in rows])
        assert len(list(frames_of(data))) == 301
        assert read(data) == (rows, None)

    def test_something_between_frames_is_damage(self):
        one, two = write_frames([logs.lines(TURNS[:6])]), write_frames([b"{}\n"])
        with pytest.raises(LogCorrupt):
            read(one + b"\x00\x00\x00\x00" + two)
