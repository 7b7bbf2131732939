"use strict";
/* The interactive charts. Their options come from Go, as data; functions are
   added here, by kind of chart. Tooltips are elements made with textContent:
   no markup from the trace is ever parsed. A chart is made when it comes near
   the window, and then takes the place of the plain drawing; ECharts itself is
   run for the first one, since that takes longer than anything else here. */
(() => {
  const { el, dur, sig, group, percent, colour, view } = gms;
  const live = [];

  /** Replaces colours of the form @name by those of the theme. */
  function paint(o) {
    if (Array.isArray(o)) return o.map(paint);
    if (o && typeof o === "object") {
      const out = {};
      for (const k of Object.keys(o)) out[k] = k === "color" ? tint(o[k]) : k === "data" ? o[k] : paint(o[k]);
      return out;
    }
    return o;
  }
  function tint(c) {
    if (Array.isArray(c)) return c.map(tint);
    if (typeof c !== "string" || c[0] !== "@") return c;
    const key = c.slice(1);
    return colour(key.startsWith("line") ? key + "c" : key);
  }

  function tipBox(title, rows) {
    const box = el("div", "tiptext");
    box.append(el("b", "", title));
    for (const [k, v] of rows) {
      const row = el("div");
      row.append(el("span", "", k), el("span", "", v));
      box.append(row);
    }
    return box;
  }

  /** A chart of columns: what its tooltip says of a value, and what stands below of the chosen part. */
  function columns(o, value) {
    o.legend.icon = "roundRect";
    o.xAxis[0].axisLabel = { hideOverlap: true };
    o.yAxis[0].axisLabel = { formatter: value };
    o.tooltip.formatter = ps => tipBox(ps[0].axisValueLabel, ps.filter(p => p.value > 0).map(p => [p.seriesName, value(p.value)]));
    for (const z of o.dataZoom) slider(z, true);
  }
  /** What the units in the chosen part of a chart of latencies consist of. */
  function chosen(o) {
    const z = o.dataZoom[0], n = o.series[0].data.length, from = z.startValue ?? 0, to = z.endValue ?? n - 1;
    const sums = o.series.map(s => [s.name, s.data.slice(from, to + 1).reduce((x, y) => x + y, 0)]), units = sums.reduce((x, s) => x + s[1], 0);
    const all = o.series.reduce((x, s) => x + s.data.reduce((x, y) => x + y, 0), 0);
    return `From ${o.xAxis[0].data[from]}: ${group(units)} of ${group(all)} units (${percent(all ? units / all : 0)}); ` + sums.filter(s => s[1] > units / 100).sort((x, y) => y[1] - x[1]).map(([name, n]) => `${name} ${percent(n / units)}`).join(", ") + ".";
  }
  const kinds = {
    latency: (c, o) => columns(o, sig),
    shares: (c, o) => columns(o, percent),
    rates: (c, o) => columns(o, sig),
    queues(c, o) {
      o.series[0].progressive = 0;
      o.tooltip.formatter = p => tipBox(o.yAxis[0].data[p.value[1]] + " at " + o.xAxis[0].data[p.value[0]], [["mean length", sig(p.value[2])]]);
      o.xAxis[0].axisLabel = { hideOverlap: true };
      o.visualMap[0].formatter = v => sig(v);
      o.visualMap[0].min = 0;
      timeZoom(o);
    },
    causetime(c, o) {
      o.xAxis[0].axisLabel = { formatter: v => dur(v + view.origin), hideOverlap: true };
      o.xAxis[0].min = 0;
      o.legend.icon = "roundRect";
      for (const s of o.series) s.lineStyle.width = 0;
      o.tooltip.formatter = ps => {
        const total = ps.reduce((s, p) => s + p.value[1], 0);
        return tipBox("from " + dur(ps[0].value[0] + view.origin), ps.filter(p => p.value[1] > 0).map(p => [p.seriesName, sig(p.value[1])]).concat([["all", sig(total)]]));
      };
      timeZoom(o);
    },
  };
  function timeZoom(o) {
    for (const z of o.dataZoom) {
      z.filterMode = "none";
      z.start = view.from / view.end * 100;
      z.end = view.to / view.end * 100;
      slider(z, false);
    }
  }
  /** How a slider and the wheel choose a part of an axis; brush: by a stroke too. */
  function slider(z, brush) {
    if (z.type === "inside") { z.zoomOnMouseWheel = "ctrl"; z.moveOnMouseWheel = false; } // plain wheel scrolls the page
    else Object.assign(z, { height: 18, bottom: 6, brushSelect: brush, showDetail: false, borderColor: colour("line"), fillerColor: "rgba(120,130,150,.22)", backgroundColor: "transparent", dataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } }, selectedDataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } } });
  }

  function options(c) {
    const o = paint(structuredClone(c.option)), ink = colour("ink2"), line = colour("line2");
    o.textStyle = { fontFamily: getComputedStyle(document.documentElement).fontFamily, color: ink };
    o.backgroundColor = "transparent";
    o.aria = { enabled: false };
    o.tooltip = Object.assign(o.tooltip || {}, { confine: true, backgroundColor: colour("panel"), borderColor: colour("line"), textStyle: { color: colour("ink") } });
    if (o.legend) Object.assign(o.legend, { textStyle: { color: ink }, pageTextStyle: { color: ink }, pageIconColor: ink });
    for (const v of o.visualMap || []) Object.assign(v, { itemWidth: 12, itemHeight: 90, textStyle: { color: ink } });
    kinds[c.kind](c, o);
    for (const a of [...o.xAxis, ...o.yAxis]) {
      a.nameTextStyle = { color: ink, align: a === o.yAxis[0] ? "left" : "center" };
      a.axisLabel = Object.assign({}, a.axisLabel, { color: ink, show: true });
      a.axisLine = { show: a.type === "category", lineStyle: { color: line } };
      a.axisTick = { show: false };
      a.splitLine = { show: a.type === "value" || a.type === "log", lineStyle: { color: line } };
    }
    return o;
  }

  function height(fig) {
    const rows = Number(fig.dataset.rows || 0), phone = innerWidth <= 700;
    if (fig.dataset.height !== "auto") return phone ? 250 : Number(fig.dataset.height);
    const each = rows > 64 ? 7 : rows > 32 ? 11 : rows > 12 || phone ? 18 : 28;
    return Math.max(240, rows * each + 140);
  }

  /* Drawing a chart takes longer than a frame, so a chart shows the range of the
     page when that rests, and only where it is in sight. */
  const AFTER = 150; // ms
  let gesture = 0;
  const sight = new IntersectionObserver(es => {
    for (const e of es) {
      const item = live.find(l => l.div === e.target);
      item.seen = e.isIntersecting;
      follow(item);
    }
  });
  function follow(item) {
    if (!item.stale || !item.seen) return;
    item.stale = false;
    item.quiet = true;
    const range = { start: view.from / view.end * 100, end: view.to / view.end * 100 };
    item.chart.dispatchAction({ type: "dataZoom", batch: [0, 1].map(dataZoomIndex => ({ dataZoomIndex, ...range })) });
    item.quiet = false;
  }

  function make(fig) {
    const c = gms.data(fig.dataset.chart);
    if (typeof echarts === "undefined") document.head.append(el("script", "", gms.data("data_echarts"))); // the policy allows just this text
    const div = fig.querySelector(".live");
    div.setAttribute("role", "img");
    div.setAttribute("aria-label", fig.querySelector("figcaption").textContent.trim());
    const chart = echarts.init(div, null, { renderer: "canvas" });
    chart.setOption(options(c));
    const item = { c, chart, div };
    live.push(item);
    if (c.kind === "latency") {
      const says = el("p", "", chosen(chart.getOption()));
      div.after(says);
      chart.on("datazoom", () => { says.textContent = chosen(chart.getOption()); });
    }
    if (c.end) {
      chart.on("datazoom", () => {
        const z = chart.getOption().dataZoom[0];
        if (item.quiet) return;
        view.set(z.start / 100 * view.end, z.end / 100 * view.end, item);
      });
      view.listen(item, () => {
        item.stale = true;
        clearTimeout(gesture);
        gesture = setTimeout(() => live.forEach(follow), AFTER);
      });
      sight.observe(div);
    }
    new ResizeObserver(() => { if (div.clientWidth) chart.resize(); }).observe(div);
  }

  gms.restyled(() => { for (const l of live) l.chart.setOption(options(l.c), true); });
  const seen = new IntersectionObserver(es => {
    for (const e of es) if (e.isIntersecting) { seen.unobserve(e.target); make(e.target); }
  }, { rootMargin: "300px" });
  for (const fig of document.querySelectorAll("figure[data-chart]")) {
    if (!document.getElementById(fig.dataset.chart)) continue; // there is nothing to be drawn
    const div = el("div", "live"); // has its room before it is drawn, so that nothing moves then
    div.style.height = height(fig) + "px";
    fig.querySelector(".drawn").before(div);
    fig.classList.add("has-live");
    seen.observe(fig);
  }
  gms.charts = live;
})();
