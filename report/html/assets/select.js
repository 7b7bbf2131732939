"use strict";
/* One selection for the whole page: a stretch of time, which is what the timeline shows, and a
   goroutine group, a kind of units, or a P. What is not of it is hidden. The flame graph of a
   stretch is of what exact windows keep of it; what has no times is of the whole trace, and the
   bar on top says which. */
(() => {
  const bar = document.getElementById("selection"), tl = gms.timeline;
  if (!bar || !tl) return;
  const { el, view, dur, clock, percent } = gms, said = bar.querySelector("span");
  let chosen = ""; // data-sel of what is chosen: g12 a group, k1 a kind, p3 a P

  const source = () => chosen && document.querySelector(`tr[data-sel="${CSS.escape(chosen)}"]`);
  const whole = () => view.from <= 0 && view.to >= view.end;
  /** Whether e has a part in the selection. */
  function within(e, group) {
    const d = e.dataset, kind = chosen[0] === "k" && d.kind, p = chosen[0] === "p" && d.p !== undefined;
    if (kind ? d.kind !== chosen : p ? "p" + d.p !== chosen : group !== null && d.g !== undefined && !d.g.split("\n").includes(group)) return false;
    return whole() || d.f === undefined || Number(d.f) - view.origin < view.to && Number(d.t) - view.origin > view.from;
  }
  function apply() {
    const row = source(), group = row && row.dataset.g !== undefined ? row.dataset.g : null, parts = [];
    for (const [title, items] of [["kinds", "#work tr[data-g]"], ["findings", "#findings article"], ["waits", "#longest details[data-g]"], ["groups", "#class-table tr[data-g]"], ["Ps", "#ps tr[data-p]"]]) {
      const all = [...document.querySelectorAll(items)], shown = all.filter(e => within(e, group));
      for (const e of all) e.classList.toggle("out", !shown.includes(e));
      if (shown.length < all.length) parts.push(`${shown.length} of ${all.length} ${title}`);
    }
    document.documentElement.classList.toggle("selected", !!chosen);
    tl.only(chosen[0] === "p" ? Number(chosen.slice(1)) : -1);
    const exact = whole() ? 1 : tl.D.windows.reduce((ns, w) => ns + Math.max(0, Math.min(w.t, view.to) - Math.max(w.f, view.from)), 0) / (view.to - view.from);
    if (gms.flame) gms.flame.select(group, whole() ? null : { from: view.from, to: view.to, exact });
    bar.hidden = whole() && !chosen;
    if (bar.hidden) return;
    const what = [];
    if (row) what.push(row.dataset.title || row.querySelector(".name, th").textContent);
    if (!whole()) what.push(`${clock(view.from, (view.to - view.from) / 100)} to ${clock(view.to, (view.to - view.from) / 100)} (${dur(view.to - view.from)})`);
    said.replaceChildren(el("b", "", "Selected: " + what.join(", ") + "."), ` Shown: ${parts.join(", ") || "all of it"}.` +
      (whole() ? "" : ` ${percent(exact)} of the stretch is kept exactly: the flame graph is of that; lanes and charts are averages elsewhere. Numbers of kinds and groups are of the whole trace.`));
  }
  function choose(s, step) {
    chosen = s;
    if (chosen && !source()) chosen = "";
    gms.place({ sel: chosen || null }, step);
    apply();
  }

  document.addEventListener("click", e => {
    const b = e.target.closest && e.target.closest("button.pick");
    if (b) choose(b.closest("[data-sel]").dataset.sel, true);
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
