"use strict";
/* The timeline: a canvas with a lane per P. Where the trace is kept exactly
   (windows), run intervals are drawn as they were; elsewhere a column shows
   the shares of the states in its bin. Both go through one function that fills
   shares per pixel column, so that the cost depends on the size of the picture
   and not on that of the trace. */
(() => {
  const D = gms.data("data_timeline");
  const box = document.getElementById("tl");
  if (!D || !box || !D.ps.length || !D.bins) { if (box) box.hidden = true; return; }
  const { view, el, dur, clock, sig, colour } = gms;
  const canvas = document.getElementById("tl-canvas"), map = document.getElementById("tl-map");
  const tip = document.getElementById("tl-tip"), details = document.getElementById("tl-details");
  const caption = document.getElementById("tl-caption"), range = document.getElementById("tl-range"), command = document.getElementById("tl-command"), picker = document.getElementById("tl-windows"), lanesSelect = document.getElementById("tl-lanes");
  const STATES = D.states.map(s => s.key), WORDS = D.states.map(s => s.title), S = STATES.length, SYSCALL = 5, GAP = 8; // there only if something is not recorded
  const PS = D.ps.length, GUTTER = 52, RIGHT = 10;
  const heap = gms.heap(D, { gutter: GUTTER, ctx: canvas.getContext("2d"), clip: () => clip(), t2x: t => t2x(t), x2t: x => x2t(x) });
  const AXIS = 24, QUEUES = AXIS + heap.height, GLOBAL = 34, ROWS = D.waits.length ? 4 : 0, WAITS = ROWS * 6, TOP = QUEUES + GLOBAL + WAITS + 10;
  let mode = "p";     // what has a lane: P, goroutine (g) or thread (m)
  let ids = D.ps;     // of the lanes
  let left = 0;       // goroutines or threads without a lane
  let single = -1;    // the P that has a lane alone; -1: all have
  let N, laneH, depthH, gap, LANE, under, height, lane; // under: where the lanes end
  let cpus = null;    // the lanes of the CPUs, with records of the kernel's
  function layout() {
    N = ids.length;
    lane = new Map(ids.map((id, i) => [id, i]));
    laneH = mode !== "p" ? 16 : N <= 8 ? 26 : N <= 16 ? 20 : N <= 32 ? 14 : N <= 64 ? 10 : N <= 128 ? 6 : 4;
    depthH = mode === "g" ? notes.height : mode === "m" ? 0 : N <= 8 ? 12 : N <= 16 ? 9 : N <= 32 ? 7 : N <= 64 ? 5 : N <= 128 ? 3 : 2;
    gap = N <= 32 ? 4 : N <= 128 ? 2 : 1;
    LANE = laneH + depthH + gap;
    under = TOP + Math.max(N, 2) * LANE + 6;
    height = under + (mode !== "p" ? 18 : cpus ? cpus.height : 0);
  }
  const laneRows = gms.lanes(D, () => A);
  const notes = gms.notes(D, { gutter: GUTTER, right: () => W - RIGHT, ctx: canvas.getContext("2d"), ranges, t2x: t => t2x(t) });
  if (D.cpus) cpus = gms.cpus(D, { gutter: GUTTER, ctx: canvas.getContext("2d"), rows: laneRows, WORDS, ranges, first, rgba, clip, plotW: () => plotW(), t2x: t => t2x(t), x2t: x => x2t(x), stint: hit => stint(hit), inkOn });
  layout();
  view.end = Math.max(D.end, 1); view.from = 0; view.to = view.end;

  let A = null;      // arrays by name
  let cursor = 0;    // lane chosen by keyboard
  let picked = null; // {win, i} of the stint shown in the details
  let runs = [];     // of its goroutine in that window, in the order of time
  let waiting = -1;  // number of the wait shown there
  let finding = -1;  // number of the finding shown there
  let lit = -1;      // number of the finding whose place lights up
  let collected = -1; // number of the mark phase that the keys went to
  let toured = -1;   // number of the finding that was shown there last
  let frame = null;  // {f, t, g, name, href}: what a link shows

  /* Unpacking: base64, then gzip, then typed arrays over one buffer. */
  async function unpack() {
    const raw = Uint8Array.from(atob(D.data), c => c.charCodeAt(0));
    const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
    const buf = await new Response(stream).arrayBuffer();
    const kinds = { u8: Uint8Array, i32: Int32Array, f32: Float32Array, f64: Float64Array };
    A = {};
    for (const a of D.arrays) A[a.n] = new kinds[a.t](buf, a.o, a.l);
    for (const a of D.arrays) if (/^\d+\.(system|gc|syscall|sched|stopped)$/.test(a.n) && !A[a.n].some(v => v)) delete A[a.n]; // nothing to draw
    D.data = "";
    for (const name of ["frames", "stacks"]) D[name] = JSON.parse(new TextDecoder().decode(A[name]));
    D.windows.forEach((w, k) => {
      w.k = k;
      w.lanes = ranges(A[`w${k}.p`]);
      w.depths = ranges(A[`w${k}.dp`]);
      w.longest = A[`w${k}.len`].reduce((x, y) => Math.max(x, y), 0); // run interval
    });
    heap.start(A);
    notes.start(A);
    if (cpus) cpus.start(A);
  }
  /** Where each P's rows are in a column sorted by P. */
  function ranges(ps) {
    const out = new Map();
    for (let i = 0; i < ps.length;) {
      let j = i;
      while (j < ps.length && ps[j] === ps[i]) j++;
      out.set(ps[i], [i, j]);
      i = j;
    }
    return out;
  }

  let busyPath = null; // of the strip on top
  let W = 0, dpr = 1, ctx = canvas.getContext("2d"), pending = false;
  const plotW = () => Math.max(W - GUTTER - RIGHT, 10);
  const x2t = x => view.from + (x - GUTTER) / plotW() * (view.to - view.from);
  const t2x = t => GUTTER + (t - view.from) / (view.to - view.from) * plotW();

  function resize() {
    const w = canvas.parentElement.clientWidth;
    if (!w) return;
    W = w; dpr = Math.min(devicePixelRatio || 1, 16000 / height);
    canvas.style.height = height + "px";
    canvas.width = Math.round(W * dpr); canvas.height = Math.round(height * dpr);
    map.width = Math.round(W * dpr); map.height = Math.round(34 * dpr);
    busyPath = new Path2D();
    for (let x = 0; x < plotW(); x++) {
      const h = busy[Math.min(busy.length - 1, Math.floor(x / plotW() * busy.length))] * 22;
      busyPath.rect(GUTTER + x, 30 - h, 1, h);
    }
    later();
  }
  function later() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; draw(); });
  }

  function rgba(name) {
    const m = colour(name).match(/[\d.]+/g).map(Number);
    return (255 << 24 | m[2] << 16 | m[1] << 8 | m[0]) >>> 0; // little-endian pixels
  }

  /** The bins of each pixel column: column c stands for those from at[c] to before to[c]. All lanes have the same. */
  function binsOf(cols) {
    const at = new Int32Array(cols), to = new Int32Array(cols), per = (view.to - view.from) / cols;
    for (let c = 0; c < cols; c++) {
      at[c] = Math.min((view.from + (per < D.bin ? c + 0.5 : c) * per) / D.bin, D.bins - 1);
      to[c] = Math.max(at[c] + 1, Math.min((view.from + (c + 1) * per) / D.bin, D.bins));
    }
    return { at, to };
  }
  /** The mean over the bins of each pixel column. */
  function mean(bins, { at, to }, out, off, scale) {
    for (let c = 0; c < at.length; c++) {
      let sum = 0;
      for (let b = at[c]; b < to[c]; b++) sum += bins[b] || 0;
      out[off + c] = sum / (to[c] - at[c]) * scale;
    }
  }
  /** Adds, per pixel column, the shares of each state on lane i. */
  function shares(i, cols, bins, cov) {
    cov.fill(0);
    const span = view.to - view.from, per = span / cols;
    const keys = [null, "user", "system", "gc", null, "syscall", "sched", "stopped", "gap"];
    for (let s = 1; s < S; s++) {
      const of = keys[s] && A[i + "." + keys[s]];
      if (of) mean(of, bins, cov, s * cols, 1 / 255);
    }
    for (const w of D.windows) { // exact where it is kept
      if (w.t <= view.from || w.f >= view.to || (w.t - w.f) / per < 4) continue;
      const c0 = Math.max(0, Math.ceil((w.f - view.from) / per - 0.001)), c1 = Math.min(cols, Math.floor((w.t - view.from) / per + 0.001));
      for (let s = 0; s < S; s++) cov.fill(0, s * cols + c0, s * cols + Math.max(c0, c1));
      const r = w.lanes.get(D.ps[i]);
      if (!r) continue;
      const from = A[`w${w.k}.from`], len = A[`w${w.k}.len`], state = A[`w${w.k}.state`];
      for (let j = first(from, len, r, view.from - w.f); j < r[1]; j++) {
        const a = from[j] + w.f, b = a + len[j];
        if (a >= view.to) break;
        const xa = Math.max((a - view.from) / per, c0), xb = Math.min((b - view.from) / per, c1);
        const off = state[j] * cols;
        for (let c = Math.floor(xa); c < xb; c++) cov[off + c] += Math.min(xb, c + 1) - Math.max(xa, c);
      }
    }
  }
  /** The first row of r that ends after t. */
  function first(from, len, r, t) {
    let lo = r[0], hi = r[1];
    while (lo < hi) {
      const m = (lo + hi) >> 1;
      if (from[m] + len[m] > t) hi = m; else lo = m + 1;
    }
    return lo;
  }

  /** Mean queue length per pixel column. */
  function depth(p, lengths, cols, bins, out) {
    const per = (view.to - view.from) / cols;
    mean(lengths, bins, out, 0, 1);
    for (const w of D.windows) {
      if (w.t <= view.from || w.f >= view.to || (w.t - w.f) / per < 4) continue;
      const r = w.depths.get(p);
      if (!r) continue;
      const at = A[`w${w.k}.dat`], len = A[`w${w.k}.dlen`];
      const c0 = Math.max(0, Math.ceil((w.f - view.from) / per)), c1 = Math.min(cols, Math.floor((w.t - view.from) / per));
      let j = r[0];
      for (let c = c0; c < c1; c++) {
        let t = view.from + c * per - w.f, now = j > r[0] ? len[j - 1] : 0, sum = 0;
        const end = t + per;
        for (; j < r[1] && at[j] <= end; j++) {
          if (at[j] > t) { sum += now * (at[j] - t); t = at[j]; }
          now = len[j];
        }
        out[c] = (sum + now * (end - t)) / per;
      }
    }
  }

  /** Where a P does not exist, it has no lane. */
  function unused(i, { at }, cols, lh, px, panel) {
    const of = A[i + ".unused"];
    if (of) for (let c = 0; c < cols; c++) if (of[at[c]] > 127) for (let k = 0; k < lh; k++) px[k * cols + c] = panel;
  }

  let depthMost = 1, globalMost = 1, busy = []; // busy: share of the Ps that ran the program, per bin
  function scales() {
    busy = new Float32Array(A["0.user"].length);
    for (let i = 0; i < PS; i++) A[i + ".user"].forEach((v, b) => { busy[b] += v / PS / 255; });
    for (let i = 0; i < PS; i++) for (const v of A[i + ".q"]) if (v > depthMost) depthMost = v;
    for (const w of D.windows) for (const v of A[`w${w.k}.dlen`]) if (v > depthMost) depthMost = v;
    for (const name of ["runnable.mean", "global.mean"]) for (const v of A[name]) if (v > globalMost) globalMost = v;
  }

  function draw() {
    if (!A || !W) return;
    const cols = Math.round(plotW() * dpr);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = colour("panel");
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    if (mode === "p") drawLanes(cols);
    if (mode === "p" && cpus) cpus.drawLanes(under, cols, dpr);
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    if (mode === "p" && cpus) cpus.drawNames(under, W - RIGHT);
    drawGlobal(cols);
    if (mode !== "p") drawRows();
    heap.draw(AXIS, W - RIGHT, TOP - 2, TOP - 2 + N * LANE);
    drawBands();
    drawWaits();
    drawLabels();
    if (mode === "p") drawExact();
    drawAxis();
    if (picked) drawPicked();
    if (frame) drawFrame();
    if (lit >= 0) drawLit(D.findings[lit]);
    drawMap();
  }

  /** The lanes of the Ps, a column of pixels at a time. */
  function drawLanes(cols) {
    const x0 = Math.round(GUTTER * dpr);
    const cov = new Float32Array(S * cols), q = new Float32Array(cols), bins = binsOf(cols);
    const paint = STATES.map(rgba), line = rgba("depth"), bg = rgba("idle"), panel = rgba("panel");
    const period = Math.round(7 * dpr), stripe = Math.max(1, Math.round(2 * dpr)); // of the hatching
    const lh = Math.max(1, Math.round(laneH * dpr)), dh = Math.max(1, Math.round(depthH * dpr));
    const img = ctx.createImageData(cols, lh + dh), px = new Uint32Array(img.data.buffer);
    for (let i = 0; i < N; i++) {
      const place = D.ps.indexOf(ids[i]);
      shares(place, cols, bins, cov);
      depth(ids[i], A[place + ".q"], cols, bins, q);
      px.fill(bg, 0, lh * cols);
      px.fill(panel, lh * cols);
      unused(place, bins, cols, lh, px, panel);
      for (let c = 0; c < cols; c++) {
        let y = lh, acc = 0; // stacked from below
        for (let s = 1; s < S; s++) {
          const v = cov[s * cols + c];
          if (v <= 0.002) continue;
          acc += v;
          const top = Math.max(0, Math.round(lh * (1 - Math.min(acc, 1))));
          for (let k = top; k < y; k++) px[k * cols + c] = s !== GAP || (c + k) % period < stripe ? paint[s] : panel;
          y = Math.min(y, top);
        }
        const h = q[c] <= 0 ? 0 : Math.max(1, Math.min(dh, Math.round(Math.sqrt(q[c] / depthMost) * dh)));
        for (let k = 0; k < h; k++) px[(lh + k) * cols + c] = line; // hangs from the lane
      }
      if (cpus) cpus.hatch(px, cols, lh, ids[i], dpr, panel);
      ctx.putImageData(img, x0, Math.round((TOP + i * LANE) * dpr));
    }
  }

  /** The lanes of goroutines or threads: only what exact windows hold. */
  function drawRows() {
    const paint = STATES.map(colour), text = labels();
    clip();
    for (const w of D.windows) {
      if (w.t <= view.from || w.f >= view.to) continue;
      const a = Math.max(t2x(w.f), GUTTER), b = Math.min(t2x(w.t), W - RIGHT);
      ids.forEach((id, i) => {
        ctx.fillStyle = colour("idle");
        ctx.fillRect(a, TOP + i * LANE, b - a, laneH);
        drawRow(w, laneRows.index(w, mode).get(id) || [], TOP + i * LANE, paint, text);
        if (mode === "g") notes.draw(w, id, TOP + i * LANE + laneH + 1);
      });
    }
    ctx.restore();
    ctx.fillStyle = colour("ink2");
    ctx.textAlign = "left";
    const what = mode === "g" ? "goroutines" : "threads";
    const note = !N ? `No ${what} are kept one by one in this stretch: choose an exact window.` : [left ? `${gms.group(left)} more ${what} have no lane: they ${mode === "g" ? "waited" : "ran"} less in this stretch.` : "", mode === "g" ? notLeft() : ""].join(" ").trim();
    ctx.fillText(note, GUTTER + 4, TOP + Math.max(N, 1) * LANE + 10);
  }
  /** How many tasks and regions of the windows in sight are left out. */
  function notLeft() {
    const n = D.windows.reduce((sum, w) => sum + (w.t > view.from && w.f < view.to ? notes.left(w) : 0), 0);
    return n ? `${gms.group(n)} shorter tasks and regions are left out.` : "";
  }
  function drawRow(w, rows, y, paint, text) {
    const from = A[`w${w.k}.from`], len = A[`w${w.k}.len`], state = A[`w${w.k}.state`], wait = A[`w${w.k}.wait`];
    let drawn = -1; // up to which x
    for (let j = Math.max(0, laneRows.after(w, rows, view.from - w.f) - 1); j < rows.length; j++) { // the one before may be blocked still
      const i = rows[j], start = from[i] + w.f, xa = t2x(start), xb = Math.max(t2x(start + len[i]), xa + 0.5);
      const gap = mode === "g" && laneRows.gap(w, rows, j, A);
      if (gap && gap.from < view.to) {
        const a = t2x(gap.from), b = t2x(gap.to);
        ctx.fillStyle = colour(gap.key);
        if (b - a > 0.5) ctx.fillRect(a, y + 3, b - a, laneH - 6);
      }
      if (mode === "g" && wait[i] > 0 && start - wait[i] < view.to) {
        ctx.fillStyle = colour("waking");
        ctx.fillRect(t2x(start - wait[i]), y + laneH / 2 - 2, xa - t2x(start - wait[i]), 4);
      }
      if (start >= view.to) break; // its wait may have been in sight
      if (xb < drawn + 0.5) continue;
      ctx.fillStyle = paint[state[i]];
      ctx.fillRect(xa, y, xb - xa, laneH);
      drawn = xb;
      if (xb - xa > 34) name(w, i, Math.max(xa, GUTTER), Math.min(xb, W - RIGHT), y, text[state[i]]);
    }
  }
  /** Writes into a run interval whose it is. */
  function name(w, i, xa, xb, y, style) {
    const p = A[`w${w.k}.p`][i], g = A[`w${w.k}.g`][i], cls = xb - xa > 110 ? D.classes[A[`w${w.k}.class`][i]] || "" : "";
    ctx.save();
    ctx.beginPath(); ctx.rect(xa + 2, y, xb - xa - 4, laneH); ctx.clip();
    ctx.textAlign = "left";
    const text = (mode === "g" ? "P" + p : "G" + g) + (cls ? "  " + cls : "");
    if (cpus && mode === "p") { // readable where it is hatched
      ctx.fillStyle = colour(STATES[A[`w${w.k}.state`][i]]);
      ctx.fillRect(xa + 3, y + laneH / 2 - 7, ctx.measureText(text).width + 4, 14);
    }
    ctx.fillStyle = style;
    ctx.fillText(text, xa + 5, y + laneH / 2);
    ctx.restore();
  }
  /** Black or white for each state, whichever is read better on its colour. */
  function labels() {
    return STATES.map(inkOn);
  }
  function inkOn(name) {
    const [r, g, b] = colour(name).match(/[\d.]+/g).map(Number);
    return r * 0.299 + g * 0.587 + b * 0.114 > 125 ? "#14161a" : "#fff";
  }
  /** Gives lanes to others: Ps, or the goroutines or threads that ran longest in what is shown. */
  function setMode(m) {
    mode = m;
    lanesSelect.value = m;
    chooseLanes();
  }
  /** Gives a lane to one P alone; -1: to all. */
  function only(p) {
    if (p === single || !A) return;
    single = D.ps.includes(p) ? p : -1;
    if (mode === "p") chooseLanes();
  }
  function chooseLanes() {
    const before = ids;
    if (mode === "p") { ids = single >= 0 ? [single] : D.ps; left = 0; } else ({ ids, left } = laneRows.choose(mode, view.from, view.to, picked ? stint(picked)[mode] : 0));
    if (ids.length === before.length && ids.every((id, i) => id === before[i])) return later();
    layout();
    cursor = Math.min(cursor, Math.max(N - 1, 0));
    resize();
  }

  /** An instant as the flags of the command take it. */
  function seconds(ns) { return ((ns + view.origin) / 1e9).toFixed(9).replace(/\.?0+$/, "") + "s"; }

  function clip() { ctx.save(); ctx.beginPath(); ctx.rect(GUTTER, 0, plotW(), height); ctx.clip(); }

  function drawGlobal(cols) {
    const y1 = QUEUES + GLOBAL, q = new Float32Array(cols), bins = binsOf(cols), per = plotW() / cols;
    clip();
    for (const [name, p, style] of [["runnable", -2, "waking"], ["global", -1, "depth"]]) {
      depth(p, A[name + ".mean"], cols, bins, q);
      ctx.fillStyle = colour(style);
      ctx.globalAlpha = name === "runnable" ? 0.45 : 1;
      ctx.beginPath();
      for (let c = 0; c < cols; c++) {
        const h = q[c] <= 0 ? 0 : Math.max(1, Math.min(1, q[c] / globalMost) * (GLOBAL - 4));
        if (h) ctx.rect(GUTTER + c * per, y1 - h, per + 0.2, h);
      }
      ctx.fill();
    }
    ctx.globalAlpha = 1;
    ctx.restore();
    ctx.fillStyle = colour("line");
    ctx.fillRect(GUTTER, y1, plotW(), 1);
    ctx.fillStyle = colour("ink2");
    ctx.textAlign = "right";
    ctx.fillText("queued", GUTTER - 6, y1 - 8);
    ctx.globalAlpha = 0.8;
    ctx.fillText(sig(globalMost), GUTTER - 6, y1 - GLOBAL + 5);
    ctx.globalAlpha = 1;
  }

  function drawBands() {
    clip();
    ctx.fillStyle = colour("gap");
    for (const s of D.gaps || []) { // what was queued is not known there
      if (s.t < view.from || s.f > view.to) continue;
      const a = Math.max(t2x(s.f), GUTTER), b = Math.min(t2x(s.t), W - RIGHT);
      for (let x = a; x < b; x += 5) ctx.fillRect(x, QUEUES, Math.min(1.5, b - x), GLOBAL);
    }
    ctx.fillStyle = colour("ink");
    for (const w of D.windows) { // brackets: exact here
      if (w.t < view.from || w.f > view.to) continue;
      const a = t2x(w.f), b = Math.max(t2x(w.t), a + 2);
      ctx.fillRect(a, TOP - 5, b - a, 2);
      ctx.fillRect(a, TOP - 5, 1, 5); ctx.fillRect(b - 1, TOP - 5, 1, 5);
    }
    ctx.restore();
  }

  /* The longest waits, each in the first row that is free. */
  const rowOf = (() => {
    const ends = new Array(ROWS).fill(-1), out = new Array(D.waits.length).fill(-1);
    const gap = D.end / 400;
    for (const k of D.waits.map((w, i) => i).sort((a, b) => D.waits[a].f - D.waits[b].f)) {
      const row = ends.findIndex(e => e < D.waits[k].f - gap);
      if (row >= 0) { ends[row] = D.waits[k].t; out[k] = row; }
    }
    return out;
  })();
  const waitY = k => QUEUES + GLOBAL + 4 + rowOf[k] * 6;
  function drawWaits() {
    if (!ROWS) return;
    clip();
    D.waits.forEach((w, k) => {
      if (rowOf[k] < 0 || w.t < view.from || w.f > view.to) return;
      const a = t2x(w.f), b = Math.max(t2x(w.t), a + 2);
      ctx.fillStyle = colour(k === waiting ? "ink" : "waking");
      ctx.fillRect(a, waitY(k), b - a, 4);
    });
    ctx.restore();
    ctx.fillStyle = colour("ink2");
    ctx.textAlign = "right";
    ctx.fillText("waits", GUTTER - 6, QUEUES + GLOBAL + WAITS / 2 + 3);
  }
  function waitAt(x, y) {
    const row = Math.floor((y - QUEUES - GLOBAL - 3) / 6), t = x2t(x), slack = 3 * (view.to - view.from) / plotW();
    return row < 0 || row >= ROWS ? -1 : D.waits.findIndex((w, k) => rowOf[k] === row && t >= w.f - slack && t <= w.t + slack);
  }

  function drawLabels() {
    ctx.textAlign = "right";
    const every = Math.max(1, Math.ceil(13 / LANE));
    for (let i = 0; i < N; i += every) {
      ctx.fillStyle = colour(i === cursor && document.activeElement === canvas ? "focus" : "ink2");
      ctx.fillText(mode.toUpperCase() + ids[i], GUTTER - 6, TOP + i * LANE + laneH / 2);
    }
  }

  /** Names in run intervals that are wide enough, and arrows. */
  function drawExact() {
    clip();
    const text = labels();
    const per = (view.to - view.from) / plotW();
    for (const w of D.windows) {
      if (w.t <= view.from || w.f >= view.to) continue;
      const from = A[`w${w.k}.from`], len = A[`w${w.k}.len`], state = A[`w${w.k}.state`], g = A[`w${w.k}.g`];
      if (laneH >= 10 && w.longest / per >= 3) for (let i = 0; i < N; i++) {
        const r = w.lanes.get(ids[i]);
        if (!r) continue;
        const y = TOP + i * LANE;
        let lastX = -9;
        for (let j = first(from, len, r, view.from - w.f); j < r[1]; j++) {
          const a = from[j] + w.f;
          if (a >= view.to) break;
          const xa = Math.max(t2x(a), GUTTER), xb = Math.min(t2x(a + len[j]), W - RIGHT);
          if (xb - xa < 3) continue;
          if (xa - lastX >= 3 && state[j] !== 0) { ctx.fillStyle = colour("panel"); ctx.fillRect(xa, y, 0.7, laneH); lastX = xa; }
          if (xb - xa > 34 && g[j] > 0) name(w, j, xa, xb, y, text[state[j]]);
        }
      }
      if (w.arrows.length && (w.t - w.f) / per > 60) drawArrows(w);
    }
    ctx.restore();
  }

  const ARROW = { steal: "ink", handoff: "warning", retake: "warning", overflow: "accent", "global-batch": "heat6" };
  function arrowY(p) { return p < 0 || !lane.has(p) ? QUEUES + GLOBAL : TOP + lane.get(p) * LANE + laneH / 2; }
  function drawArrows(w) {
    const seen = w.arrows.filter(a => a.at >= view.from && a.at <= view.to);
    ctx.globalAlpha = seen.length > 250 ? 0.25 : seen.length > 60 ? 0.5 : 0.95;
    for (const a of seen) {
      const x = t2x(a.at), y0 = arrowY(a.f), y1 = arrowY(a.t), d = Math.sign(y1 - y0) || 1;
      ctx.strokeStyle = ctx.fillStyle = colour(ARROW[a.k] || "ink");
      ctx.lineWidth = 1.6;
      ctx.setLineDash(a.k === "handoff" || a.k === "retake" ? [3, 2] : []);
      ctx.beginPath();
      if (y0 === y1) ctx.arc(x, y0, 4, 0, 7);
      else { ctx.moveTo(x, y0); ctx.lineTo(x, y1 - 5 * d); }
      ctx.stroke();
      ctx.setLineDash([]);
      if (y0 !== y1) { ctx.beginPath(); ctx.moveTo(x, y1); ctx.lineTo(x - 3.5, y1 - 6 * d); ctx.lineTo(x + 3.5, y1 - 6 * d); ctx.fill(); ctx.beginPath(); ctx.arc(x, y0, 2, 0, 7); ctx.fill(); }
    }
    ctx.globalAlpha = 1;
  }

  function drawAxis() {
    const span = view.to - view.from, want = span / Math.max(2, plotW() / 110);
    let step = 10 ** Math.floor(Math.log10(want));
    step *= want / step > 5 ? 10 : want / step > 2 ? 5 : want / step > 1 ? 2 : 1;
    step = Math.max(step, 1);
    ctx.textAlign = "center";
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      const x = t2x(t);
      ctx.fillStyle = colour("line");
      ctx.globalAlpha = 0.6; ctx.fillRect(x, AXIS - 4, 1, 4); ctx.globalAlpha = 1;
      ctx.fillStyle = colour("ink2");
      if (x > GUTTER + 20 && x < W - 26) ctx.fillText(clock(t, step), x, 10);
    }
  }

  function drawPicked() {
    const w = D.windows[picked.win], j = picked.i, id = A[`w${w.k}.${mode}`][j], y = TOP + lane.get(id) * LANE;
    if (!lane.has(id)) return;
    const a = w.f + A[`w${w.k}.from`][j], b = a + A[`w${w.k}.len`][j], wait = A[`w${w.k}.wait`][j];
    clip();
    ctx.strokeStyle = colour("ink");
    drawRuns();
    ctx.lineWidth = 2;
    ctx.strokeRect(t2x(a) + 1, y - 1, Math.max(2, t2x(b) - t2x(a) - 2), laneH + 2);
    if (wait > 0) {
      ctx.setLineDash([4, 3]);
      ctx.beginPath(); ctx.moveTo(Math.max(t2x(a - wait), -9), y + laneH + 1); ctx.lineTo(t2x(a), y + laneH + 1); ctx.stroke();
      ctx.setLineDash([]);
    }
    ctx.restore();
  }

  /** The way of a goroutine from run to run, across the Ps. */
  function drawRuns() {
    const w = D.windows[picked.win], from = A[`w${w.k}.from`], len = A[`w${w.k}.len`], key = A[`w${w.k}.${mode}`];
    let last = null;
    ctx.beginPath();
    for (const i of runs) {
      const a = t2x(w.f + from[i]), b = t2x(w.f + from[i] + len[i]), y = TOP + lane.get(key[i]) * LANE + 1;
      if (!lane.has(key[i])) continue;
      if (last && a > GUTTER && last.x < W - RIGHT) { ctx.moveTo(last.x, last.y); ctx.lineTo(a, y); }
      if (b > GUTTER && a < W - RIGHT) { ctx.moveTo(a, y); ctx.lineTo(Math.max(b, a + 1), y); }
      last = { x: b, y };
    }
    ctx.strokeStyle = colour("ink");
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.7;
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
  /** Lights up where a finding is. */
  function drawLit(f) {
    clip();
    ctx.globalAlpha = 0.25;
    ctx.fillStyle = colour("accent");
    ctx.fillRect(t2x(f.f), AXIS, Math.max(t2x(f.t) - t2x(f.f), 3), height);
    ctx.restore();
  }
  /** A frame around what a link shows; the rest is paler. */
  function drawFrame() {
    const a = Math.min(Math.max(t2x(frame.f), GUTTER), W - RIGHT), b = Math.min(Math.max(t2x(frame.t), GUTTER), W - RIGHT), y = AXIS - 1;
    clip();
    ctx.globalAlpha = 0.55;
    ctx.fillStyle = colour("panel");
    ctx.fillRect(GUTTER, TOP - 6, a - GUTTER, height);
    ctx.fillRect(b, TOP - 6, W - RIGHT - b, height);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = colour("accent");
    ctx.lineWidth = 2;
    ctx.strokeRect(t2x(frame.f), y, Math.max(t2x(frame.t) - t2x(frame.f), 2), height - y - 3);
    ctx.restore();
  }

  /** The strip on top: the whole trace, findings, and the part that is shown. */
  function drawMap() {
    const c = map.getContext("2d"), w = plotW(), pos = t => GUTTER + t / view.end * w;
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    c.fillStyle = colour("bg"); c.fillRect(0, 0, W, 34);
    c.fillStyle = colour("idle"); c.fillRect(GUTTER, 8, w, 22);
    c.fillStyle = colour("user");
    c.fill(busyPath);
    c.fillStyle = colour("gap");
    for (const s of D.gaps || []) for (let x = pos(s.f); x < pos(s.t); x += 4) c.fillRect(x, 8, Math.min(1.5, pos(s.t) - x), 22);
    c.fillStyle = colour("accent");
    D.findings.forEach((f, k) => c.fillRect(pos(f.f), k === finding || k === lit ? 0 : 2, Math.max(3, pos(f.t) - pos(f.f)), k === lit ? 34 : k === finding ? 7 : 4));
    const a = pos(view.from), b = Math.max(pos(view.to), a + 3);
    c.fillStyle = colour("bg"); c.globalAlpha = 0.62;
    c.fillRect(GUTTER, 8, a - GUTTER, 22); c.fillRect(b, 8, GUTTER + w - b, 22);
    c.globalAlpha = 1;
    c.strokeStyle = colour("ink"); c.lineWidth = 1; c.strokeRect(a + 0.5, 8.5, b - a - 1, 21);
    c.fillStyle = colour("ink2"); c.font = "11px system-ui, sans-serif"; c.textAlign = "right"; c.textBaseline = "middle";
    c.fillText("whole", GUTTER - 6, 19);
  }

  /* What is under a point. */
  function laneAt(y) { const i = Math.floor((y - TOP) / LANE); return i >= 0 && i < N ? i : -1; }
  function cpuAt(y) { return mode === "p" && cpus ? cpus.laneAt(y, under) : -1; }
  function stintAt(i, t) { return mode === "p" ? stintOf(ids[i], t) : laneRows.at(mode, ids[i], t); }
  /** What P p did at t, or null. */
  function stintOf(p, t) {
    for (const w of D.windows) {
      if (t < w.f || t >= w.t) continue;
      const r = w.lanes.get(p);
      if (!r) continue;
      const from = A[`w${w.k}.from`], len = A[`w${w.k}.len`], j = first(from, len, r, t - w.f);
      if (j < r[1] && from[j] + w.f <= t) return { win: w.k, i: j };
    }
    return null;
  }
  function stint(s) {
    const w = D.windows[s.win], k = s.win, get = n => A[`w${k}.${n}`][s.i];
    return { w, p: get("p"), m: get("m"), from: w.f + get("from"), len: get("len"), state: get("state"), g: get("g"), cls: D.classes[get("class")] || "", wait: get("wait"), src: D.sources[get("src")] || "", took: D.took[get("src")] || "",
      stop: D.words[get("stop")], blocked: D.words[get("blocked")], cause: D.words[get("cause")], woken: D.words[get("woken")], stack: D.stacks[get("stack")] || [], by: get("by"), byStack: D.stacks[get("byStack")] || [] };
  }
  function lines(x, y) {
    const t = x2t(x), out = [];
    if (t < view.from || t > view.to) return null;
    const gc = heap.lines(t, (view.to - view.from) / plotW());
    if (y < QUEUES) return { title: clock(t, D.bin), rows: gc };
    out.push(...gc.filter(([k]) => k === "World stopped"));
    const k = waitAt(x, y);
    if (k >= 0) {
      const w = D.waits[k];
      return { title: `G${w.g} ${w.name}`, rows: [["Waited", dur(w.t - w.f)], ["From", clock(w.f, 1e4)]] };
    }
    const b = Math.min(Math.floor(t / D.bin), D.bins - 1), i = laneAt(y), cpu = cpuAt(y);
    if (cpu >= 0) return cpus.lines(cpu, t);
    if (i < 0) {
      out.push(["Runnable", sig(A["runnable.mean"][b]) + " (up to " + (A["runnable.max"][b] ?? 0) + ")"], ["Global queue", sig(A["global.mean"][b]) + " (up to " + (A["global.max"][b] ?? 0) + ")"], ["Idle Ps", sig(A["idle.mean"][b])]);
      for (const n of ["steals", "retakes", "handoffs", "preemptions"]) if (A[n][b]) out.push([n[0].toUpperCase() + n.slice(1), String(A[n][b])]);
      return { title: clock(t, D.bin), rows: out };
    }
    const hit = stintAt(i, t), w = mode === "g" && !hit && D.windows.find(w => t >= w.f && t < w.t), off = w && laneRows.blocked(w, ids[i], t);
    if (off && t >= off.from && t < off.to) return { title: `G${ids[i]}: blocked ${off.word}`, rows: [["For", dur(off.to - off.from)], ["From", clock(off.from, 1e4)]] };
    if (hit) {
      const s = stint(hit);
      const title = s.g > 0 ? `G${s.g} ${s.cls}` : WORDS[s.state];
      out.unshift(["P" + s.p, WORDS[s.state] + " for " + dur(s.len)]);
      if (s.wait >= 0) out.push(["Waited before", dur(s.wait)]);
      if (s.g > 0 && s.src) out.push(["Taken from", s.src]);
      const off = cpus && cpus.lacked(s);
      if (off) out.push(["Off the CPUs", off]);
      if (s.g > 0) out.push(...notes.at(s.g, t));
      return { title, rows: out, hit };
    }
    if (mode !== "p") return { title: mode.toUpperCase() + ids[i], rows: [["Here", D.windows.some(w => t >= w.f && t < w.t) ? "does not run" : "not kept run by run"], ...(mode === "g" ? notes.at(ids[i], t) : [])] };
    const place = D.ps.indexOf(ids[i]);
    for (const [k, word] of [["user", 1], ["system", 2], ["gc", 3], ["syscall", 5], ["sched", 6], ["stopped", 7], ["gap", GAP]]) {
      const v = (A[place + "." + k]?.[b] || 0) / 255;
      if (v > 0.004) out.push([WORDS[word], gms.percent(v)]);
    }
    out.push(["Queue", sig(A[place + ".q"][b] || 0) + " (up to " + (A[place + ".qmax"][b] || 0) + ")"]);
    return { title: `P${ids[i]}, ${clock(b * D.bin, D.bin)} + ${dur(D.bin)}`, rows: out };
  }

  function hover(e) {
    const r = canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    const info = A && lines(x, y);
    if (!info) { tip.hidden = true; return; }
    tip.replaceChildren(el("b", "", info.title), ...info.rows.map(([k, v]) => el("div", "", k + ": " + v)));
    tip.hidden = false;
    const host = box.getBoundingClientRect();
    let left = e.clientX - host.left + 14;
    if (left + tip.offsetWidth > host.width) left = Math.max(0, e.clientX - host.left - tip.offsetWidth - 14);
    tip.style.left = left + "px";
    tip.style.top = e.clientY - host.top + 16 + "px";
  }

  /** Shows a wait in the details; zoom: and goes there. */
  function wait(k, zoom) {
    const w = D.waits[k];
    clear();
    waiting = k;
    if (zoom) go(w.f - (w.t - w.f) * 0.08, w.t + (w.t - w.f) * 0.08);
    gms.inspector.wait(k);
    later();
  }
  /** Shows a run interval in the details, or nothing. */
  function show(hit) {
    clear();
    picked = hit;
    if (hit) {
      const s = stint(hit);
      cursor = lane.get(s[mode]) ?? cursor;
      runs = s.g > 0 ? runsOf(hit.win, s.g) : [];
      gms.inspector.run(hit);
    } else details.hidden = true;
    later();
  }
  function clear() {
    picked = null; runs = []; waiting = finding = collected = -1;
    gms.put("life", null);
  }
  /** Whether row i of window k is a run of goroutine g, and no system call of it. */
  function isRun(k, i, g) { return A[`w${k}.g`][i] === g && A[`w${k}.state`][i] !== SYSCALL; }
  /** The runs of a goroutine in a window, in the order of time. */
  function runsOf(k, g) {
    const out = [], from = A[`w${k}.from`];
    for (let i = 0; i < from.length; i++) if (isRun(k, i, g)) out.push(i);
    return out.sort((x, y) => from[x] - from[y]);
  }
  /** The run of the same goroutine after (dir 1) or before a run, in any window, on any P. */
  function sameG(hit, dir) {
    const s = stint(hit);
    for (let k = hit.win; k >= 0 && k < D.windows.length; k += dir) {
      const rows = runsOf(k, s.g).filter(i => (D.windows[k].f + A[`w${k}.from`][i] - s.from) * dir > 0);
      if (rows.length) return { win: k, i: rows[dir > 0 ? 0 : rows.length - 1] };
    }
    return null;
  }
  /** Shows a run interval, and moves if it is out of sight. */
  function reveal(hit) {
    const s = stint(hit), span = view.to - view.from;
    if (s.from + s.len <= view.from || s.from >= view.to) go(s.from + s.len / 2 - span / 2, s.from + s.len / 2 + span / 2);
    show(hit);
  }
  /** Frames a stretch and names it; null takes the frame away. */
  function setFrame(f, t, g) {
    frame = f === null ? null : { f, t, g, ...named(f, t, g) };
    caption.hidden = !frame;
    if (frame) gms.inspector.caption(caption, frame);
    later();
  }
  /** What a stretch is: a finding, a wait, or something that has a name of its own. */
  function named(f, t, g) {
    const k = D.findings.findIndex(x => x.f === f && x.t === t);
    if (k >= 0 && g < 0) return { name: `Finding ${D.findings[k].n}: ${D.findings[k].title}`, href: "#finding-" + D.findings[k].n };
    const w = D.waits.find(x => x.f === f && x.t === t && x.g === g);
    if (w) return { name: `G${w.g} ${w.name} waited ${dur(t - f)}`, href: w.id ? "#" + w.id : "" };
    const x = D.named.find(x => x.f === f && x.t === t);
    if (g >= 0) return { name: x ? `${x.n} on G${g}: ${dur(t - f)}` : `G${g} waited ${dur(t - f)}`, href: "" };
    return { name: `${x ? x.n + ": " : ""}${clock(f, (t - f) / 100)} to ${clock(t, (t - f) / 100)} (${dur(t - f)})`, href: "" };
  }

  /* Moving about. */
  let noteTimer = 0;
  function go(from, to) { view.set(from, to, "timeline"); moved(); }
  function moved() {
    later();
    clearTimeout(noteTimer);
    noteTimer = setTimeout(rest, 150);
  }
  /** What the stretch that is shown is and sums up to, and the command for it alone. While it moves, the axis
      says where it is: a text that changes in each frame has all of the page painted again. */
  function summarize() {
    range.textContent = `${clock(view.from, (view.to - view.from) / 1e3)} – ${clock(view.to, (view.to - view.from) / 1e3)}  (${dur(view.to - view.from)})`;
    command.closest("p").hidden = view.from <= 0 && view.to >= view.end;
    command.textContent = `${box.dataset.command} --from ${seconds(Math.floor(view.from))} --to ${seconds(Math.ceil(view.to))}`;
    gms.inspector.statistics();
  }
  /** Once the view rests: the address and the statistics. */
  function rest() {
    if (mode !== "p") chooseLanes();
    gms.place(place(), false);
    summarize();
  }
  /** Does something that the browser's Back undoes. */
  function visit(what) {
    const from = view.from, to = view.to;
    gms.place(place(), false);
    what();
    clearTimeout(noteTimer);
    if (mode !== "p") chooseLanes();
    gms.place(place(), true);
    if (view.from !== from || view.to !== to) summarize();
  }
  /** What the fragment keeps of the timeline. */
  function place() {
    const abs = ns => Math.round(ns + view.origin);
    let s = null;
    if (picked) s = stint(picked).p + "-" + abs(stint(picked).from);
    else if (waiting >= 0) s = "w" + D.waits[waiting].g + "-" + abs(D.waits[waiting].f);
    else if (finding >= 0) s = "f" + D.findings[finding].n;
    return {
      t: view.from <= 0 && view.to >= view.end ? null : abs(view.from) + "-" + abs(view.to), s,
      frame: frame ? abs(frame.f) + "-" + abs(frame.t) + (frame.g >= 0 ? "-" + frame.g : "") : null,
      find: gms.inspector.query(), lanes: mode === "p" ? null : mode,
    };
  }
  /** Restores what place kept. */
  function restore(state, how) {
    clearTimeout(noteTimer);
    const m = /^(\d+)-(\d+)$/.exec(state.t || ""), fr = /^(\d+)-(\d+)(?:-(\d+))?$/.exec(state.frame || "");
    const [f, t] = fr ? [Number(fr[1]) - view.origin, Number(fr[2]) - view.origin] : [null, null];
    if (m) view.set(Number(m[1]) - view.origin, Number(m[2]) - view.origin, "timeline");
    else if (fr) view.set(f - (t - f) * 0.08, t + (t - f) * 0.08, "timeline");
    else view.set(0, view.end, "timeline");
    toured = D.findings.findIndex(x => x.f === f && x.t === t);
    setFrame(f, t, fr && fr[3] ? Number(fr[3]) : -1);
    gms.inspector.setQuery(state.find || "");
    restoreDetails(state.s || "");
    setMode(/^[gm]$/.test(state.lanes || "") ? state.lanes : "p");
    summarize();
    if (how === "back") return;
    (frame ? caption : document.getElementById("timeline")).scrollIntoView();
    if (how === "link") canvas.focus({ preventScroll: true });
  }
  function restoreDetails(s) {
    show(null);
    const m = /^([wf]?)(\d+)(?:-(\d+))?$/.exec(s), at = m ? Number(m[3]) - view.origin : 0;
    if (!m) return;
    if (m[1] === "f") {
      const k = D.findings.findIndex(f => f.n === Number(m[2]));
      if (k >= 0) showFinding(k);
    } else if (m[1] === "w") {
      const k = D.waits.findIndex(w => w.g === Number(m[2]) && w.f === at);
      if (k >= 0) wait(k, false);
    } else {
      const p = Number(m[2]), hit = stintOf(p, at + 0.5) || stintOf(p, at);
      if (hit) show(hit);
    }
  }
  function zoom(f, at) {
    const t = at === undefined ? (view.from + view.to) / 2 : at;
    go(t - (t - view.from) * f, t + (view.to - t) * f);
  }
  function pan(share) { const d = (view.to - view.from) * share; go(Math.max(0, Math.min(view.from + d, view.end - (view.to - view.from))), Math.max(0, Math.min(view.from + d, view.end - (view.to - view.from))) + (view.to - view.from)); }
  function toFinding(d, at) {
    const n = D.findings.length;
    if (!n) return;
    const k = at ?? (toured < 0 ? (d > 0 ? 0 : n - 1) : (toured + d + n) % n), f = D.findings[k], m = (f.t - f.f) * 0.08;
    go(f.f - m, f.t + m);
    setFrame(f.f, f.t, -1);
    showFinding(k);
  }
  function showFinding(k) {
    clear();
    finding = toured = k;
    gms.inspector.finding(k);
    later();
  }
  /** Shows a mark phase in the details. */
  function showGC(k) {
    clear();
    if (k >= 0) gms.inspector.gc(k); else details.hidden = true;
    later();
  }
  /** Goes to the mark phase after the one that is shown, or to the first that is not over. */
  function toGC() {
    if (!D.gc.length) return;
    collected = (collected < 0 ? heap.after(view.from) : collected + 1) % D.gc.length;
    const k = Math.max(0, collected), s = D.gc[k], m = Math.max(s.t - s.f, 1e3);
    go(s.f - m, s.t + m);
    showGC(k);
    collected = k;
  }
  function step(d) {
    const mid = (view.from + view.to) / 2;
    let hit = picked && lane.get(stint(picked)[mode]) === cursor ? picked : null;
    if (!hit) hit = stintAt(cursor, mid);
    else if (mode !== "p") hit = laneRows.beside(mode, hit, d) || hit;
    else {
      const r = D.windows[hit.win].lanes.get(ids[cursor]), i = hit.i + d;
      if (i >= r[0] && i < r[1]) hit = { win: hit.win, i };
    }
    if (hit) reveal(hit);
  }
  function toWait(d) {
    if (D.waits.length) wait(((waiting < 0 ? (d > 0 ? -1 : 0) : waiting) + d + D.waits.length) % D.waits.length, true);
  }
  const doing = { in: () => zoom(0.6), out: () => zoom(1 / 0.6), left: () => pan(-0.25), right: () => pan(0.25), all: () => go(0, view.end), next: () => visit(() => toFinding(1)), prev: () => visit(() => toFinding(-1)), wait: () => visit(() => toWait(1)) };
  box.querySelector(".tl-bar").addEventListener("click", e => { const b = e.target.closest("[data-do]"); if (b) doing[b.dataset.do](); });
  const keys = { "+": "in", "=": "in", "-": "out", "_": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all" };
  canvas.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (keys[e.key]) doing[keys[e.key]]();
    else if (e.key === "ArrowUp" || e.key === "ArrowDown") { cursor = Math.max(0, Math.min(N - 1, cursor + (e.key === "ArrowUp" ? -1 : 1))); later(); }
    else if (e.key === "," || e.key === ".") visit(() => step(e.key === "," ? -1 : 1));
    else if (e.key === "Enter") { const hit = picked || stintAt(cursor, (view.from + view.to) / 2); if (hit) visit(() => show(hit)); }
    else if (e.key === "Escape") visit(() => { setFrame(null); show(null); });
    else return;
    e.preventDefault();
  });
  addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
    if (e.key === "/") { e.preventDefault(); document.getElementById("tl-find").focus(); box.scrollIntoView({ block: "nearest" }); return; }
    const f = { n: doing.next, p: doing.prev, w: doing.wait, W: () => visit(() => toWait(-1)), g: () => visit(toGC) }[e.key];
    if (!f) return;
    f();
    box.scrollIntoView({ block: "nearest" });
  });
  canvas.addEventListener("focus", later);
  canvas.addEventListener("blur", later);
  canvas.addEventListener("wheel", e => {
    const sideways = Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey;
    if (sideways) { e.preventDefault(); pan((e.deltaX || e.deltaY) / plotW()); return; }
    if (!e.ctrlKey && !e.metaKey && document.activeElement !== canvas) return; // the page scrolls
    e.preventDefault();
    zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 240), x2t(e.clientX - canvas.getBoundingClientRect().left));
  }, { passive: false });

  const fingers = new Map();
  let drag = null;
  canvas.addEventListener("pointerdown", e => {
    fingers.set(e.pointerId, e.clientX);
    canvas.setPointerCapture(e.pointerId);
    drag = { x: e.clientX, y: e.clientY, from: view.from, to: view.to, select: e.shiftKey, moved: false };
  });
  canvas.addEventListener("pointermove", e => {
    if (!fingers.has(e.pointerId)) { hover(e); return; }
    if (fingers.size === 2) { // pinch
      const before = [...fingers.values()], w0 = Math.abs(before[0] - before[1]);
      fingers.set(e.pointerId, e.clientX);
      const now = [...fingers.values()], w1 = Math.abs(now[0] - now[1]);
      if (w0 > 5 && w1 > 5) zoom(w0 / w1, x2t((now[0] + now[1]) / 2 - canvas.getBoundingClientRect().left));
      drag = null;
      return;
    }
    if (!drag) return;
    const dx = e.clientX - drag.x;
    if (Math.abs(dx) > 3) drag.moved = true;
    if (!drag.moved) return;
    tip.hidden = true;
    if (drag.select) {
      draw();
      const r = canvas.getBoundingClientRect();
      ctx.fillStyle = colour("focus"); ctx.globalAlpha = 0.2;
      ctx.fillRect(Math.min(drag.x, e.clientX) - r.left, TOP - 4, Math.abs(dx), N * LANE);
      ctx.globalAlpha = 1;
      return;
    }
    const span = drag.to - drag.from, d = Math.max(-drag.from, Math.min(view.end - drag.to, -dx / plotW() * span));
    go(drag.from + d, drag.to + d);
  });
  function up(e) {
    fingers.delete(e.pointerId);
    if (!drag) return;
    const r = canvas.getBoundingClientRect();
    if (drag.moved && drag.select) {
      const a = x2t(Math.min(drag.x, e.clientX) - r.left), b = x2t(Math.max(drag.x, e.clientX) - r.left);
      if (b > a) visit(() => go(a, b));
    } else if (!drag.moved && e.type === "pointerup") {
      const x = e.clientX - r.left, y = e.clientY - r.top, i = laneAt(y), k = waitAt(x, y);
      if (k >= 0) visit(() => wait(k, false));
      else if (y > AXIS && y < QUEUES) visit(() => showGC(heap.after(x2t(x))));
      else if (i >= 0) { cursor = i; visit(() => show(stintAt(i, x2t(x)))); }
      else if (cpuAt(y) >= 0) visit(() => show(cpus.lines(cpuAt(y), x2t(x)).hit || null));
    }
    drag = null;
  }
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("dblclick", e => zoom(0.3, x2t(e.clientX - canvas.getBoundingClientRect().left)));
  let mapping = false;
  function mapTo(e) {
    const t = (e.clientX - map.getBoundingClientRect().left - GUTTER) / plotW() * view.end, span = view.to - view.from;
    const from = Math.max(0, Math.min(view.end - span, t - span / 2));
    go(from, from + span);
  }
  map.addEventListener("pointerdown", e => { mapping = true; map.setPointerCapture(e.pointerId); mapTo(e); });
  map.addEventListener("pointermove", e => { if (mapping) mapTo(e); });
  map.addEventListener("pointerup", () => { mapping = false; });

  picker.append(new Option(D.windows.length ? "choose …" : "none in this trace", ""));
  D.windows.forEach((w, k) => picker.append(new Option(`${clock(w.f, 1e5)}: ${w.title}`, k)));
  picker.disabled = !D.windows.length;
  picker.addEventListener("change", () => { const w = D.windows[picker.value]; if (w) visit(() => go(w.f, w.t)); });
  lanesSelect.addEventListener("change", () => visit(() => setMode(lanesSelect.value)));
  if (D.left) picker.parentElement.append(el("small", "", ` ${D.left} more left out to keep this file small`));

  view.listen("timeline", moved);
  gms.restyled(later);
  new ResizeObserver(resize).observe(canvas.parentElement);
  addEventListener("resize", resize);
  gms.timeline = {
    ready: 0, D, laneRows, only, light: k => { lit = k; later(); }, STATES, WORDS, draw, stint, sameG, wait, show, reveal, setFrame, toFinding, go, visit, isRun, first,
    arrays: () => A, focus: () => canvas.focus(), get lanes() { return ids; }, get laneHeight() { return LANE; }, get frame() { return frame; }, get picked() { return picked; }, get cpus() { return cpus; }, heap, notes, get under() { return under; },
  };
  unpack().then(() => {
    scales();
    resize();
    draw();
    gms.timeline.ready = performance.now(); // ms; drawn, and keys and mouse work
    gms.inspector.start(gms.timeline);
    setTimeout(summarize); // after the first picture
    gms.restore(["t", "s", "frame", "find", "lanes"], restore);
    gms.on("life", g => { gms.inspector.life(Number(g)); document.getElementById("timeline").scrollIntoView(); });
    document.documentElement.dataset.timeline = "ready";
  }).catch(e => { // an old browser: the drawing that is there without scripts
    box.hidden = true;
    document.documentElement.classList.add("no-canvas");
    document.documentElement.dataset.timeline = "failed";
    console.warn("gmpscope: timeline not available: " + e);
  });
})();
