"""Chromium without a window, for what only a real layout can tell; nothing is fetched."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--virtual-time-budget=4000",
)  # fmt: skip

# Measured inside a frame of the wanted width, because a browser window cannot be as narrow as a phone.
MEASURE = """
const frame = document.querySelector('iframe');
frame.addEventListener('load', () => {
  const page = frame.contentDocument, seen = {};
  seen.pageWidth = page.documentElement.scrollWidth;
  seen.frameWidth = page.documentElement.clientWidth;
  seen.background = frame.contentWindow.getComputedStyle(page.body).backgroundColor;
  seen.resources = frame.contentWindow.performance.getEntriesByType('resource').length;
  seen.texts = []; seen.clipped = []; seen.overlaps = [];
  for (const svg of page.querySelectorAll('svg')) {
    const box = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll('text')];
    for (const text of texts) {
      const t = text.getBoundingClientRect();
      seen.texts.push(t.height);
      if (t.left < box.left - 1 || t.right > box.right + 1 || t.top < box.top - 1 || t.bottom > box.bottom + 1)
        seen.clipped.push(text.textContent);
    }
    const flat = texts.filter(text => !(text.getAttribute('transform') || '').includes('rotate('));
    for (let i = 0; i < flat.length; i++) for (let j = i + 1; j < flat.length; j++) {
      const a = flat[i].getBoundingClientRect(), b = flat[j].getBoundingClientRect();
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 3) seen.overlaps.push(flat[i].textContent + ' / ' + flat[j].textContent);
    }
  }
  document.querySelector('pre').textContent = JSON.stringify(seen);
});
"""


def measure(page: str, *, width: int, dark: bool = False) -> dict[str, Any]:
    """Lay a page out at a width and return what was measured."""
    assert CHROMIUM is not None
    frame = f'<iframe width="{width}" height="900" style="border:0" srcdoc="{html.escape(page)}"></iframe>'
    wrapper = f"<!DOCTYPE html><meta charset=utf-8><pre></pre>{frame}<script>{MEASURE}</script>"
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        file.write_text(wrapper, encoding="utf-8")
        command = [
            CHROMIUM,
            *FLAGS,
            *scheme,
            f"--user-data-dir={folder}/profile",
            f"--window-size={max(width, 500)},1000",
        ]
        done = subprocess.run(
            [*command, "--dump-dom", file.as_uri()], capture_output=True, text=True, timeout=120, check=True
        )
    found = re.search(r"<pre>(\{.*?\})</pre>", done.stdout, flags=re.DOTALL)
    assert found, done.stderr[-500:]
    return dict(json.loads(html.unescape(found.group(1))))
