"use strict";
/* Below the Ps, a lane per CPU: who had it, by the kernel's records. And in the lanes of the
   Ps, hatched, when the thread of the goroutine that runs there had no CPU. tl is what the
   timeline lends: its canvas, scales, lanes and colours. */
gms.cpus = (D, tl) => {
  const { view, dur, colour, percent, clock } = gms;
  const C = D.cpus, N = C.ids.length, HEAD = 12;
  const laneH = N <= 8 ? 16 : N <= 16 ? 12 : N <= 32 ? 8 : N <= 128 ? 5 : 3, LANE = laneH + (N <= 32 ? 3 : 1);
  const PROGRAM = 0, UNKNOWN = 1, KINDS = ["program", "others", "gap"];
  const kind = process => process === PROGRAM ? 0 : process === UNKNOWN ? 2 : 1;
  let A = null;

  function start(arrays) {
    A = arrays;
    for (const w of D.windows) {
      w.on = rangesOf(A[`w${w.k}.on.cpu`]);
      w.off = rangesOf(A[`w${w.k}.off.p`]);
    }
  }
  const rangesOf = column => column ? tl.ranges(column) : new Map();
  /** Whether a window is wide enough in the picture to be drawn exactly. */
  const exact = (w, per) => w.on.size && w.t > view.from && w.f < view.to && (w.t - w.f) / per >= 4;
  const since = w => Math.max(w.f, w.cf || 0);

  /** Adds, per pixel column, the shares of a CPU. */
  function shares(i, cols, cov) {
    const per = (view.to - view.from) / cols;
    KINDS.forEach((name, s) => binned(A[`cpu${i}.${name}`], per, cols, cov.subarray(s * cols, (s + 1) * cols)));
    for (const w of D.windows) {
      if (!exact(w, per)) continue;
      const c0 = Math.max(0, Math.ceil((since(w) - view.from) / per - 0.001)), c1 = Math.min(cols, Math.floor((w.t - view.from) / per + 0.001));
      for (let s = 0; s < KINDS.length; s++) cov.fill(0, s * cols + c0, s * cols + Math.max(c0, c1));
      each(w, "on", C.ids[i], view.from, view.to, (j, a, b) => {
        const xa = Math.max((a - view.from) / per, c0), xb = Math.min((b - view.from) / per, c1), off = kind(A[`w${w.k}.on.process`][j]) * cols;
        for (let c = Math.floor(xa); c < xb; c++) cov[off + c] += Math.min(xb, c + 1) - Math.max(xa, c);
      });
    }
  }
  /** The mean of a row of bins per pixel column, 0 to 1. */
  function binned(bins, per, cols, out) {
    for (let c = 0; c < cols; c++) {
      const b0 = Math.floor((view.from + c * per) / C.bin), b1 = Math.max(b0 + 1, Math.floor((view.from + (c + 1) * per) / C.bin));
      let sum = 0, n = 0;
      for (let b = b0; b < b1 && b < bins.length; b++) { sum += bins[b]; n++; }
      out[c] = n ? sum / n / 255 : 0;
    }
  }
  /** Calls f with each stretch of a CPU ("on") or a P ("off") that touches [a, b], and where it begins and ends. */
  function each(w, what, id, a, b, f) {
    const r = w[what].get(id);
    if (!r) return;
    const from = A[`w${w.k}.${what}.from`], len = A[`w${w.k}.${what}.len`];
    for (let j = tl.first(from, len, r, a - w.f); j < r[1] && from[j] + w.f < b; j++) f(j, from[j] + w.f, from[j] + len[j] + w.f);
  }

  /** The lanes, whose first begins HEAD below top; in pixels of the screen. */
  function drawLanes(top, cols, dpr) {
    const ctx = tl.ctx, cov = new Float32Array(KINDS.length * cols), paint = ["user", "others", "gap"].map(tl.rgba), bg = tl.rgba("idle"), panel = tl.rgba("panel");
    const lh = Math.max(1, Math.round(laneH * dpr)), period = Math.round(6 * dpr), stripe = Math.max(1, Math.round(2 * dpr));
    const img = ctx.createImageData(cols, lh), px = new Uint32Array(img.data.buffer);
    for (let i = 0; i < N; i++) {
      shares(i, cols, cov);
      px.fill(bg);
      for (let c = 0; c < cols; c++) {
        let y = lh, acc = 0; // stacked from below
        for (let s = 0; s < KINDS.length; s++) {
          const v = cov[s * cols + c];
          if (v <= 0.002) continue;
          acc += v;
          const to = Math.max(0, Math.round(lh * (1 - Math.min(acc, 1))));
          for (let k = to; k < y; k++) px[k * cols + c] = s === 0 || (s === 1 ? (c + lh - k) % period >= stripe : (c + k) % period < stripe) ? paint[s] : panel;
          y = Math.min(y, to);
        }
      }
      ctx.putImageData(img, Math.round(tl.gutter * dpr), Math.round((top + HEAD + i * LANE) * dpr));
    }
  }
  /** Names of the lanes, and of who is on the CPUs where there is room. */
  function drawNames(top, right) {
    const ctx = tl.ctx;
    ctx.fillStyle = colour("ink2");
    ctx.textAlign = "right";
    const every = Math.max(1, Math.ceil(13 / LANE));
    for (let i = 0; i < N; i += every) ctx.fillText("CPU" + C.ids[i], tl.gutter - 4, top + HEAD + i * LANE + laneH / 2);
    if (laneH < 12) return;
    ctx.textAlign = "left";
    tl.clip();
    for (const w of D.windows) {
      if (w.t <= view.from || w.f >= view.to) continue;
      C.ids.forEach((id, i) => each(w, "on", id, view.from, view.to, (j, a, b) => {
        const xa = Math.max(tl.t2x(a), tl.gutter), xb = Math.min(tl.t2x(b), right);
        if (xb - xa > 34) label(w, j, xa, xb, top + HEAD + i * LANE);
      }));
    }
    ctx.restore();
  }
  function label(w, j, xa, xb, y) {
    const ctx = tl.ctx, process = A[`w${w.k}.on.process`][j], m = A[`w${w.k}.on.m`][j], text = process === PROGRAM ? runs(m, xa, xb) + "M" + m : C.names[process];
    if (process === UNKNOWN) return;
    ctx.save();
    ctx.beginPath(); ctx.rect(xa + 2, y, xb - xa - 4, laneH); ctx.clip();
    if (process !== PROGRAM) { // readable on the stripes
      ctx.fillStyle = colour("panel");
      ctx.fillRect(xa + 2, y + 1, Math.min(ctx.measureText(text).width + 6, xb - xa - 4), laneH - 2);
    }
    ctx.fillStyle = process === PROGRAM ? tl.inkOn("user") : colour("ink");
    ctx.fillText(text, xa + 5, y + laneH / 2);
    ctx.restore();
  }

  /** The goroutine that thread m runs from xa to xb, if it is one run interval. */
  function runs(m, xa, xb) {
    const hit = tl.rows.at("m", m, tl.x2t(xa + 0.01)), s = hit && tl.stint(hit);
    return s && s.g > 0 && s.from + s.len >= tl.x2t(xb - 0.01) ? `G${s.g} on ` : "";
  }

  /** The share of each pixel column in which P p ran a goroutine without a CPU. */
  function off(p, cols, out) {
    const per = (view.to - view.from) / cols, bins = A["off" + C.off.indexOf(p)];
    if (bins) binned(bins, per, cols, out); else out.fill(0);
    for (const w of D.windows) {
      if (!exact(w, per)) continue;
      const c0 = Math.max(0, Math.ceil((since(w) - view.from) / per - 0.001)), c1 = Math.min(cols, Math.floor((w.t - view.from) / per + 0.001));
      out.fill(0, c0, Math.max(c0, c1));
      each(w, "off", p, view.from, view.to, (j, a, b) => {
        const xa = Math.max((a - view.from) / per, c0), xb = Math.min((b - view.from) / per, c1);
        for (let c = Math.floor(xa); c < xb; c++) out[c] += Math.min(xb, c + 1) - Math.max(xa, c);
      });
    }
  }
  /** Hatches so much of each column of a lane that lies in px, lh pixels high. */
  function hatch(px, cols, lh, p, dpr, paint) {
    const share = scratch(cols), period = Math.round(6 * dpr), stripe = Math.max(1, Math.round(2 * dpr));
    off(p, cols, share);
    for (let c = 0; c < cols; c++) {
      if (share[c] <= 0.01) continue;
      for (let k = Math.round(lh * (1 - Math.min(1, share[c]))); k < lh; k++) if ((c + lh - k) % period < stripe) px[k * cols + c] = paint;
    }
  }
  let buffer = new Float32Array(0);
  function scratch(cols) { return buffer.length === cols ? buffer : (buffer = new Float32Array(cols)); }

  /** The lane at y, given where the lanes begin; -1 if none. */
  function laneAt(y, top) {
    const i = Math.floor((y - top - HEAD) / LANE);
    return i >= 0 && i < N ? i : -1;
  }
  /** Who is on CPU id at t: {w, j}, or null where that is not kept one by one. */
  function at(id, t) {
    let hit = null;
    for (const w of D.windows) if (t >= since(w) && t < w.t) each(w, "on", id, t, t + 1e-9, (j, a, b) => { if (a <= t && t < b) hit = { w, j }; });
    return hit;
  }
  const kept = t => D.windows.some(w => w.on.size && t >= since(w) && t < w.t);
  /** What a tooltip says of lane i at t, and the run interval there, if one is known. */
  function lines(i, t) {
    const id = C.ids[i], hit = at(id, t);
    if (!hit && kept(t)) return { title: "CPU " + id, rows: [["Here", "idle"]] };
    if (!hit) {
      const b = Math.min(Math.floor(t / C.bin), A[`cpu${i}.program`].length - 1), rows = [];
      [["program", "this program"], ["others", "others"], ["gap", "not known"]].forEach(([k, word]) => { const v = A[`cpu${i}.${k}`][b] / 255; if (v > 0.004) rows.push([word, percent(v)]); });
      return { title: `CPU ${id}, ${clock(b * C.bin, C.bin)} + ${dur(C.bin)}`, rows };
    }
    const get = n => A[`w${hit.w.k}.on.${n}`][hit.j], rows = [["CPU " + id, `for ${dur(get("len"))}`]];
    if (get("process") !== PROGRAM) return { title: C.names[get("process")], rows };
    const run = get("m") > 0 ? tl.rows.at("m", get("m"), t) : null;
    rows.push(["Thread", get("m") > 0 ? "M" + get("m") : "not known"]);
    if (run) { const s = tl.stint(run); rows.push(["Runs", s.g > 0 ? `G${s.g} ${s.cls}` : tl.WORDS[s.state]]); } else rows.push(["Runs", "no goroutine that is kept here"]);
    return { title: C.names[PROGRAM], rows, hit: run };
  }
  /** How long the run interval s was off the CPUs, by why and instead of whom. */
  function lacked(s) {
    const sums = new Map();
    let ns = 0;
    each(s.w, "off", s.p, s.from, s.from + s.len, (j, a, b) => {
      const part = Math.min(b, s.from + s.len) - Math.max(a, s.from), get = n => A[`w${s.w.k}.off.${n}`][j], other = get("cpu") >= 0 && at(get("cpu"), (a + b) / 2);
      let why = C.lacks[get("why")];
      if (get("why") === 1 && other) why += ": " + C.names[A[`w${other.w.k}.on.process`][other.j]];
      ns += part;
      sums.set(why, (sums.get(why) || 0) + part);
    });
    const most = [...sums].sort((x, y) => y[1] - x[1]).slice(0, 3).map(([why, part]) => sums.size > 1 ? `${why} (${dur(part)})` : why);
    return ns ? `${dur(ns)} of ${dur(s.len)}: ${most.join("; ")}` : "";
  }

  return { height: HEAD + N * LANE + 6, start, drawLanes, drawNames, hatch, laneAt, lines, lacked };
};
