"use strict";
/* The tasks and regions that the program notes about itself, in exact windows: thin bars under
   the lanes of the goroutines that began them, and what tooltip and details say of them. tl is
   what the timeline lends: its canvas, scales and search. */
gms.notes = (D, tl) => {
  const { view, dur, colour } = gms;
  const BAR = 3, ROWS = 3, NONE = [0, 0];
  let A = null;
  function start(arrays) {
    A = arrays;
    for (const w of D.windows) w.notes = A[`w${w.k}.note.g`] ? tl.ranges(A[`w${w.k}.note.g`]) : new Map();
  }
  /** Calls f with the number of each task and region of goroutine g in [a, b], and where it begins and ends. */
  function each(w, g, a, b, f) {
    const [i0, i1] = w.notes.get(g) || NONE, from = A[`w${w.k}.note.from`], len = A[`w${w.k}.note.len`];
    for (let i = i0; i < i1 && from[i] + w.f < b; i++) if (from[i] + len[i] + w.f > a) f(i, from[i] + w.f, from[i] + len[i] + w.f);
  }
  /** Draws those of a goroutine from y on: a task in the first row, regions below, the outermost first. */
  function draw(w, g, y) {
    const ctx = tl.ctx, ends = new Array(ROWS).fill(-9);
    each(w, g, view.from, view.to, (i, a, b) => {
      const row = Math.min(ROWS - 1, A[`w${w.k}.note.depth`][i] + 1), xa = Math.max(tl.t2x(a), tl.gutter), xb = Math.max(Math.min(tl.t2x(b), tl.right()), xa + 0.7);
      if (xb < ends[row] + 0.5) return; // nothing new to be seen
      ctx.fillStyle = colour(row ? "line3c" : "line2c");
      ctx.fillRect(xa, y + row * BAR, Math.max(0.7, xb - xa - (xb - xa > 3 ? 1 : 0)), BAR - 1);
      ends[row] = xb;
    });
  }
  const name = (w, i) => D.notes[A[`w${w.k}.note.name`][i]];
  /** What is said of those of a goroutine in [a, b]: at most most of them. */
  function rows(w, g, a, b, most) {
    const out = [];
    let more = 0;
    each(w, g, a, b, (i, from, to) => {
      if (out.length === most) { more++; return; }
      const of = A[`w${w.k}.note.of`][i], cut = from <= w.f || to >= w.t ? " here" : "";
      out.push([A[`w${w.k}.note.depth`][i] < 0 ? "Task" : "Region", `${name(w, i)}, ${dur(to - from)}${cut}` + (of ? `, for the task ${D.notes[of]}` : "")]);
    });
    if (more) out.push(["and", `${more} more tasks or regions`]);
    return out;
  }
  /** Those of goroutine g at t. */
  function at(g, t) {
    const w = D.windows.find(w => t >= w.f && t < w.t);
    return w && D.notes ? rows(w, g, t, t + 1e-9, ROWS) : [];
  }

  return { height: D.notes ? ROWS * BAR + 1 : 0, start, draw, rows: (...x) => D.notes ? rows(...x) : [], at, left: w => w.left || 0 };
};
