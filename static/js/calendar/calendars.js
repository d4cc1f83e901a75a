// The calendars of the profile: shown or hidden, made, changed, exported, imported into.
import { ask } from "../asking.js";
import { call, read } from "../api.js";
import { announce, notice } from "../live.js";
import { icon, make, memory, openPanel, showError } from "../parts.js";
import { keepFocus, renew } from "../renewing.js";
import { say, sentence } from "../words.js";

const list = document.querySelector("[data-calendars]");
const panel = document.getElementById("calendar-panel");
const form = panel.querySelector("form");
const listeners = [];
let editing = null;

/** The calendars as last read, and the names of those that are hidden here. */
export const calendars = { all: [], hidden: new Set(memory.get("hidden", [])) };
/** Whether the person may change anything in this profile. */
export const mayWrite = document.documentElement.dataset.role !== "viewer";
/** Call `listener` when the calendars, or which of them are shown, changed. */
export const onCalendars = (listener) => listeners.push(listener);

/** Return the colour of a calendar by its name. */
export function colourOf(name) {
  const colour = calendars.all.find((calendar) => calendar.name === name)?.colour ?? "";
  return /^#[0-9a-f]{6}$/i.test(colour) ? colour : "#3b6ea5";
}

/** Read the calendars and show the list. */
export async function loadCalendars() {
  const answer = await read("/api/calendars");
  calendars.all = answer.calendars ?? answer.items ?? [];
  const focusBack = keepFocus(list);
  renew(list, calendars.all.map((calendar) => ({ key: calendar.id, print: JSON.stringify(calendar), make: () => rowOf(calendar) })));
  focusBack();
  return calendars.all;
}

/** Fill a select with the calendars that can be written to. */
export function fillChoices(select, chosen) {
  const open = calendars.all.filter((calendar) => !calendar.read_only || calendar.name === chosen);
  select.replaceChildren(...open.map((calendar) => make("option", { value: calendar.id }, calendar.name)));
  const wanted = open.find((calendar) => (chosen ? calendar.name === chosen : calendar.is_default)) ?? open[0];
  if (wanted) select.value = wanted.id;
}

function rowOf(calendar) {
  const box = make("input", { type: "checkbox", "aria-label": say("show", { name: calendar.name }) });
  box.checked = !calendars.hidden.has(calendar.name);
  box.addEventListener("change", () => {
    calendars.hidden[box.checked ? "delete" : "add"](calendar.name);
    memory.set("hidden", [...calendars.hidden]);
    changed();
  });
  return make(
    "li",
    { vars: { "--c": colourOf(calendar.name) } },
    make("label", { class: "cal-name" }, box, make("bdi", {}, calendar.name)),
    calendar.is_default ? make("span", { class: "tag" }, say("default")) : null,
    calendar.read_only ? make("span", { class: "tag" }, say("read_only")) : null,
    make("button", { type: "button", class: "icon-button small", title: say("edit", { name: calendar.name }), "aria-label": say("edit", { name: calendar.name }), on: { click: () => edit(calendar) } }, icon("more")),
  );
}

function changed() {
  for (const listener of listeners) listener();
}

function edit(calendar) {
  editing = calendar;
  form.reset();
  panel.querySelector("[data-heading]").textContent = calendar ? say("edit_calendar", { name: calendar.name }) : say("new_calendar");
  const { name, colour, is_default: standard, read_only: fixed } = form.elements;
  name.value = calendar?.name ?? "";
  colour.value = calendar ? colourOf(calendar.name) : "#3b6ea5";
  standard.checked = Boolean(calendar?.is_default);
  standard.disabled = Boolean(calendar?.is_default);
  fixed.checked = Boolean(calendar?.read_only);
  const link = panel.querySelector("[data-export]");
  link.hidden = !calendar;
  if (calendar) link.href = `/api/calendars/${encodeURIComponent(calendar.id)}/export.ics`;
  panel.querySelector("[data-bin]").hidden = !calendar || !mayWrite;
  form.querySelector('[type="submit"]').hidden = !mayWrite;
  openPanel(panel);
  name.focus();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { name, colour, is_default: standard, read_only: fixed } = form.elements;
  const body = { name: name.value.trim(), colour: colour.value, read_only: fixed.checked };
  if (standard.checked && !standard.disabled) body.is_default = true;
  try {
    const path = editing ? `/api/calendars/${encodeURIComponent(editing.id)}` : "/api/calendars";
    await call(editing ? "PATCH" : "POST", path, { body });
    panel.close();
    announce(say("saved"));
    changed();
  } catch (error) {
    showError(panel, error.message);
  }
});

panel.querySelector("[data-bin]").addEventListener("click", async () => {
  panel.close();
  try {
    await ask("DELETE", `/api/calendars/${encodeURIComponent(editing.id)}`);
  } catch (error) {
    notice({ title: error.message, seconds: 10 });
  }
});
document.querySelector("[data-new-calendar]")?.addEventListener("click", () => edit(null));

// --- Import --------------------------------------------------------------------------------------------------------
const importPanel = document.getElementById("import-panel");
const importForm = importPanel.querySelector("form");

document.querySelector("[data-open-import]")?.addEventListener("click", () => {
  importForm.reset();
  importPanel.querySelector("[data-report]").hidden = true;
  fillChoices(importForm.elements.calendar, "");
  openPanel(importPanel);
});

importForm.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { file, calendar, replace } = importForm.elements;
  if (!file.files.length) return showError(importPanel, say("import_file"));
  showError(importPanel, "");
  const button = importForm.querySelector("[data-save]");
  button.disabled = true;
  announce(say("importing"));
  try {
    const query = replace.checked ? "?replace=true" : "";
    const path = `/api/calendars/${encodeURIComponent(calendar.value)}/import${query}`;
    const { body } = await call("POST", path, { raw: await file.files[0].arrayBuffer(), type: "text/calendar" });
    showReport(body);
    changed();
  } catch (error) {
    showError(importPanel, error.message);
  } finally {
    button.disabled = false;
  }
});

function showReport(report) {
  const place = importPanel.querySelector("[data-report]");
  const counts = { imported: report.added + report.updated, unchanged: report.unchanged, skipped: report.skipped_count + report.ignored.length + report.refused, waiting: report.asked };
  const rows = [
    ...report.skipped,
    ...report.items.filter((item) => item.outcome === "asked" || item.outcome === "refused").map((item) => ({ ...item, summary: item.title })),
    ...report.warnings,
    ...report.ignored,
  ];
  const summary = say("import_done", counts);
  place.querySelector("[data-summary]").textContent = rows.length ? summary : `${summary} ${say("import_clean")}`;
  place.querySelector("[data-table]").hidden = !rows.length;
  place.querySelector("tbody").replaceChildren(...rows.sort((a, b) => (a.line || 1e9) - (b.line || 1e9)).map(reportRow));
  place.hidden = false;
  place.focus();
  announce(summary);
}

function reportRow({ line, summary, outcome, code, codes, detail }) {
  const reasons = (codes ?? [code]).filter(Boolean).map((name) => say("import_codes")[name] ?? sentence(name, detail ?? name));
  const what = [outcome ? say(`outcome_${outcome}`) : "", ...reasons].filter(Boolean).join(" ");
  return make("tr", {}, make("td", {}, line ? String(line) : ""), make("td", {}, make("bdi", {}, summary || say("untitled"))), make("td", {}, what));
}
