"use strict";
/* The rows of the exact windows by goroutine ("g") or thread ("m"), where the timeline
   has a lane for each of these and not for each P. */
gms.lanes = (D, arrays) => {
  const MOST = 40; // lanes

  /** The rows of a window for each goroutine or thread, in the order of time. */
  function index(w, mode) {
    w.index ??= {};
    if (w.index[mode]) return w.index[mode];
    const A = arrays(), key = A[`w${w.k}.${mode}`], from = A[`w${w.k}.from`], out = new Map();
    for (let i = 0; i < key.length; i++) {
      if (key[i] <= 0) continue;
      const rows = out.get(key[i]);
      if (rows) rows.push(i); else out.set(key[i], [i]);
    }
    for (const rows of out.values()) rows.sort((x, y) => from[x] - from[y]);
    w.index[mode] = out;
    return out;
  }
  /** The place in rows of the first that ends after t, in ns of the window. */
  function after(w, rows, t) {
    const A = arrays(), from = A[`w${w.k}.from`], len = A[`w${w.k}.len`];
    let lo = 0, hi = rows.length;
    while (lo < hi) {
      const m = (lo + hi) >> 1;
      if (from[rows[m]] + len[rows[m]] > t) hi = m; else lo = m + 1;
    }
    return lo;
  }
  /** Those that lost most in [from, to], and keep: goroutines that waited longest in run queues, or threads
      that ran longest; and how many did not get a lane. */
  function choose(mode, from, to, keep) {
    const sums = new Map(), A = arrays();
    for (const w of D.windows) {
      if (w.t <= from || w.f >= to) continue;
      const at = A[`w${w.k}.from`], len = A[`w${w.k}.len`], wait = A[`w${w.k}.wait`];
      for (const [id, rows] of index(w, mode)) {
        let ns = 0;
        for (let j = after(w, rows, from - w.f); j < rows.length && at[rows[j]] + w.f < to; j++) ns += mode === "g" ? Math.max(wait[rows[j]], 0) + len[rows[j]] / 1e6 : len[rows[j]];
        if (ns) sums.set(id, (sums.get(id) || 0) + ns);
      }
    }
    const ids = [...sums.keys()].sort((x, y) => sums.get(y) - sums.get(x)), out = ids.slice(0, MOST);
    if (keep > 0 && !out.includes(keep)) out.push(keep);
    return { ids: mode === "g" ? out : out.sort((x, y) => x - y), left: ids.length - Math.min(ids.length, MOST) };
  }
  /** What a goroutine or thread did at t, or null. */
  function at(mode, id, t) {
    for (const w of D.windows) {
      if (t < w.f || t >= w.t) continue;
      const rows = index(w, mode).get(id) || [], i = rows[after(w, rows, t - w.f)];
      if (i !== undefined && arrays()[`w${w.k}.from`][i] + w.f <= t) return { win: w.k, i };
    }
    return null;
  }
  /** The row d further in the same lane and window, or null. */
  function beside(mode, hit, d) {
    const rows = index(D.windows[hit.win], mode).get(arrays()[`w${hit.win}.${mode}`][hit.i]) || [], i = rows[rows.indexOf(hit.i) + d];
    return i === undefined ? null : { win: hit.win, i };
  }
  /** For what a goroutine was blocked at t of a window, or null: from, to, word and colour. */
  function blocked(w, g, t) {
    const rows = index(w, "g").get(g) || [], A = arrays(), j = after(w, rows, t - w.f), i = rows[j - 1];
    return i === undefined ? null : gap(w, rows, j - 1, A);
  }
  /** For what the goroutine was blocked after the run rows[j]; null if it was not. */
  function gap(w, rows, j, A) {
    const i = rows[j], word = A[`w${w.k}.blocked`][i], at = A[`w${w.k}.from`], next = rows[j + 1];
    if (!word) return null;
    const from = w.f + at[i] + A[`w${w.k}.len`][i], to = next === undefined ? w.t : w.f + at[next] - Math.max(A[`w${w.k}.wait`][next], 0);
    return to > from ? { from, to, word: D.words[word], key: D.keys[word] || "notknown" } : null;
  }
  return { index, after, gap, blocked, choose, at, beside };
};
