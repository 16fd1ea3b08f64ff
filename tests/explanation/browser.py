"""A browser without a window, driven over a pipe: the DevTools protocol, messages that end in NUL."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Message = dict[str, Any]
"""Any: JSON."""

PATIENCE = 60
"""Seconds until a browser that does not answer is an error."""


def find_browser() -> str | None:
    """The program of a browser, if there is one."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    return next(filter(None, map(shutil.which, names)), None)


class Page:
    """One page. events: what the browser said unasked, such as `Runtime.exceptionThrown`."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._session: str | None = None
        self._sent = 0
        self._rest = b""
        self.events: list[Message] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: object) -> Message:
        """One command and its answer."""
        self._sent += 1
        message: Message = {"id": self._sent, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        for answer in self._messages():
            if answer.get("id") == self._sent:
                assert "error" not in answer, answer
                result: Message = answer["result"]
                return result
            self.events.append(answer)
        raise AssertionError("the browser has gone")

    def _messages(self) -> Iterator[Message]:
        deadline = time.monotonic() + PATIENCE
        while True:
            while b"\0" in self._rest:
                whole, _, self._rest = self._rest.partition(b"\0")
                yield json.loads(whole)
            assert select.select([self._from], [], [], deadline - time.monotonic())[0], "the browser does not answer"
            read = os.read(self._from, 1 << 16)
            if not read:
                return
            self._rest += read

    def open(self, path: Path, place: str = "") -> None:
        """Opens a file, and waits until all of it is there."""
        self.ask("Page.navigate", url=path.as_uri() + place)
        deadline = time.monotonic() + PATIENCE
        while self.value("document.readyState") != "complete":
            assert time.monotonic() < deadline, "the page is never complete"

    def value(self, expression: str) -> object:
        """What an expression of JavaScript gives; later events have happened."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """The mouse is pressed and let go over the first element that the selector finds."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.value(f"{found}.scrollIntoView({{block: 'center'}})")
        middle = f"(() => {{ const r = {found}.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        place = self.value(middle)
        assert isinstance(place, list)
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
        self.value("new Promise(done => setTimeout(done, 50))")

    def of(self, *methods: str) -> list[Message]:
        """The parameters of all events of some kinds."""
        return [event["params"] for event in self.events if event.get("method") in methods]


@contextmanager
def browse(program: str) -> Iterator[Page]:
    """A page of a fresh browser, which ends with the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        read_by_browser, to_browser = os.pipe()
        from_browser, written_by_browser = os.pipe()
        # The browser's ends are its descriptors 3 and 4, so they must be others before.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read_by_browser, written_by_browser)]

        def place() -> None:
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        command += [f"--user-data-dir={profile}", "--remote-debugging-pipe", "--window-size=1400,1000"]
        quiet = subprocess.DEVNULL
        started = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, preexec_fn=place, close_fds=False)
        for end in (read_by_browser, written_by_browser, *ends):
            os.close(end)
        try:
            yield Page(to_browser, from_browser)
        finally:
            started.kill()
            started.wait()
            os.close(to_browser)
            os.close(from_browser)
