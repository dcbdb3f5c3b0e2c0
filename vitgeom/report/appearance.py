"""The look of the page: one column on a phone, two or three on a desk, light or dark as the reader's system says."""

from __future__ import annotations

from vitgeom.report import palette
from vitgeom.report.drawing import FONT_STACK

RULES = """
*{box-sizing:border-box}
html{color-scheme:light dark;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--surface);color:var(--ink);font:16px/1.55 FONTS;overflow-wrap:anywhere}
main{max-width:76rem;margin:0 auto;padding:1.25rem 1rem 4rem}
h1{font-size:1.7rem;line-height:1.2;margin:.25rem 0 .5rem}
h2{font-size:1.3rem;line-height:1.25;margin:2.75rem 0 .75rem;padding-top:1rem;border-top:1px solid var(--rule)}
h3{font-size:1.05rem;margin:1.5rem 0 .5rem}
p{margin:.5rem 0;max-width:46rem}
a{color:var(--layer)}
.muted{color:var(--muted)}
.small{font-size:.875rem}
.lead{font-size:1.1rem}
nav{font-size:.9rem}
nav a{display:inline-block;padding:.3rem .9rem .3rem 0}
.cards{display:grid;gap:.9rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,21rem),1fr));margin:1rem 0}
.card{background:var(--panel);border:1px solid var(--grid);border-left:5px solid var(--muted);border-radius:6px;padding:.8rem 1rem}
.card.beyond{border-left-color:var(--oracle)}
.card.failed{border-left-color:var(--permutation)}
.card h3{margin:0 0 .3rem;font-size:1rem}
.card p{margin:.35rem 0;font-size:.95rem}
.tag{display:inline-block;font-size:.8rem;font-weight:600;padding:.05rem .55rem;border:1px solid var(--rule);border-radius:1rem}
.figures{display:grid;gap:1.25rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),28rem));margin:.75rem 0}
figure{margin:0;min-width:0}
figure.wide{max-width:32rem}
figure svg{display:block;width:100%;height:auto}
figcaption{font-size:.875rem;color:var(--muted);margin-top:.35rem}
figcaption b{color:var(--ink)}
.scroll{overflow-x:auto;margin:.75rem 0;max-width:100%}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
caption{caption-side:top;text-align:left;color:var(--muted);padding:0 0 .4rem;max-width:min(74rem,100vw - 2rem)}
th,td{text-align:right;padding:.32rem .7rem;border-bottom:1px solid var(--grid);vertical-align:top;white-space:nowrap}
th[scope=row],thead th:first-child{text-align:left}
.words th,.words td{text-align:left;white-space:normal;min-width:7rem;overflow-wrap:anywhere}
.words{min-width:42rem}
.words thead th{overflow-wrap:normal}
thead th{border-bottom:1px solid var(--rule);white-space:normal;vertical-align:bottom;font-weight:600}
tbody th{font-weight:600}
@media(min-width:34rem){th:first-child{position:sticky;left:0;background:var(--surface)}}
details{margin:.6rem 0}
summary{cursor:pointer;padding:.3rem 0}
code,.digest{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.85em}
dl{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.15rem 1rem;margin:.5rem 0;font-size:.9rem}
dt{color:var(--muted)}
dd{margin:0;min-width:0}
@media(max-width:34rem){main{padding:1rem .8rem 3rem}h1{font-size:1.4rem}dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}
@media print{.scroll{overflow:visible}details{display:block}}
"""


def stylesheet() -> str:
    """Return all CSS of the page; it names no address, so nothing is ever loaded."""
    return palette.stylesheet(":root") + RULES.replace("FONTS", FONT_STACK).replace("\n", "")
