"""The bytes of a stored log: independent zstd frames one after another, the last of which may be cut off.

A decoder called once returns the first frame only, and the magic bytes may occur inside compressed data. So frames are
found by following their headers and those of their blocks (RFC 8878), and each is then decoded in bounded pieces.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import zstandard

from apps.sessions.rules.refusals import LogCorrupt

MAGIC = b"\x28\xb5\x2f\xfd"
PIECE = 65_536
WINDOW = 8 * 1024 * 1024
"""A frame that needs more memory than this to decode is refused."""

_BLOCK = 128 * 1024
_MAGICS_TRIED = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """Where a frame lies; `whole` is False when the file ends before it does."""

    start: int
    end: int
    whole: bool


def frames_of(data: bytes) -> Iterator[Frame]:
    """Give the frames in order; raises LogCorrupt where the bytes are none."""
    start = 0
    while start < len(data):
        end = _end_of_frame(data, start=start)
        if end is None or end > len(data):
            yield Frame(start=start, end=len(data), whole=False)
            return
        yield Frame(start=start, end=end, whole=True)
        start = end


def _end_of_frame(data: bytes, *, start: int) -> int | None:
    """Return where a frame ends, None when its headers are cut off."""
    head = data[start : start + 4]
    if head != MAGIC[: len(head)]:
        raise LogCorrupt("The log is damaged: something that is no frame lies between its frames.")
    if len(data) <= start + 4:
        return None
    descriptor = data[start + 4]
    if descriptor & 0x08:
        raise LogCorrupt("The log is damaged: a frame's header is not valid.")
    single, checksum = descriptor & 0x20, descriptor & 0x04
    size_field = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    position = start + 5 + (0 if single else 1) + (0, 1, 2, 4)[descriptor & 3] + size_field
    while True:
        header = data[position : position + 3]
        if len(header) < 3:
            return None
        bits = int.from_bytes(header, "little")
        last, kind, size = bits & 1, (bits >> 1) & 3, bits >> 3
        if kind == 3 or size > _BLOCK:
            raise LogCorrupt("The log is damaged: a block's header is not valid.")
        position += 3 + (1 if kind == 1 else size)
        if last:
            return position + (4 if checksum else 0)


def pieces_of(data: bytes, *, frame: Frame) -> Iterator[bytes]:
    """Give the text of a frame in pieces of bounded size; of a cut-off frame, as much as can be decoded."""
    decoder = zstandard.ZstdDecompressor(max_window_size=WINDOW)
    with decoder.stream_reader(io.BytesIO(data[frame.start : frame.end]), read_size=PIECE) as reader:
        while True:
            try:
                piece = reader.read(PIECE)
            except zstandard.ZstdError:
                if frame.whole:
                    raise LogCorrupt("The log is damaged: a frame in it cannot be decoded.") from None
                return
            if not piece:
                return
            yield piece


def frame_after(data: bytes, *, start: int) -> bool:
    """Tell whether a whole frame lies behind a place: then what is there was damaged, not cut off."""
    place = start
    for _ in range(_MAGICS_TRIED):
        place = data.find(MAGIC, place + 1)
        if place < 0:
            return False
        try:
            end = _end_of_frame(data, start=place)
            if end is not None and end <= len(data):
                held = Frame(start=place, end=end, whole=True)
                if any(pieces_of(data, frame=held)):
                    return True
        except LogCorrupt:
            continue
    return False


def write_frames(batches: Iterable[bytes]) -> bytes:
    """Return batches of whole lines as one frame each."""
    compressor = zstandard.ZstdCompressor(write_checksum=True)
    return b"".join(compressor.compress(batch) for batch in batches)
