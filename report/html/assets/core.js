"use strict";
/* What the other scripts share: the root class, theme, formats, the address
   bar's fragment, and the time range that timeline and charts show together.
   Strings from the trace reach the page by textContent only. */
const gms = (() => {
  const root = document.documentElement;

  /** The data island with this id, or null. */
  function data(id) {
    const el = document.getElementById(id);
    return el ? JSON.parse(el.textContent) : null;
  }

  /** An element with a class and a text. */
  function el(tag, cls, text) {
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    if (text !== undefined) e.textContent = text;
    return e;
  }

  /** The text in parts, for an element: it can be broken after a dot in a name, and a slash. */
  function breaks(text) { return text.split(/(?<=[\w)]\.|\/)(?=[A-Za-z(])/).flatMap((part, i) => i ? [el("wbr"), part] : [part]); }

  // Formats, as package words has them.
  function sig(f) {
    const a = Math.abs(f);
    if (!isFinite(f)) return "–";
    if (a >= 99.95) return group(Math.round(f));
    if (a >= 9.995) return trim(f.toFixed(1));
    if (a >= 0.005 || a === 0) return trim(f.toFixed(2));
    return f > 0 ? "<0.01" : "0";
  }
  function trim(s) { return s.includes(".") ? s.replace(/\.?0+$/, "") : s; }
  function group(n) { return String(Math.round(n)).replace("-", "−").replace(/\B(?=(\d{3})+$)/g, ","); }
  function dur(ns) {
    if (ns < 0) return "−" + dur(-ns);
    if (ns < 1e3) return Math.round(ns) + "\u00a0ns";
    if (ns < 999.5e3) return sig(ns / 1e3) + "\u00a0µs";
    if (ns < 999.5e6) return sig(ns / 1e6) + "\u00a0ms";
    if (ns < 120e9) return sig(ns / 1e9) + "\u00a0s";
    if (ns < 7200e9) return sig(ns / 60e9) + "\u00a0min";
    return sig(ns / 3600e9) + "\u00a0h";
  }
  /** An instant, with digits for steps of the given size. */
  function clock(ns, step) {
    ns += view.origin;
    if (ns === 0) return "0";
    const [unit, div] = ns >= 1e9 || step >= 1e8 ? ["s", 1e9] : ns >= 1e6 || step >= 1e5 ? ["ms", 1e6] : ["µs", 1e3];
    const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10((step || div / 1e4) / div) - 1e-9)));
    return (ns / div).toFixed(digits) + "\u00a0" + unit;
  }
  function percent(f) {
    if (!isFinite(f)) return "–";
    if (f > 0 && f < 0.0005) return "<0.1\u00a0%";
    if (f < 1 && f >= 0.9995) return ">99.9\u00a0%";
    return trim((f * 100).toFixed(f < 0.0995 && f > 0 || f > 0.99 && f < 1 ? 1 : 0)) + "\u00a0%";
  }

  // Colours: style.css knows them; a canvas needs them resolved.
  const probe = el("span");
  probe.hidden = true;
  document.body.append(probe);
  let cache = {};
  function colour(name) {
    if (!cache[name]) {
      probe.style.color = "var(--" + name + ")";
      cache[name] = getComputedStyle(probe).color;
    }
    return cache[name];
  }
  const themed = [];
  function restyle() { cache = {}; for (const f of themed) f(); }
  const button = document.getElementById("theme");
  const order = ["auto", "light", "dark"];
  let theme = "auto";
  function setTheme(t, keep) {
    theme = order.includes(t) ? t : "auto";
    if (theme === "auto") root.removeAttribute("data-theme"); else root.dataset.theme = theme;
    button.textContent = "Theme: " + theme;
    if (keep) try { localStorage.setItem("gmpscope-theme", theme); } catch (e) { /* not allowed here: never mind */ }
    restyle();
  }
  button.addEventListener("click", () => setTheme(order[(order.indexOf(theme) + 1) % 3], true));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
  let stored = null;
  try { stored = localStorage.getItem("gmpscope-theme"); } catch (e) { /* never mind */ }
  if (stored) setTheme(stored, false);

  // The fragment: #t=from-to&q=filter&o=column.direction. A plain #name stays
  // what it is: a link to a section. An entry of the history that has been here
  // is marked, so that the browser's Back differs from a link.
  const MARK = "gmpscope";
  const watchers = {}, groups = [];
  let state = {};
  let seen = location.hash; // the fragment that was read or written last
  function parse(hash) {
    const out = {};
    for (const part of hash.replace(/^#/, "").split("&")) {
      const i = part.indexOf("=");
      if (i > 0) {
        try { out[part.slice(0, i)] = decodeURIComponent(part.slice(i + 1)); } catch (e) { /* not ours */ }
      }
    }
    return out;
  }
  function put(key, value) { place({ [key]: value }, false); }
  /** Puts several keys into the fragment; a step is one that Back undoes. */
  function place(values, step) {
    if (location.hash !== seen) return; // a link was followed, and its event is still to come
    for (const [key, value] of Object.entries(values)) {
      if (value === null || value === "") delete state[key]; else state[key] = value;
    }
    const s = Object.keys(state).sort().map(k => k + "=" + encodeURIComponent(state[k]).replace(/%2C/g, ",")).join("&");
    const hash = s ? "#" + s : "", url = hash || location.pathname + location.search;
    try { if (step && hash !== location.hash) history.pushState(MARK, "", url); else history.replaceState(MARK, "", url); } catch (e) { /* never mind */ }
    seen = location.hash;
  }
  function on(key, f) {
    watchers[key] = f;
    if (key in state) f(state[key], true);
  }
  /** Has f restore several keys together: when one is in the fragment, and on
      the way back. f gets the values, and "first", "link" or "back". */
  function restore(keys, f) {
    groups.push({ keys, f });
    if (keys.some(k => k in state)) f(state, "first");
  }
  function arrived(first, back) {
    seen = location.hash;
    const next = parse(location.hash);
    if (!back) try { history.replaceState(MARK, "", location.href); } catch (e) { /* never mind */ }
    if (!Object.keys(next).length && location.hash) { // a section, or something folded
      const e = document.getElementById(location.hash.slice(1));
      let folded = null;
      for (let d = e && e.closest("details"); d; d = d.parentElement.closest("details")) {
        if (!d.open) { d.open = true; folded = d; }
      }
      if (folded) e.scrollIntoView();
      return;
    }
    state = next;
    if (first) return;
    for (const k of Object.keys(watchers)) if (k in state) watchers[k](state[k], false);
    for (const g of groups) if (back || g.keys.some(k => k in state)) g.f(state, back ? "back" : "link");
  }
  arrived(true, false);
  addEventListener("popstate", e => { if (e.state === MARK && location.hash !== seen) arrived(false, true); });
  addEventListener("click", e => { // a link that was followed before, too
    const a = e.target.closest && e.target.closest('a[href^="#"]');
    if (a && a.getAttribute("href") === location.hash) arrived(false, false);
  });
  addEventListener("click", e => { // a part of a drawing, which may be too small for a link
    const part = e.target.closest && e.target.closest("[data-go]");
    if (part) location.hash = part.dataset.go;
  });
  addEventListener("hashchange", () => { if (location.hash !== seen) arrived(false, false); });

  // Words of the glossary: a click says what one means, where it stands. With a modifier,
  // or in a browser without popovers, the link is followed.
  const meaning = el("div", "meaning");
  if (meaning.showPopover) {
    meaning.popover = "auto";
    document.body.append(meaning);
    document.addEventListener("click", ev => {
      const a = ev.target.closest("a.term");
      const term = a && document.getElementById(a.hash.slice(1));
      if (!term || ev.ctrlKey || ev.metaKey || ev.shiftKey) return;
      ev.preventDefault();
      const more = el("a", "", "In the glossary");
      more.href = a.hash;
      more.addEventListener("click", () => meaning.hidePopover());
      meaning.replaceChildren(el("b", "", term.querySelector("dt").textContent), el("p", "", term.querySelector("dd").textContent), more);
      meaning.showPopover();
      const r = a.getBoundingClientRect(), room = document.documentElement.clientWidth - meaning.offsetWidth - 8;
      meaning.style.left = Math.max(8, Math.min(r.left, room)) + "px";
      meaning.style.top = Math.max(8, r.bottom + 6 + meaning.offsetHeight > innerHeight ? r.top - 6 - meaning.offsetHeight : r.bottom + 6) + "px";
      more.focus();
      meaning.addEventListener("toggle", () => { if (meaning.contains(document.activeElement) || document.activeElement === document.body) a.focus({ preventScroll: true }); }, { once: true });
    });
  }

  // The time range that is looked at, in ns since origin, where the picture begins.
  const view = { from: 0, to: 1, end: 1, origin: Number(document.body.dataset.origin || 0), listeners: [] };
  /** Shows from…to; source is who asked, so that it is not told again. */
  view.set = (from, to, source) => {
    const least = Math.min(200, view.end);
    let w = Math.min(Math.max(to - from, least), view.end);
    let f = from + (to - from - w) / 2;
    f = Math.min(Math.max(f, 0), view.end - w);
    if (f === view.from && f + w === view.to) return;
    view.from = f; view.to = f + w;
    for (const l of view.listeners) if (l.source !== source) l.f();
  };
  view.listen = (source, f) => view.listeners.push({ source, f });

  // What somebody pastes into an issue; where the clipboard is refused, it is selected.
  const copy = document.getElementById("copy");
  if (copy) copy.addEventListener("click", async () => {
    const status = copy.nextElementSibling, shown = status.nextElementSibling, text = shown.querySelector("textarea");
    try {
      await navigator.clipboard.writeText(text.value);
      status.textContent = "Copied";
    } catch (e) {
      shown.open = true;
      text.select();
      status.textContent = "Selected, ready to be copied";
    }
  });

  // On a phone, what is open where there is room is folded; paper has the room.
  let folded = matchMedia("(max-width: 700px)").matches ? [...document.querySelectorAll("details.roomy")] : [];
  for (const d of folded) d.open = false;
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.roomy:not([open])")];
    for (const d of folded) d.open = true;
  });
  addEventListener("afterprint", () => { for (const d of folded) d.open = false; });

  // Tables that can be scrolled, and only those, can be reached by keyboard.
  const stops = new ResizeObserver(es => {
    for (const s of new Set(es.map(e => e.target.closest(".scroll")))) {
      if (s.scrollWidth > s.clientWidth + 1) s.tabIndex = 0; else s.removeAttribute("tabindex");
    }
  });
  for (const s of document.querySelectorAll(".scroll, .scroll > table")) stops.observe(s);

  return { data, el, breaks, sig, group, dur, clock, percent, colour, put, place, on, restore, view, restyled: f => themed.push(f) };
})();
