// SPDX-License-Identifier: GPL-2.0-or-later
// How the page looks. Colours never stand alone: each goes with a sign or a word.
#include "niclab/matrix/page.h"

namespace niclab::matrix::parts {

std::string style() {
    return R"(:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--text:#1d2129;--soft:#5b6370;--line:#dde1e7;
--ok:#17703d;--ok-bg:#e2f4e9;--bad:#b3261e;--bad-bg:#fce8e6;--warn:#8a5a00;--warn-bg:#fdf0d5;--old:#a3adbb;--new:#2f6fd0}
@media (prefers-color-scheme:dark){:root{--bg:#14171c;--card:#1c2128;--text:#e4e7eb;--soft:#9aa3b0;--line:#313843;
--ok:#62d392;--ok-bg:#173526;--bad:#ff8f86;--bad-bg:#43211f;--warn:#f0c264;--warn-bg:#3b2f14;--old:#616d7e;--new:#6ea8ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1120px;padding:20px 16px 60px;background:var(--bg);color:var(--text);
font:15px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
h1{font-size:22px;margin:0 0 4px;line-height:1.25}
h2{font-size:17px;margin:34px 0 10px}
h3{font-size:15px;margin:0;overflow-wrap:anywhere}
p{margin:6px 0}
a{color:inherit;text-decoration-color:var(--soft);text-underline-offset:2px}
.soft{color:var(--soft);font-size:13px}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 14px;margin:10px 0}
.bad.card{border-left:4px solid var(--bad)}
.warn.card{border-left:4px solid var(--warn)}
.numbers{display:grid;grid-template-columns:repeat(auto-fill,minmax(100px,1fr));gap:8px;margin:14px 0 0;padding:0;list-style:none}
.numbers li{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:6px 12px}
.numbers b{display:block;font-size:20px;line-height:1.3;font-variant-numeric:tabular-nums}
.ok{color:var(--ok)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.card.bad,.card.warn{color:var(--text)}
.tag{display:inline-block;border-radius:4px;padding:0 6px;font-size:12px;font-weight:600}
.tag.bad{background:var(--bad-bg)}.tag.warn{background:var(--warn-bg)}
pre{margin:6px 0 2px;padding:8px 10px;background:var(--bg);border-radius:6px;overflow-x:auto;
font:12.5px/1.45 ui-monospace,"DejaVu Sans Mono",monospace}
.test{margin-top:10px;overflow-wrap:anywhere}
.wide{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:6px 10px;border-bottom:1px solid var(--line);white-space:nowrap}
tr:last-child td,tr:last-child th{border-bottom:0}
thead th{font-size:13px;color:var(--soft);font-weight:600}
tbody th{font-weight:500}
td.n,th.n{text-align:right}
td.text{white-space:normal;overflow-wrap:anywhere;min-width:180px}
td.ok{background:var(--ok-bg)}td.bad{background:var(--bad-bg)}td.warn{background:var(--warn-bg)}
td small{color:var(--soft)}
td.none{color:var(--soft)}
svg{display:block;width:100%;overflow:visible}
svg text{fill:var(--text);font-size:12px;font-variant-numeric:tabular-nums}
svg text.soft{fill:var(--soft)}
svg .ok{fill:var(--ok)}svg .bad{fill:var(--bad)}svg .warn{fill:var(--warn)}svg .old{fill:var(--old)}svg .new{fill:var(--new)}
.key i{display:inline-block;width:10px;height:10px;border-radius:2px;margin:0 5px 0 12px}
.key i:first-child{margin-left:0}
.bars{display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:10px}
.bars .card{margin:0}
.bars h3{margin-bottom:4px}
details{margin:6px 0}summary{cursor:pointer}
@media (max-width:480px){body{padding:14px 10px 40px}.bars{grid-template-columns:1fr}th,td{padding:5px 7px}tbody th{white-space:normal;overflow-wrap:anywhere;min-width:150px}}
)";
}

} // namespace niclab::matrix::parts
