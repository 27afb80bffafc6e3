/**
 * What are the numbers behind a figure? As a table on the page and as CSV text.
 */

import { tableColumns } from "./data.js";

/**
 * Fill an element with the first rows of a table.
 *
 * @param {HTMLElement} element a scrolling region
 * @param {{columns: object[], shown: number}} table
 * @param {{numbers: string, part: string}} words
 */
export function fillTable(element, table, words) {
  const columns = tableColumns(table);
  const grid = document.createElement("table");
  grid.createCaption().textContent = [words.numbers, words.part].filter(Boolean).join(" — ");
  const head = grid.createTHead().insertRow();
  for (const { name } of columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = name;
    head.append(cell);
  }
  const body = grid.createTBody();
  for (let row = 0; row < table.shown; row += 1) {
    const line = body.insertRow();
    for (const { cell } of columns) {
      const value = cell(row);
      const box = line.insertCell();
      box.textContent = shortText(value);
      box.classList.toggle("normviz-plot-number", typeof value === "number");
    }
  }
  element.replaceChildren(grid);
}

/** Six digits are more than a drawing shows; the CSV has them all. */
function shortText(value) {
  return typeof value === "number" && Number.isFinite(value) ? String(Number(value.toPrecision(6))) : exactText(value);
}

/** Numbers in the fewest digits that give the same float64 back, infinite ones as pandas reads them; empty if missing. */
function exactText(value) {
  if (value === null || Number.isNaN(value)) return "";
  return value === Infinity ? "inf" : value === -Infinity ? "-inf" : String(value);
}

/**
 * A whole table as RFC 4180 text.
 *
 * @param {{columns: object[], rows: number}} table
 * @returns {string}
 */
export function csvText(table) {
  const columns = tableColumns(table);
  const lines = [columns.map(({ name }) => quoted(name))];
  for (let row = 0; row < table.rows; row += 1) lines.push(columns.map(({ cell }) => quoted(exactText(plain(cell(row))))));
  // Without the mark a spreadsheet program takes Chinese column names for another encoding.
  return `\uFEFF${lines.map((line) => `${line.join(",")}\r\n`).join("")}`;
}

/**
 * A word that a spreadsheet program would calculate as a formula starts with an apostrophe, which makes it text again.
 *
 * @param {number | string | null} value
 */
function plain(value) {
  return typeof value === "string" && /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
}

/** @param {string} text */
function quoted(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
