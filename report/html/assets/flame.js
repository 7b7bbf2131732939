"use strict";
/* The flame graph of waiting: who called whom from the top down, as wide as the time
   that belongs to it. */
(() => {
  const d = gms.data("data_stacks"), box = document.getElementById("flame");
  if (!d || !box) return;
  const { el, dur, percent } = gms;
  const graph = document.getElementById("flame-graph"), tip = document.getElementById("flame-tip"), info = document.getElementById("flame-info");
  const pick = { class: document.getElementById("flame-class"), cause: document.getElementById("flame-cause"), measure: document.getElementById("flame-measure") };
  const system = new Set(d.classes.filter(c => c.sys).map(c => String(c.id)));
  const leastShare = 0.002; // of the width: what is narrower is not drawn

  for (const c of d.classes) pick.class.append(new Option(c.n + (c.sys ? " (runtime)" : ""), c.id));
  for (const [name, title] of d.causes) pick.cause.append(new Option(title, name));

  // What stands for stacks that have no function to begin with.
  const heads = {
    created: { s: "(created, had not run yet)", l: "", k: 3 },
    "not recorded": { s: "(stack not recorded)", l: "", k: 3 },
    others: { s: "(further stacks)", l: "", k: 3 },
  };

  /** The ns of a row that are asked for. */
  function value(row) {
    if (pick.measure.value === "blocked") return row.b || 0;
    let ns = 0;
    for (const [cause, n] of row.w) if (pick.cause.value === "all" || cause === pick.cause.value) ns += n;
    return ns;
  }

  /** A function, called by parent, and its time by line. */
  function node(parent, frame) { return { parent, frame, ns: 0, own: 0, lines: new Map(), kids: new Map(), depth: parent ? parent.depth + 1 : 0 }; }

  let stretch = null; // the rows of what exact windows keep of a stretch of time
  /** The rows of the waits in [from, to], as exact windows keep them; of goroutine g alone if that is not 0. */
  function rowsOf({ from, to, g }) {
    const T = gms.timeline.D, A = gms.timeline.arrays(), out = [];
    const byTitle = new Map(d.causes.map(([name, title]) => [title, name]));
    for (const w of T.windows) {
      if (w.t <= from || w.f >= to) continue;
      const k = `w${w.k}.`, at = A[k + "from"], wait = A[k + "wait"];
      for (let i = 0; i < at.length; i++) {
        const t = at[i] + w.f, stack = T.stacks[A[k + "stack"][i]] || [];
        if (wait[i] > 0 && t > from && t - wait[i] < to && (!g || A[k + "g"][i] === g)) out.push({ c: A[k + "class"][i], p: stack.length ? "" : "not recorded", s: stack.filter(f => f >= 0).map(f => ({ s: T.frames[f][0], l: T.frames[f][1], k: T.frames[f][2] })), b: 0, w: [[byTitle.get(T.words[A[k + "cause"][i]]) || "", Math.min(t, to) - Math.max(t - wait[i], from)]] });
      }
    }
    return out;
  }
  /** The tree of the rows that are asked for. */
  function build() {
    const top = node(null, { s: pick.measure.value === "blocked" ? "all blocked time" : "all waiting", l: "", k: 3 });
    for (const row of stretch || d.rows) {
      const of = pick.class.value;
      if (of === "all" ? system.has(String(row.c)) : of !== String(row.c)) continue;
      const ns = value(row);
      if (!(ns > 0)) continue;
      let at = top;
      at.ns += ns;
      const step = (key, frame) => {
        if (!at.kids.has(key)) at.kids.set(key, node(at, frame));
        at = at.kids.get(key);
        at.ns += ns;
        if (frame.l) at.lines.set(frame.l, (at.lines.get(frame.l) || 0) + ns);
      };
      if (heads[row.p]) step("(" + row.p, heads[row.p]);
      for (let i = row.s.length - 1; i >= 0; i--) {
        const f = stretch ? row.s[i] : d.frames[row.s[i]];
        step(f.f || f.s, f);
      }
      at.own += ns;
    }
    (function order(n) {
      n.list = [...n.kids.values()].sort((a, b) => b.ns - a.ns);
      n.list.forEach(order);
    })(top);
    return top;
  }

  let root = null, zoomed = null, chosen = null;

  function say(n) {
    const f = n.frame, lines = [...n.lines].sort((a, b) => b[1] - a[1]), rows = [];
    for (const [line, ns] of lines.slice(0, 4)) rows.push(line + (lines.length > 1 ? ": " + dur(ns) : ""));
    if (lines.length > 4) rows.push(lines.length - 4 + " more lines");
    rows.push(dur(n.ns) + ", " + percent(root.ns ? n.ns / root.ns : 0) + " of all shown");
    if (n.own > 0 && n.list.length) rows.push(dur(n.own) + " of it here itself");
    return [f.f || f.s, rows];
  }

  function choose(n, focus) {
    if (chosen && chosen.e) chosen.e.classList.remove("chosen");
    chosen = n;
    if (!n) { info.textContent = ""; return; }
    const [title, rows] = say(n);
    info.textContent = title + " – " + rows.join(" – ");
    if (!n.e) return;
    n.e.classList.add("chosen");
    if (focus) n.e.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  /** Draws n in [left, left + width], parts of the whole, and what it called. */
  function draw(n, left, width, boxes) {
    const e = el("div", "frame frame" + n.frame.k, n.frame.s);
    e.style.left = left * 100 + "%";
    e.style.width = width * 100 + "%";
    e.style.top = n.depth * 1.5 + "em";
    e.node = n;
    n.e = e;
    boxes.push(e);
    let deepest = n.depth, x = left;
    for (const k of n.list) {
      const w = width * k.ns / n.ns;
      if (w >= leastShare) deepest = Math.max(deepest, draw(k, x, w, boxes));
      x += w;
    }
    return deepest;
  }

  function render() {
    (function forget(n) { n.e = null; n.list.forEach(forget); })(root);
    const boxes = [];
    for (let n = zoomed.parent; n; n = n.parent) {
      const e = el("div", "frame above frame" + n.frame.k, n.frame.s);
      e.style.left = "0%";
      e.style.width = "100%";
      e.style.top = n.depth * 1.5 + "em";
      e.node = n;
      n.e = e;
      boxes.push(e);
    }
    const deepest = root.ns ? draw(zoomed, 0, 1, boxes) : -1;
    graph.replaceChildren(...boxes);
    if (!root.ns) graph.append(el("p", "none", "Nothing of that was recorded."));
    graph.style.height = Math.max(deepest + 1, 2) * 1.5 + "em";
    choose(chosen && chosen.e ? chosen : null, false);
  }

  function rebuild(keep) {
    pick.cause.disabled = pick.measure.value === "blocked";
    root = zoomed = build();
    chosen = null;
    tip.hidden = true;
    render();
    const now = [pick.class.value, pick.cause.value, pick.measure.value].join(",");
    if (keep) gms.put("f", now === "all,all,waiting" ? null : now);
  }

  function zoom(n) {
    if (!n || !root.ns) return;
    zoomed = n;
    render();
    choose(n, true);
  }

  /** The neighbour of n among those that are drawn, dir to the right. */
  function beside(n, dir) {
    if (!n.parent || n !== zoomed && !n.e) return n;
    const drawn = n.parent.list.filter(k => k.e);
    return drawn[drawn.indexOf(n) + dir] || n;
  }

  graph.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || !root.ns) return;
    const n = chosen || zoomed;
    const to = {
      ArrowDown: () => chosen ? n.list.find(k => k.e) || n : n,
      ArrowUp: () => n.parent || n,
      ArrowLeft: () => beside(n, -1),
      ArrowRight: () => beside(n, 1),
      Home: () => root,
    }[e.key];
    if (to) choose(to(), true);
    else if (e.key === "Enter") zoom(n);
    else if (e.key === "Escape") zoom(zoomed.parent || root);
    else return;
    tip.hidden = true;
    e.preventDefault();
  });
  graph.addEventListener("focus", () => { if (!chosen && root.ns) choose(zoomed, false); });
  graph.addEventListener("click", e => { if (e.target.node) zoom(e.target.node); });
  graph.addEventListener("pointermove", e => {
    const n = e.target.node;
    if (!n) { tip.hidden = true; return; }
    const [title, rows] = say(n), host = box.getBoundingClientRect();
    tip.replaceChildren(el("b", "", title), ...rows.map(r => el("div", "", r)));
    tip.hidden = false;
    tip.style.left = Math.max(0, Math.min(e.clientX - host.left + 14, host.width - tip.offsetWidth)) + "px";
    tip.style.top = e.clientY - host.top + 18 + "px";
  });
  graph.addEventListener("pointerleave", () => { tip.hidden = true; });
  for (const p of Object.values(pick)) p.addEventListener("change", () => rebuild(true));
  document.getElementById("flame-all").addEventListener("click", () => { zoom(root); graph.focus(); });

  gms.on("f", (v, first) => {
    const [of, cause, measure] = v.split(",");
    const set = (p, x) => { if ([...p.options].some(o => o.value === x)) p.value = x; };
    set(pick.class, of);
    set(pick.cause, cause);
    set(pick.measure, measure);
    rebuild(false);
    if (!first) document.getElementById("stacks").scrollIntoView();
  });
  if (!root) rebuild(false);
  /** Shows the stacks of a group, by its name, and of a stretch of time; null is all. */
  function select(group, range) {
    const row = group !== null && document.querySelector(`#class-table tr[data-g="${CSS.escape(group)}"]`), id = row ? row.dataset.sel.slice(1) : "";
    const before = pick.class.value, rows = range && range.exact > 0 ? rowsOf(range) : null;
    if (id && [...pick.class.options].some(o => o.value === id)) { pick.class.value = id; selected = true; } else if (selected) { pick.class.value = "all"; selected = false; }
    if (!rows && !stretch && before === pick.class.value) return;
    stretch = rows;
    rebuild(false);
  }
  let selected = false; // the class, by the page's selection
  gms.flame = { select, get root() { return root; }, get zoomed() { return zoomed; }, get chosen() { return chosen; } };
})();
