"use strict";
(() => {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const kept = {
    get() { try { return localStorage.getItem("theme"); } catch { return null; } },
    set(theme) { try { localStorage.setItem("theme", theme); } catch { /* a page of a file may keep nothing */ } },
  };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const told = () => {
    button.setAttribute("aria-pressed", String(isDark()));
  };
  const before = kept.get();
  if (before === "dark" || before === "light") root.dataset.theme = before;
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    kept.set(root.dataset.theme);
    told();
  });
  dark.addEventListener("change", told);
  told();

  const form = document.getElementById("filter");
  const rows = [...document.querySelectorAll(".matrix .row")];
  const verdict = document.getElementById("by-verdict");
  const level = document.getElementById("by-level");
  const text = document.getElementById("by-text");
  const shown = document.getElementById("shown");
  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const data = row.dataset;
      const fits = (!verdict.value || data.verdict === verdict.value)
        && (!level.value || data.level === level.value)
        && words.every((word) => data.text.includes(word));
      row.hidden = !fits;
      count += fits ? 1 : 0;
    }
    for (const body of document.querySelectorAll(".matrix tbody")) {
      body.hidden = !body.querySelector(".row:not([hidden])");
    }
    shown.textContent = `${count} of ${rows.length} rows`;
  };
  form.hidden = rows.length === 0;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  filter();
})();
