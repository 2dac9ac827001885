"""A headless Chromium, asked through its own pipe: does the report look right at two sizes, light and dark; and pictures of it.

In: the report's file. Out: what is wrong with a layout, PNG bytes of a figure. Refuses to know: what the report says.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SIZES = {"phone": (390, 844), "desk": (1280, 900)}
MODES = ("light", "dark")
REMEDY = "apt-get install chromium"

# Wider than the window, text cut off or too small, a figure without its marks, a script or picture from elsewhere.
WRONG = """(room => {
  const wrong = [];
  const width = document.documentElement.scrollWidth;
  if (width > room) wrong.push('wider than the window: ' + width);
  for (const e of document.querySelectorAll('[src],link[href]')) wrong.push('needs ' + (e.src || e.href));
  for (const f of document.querySelectorAll('figure')) {
    const svg = f.querySelector('svg');
    if (!f.querySelectorAll('circle').length) wrong.push(f.id + ' shows nothing');
    for (const t of svg.querySelectorAll('text')) {
      const box = t.getBoundingClientRect(), out = svg.getBoundingClientRect();
      if (box.left < out.left - 1 || box.right > out.right + 1) wrong.push(f.id + ': text is cut off: ' + t.textContent);
      if (box.height < 10) wrong.push(f.id + ': text is smaller than 10 pixels: ' + t.textContent);
    }
  }
  const light = c => { const v = c.match(/[0-9.]+/g).slice(0, 3).map(Number); return (v[0] + v[1] + v[2]) / 765; };
  const style = getComputedStyle(document.body);
  if (Math.abs(light(style.color) - light(style.backgroundColor)) < 0.6) wrong.push('text and paper are alike');
  if ((light(style.backgroundColor) > 0.5) !== matchMedia('(prefers-color-scheme: light)').matches) wrong.push('not in its mode');
  return wrong;
})"""


class Page:
    """One tab."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back = to, os.fdopen(back, "rb")
        self._number = 0
        self._held = b""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.said("Page.enable")

    def ask(self, method: str, session: str | None = None, **told: Any) -> dict[str, Any]:
        self._number += 1
        request = {"id": self._number, "method": method, "params": told} | ({"sessionId": session} if session else {})
        os.write(self._to, json.dumps(request).encode() + b"\0")
        while True:
            reply = self._next()
            if reply.get("id") == self._number:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']['message']}")
                return dict(reply["result"])

    def said(self, method: str, **told: Any) -> dict[str, Any]:
        return self.ask(method, self._session, **told)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._held:
            more = os.read(self._back.fileno(), 1 << 20)
            if not more:
                raise RuntimeError(f"the browser has ended; {REMEDY} may mend it")
            self._held += more
        one, _, self._held = self._held.partition(b"\0")
        return dict(json.loads(one))

    def close(self) -> None:
        self._back.close()

    def open(self, path: Path) -> None:
        self.said("Page.navigate", url=path.resolve().as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def become(self, width: int, height: int, mode: str) -> None:
        self.said(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2, mobile=width < 600
        )
        self.said("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": mode}])

    def evaluate(self, script: str) -> Any:
        return self.said("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def picture(self, selector: str = "") -> bytes:
        told: dict[str, Any] = {"format": "png", "captureBeyondViewport": True}
        if selector:
            box = f"document.querySelector('{selector}').getBoundingClientRect()"
            place = f"(r => [r.x + scrollX, r.y + scrollY, r.width, r.height])({box})"
            x, y, width, height = self.evaluate(place)
            told["clip"] = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
        return base64.b64decode(self.said("Page.captureScreenshot", **told)["data"])


def browser() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def opened(path: Path) -> Iterator[Page]:
    program = browser()
    if program is None:
        raise FileNotFoundError(f"no Chromium found; run: {REMEDY}")
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            program,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={profile}",
        ]
        shell = f"exec {' '.join(command)} --no-first-run --remote-debugging-pipe 3<&{theirs_in} 4>&{theirs_out}"
        process = subprocess.Popen(
            ["bash", "-c", shell],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        page = None
        try:
            page = Page(ours_out, ours_in)
            page.open(path)
            yield page
        finally:
            process.kill()
            process.wait()
            os.close(ours_out)
            if page is not None:
                page.close()


def looked_at(path: Path, pictures: Path | None = None) -> list[str]:
    """What is wrong at each size and in each mode."""
    wrong = []
    with opened(path) as page:
        for size, (width, height) in SIZES.items():
            for mode in MODES:
                page.become(width, height, mode)
                wrong += [f"{size}, {mode}: {words}" for words in page.evaluate(f"{WRONG}({width})")]
                if pictures:
                    pictures.mkdir(parents=True, exist_ok=True)
                    (pictures / f"{size}-{mode}.png").write_bytes(page.picture())
    return wrong


def figure_pictures(path: Path, keys: list[str]) -> dict[str, bytes]:
    """Figures as a desk in light mode shows them, without what unfolds below."""
    with opened(path) as page:
        page.become(900, 900, "light")
        page.evaluate("document.head.insertAdjacentHTML('beforeend', '<style>details{display:none}</style>')")
        return {key: page.picture(f"#{key}") for key in keys}
