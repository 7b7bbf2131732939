"use strict";
/* One selection for the whole page: a stretch of time, which is what the timeline shows, and a
   goroutine group, a kind of units, a unit, or a P. What is not of it is hidden. Numbers of a stretch
   come from what exact windows keep of it if that is all, else from cells in the file (data_cells),
   and then they are marked; what neither has is of the whole trace, and pale. The bar on top says
   which. */
(() => {
  const bar = document.getElementById("selection"), tl = gms.timeline, cells = gms.data("data_cells");
  if (!bar || !tl) return;
  const { el, view, dur, clock, percent, sig, group: thousands } = gms, said = bar.querySelector("span");
  let chosen = ""; // data-sel of what is chosen: g12 a group, k1 a kind, p3 a P, u7-10-20 a unit of goroutine 7

  const source = () => chosen && document.querySelector(`:is(tr, figure)[data-sel="${CSS.escape(chosen)}"]`);
  const whole = () => view.from <= 0 && view.to >= view.end;
  /** Whether e has a part in the selection. */
  function within(e, groups) {
    const d = e.dataset, same = (chosen[0] === "k" || chosen[0] === "p") && d.sel && d.sel[0] === chosen[0];
    if (same ? d.sel !== chosen : groups && d.g !== undefined && !d.g.split("\n").some(g => groups.includes(g))) return false;
    return whole() || d.f === undefined || Number(d.f) - view.origin < view.to && Number(d.t) - view.origin > view.from;
  }
  function apply() {
    const from = source(), groups = from && from.dataset.g !== undefined ? from.dataset.g.split("\n").filter(Boolean) : null, parts = [];
    for (const [title, items] of [["kinds", "#work tr[data-g]"], ["findings", "#findings article"], ["waits", "#longest details[data-g]"], ["groups", "#class-table tr[data-g]"], ["Ps", "#ps tr[data-sel]"], ["", "#tl-findings li"]]) {
      const all = [...document.querySelectorAll(items)], shown = all.filter(e => within(e, groups));
      for (const e of all) e.classList.toggle("out", !shown.includes(e));
      if (title && shown.length < all.length) parts.push(`${shown.length} of ${all.length} ${title}`);
    }
    document.documentElement.classList.toggle("selected", !!chosen);
    tl.only(chosen[0] === "p" ? Number(chosen.slice(1)) : -1);
    const exact = whole() ? 1 : tl.D.windows.reduce((ns, w) => ns + Math.max(0, Math.min(w.t, view.to) - Math.max(w.f, view.from)), 0) / (view.to - view.from);
    const g = chosen[0] === "u" ? parseInt(chosen.slice(1), 10) : 0;
    if (gms.flame) gms.flame.select(g ? null : groups && groups[0], whole() ? null : { from: view.from, to: view.to, exact, g });
    const coarse = recount(exact);
    bar.hidden = whole() && !chosen;
    if (bar.hidden) return;
    const what = [];
    if (from) what.push(from.dataset.title || from.querySelector(".name, figcaption a, th").textContent);
    if (!whole()) what.push(`${clock(view.from, (view.to - view.from) / 100)} to ${clock(view.to, (view.to - view.from) / 100)} (${dur(view.to - view.from)})`);
    said.replaceChildren(el("b", "", "Selected: " + what.join(", ") + "."), ` Shown: ${parts.join(", ") || "all of it"}.` +
      (whole() ? "" : ` ${percent(exact)} of the stretch is kept exactly: the flame graph is of that.` + (coarse ? ` Numbers with ≈ are sums of cells of ${coarse} or less; pale ones are of the whole trace.` : " Pale numbers are of the whole trace.")));
  }

  /* The numbers of a stretch. */
  const kept = new WeakMap(); // what cells of tables hold of the whole trace
  function put(td, value, text, coarse) {
    if (!kept.has(td)) kept.set(td, [td.textContent, td.dataset.v]);
    td.textContent = (coarse ? "≈\u00a0" : "") + text;
    td.dataset.v = value;
    td.classList.add("ranged");
  }
  function recall(table) {
    for (const td of table.querySelectorAll("td.ranged")) {
      [td.textContent, td.dataset.v] = kept.get(td);
      td.classList.remove("ranged");
    }
  }
  /** The share of bin i of a series that lies in the stretch. */
  function share(s, i) {
    const f = s.f + i * s.bin;
    return Math.max(0, Math.min(f + s.bin, view.to) - Math.max(f, view.from)) / s.bin;
  }
  const sum = (s, ns) => ns.reduce((n, x, i) => n + x * share(s, i), 0);
  /** The value that a share q of [value, weight] does not exceed; they are sorted. */
  function quantile(list, q) {
    let left = q * list.reduce((n, x) => n + x[1], 0);
    for (const [value, n] of list) if ((left -= n) <= 0) return value;
    return list.length ? list[list.length - 1][0] : 0;
  }
  /** Counts tables anew; returns how wide the widest cell is that was taken, or "". */
  function recount(exact) {
    const tables = document.querySelectorAll("#work > .scroll table, #class-table, #waiting > .scroll table, #ps table");
    for (const t of tables) { recall(t); t.classList.toggle("stretch", !whole()); }
    if (whole() || !cells) return "";
    let widest = 0;
    const use = s => { widest = Math.max(widest, s.bin); return s; };
    const shown = (view.to - view.from) / 1e9;
    for (const [sel, s] of Object.entries(cells.kinds)) {
      const row = document.querySelector(`#work tr[data-sel="${sel}"]`);
      if (!row) continue;
      const list = use(s).cells.map(([bin, ns, n]) => [ns, n * share(s, bin)]).filter(x => x[1] > 0).sort((x, y) => x[0] - y[0]), n = list.reduce((n, x) => n + x[1], 0);
      [[n, thousands(n)], [n / shown, sig(n / shown)], ...[0.5, 0.95, 0.99, 1].map(q => quantile(list, q)).map(ns => [ns, n ? dur(ns) : "–"])].forEach(([v, text], i) => put(row.cells[i + 2], v, text, true));
    }
    const groups = exact > 0.999 ? counted() : null;
    for (const [sel, s] of Object.entries(cells.groups)) {
      const row = document.querySelector(`#class-table tr[data-sel="${sel}"]`);
      if (!row) continue;
      const c = groups && (groups.get(Number(sel.slice(1))) || { starts: 0, ran: 0, waits: [] });
      if (!c) { const ns = sum(use(s), s.ns); put(row.cells[4], ns, dur(ns), true); continue; }
      const waits = c.waits.sort((x, y) => x - y).map(ns => [ns, 1]);
      put(row.cells[2], c.starts, thousands(c.starts));
      [c.ran, waits.reduce((n, x) => n + x[0], 0), quantile(waits, 0.5), quantile(waits, 0.99), quantile(waits, 1)].forEach((ns, i) => put(row.cells[i + 3], ns, dur(ns)));
    }
    const causes = cells.causes, all = causes.ns.reduce((n, c) => n + sum(causes, c), 0);
    for (const row of document.querySelectorAll("#waiting > .scroll tbody tr")) {
      const i = causes.titles.indexOf(row.cells[0].textContent.trim()), ns = row === row.parentElement.lastElementChild ? all : i < 0 ? 0 : sum(use(causes), causes.ns[i]);
      put(row.cells[1], ns, dur(ns), true);
      put(row.cells[2], ns, percent(all ? ns / all : 0), true);
    }
    for (const row of document.querySelectorAll("#ps tr[data-sel]")) {
      const ns = gms.inspector.statesOf(Number(row.dataset.sel.slice(1))), life = ns && ns.reduce((x, y) => x + y, 0);
      if (life) [1, 2, 3, 4, 5, 6, 7, 0].forEach((s, i) => put(row.cells[i + 1], ns[s], percent(ns[s] / life), exact < 0.999));
    }
    if (exact < 0.999) use(tl.D);
    return widest ? dur(widest) : "";
  }
  /** What exact windows keep of each group in the stretch. */
  function counted() {
    const A = tl.arrays(), out = new Map();
    for (const w of tl.D.windows) {
      if (w.t <= view.from || w.f >= view.to) continue;
      const [from, len, wait, cls, g] = ["from", "len", "wait", "class", "g"].map(n => A[`w${w.k}.${n}`]);
      for (let i = 0; i < g.length; i++) {
        const a = w.f + from[i], b = a + len[i];
        if (!tl.isRun(w.k, i, g[i]) || b <= view.from || a >= view.to) continue;
        if (!out.has(cls[i])) out.set(cls[i], { starts: 0, ran: 0, waits: [] });
        const c = out.get(cls[i]);
        c.ran += Math.min(b, view.to) - Math.max(a, view.from);
        if (a >= view.from && wait[i] >= 0) { c.starts++; c.waits.push(wait[i]); }
      }
    }
    return out;
  }

  function choose(s, step) {
    chosen = s;
    if (chosen && !source()) chosen = "";
    gms.place({ sel: chosen || null }, step);
    apply();
  }
  document.addEventListener("click", e => {
    const b = e.target.closest && e.target.closest("button.pick"), sel = b && b.closest("[data-sel]").dataset.sel;
    if (!b) return;
    if (sel[0] !== "u") return choose(sel, true);
    const [, from, to] = sel.split("-").map(Number);
    tl.visit(() => { tl.go(from - view.origin, to - view.origin); choose(sel, false); });
  });
  bar.querySelector("button").addEventListener("click", () => tl.visit(() => {
    tl.setFrame(null);
    tl.go(0, view.end);
    choose("", false);
  }));
  let rest = 0;
  view.listen("select", () => { clearTimeout(rest); rest = setTimeout(apply, 200); });
  gms.restore(["sel", "t", "frame"], (state, how) => {
    if (how === "link" && !("sel" in state) && chosen) gms.put("sel", chosen); else chosen = state.sel || "";
    if (chosen && !source()) chosen = "";
    setTimeout(apply); // once the timeline shows what the address says
  });
})();
