"use strict";
/* Above the Ps: what the garbage collector did, by the ranges of the trace, and the size of
   the heap. tl is what the timeline lends: its canvas, scales and colours. */
gms.heap = (D, tl) => {
  const { view, dur, sig, colour, percent, clock } = gms;
  const STOP = 4, MARK = 6, SWEEP = 3, BAND = STOP + MARK + SWEEP + 3, SIZE = D.heap ? 26 : 0;
  let A = null, most = 1;
  function start(arrays) {
    A = arrays;
    if (D.heap) for (const name of ["heap.alloc", "heap.goal"]) for (const v of A[name]) most = Math.max(most, v);
  }
  function bytes(kib) {
    if (kib < 0) return "not told";
    const i = kib < 1024 ? 0 : kib < 1048576 ? 1 : 2;
    return sig(kib / 1024 ** i) + "\u00a0" + ["KiB", "MiB", "GiB"][i];
  }

  /** The bands, from y on; what stops the world is drawn over the lanes, from top to bottom. */
  function draw(y, right, top, bottom) {
    const ctx = tl.ctx;
    tl.clip();
    spans(D.stw, "stopped", right, (a, b) => {
      ctx.fillRect(a, y, b - a, STOP);
      ctx.globalAlpha = 0.22;
      ctx.fillRect(a, top, b - a, bottom - top);
      ctx.globalAlpha = 1;
    });
    spans(D.gc, "gc", right, (a, b) => ctx.fillRect(a, y + STOP, b - a, MARK));
    if (D.heap) {
      drawSweep(y + STOP + MARK + 1, right);
      drawSize(y + BAND, right);
    }
    ctx.restore();
    ctx.fillStyle = colour("ink2");
    ctx.textAlign = "right";
    if (D.gc.length || D.stw.length) ctx.fillText("GC", tl.gutter - 6, y + STOP + 3);
    if (!D.heap) return;
    ctx.fillText("heap", tl.gutter - 6, y + BAND + SIZE - 6);
    ctx.globalAlpha = 0.8;
    ctx.fillText(bytes(most), tl.gutter - 3, y + BAND + 5);
    ctx.globalAlpha = 1;
  }
  function spans(list, style, right, f) {
    tl.ctx.fillStyle = colour(style);
    for (const s of list) {
      if (s.t < view.from || s.f > view.to) continue;
      const a = Math.max(tl.t2x(s.f), tl.gutter - 1);
      f(a, Math.min(Math.max(tl.t2x(s.t), a + 1), right + 1));
    }
  }
  /** Calls f with each pixel column, and the bins that it stands for. */
  function columns(right, f) {
    for (let x = tl.gutter; x < right; x++) {
      const b0 = Math.floor(tl.x2t(x) / D.heap.bin), b1 = Math.max(b0 + 1, Math.floor(tl.x2t(x + 1) / D.heap.bin));
      if (b0 >= 0 && b0 < A["heap.alloc"].length) f(x, b0, Math.min(b1, A["heap.alloc"].length));
    }
  }
  function drawSweep(y, right) {
    const ctx = tl.ctx, rows = A["heap.sweep"];
    ctx.fillStyle = colour("gc");
    columns(right, (x, b0, b1) => {
      let sum = 0;
      for (let b = b0; b < b1; b++) sum += rows[b];
      if (!sum) return;
      ctx.globalAlpha = 0.35 + 0.65 * Math.min(1, sum / (b1 - b0));
      ctx.fillRect(x, y, 1, SWEEP);
    });
    ctx.globalAlpha = 1;
  }
  /** The size as an area of steps, and the goal as a line. */
  function drawSize(y, right) {
    const ctx = tl.ctx, h = v => Math.round(Math.max(0, v) / most * (SIZE - 3)), bottom = y + SIZE;
    ctx.fillStyle = colour("gc");
    ctx.globalAlpha = 0.4;
    levels("heap.alloc", right, h, (x, width, v) => ctx.fillRect(x, bottom - v, width, v));
    ctx.globalAlpha = 1;
    ctx.fillStyle = colour("ink2");
    let last = 0; // the height before; 0: none is told
    levels("heap.goal", right, h, (x, width, v) => {
      if (v) ctx.fillRect(x, bottom - v, width, 1);
      if (v && last) ctx.fillRect(x, bottom - Math.max(v, last), 1, Math.abs(v - last));
      last = v;
    });
    ctx.fillStyle = colour("line");
    ctx.fillRect(tl.gutter, bottom, right - tl.gutter, 1);
  }

  /** Calls f with each stretch of columns in which a row is drawn at the same height. */
  function levels(name, right, height, f) {
    let from = tl.gutter, to = from, level = 0;
    columns(right, (x, b0, b1) => {
      let v = -1;
      for (let b = b0; b < b1; b++) v = Math.max(v, A[name][b]);
      if (height(v) !== level || x !== to) {
        if (to > from) f(from, to - from, level);
        from = x;
        level = height(v);
      }
      to = x + 1;
    });
    if (to > from) f(from, to - from, level);
  }

  /** What a tooltip says of t; near is how many ns a pixel stands for. */
  function lines(t, near) {
    const out = [], stop = D.stw.find(s => t >= s.f && t <= Math.max(s.t, s.f + near)), mark = D.gc.find(s => t >= s.f && t <= s.t);
    if (stop) out.push(["World stopped", dur(stop.t - stop.f) + (stop.n ? ", " + stop.n : "")]);
    if (mark) out.push(["Mark phase", dur(mark.t - mark.f)]);
    return out.concat(sizes(t));
  }
  function sizes(t) {
    if (!D.heap) return [];
    const b = Math.min(Math.floor(t / D.heap.bin), A["heap.alloc"].length - 1), out = [], goal = A["heap.goal"][b], sweep = A["heap.sweep"][b];
    out.push(["Heap", "up to " + bytes(A["heap.alloc"][b])]);
    if (goal > 0) out.push(["Heap goal", bytes(goal)]);
    if (goal === 0) out.push(["Heap goal", "none: the collector is off"]);
    if (sweep > 0) out.push(["Sweeping", sweep < 1 ? percent(sweep) + " of one P" : sig(sweep) + " Ps"]);
    return out;
  }
  /** The mark phase at t, or the next one; -1 if there is none. */
  function after(t) { return D.gc.findIndex(s => s.t >= t); }
  /** The facts of mark phase k: when, what stopped the world for it, and the heap. */
  function facts(k) {
    const s = D.gc[k], edge = 1e6, rows = [["Mark phase", `${k + 1} of ${D.gc.length}`], ["From", clock(s.f, 1e3)], ["For", dur(s.t - s.f)]];
    for (const x of D.stw) if (x.t >= s.f - edge && x.f <= s.t + edge && /^GC /.test(x.n || "")) rows.push(["World stopped", `${dur(x.t - x.f)}, ${x.n}`]);
    if (D.heap) rows.push(["Heap at its begin", bytes(A["heap.alloc"][binAt(s.f)])], ["at its end", bytes(A["heap.alloc"][binAt(s.t)])], ["Heap goal", bytes(A["heap.goal"][binAt(s.f)])]);
    return rows;
  }
  const binAt = t => Math.min(Math.floor(t / D.heap.bin), A["heap.alloc"].length - 1);

  return { band: BAND, height: BAND + SIZE, start, draw, lines, after, facts };
};
