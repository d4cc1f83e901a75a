"""Find a Chromium for the browser tests, or install one; as a program it prints the path or what is missing."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = (
    "The browser tests need a Chromium: none was found and none could be installed. "
    "Install the package chromium, or set SAYSO_CHROMIUM to the path of a browser."
)
# Quiet: no look-ups of its own. Without the sandbox only as root, where Chromium refuses to start with it.
ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    *(("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()),
)


class ChromiumMissing(Exception):
    """The browser tests need a Chromium."""


def runs(path: str) -> bool:
    """Say whether the program is a browser that starts, not a stub that only advertises one."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and b"chrom" in answer.stdout.lower()


def candidates() -> list[str]:
    """List the paths to try: the named one alone, else the installed ones, then those that Playwright downloaded."""
    if named := os.environ.get("SAYSO_CHROMIUM"):
        return [named]
    folders = [
        Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache/ms-playwright"),
        Path.home() / "Library/Caches/ms-playwright",
    ]
    downloaded = [
        str(path)
        for folder in folders
        for pattern in ("chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/*.app/Contents/MacOS/*")
        for path in sorted(folder.glob(pattern), reverse=True)
    ]
    return [path for name in NAMES if (path := shutil.which(name))] + downloaded


def find() -> str | None:
    """Return the path of the first Chromium that starts."""
    return next((path for path in candidates() if runs(path)), None)


def install() -> None:
    """Try Playwright's own download, then Debian's package; whether it worked, `find` tells."""
    attempts = [[[sys.executable, "-m", "playwright", "install", "chromium"]]]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        attempts.append([["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]])
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for commands in attempts:
        print("No Chromium yet, trying:", " ".join(commands[-1]), file=sys.stderr, flush=True)
        for command in commands:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
            if done.returncode:
                print(*done.stderr.strip().splitlines()[:1], file=sys.stderr)
        if find():
            return


@cache
def chromium() -> str:
    """Return the path of a Chromium that starts, or raise with the sentence that says what to do."""
    path = find()
    if path is None and "SAYSO_CHROMIUM" not in os.environ:
        install()
        path = find()
    if path is None:
        raise ChromiumMissing(MISSING)
    return path


if __name__ == "__main__":
    try:
        print("Chromium:", chromium())
    except ChromiumMissing as error:
        sys.exit(str(error))
