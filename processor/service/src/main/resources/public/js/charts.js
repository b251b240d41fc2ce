// The charts over the last hour, minute by minute.
import { $, el, isSelecting, keyed, setText } from "./dom.js";
import { count, millis } from "./format.js";

const MINUTE = 60;
const MOST = 60;
const LEAST = 10;
let charts = [];
let zones = [];
let data = null;

const tone = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const zoneTone = (index) => tone(`--zone-${index % 4}`);

/** The rows as columns: minutes, those before the first row left out, and what each zone did in each. */
function columns(rows, now) {
  const last = Math.floor(now / 1000 / MINUTE) * MINUTE;
  const first = rows.length > 0 ? Date.parse(rows[0].start) / 1000 : last;
  const shown = Math.min(MOST, Math.max(LEAST, Math.round((last - first) / MINUTE) + 1));
  const times = Array.from({ length: shown + 1 }, (_, i) => last - (shown - i) * MINUTE);
  const place = new Map(times.map((time, i) => [time, i]));
  const of = Object.fromEntries(zones.map((zone) => [zone, times.map(() => null)]));
  for (const row of rows) {
    const at = place.get(Math.floor(Date.parse(row.start) / 1000));
    if (at !== undefined && of[row.zone]) of[row.zone][at] = row;
  }
  return { times, of, hasWholeMinutes: first < last };
}

/** A value of each minute but the last, which has only begun and would look like a fall, if there are others. */
const pick = (zone, value, otherwise) =>
  data.of[zone].map((row, i, rows) => {
    if (i === rows.length - 1 && data.hasWholeMinutes) return null;
    return row === null ? otherwise : value(row);
  });
const all = (value) =>
  data.times.map((_, i) =>
    zones.reduce((sum, zone) => sum + (data.of[zone][i] ? value(data.of[zone][i]) : 0), 0),
  );

const DRAWN = [
  {
    id: "chart-completed",
    height: 240,
    series: () =>
      zones.map((zone, i) => ({
        label: `Zone ${zone}`,
        values: () => pick(zone, (row) => row.completed, 0),
        stroke: zoneTone(i),
        fill: `${zoneTone(i)}1f`,
      })),
    show: count,
    hooks: { draw: [takeovers] },
  },
  {
    id: "chart-latency",
    height: 170,
    series: () =>
      zones.map((zone, i) => ({
        label: `Zone ${zone}`,
        values: () => pick(zone, (row) => (row.completed > 0 ? row.p99Millis : null), null),
        stroke: zoneTone(i),
      })),
    show: millis,
  },
  {
    id: "chart-trouble",
    height: 170,
    series: () => [
      { label: "Dead", values: () => all((row) => row.deadLetters), stroke: tone("--bad") },
      { label: "Failed, tried again", values: () => all((row) => row.failures), stroke: tone("--warn") },
      { label: "Taken over", values: () => all((row) => row.takeovers), stroke: tone("--zone-2") },
    ],
    show: count,
  },
];

/** A triangle on the time axis for each minute and zone that took something over. */
function takeovers(plot) {
  const { ctx, bbox } = plot;
  const size = 6 * devicePixelRatio;
  ctx.save();
  zones.forEach((zone, i) => {
    ctx.fillStyle = zoneTone(i);
    data.of[zone].forEach((row, at) => {
      if (!row || row.takeovers === 0) return;
      const x = plot.valToPos(data.times[at], "x", true) + (i - (zones.length - 1) / 2) * size * 2;
      const y = bbox.top + bbox.height;
      ctx.beginPath();
      ctx.moveTo(x, y - size * 2);
      ctx.lineTo(x - size, y);
      ctx.lineTo(x + size, y);
      ctx.fill();
    });
  });
  ctx.restore();
}

function draw(drawn) {
  const place = $(drawn.id);
  const series = drawn.series();
  const axis = {
    stroke: tone("--soft"),
    font: "12px system-ui, sans-serif",
    ticks: { show: false },
    grid: { stroke: tone("--line"), width: 1 },
  };
  const plot = new uPlot(
    {
      width: Math.max(200, place.clientWidth),
      height: drawn.height,
      padding: [8, 20, 0, 0],
      cursor: { sync: { key: "minutes" }, drag: { x: false, y: false }, y: false, points: { size: 7 } },
      scales: { y: { range: (_, low, high) => [0, Math.max(1, (high ?? 1) * 1.12)] } },
      axes: [
        { ...axis, grid: { show: false }, size: 30, space: 64, values: (_, ticks) => ticks.map(hour) },
        {
          ...axis,
          size: 52,
          space: 36,
          values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? count(tick) : "")),
        },
      ],
      series: [
        { label: "Time", value: (_, at) => (at === null ? "" : hour(at)) },
        ...series.map(({ label, stroke, fill }) => ({
          label, stroke, fill, width: 2, spanGaps: false,
          points: { size: 6, show: (self, at) => known(self.data[at]) < 3 }, // of so few there is no line
          value: (_, value) => (value === null ? "–" : drawn.show(value)),
        })),
      ],
      hooks: drawn.hooks ?? {},
    },
    [data.times, ...series.map(({ values }) => values())],
    place,
  );
  plot.root.setAttribute("aria-hidden", "true"); // the table beside it says the same
  return { drawn, plot, place, series };
}

const known = (values) => values.filter((value) => value !== null).length;
const two = (number) => String(number).padStart(2, "0");
function hour(seconds) {
  const at = new Date(seconds * 1000);
  return `${two(at.getHours())}:${two(at.getMinutes())}`;
}

function redraw() {
  charts.forEach(({ plot }) => plot.destroy());
  charts = data === null ? [] : DRAWN.map(draw);
}

/** Shows these rows. */
export function showMinutes(rows, names, now) {
  const others = names.join("\n") !== zones.join("\n");
  zones = names;
  data = columns(rows, now);
  if (others || charts.length === 0) redraw();
  else charts.forEach(({ plot, series }) => plot.setData([data.times, ...series.map(({ values }) => values())]));
  table();
}

function table() {
  const place = $("table-completed");
  if (!place.closest("details").open || data === null || isSelecting()) return;
  if (place.dataset.zones !== zones.join("\n")) {
    place.dataset.zones = zones.join("\n");
    const heads = zones.flatMap((zone) => [`Zone ${zone}`, "Taken over", "Tried again", "Dead", "99 % within"]);
    place.replaceChildren(
      el("table", {},
        el("thead", {}, el("tr", {}, ...["Minute", ...heads].map((text) => el("th", { scope: "col", text })))),
        el("tbody")),
    );
  }
  const rows = data.times.map((time, i) => [time, i]).reverse();
  keyed(
    place.querySelector("tbody"),
    rows,
    ([time]) => time,
    () => el("tr", {}, el("th", { scope: "row" }), ...zones.flatMap(() => [1, 2, 3, 4, 5].map(() => el("td")))),
    (line, [time, i]) => {
      const cells = zones.flatMap((zone) => {
        const row = data.of[zone][i];
        return row
          ? [row.completed, row.takeovers, row.failures, row.deadLetters].map(count).concat(millis(row.p99Millis))
          : ["0", "0", "0", "0", "–"];
      });
      [hour(time), ...cells].forEach((text, at) => setText(line.children[at], text));
    },
  );
}

$("table-completed").closest("details").addEventListener("toggle", table);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
new ResizeObserver(() => {
  for (const { plot, place, drawn } of charts) {
    const width = Math.max(200, place.clientWidth);
    if (plot.width !== width) plot.setSize({ width, height: drawn.height });
  }
}).observe($("charts"));
