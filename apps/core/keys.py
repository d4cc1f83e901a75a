"""Keys: one small file for each, made at first use, readable by the server's user only."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

KEY_BYTES = 32
NAMES = ("django_secret", "ledger_hmac", "device_jwt", "webhook_hmac")


class KeyRing:
    """The keys in one folder."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; nothing is made before the first use."""
        self.folder = folder
        self._known: dict[str, bytes] = {}

    def key(self, name: str) -> bytes:
        """Return a key of 32 bytes; it is made when there is none."""
        if name not in self._known:
            self._known[name] = bytes.fromhex(self._read_or_make(name))
        return self._known[name]

    def text(self, name: str) -> str:
        """Return the key as hex digits."""
        return self.key(name).hex()

    def rotate(self, name: str) -> None:
        """Put a new key in the place of the old one, which stays beside it with a number."""
        path = self.folder / name
        if path.exists():
            number = sum(1 for _ in self.folder.glob(f"{name}.old*")) + 1
            path.rename(self.folder / f"{name}.old{number}")
        self._known.pop(name, None)
        self.key(name)

    def older(self, name: str) -> list[bytes]:
        """Return the keys that rotations have put aside, the oldest first."""
        count = sum(1 for _ in self.folder.glob(f"{name}.old*"))
        return [bytes.fromhex((self.folder / f"{name}.old{n}").read_text().strip()) for n in range(1, count + 1)]

    def _read_or_make(self, name: str) -> str:
        path = self.folder / name
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            handle, temporary = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "w") as file:
                file.write(secrets.token_hex(KEY_BYTES))
            # Two processes may start at once: link refuses the second, and both read the same key.
            try:
                os.link(temporary, path)
            except FileExistsError:
                pass
            finally:
                os.unlink(temporary)
        return path.read_text().strip()
