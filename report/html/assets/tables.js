"use strict";
/* Sorting by a click on a column's head, long tables in short, and the filter of the
   classes. */
(() => {
  /** How many rows of a table are shown at first; style.css hides the others. */
  const phone = matchMedia("(max-width: 700px)"), shown = phone.matches ? 4 : 8;
  for (const table of document.querySelectorAll("table.short")) {
    const n = table.tBodies[0].rows.length;
    if (n <= shown + 2) { table.classList.add("all"); continue; }
    const b = gms.el("button", "rest", "Show all " + gms.group(n) + " rows");
    b.type = "button";
    b.addEventListener("click", () => {
      table.classList.add("all");
      b.remove();
    });
    table.parentElement.after(b);
  }
  function key(row, i) {
    const c = row.cells[i];
    return c.dataset.v !== undefined ? Number(c.dataset.v) : c.textContent.trim().toLowerCase();
  }
  function sort(table, i, dir) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row, n) => ({ row, n, k: key(row, i) }));
    rows.sort((a, b) => {
      let d;
      if (typeof a.k === "number" && typeof b.k === "number") d = a.k - b.k;
      else d = String(a.k).localeCompare(String(b.k), "en", { numeric: true });
      return (dir === "ascending" ? d : -d) || a.n - b.n;
    });
    body.append(...rows.map(r => r.row));
    Array.from(table.tHead.rows[0].cells, (th, j) => j === i ? th.setAttribute("aria-sort", dir) : th.removeAttribute("aria-sort"));
  }
  /* On a phone a wide table has no room for a row in a line: style.css puts the numbers below each
     other, each with the head of its column. */
  function label() {
    if (!phone.matches) return;
    for (const table of document.querySelectorAll("table.wide:not(.labelled)")) {
      const heads = Array.from(table.tHead.rows[0].cells, th => th.textContent);
      if (heads.length < 7) continue;
      table.classList.add("labelled");
      for (const row of table.tBodies[0].rows) for (const td of row.querySelectorAll(":scope > td")) td.dataset.head = heads[td.cellIndex];
    }
  }
  phone.addEventListener("change", label);
  label();
  for (const table of document.querySelectorAll("table.sortable")) {
    Array.from(table.tHead.rows[0].cells, (th, i) => {
      const b = gms.el("button", "", th.textContent);
      b.type = "button";
      th.replaceChildren(b);
      b.addEventListener("click", () => {
        const numbers = th.classList.contains("n");
        const now = th.getAttribute("aria-sort");
        const dir = now ? (now === "ascending" ? "descending" : "ascending") : (numbers ? "descending" : "ascending");
        sort(table, i, dir);
        if (table.id === "class-table") gms.put("o", i + "." + dir[0]);
      });
    });
  }
  const table = document.getElementById("class-table");
  if (!table) return;
  gms.on("o", v => {
    const [i, d] = v.split(".");
    if (Number(i) < table.tHead.rows[0].cells.length) sort(table, Number(i), d === "a" ? "ascending" : "descending");
  });
  const input = document.getElementById("class-filter");
  const out = document.getElementById("class-count");
  function filter() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    table.classList.toggle("filtered", words.length > 0);
    for (const row of table.tBodies[0].rows) {
      const ok = words.every(w => row.dataset.text.includes(w));
      row.hidden = !ok;
      if (ok) n++;
    }
    out.textContent = words.length ? n + " of " + table.tBodies[0].rows.length : "";
  }
  input.addEventListener("input", () => { filter(); gms.put("q", input.value); });
  gms.on("q", v => { input.value = v; filter(); });
})();
