"use strict";
/* What stands beside the timeline: the run interval, wait or finding that was chosen,
   what the shown stretch sums up to, and the search. It knows only what is on the
   page: what an exact window does not tell is said to be unknown. */
gms.inspector = (() => {
  const { view, el, breaks, dur, clock, group, percent } = gms;
  const details = document.getElementById("tl-details"), stats = document.getElementById("tl-stats");
  const input = document.getElementById("tl-find"), found = document.getElementById("tl-found");
  const SYSCALL = 5, USER = 1;
  let tl = null;   // gms.timeline, once it is ready
  let asked = "";  // what is searched for

  function button(text, f) {
    const b = el("button", "", text);
    b.type = "button";
    if (f) b.addEventListener("click", () => tl.visit(f)); else b.disabled = true;
    return b;
  }
  /** A heading, parts, and buttons, in place of what the details held. The focus stays among
      the buttons, on the same one if it can be used. */
  function tell(title, parts, buttons) {
    const focused = details.contains(document.activeElement) ? document.activeElement.textContent : "";
    const row = el("div", "row");
    row.append(...buttons.map(([text, f]) => button(text, f)), button("Close", () => { tl.show(null); tl.focus(); }));
    details.replaceChildren(el("h3", "", title), row, ...parts);
    details.hidden = false;
    if (!focused) return;
    const usable = [...row.children].filter(b => !b.disabled);
    (usable.find(b => b.textContent === focused) || usable[0]).focus({ preventScroll: true });
  }
  /** A list of terms; a description is a text or elements. */
  function facts(rows) {
    const dl = el("dl");
    for (const [k, v] of rows) {
      const dd = el("dd");
      dd.append(...[v].flat().flatMap(x => typeof x === "string" ? breaks(x) : [x]));
      dl.append(el("dt", "", k), dd);
    }
    return dl;
  }

  const line = f => f < 0 ? "…" : `${tl.D.frames[f][0]} (${tl.D.frames[f][1]})`;
  /** The innermost frame of a stack that is the program's. */
  function where(stack) {
    const i = stack.findIndex(f => f >= 0 && tl.D.frames[f][2] === 0);
    return line(stack[Math.max(i, 0)]);
  }
  function stackList(stack) {
    const box = el("details"), list = el("ol", "stack");
    box.append(el("summary", "", "Stack where it stopped"), list);
    list.append(...stack.map(f => el("li", "", line(f))));
    return box;
  }

  /** How a run interval came about. */
  function before(s) {
    const rows = [];
    if (s.wait < 0) return [["Waited", s.state === USER ? "unknown, or not at all: it came back from a system call or ran before the trace" : "unknown"]];
    rows.push(["Waited", s.wait === 0 ? "not at all" : dur(s.wait) + (s.cause ? ", mostly: " + s.cause : ", cause not told")]);
    const by = s.by > 0 ? `G${s.by}` + (s.byStack.length ? " in " + where(s.byStack) : ", place not recorded") : "";
    if (by || s.woken) rows.push(["Waker", [by, s.woken].filter(Boolean).join(", ")]);
    rows.push(["Started", `P${s.p} ${s.took}`]);
    return rows;
  }
  /** How it ended. */
  function after(s) {
    if (!s.stop) return [["Stopped", "not told by the trace here"]];
    const rows = [["Stopped", `It ${s.stop}${s.blocked ? " " + s.blocked : ""}`]];
    rows.push(["Stopped in", s.stack.length ? where(s.stack) : "not recorded"]);
    return rows;
  }
  /** The run of the waker of s at the time when it made s runnable. */
  function wakerRun(s) {
    const at = s.from - s.wait, A = tl.arrays();
    if (s.by <= 0 || s.wait < 0) return null;
    for (const w of tl.D.windows) {
      if (at < w.f || at > w.t) continue;
      const g = A[`w${w.k}.g`], from = A[`w${w.k}.from`], len = A[`w${w.k}.len`];
      for (let i = 0; i < g.length; i++) if (g[i] === s.by && from[i] + w.f <= at && at <= from[i] + len[i] + w.f) return { win: w.k, i };
    }
    return null;
  }
  /** What a P did in [from, to], as far as the exact window w reaches. */
  function meanwhile(w, p, from, to) {
    const sums = new Map(), a = Math.max(from, w.f), b = Math.min(to, w.t);
    if (b <= a) return [];
    eachStint(w, p, a, b, (i, ns) => add(sums, nameOf(w, i), ns));
    const part = b - a < (to - from) * 0.999 ? `, as far as it is kept exactly (${dur(b - a)})` : "";
    return [el("p", "", `Meanwhile P${p}, on which it ran in the end, did this${part}:`), topOf(sums)];
  }
  /** Calls f with each run interval of P p in [a, b] of a window, and how much of it lies there. */
  function eachStint(w, p, a, b, f) {
    const r = w.lanes.get(p), A = tl.arrays(), from = A[`w${w.k}.from`], len = A[`w${w.k}.len`];
    if (!r) return;
    for (let i = tl.first(from, len, r, a - w.f); i < r[1] && from[i] + w.f < b; i++) {
      f(i, Math.min(from[i] + w.f + len[i], b) - Math.max(from[i] + w.f, a));
    }
  }
  function nameOf(w, i) {
    const A = tl.arrays(), state = A[`w${w.k}.state`][i];
    return state === USER ? tl.D.classes[A[`w${w.k}.class`][i]] || "unknown start function" : tl.WORDS[state];
  }
  function add(sums, name, ns) {
    const s = sums.get(name) || { name, ns: 0, n: 0 };
    s.ns += ns;
    s.n++;
    sums.set(name, s);
  }
  function topOf(sums) {
    const list = el("ul");
    for (const s of [...sums.values()].sort((x, y) => y.ns - x.ns).slice(0, 5)) {
      const li = el("li");
      li.append(...breaks(s.name), ` – ${dur(s.ns)}` + (s.n > 1 ? `, ${group(s.n)} times` : ""));
      list.append(li);
    }
    return list;
  }

  function run(hit) {
    const s = tl.stint(hit), rows = [], parts = [], buttons = [["Zoom to it", () => tl.go(s.from - s.len * 0.1, s.from + s.len * 1.1)]];
    if (s.g > 0) rows.push(["Goroutine", `G${s.g}, ${s.cls || "start function not in the trace"}`]);
    rows.push(["P, state", `P${s.p}, ${tl.WORDS[s.state]}`], ["From", clock(s.from, 1e4)], ["For", dur(s.len)]);
    if (s.m > 0) rows.push(["Thread", `M${s.m}`]);
    const off = tl.cpus && tl.cpus.lacked(s);
    if (off) rows.push(["Off the CPUs", off]);
    if (s.g > 0) {
      const previous = tl.sameG(hit, -1), next = tl.sameG(hit, 1), waker = wakerRun(s);
      rows.push(...before(s), ...(s.state === SYSCALL ? [] : after(s)));
      buttons.unshift(["‹ Previous run", previous && (() => tl.reveal(previous))], ["Next run ›", next && (() => tl.reveal(next))]);
      rows.push(...tl.notes.rows(s.w, s.g, s.from, s.from + s.len, 6));
      buttons.push(["Its life", () => life(s.g)]);
      if (waker) buttons.push(["Run of the waker", () => tl.reveal(waker)]);
    }
    parts.push(facts(rows));
    if (s.stack.length) parts.push(stackList(s.stack));
    if (s.wait > 0) {
      const told = tl.D.waits.find(w => w.g === s.g && Math.abs(w.t - s.from) < 2);
      buttons.push(["Zoom to its wait", () => tl.go(s.from - s.wait * 1.1, s.from + Math.min(s.len, s.wait) * 0.2)]);
      if (told) parts.push(...told.text.map(t => el("p", "", t))); else parts.push(...meanwhile(s.w, s.p, s.from - s.wait, s.from));
    }
    tell(s.g > 0 ? `G${s.g} on P${s.p}` : `P${s.p}: ${tl.WORDS[s.state]}`, parts, buttons);
  }
  function wait(k) {
    const w = tl.D.waits[k], parts = w.text.map(t => el("p", "", t));
    if (w.id) parts.push(link("#" + w.id, "Step by step"));
    tell(`G${w.g} ${w.name} waited ${dur(w.t - w.f)}`, parts, [["Zoom to it", () => tl.wait(k, true)]]);
  }
  function finding(k) {
    const f = tl.D.findings[k];
    tell(`${k + 1} of ${tl.D.findings.length}: ${f.id}`, [facts([["Finding", breaks(f.title)], ["Window", clock(f.f, 1e4) + " – " + clock(f.t, 1e4)]]), link("#finding-" + f.n, "Evidence and advice")],
      [["Previous", () => tl.toFinding(-1)], ["Next", () => tl.toFinding(1)]]);
  }
  function gc(k) {
    const s = tl.D.gc[k];
    tell("Garbage collection", [facts(tl.heap.facts(k))], [["Zoom to it", () => tl.go(s.f - (s.t - s.f) * 0.2, s.t + (s.t - s.f) * 0.2)]]);
  }
  /** All that the page knows of a goroutine, in the order of time. */
  function life(g) {
    const A = tl.arrays(), states = [], sums = new Map();
    let name = "";
    const put = (from, to, what) => { if (to > from) { states.push([from, to, what]); add(sums, what, to - from); } };
    for (const w of tl.D.windows) {
      const rows = tl.laneRows.index(w, "g").get(g) || [];
      rows.forEach((i, j) => {
        const s = tl.stint({ win: w.k, i }), gap = tl.laneRows.gap(w, rows, j, A);
        name ||= s.cls;
        if (s.wait > 0) put(s.from - s.wait, s.from, "runnable" + (s.cause ? ": " + s.cause : ""));
        put(s.from, s.from + s.len, `${tl.WORDS[s.state]} on P${s.p}`);
        if (gap) put(gap.from, gap.to, "blocked " + gap.word);
      });
    }
    const known = t => states.some(s => s[0] <= t && t < s[1]);
    for (const u of tl.D.named) if (u.g === g) {
      name ||= u.n;
      for (const [from, to, what] of u.s || []) if (!known((from + to) / 2)) put(from, to, what);
    }
    for (const w of tl.D.waits) if (w.g === g) {
      name ||= w.name;
      if (!known((w.f + w.t) / 2)) put(w.f, w.t, "runnable");
    }
    const whole = el("p"), base = document.getElementById("tl").dataset.command.replace(/ --(from|to) \S+/g, "");
    whole.append("What is kept exactly of it. For all: ", el("code", "", `${base} --goroutine ${g}`));
    if (!states.length) { tell(`G${g} is outside the detailed windows`, [whole], []); return false; }
    states.sort((x, y) => x[0] - y[0]);
    const list = el("ol", "steps");
    for (const [from, to, what] of states.slice(0, MOST)) {
      const li = el("li"), at = button(clock(from, 1e4), () => tl.go(from - (to - from) * 0.5, to + (to - from) * 0.5));
      li.append(at, ` ${what}, ${dur(to - from)}`);
      list.append(li);
    }
    const parts = [topOf(sums), list];
    if (states.length > MOST) parts.push(el("p", "", `… and ${group(states.length - MOST)} more`));
    tell(`G${g} ${name}: ${group(states.length)} states`, [...parts, whole], [["Zoom to it", () => tl.go(states[0][0], Math.max(...states.map(s => s[1])))]]);
    gms.put("life", String(g));
    return true;
  }
  const MOST = 200; // states in the list of a life
  function link(href, text) {
    const a = el("a", "", text);
    a.href = href;
    return a;
  }
  /** What the frame is about, above the chart. */
  function caption(box, frame) {
    const name = el("b");
    name.append(...breaks(frame.name));
    box.replaceChildren(name, " ");
    if (frame.href) box.append(link(frame.href, frame.g < 0 ? "evidence and advice" : "step by step"), " ");
    box.append(button("Remove the frame", () => tl.setFrame(null)));
  }

  /* Sums over the stretch that is shown: exact where the trace is kept exactly, else of the bins. */
  function statistics() {
    if (!tl) return;
    const a = view.from, b = view.to, exact = tl.D.windows.map(w => ({ w, a: Math.max(a, w.f), b: Math.min(b, w.t) })).filter(x => x.b > x.a);
    const known = exact.reduce((ns, x) => ns + x.b - x.a, 0), classes = new Map(), all = new Float64Array(tl.STATES.length);
    const ps = tl.D.ps.map((p, i) => shareOf(p, i, a, b, exact));
    for (const p of ps) p.forEach((ns, s) => { all[s] += ns; });
    let starts = 0, most = -1, longest = null;
    for (const x of exact) {
      const k = x.w.k, A = tl.arrays(), state = A[`w${k}.state`], wait = A[`w${k}.wait`], from = A[`w${k}.from`];
      for (const p of tl.D.ps) eachStint(x.w, p, x.a, x.b, (i, ns) => {
        if (state[i] === USER) add(classes, nameOf(x.w, i), ns);
        if (wait[i] < 0 || x.w.f + from[i] < x.a) return;
        starts++;
        if (wait[i] > most) { most = wait[i]; longest = { win: k, i }; }
      });
    }
    const part = known < (b - a) * 0.999 ? ` (of the ${percent(known / (b - a))} that are kept exactly)` : "";
    const whole = all.reduce((x, y) => x + y, 0), there = ps.filter(p => p.some(ns => ns > 0)).length;
    const rows = tl.WORDS.map((word, s) => [word, all[s]]).filter(r => r[1] > whole * 0.0005).map(([word, ns]) => [word, percent(ns / whole)]);
    const steals = stealsIn(a, b, exact, known);
    if (steals) rows.push(["Steals", steals]);
    if (known) rows.push(["Starts", group(starts) + part]);
    if (longest) {
      const s = tl.stint(longest);
      rows.push(["Longest wait", [`${dur(s.wait)}, G${s.g} ${s.cls} `, button("Show", () => tl.reveal(longest))]]);
    }
    const out = [el("h3", "", `Shown: ${dur(b - a)} of ${there === 1 ? "one P" : there + " Ps"}`), facts(rows)];
    if (classes.size) out.push(el("p", "", "Ran longest" + part + ":"), topOf(classes));
    out.push(perP(ps));
    stats.replaceChildren(...out);
  }
  /** ns of P p in each state, in the stretch that is shown; null if it has no lane. */
  function statesOf(p) {
    const a = view.from, b = view.to, i = tl.D.ps.indexOf(p);
    return i < 0 ? null : shareOf(p, i, a, b, tl.D.windows.map(w => ({ w, a: Math.max(a, w.f), b: Math.min(b, w.t) })).filter(x => x.b > x.a));
  }
  /** ns of P p, lane i, in each state. */
  function shareOf(p, i, a, b, exact) {
    const out = new Float64Array(tl.STATES.length), names = [null, "user", "system", "gc", null, "syscall", "sched", "stopped", "gap"], A = tl.arrays();
    let at = a;
    const coarse = (from, to) => {
      const unused = binned(A[i + ".unused"], from, to);
      let busy = 0;
      names.slice(0, out.length).forEach((name, s) => { if (name) { const ns = binned(A[i + "." + name], from, to); out[s] += ns; busy += ns; } });
      out[0] += Math.max(0, to - from - unused - busy);
    };
    for (const x of exact) {
      if (x.a > at) coarse(at, x.a);
      eachStint(x.w, p, x.a, x.b, (j, ns) => { out[A[`w${x.w.k}.state`][j]] += ns; });
      at = x.b;
    }
    if (b > at) coarse(at, b);
    return out;
  }
  /** The sum of a row of bins, each a share of 255, over [from, to]. */
  function binned(bins, from, to) {
    let ns = 0;
    if (bins) for (let k = Math.floor(from / tl.D.bin); k < bins.length && k * tl.D.bin < to; k++) ns += bins[k] / 255 * (Math.min((k + 1) * tl.D.bin, to) - Math.max(k * tl.D.bin, from));
    return ns;
  }
  function stealsIn(a, b, exact, known) {
    if (known >= (b - a) * 0.999) return group(exact.reduce((n, x) => n + x.w.arrows.filter(r => r.k === "steal" && r.at >= x.a && r.at <= x.b).length, 0));
    const bin = tl.D.bin, from = Math.floor(a / bin), to = Math.ceil(b / bin);
    if (to - from < 2) return "";
    const n = tl.arrays().steals.slice(from, to).reduce((x, y) => x + y, 0);
    return n === 0 || a <= 0 && b >= view.end ? group(n) : `about ${group(n)}`; // the outer bins reach beyond the stretch
  }
  function perP(ps) {
    const box = el("details"), scroll = el("div", "tl-ps"), table = el("table"), head = el("tr"), body = el("tbody");
    for (const h of ["P", "running", "idle"]) { const th = el("th", h === "P" ? "" : "n", h); th.scope = "col"; head.append(th); }
    ps.forEach((p, i) => {
      if (!p.some(ns => ns > 0)) return; // it does not exist here
      const row = el("tr"), th = el("th", "", "P" + tl.D.ps[i]), life = p.reduce((x, y) => x + y, 0);
      th.scope = "row";
      row.append(th, el("td", "n", life ? percent(p[USER] / life) : "–"), el("td", "n", life ? percent(p[0] / life) : "–"));
      body.append(row);
    });
    const thead = el("thead");
    thead.append(head);
    table.append(thead, body);
    scroll.append(table);
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "Running and idle share of each P");
    box.append(el("summary", "", "Each P"), scroll);
    box.open = ps.length <= 8;
    return box;
  }

  /** The findings: a click goes to one, and where one is lights up meanwhile. */
  function list() {
    const box = document.getElementById("tl-findings"), items = el("ul", "lines");
    tl.D.findings.forEach((f, k) => {
      const li = el("li"), b = el("button");
      b.type = "button";
      b.append(el("span", "sev " + f.sev, f.sev), " ", ...breaks(f.title));
      b.addEventListener("click", () => tl.visit(() => tl.toFinding(0, k)));
      for (const [on, off] of [["pointerenter", "pointerleave"], ["focus", "blur"]]) {
        b.addEventListener(on, () => tl.light(k));
        b.addEventListener(off, () => tl.light(-1));
      }
      Object.assign(li.dataset, { f: f.f + view.origin, t: f.t + view.origin, g: f.g });
      li.append(b);
      items.append(li);
    });
    box.hidden = !tl.D.findings.length;
    box.append(el("h3", "", "Findings"), items);
  }

  /* The search: runs of a goroutine by its number, or by a function: where it started, or where it stopped. */
  function matches() {
    const A = tl.arrays(), number = /^g?(\d+)$/i.exec(asked), q = asked.toLowerCase(), out = [];
    const has = s => s !== undefined && s.toLowerCase().includes(q);
    const stacks = new Set(tl.D.stacks.map((s, n) => s.some(f => f >= 0 && has(tl.D.frames[f][0])) ? n : -1));
    for (const w of tl.D.windows) {
      const g = A[`w${w.k}.g`], cls = A[`w${w.k}.class`], stack = A[`w${w.k}.stack`], from = A[`w${w.k}.from`];
      for (let i = 0; i < g.length; i++) {
        if (g[i] > 0 && tl.isRun(w.k, i, g[i]) && (number ? g[i] === Number(number[1]) : has(tl.D.classes[cls[i]]) || stacks.has(stack[i]))) out.push({ win: w.k, i, at: w.f + from[i] });
      }
    }
    return out.sort((x, y) => x.at - y.at);
  }
  function find(d) {
    asked = input.value.trim();
    found.textContent = "";
    if (!asked) return;
    const all = matches(), now = all.findIndex(m => tl.picked && m.win === tl.picked.win && m.i === tl.picked.i);
    const number = /^g?(\d+)$/i.exec(asked);
    if (!all.length) {
      found.textContent = number ? (life(Number(number[1])) ? "see its states" : "outside the detailed windows") : "no run of it is in the detailed windows";
      return;
    }
    let k = now < 0 ? all.findIndex(m => m.at >= view.from) : now + d;
    if (now < 0 && d < 0) k--;
    k = (k + all.length) % all.length;
    found.textContent = `${group(k + 1)} of ${group(all.length)} runs`;
    tl.reveal(all[k]);
  }
  if (input) {
    input.addEventListener("keydown", e => { if (e.key === "Enter" && tl) tl.visit(() => find(e.shiftKey ? -1 : 1)); });
    for (const b of document.querySelectorAll("[data-find]")) b.addEventListener("click", () => { if (tl) tl.visit(() => find(Number(b.dataset.find))); });
  }

  return {
    run, wait, finding, gc, life, caption, statistics, statesOf,
    start: timeline => { tl = timeline; list(); },
    query: () => asked,
    setQuery: q => { if (input.value.trim() !== q) found.textContent = ""; asked = q; input.value = q; },
  };
})();
