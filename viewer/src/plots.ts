// Plots over time, linked to the animation and to each other.

import uPlot from "uplot";
import { DASHES, curveColour } from "./colours";
import { type Curve, axisNumbers, columns, css } from "./curves";
import { type Channel, type Report, type Series, valueAt } from "./data";
import { digits, h, save } from "./dom";

const HEIGHT = 168;
/** Measured data are points, which the legend shows as dots. */
const MEASURED = [3, 3];

/** What the plots need of the rest of the page. */
export interface Clock {
  time: number;
  seek(t: number): void;
  start: number;
  end: number;
}

class Panel {
  readonly element: HTMLElement;
  plot: uPlot | null = null;
  curves: Curve[] = [];
  private readonly legend = h("div", { class: "legend" });
  private readonly host = h("div", { class: "plot" });
  private readonly line = h("div", { class: "now" });
  private readonly title = h("span", { class: "panel-title" });
  private values: { element: HTMLElement; curve: Curve }[] = [];

  constructor(
    private readonly plots: Plots,
    public names: string[],
  ) {
    const button = (text: string, label: string, act: () => void) =>
      h("button", { class: "small", title: label, "aria-label": label, onclick: act }, text);
    this.element = h(
      "section",
      { class: "panel" },
      h(
        "header",
        {},
        this.title,
        h(
          "span",
          { class: "tools" },
          button("Channels…", "Choose the channels of this plot", () => plots.picker.open(this)),
          button("CSV", "Save the data of this plot as CSV", () => plots.saveCsv(this.curves)),
          button("PNG", "Save this plot as a picture", () => this.savePng()),
          button("×", "Remove this plot", () => plots.remove(this)),
        ),
      ),
      this.host,
      this.legend,
    );
  }

  /** Makes the plot anew, for other channels, another width or other colours. */
  build(): void {
    this.plot?.destroy();
    const { report } = this.plots;
    this.curves = this.names.flatMap((name) =>
      this.plots.sources.flatMap((recording) => {
        const channel = recording.byName.get(name);
        return channel ? [{ recording, channel }] : [];
      }),
    );
    const units = [...new Set(this.curves.map((curve) => curve.channel.unit))];
    const groups = [...new Set(this.curves.map((curve) => curve.channel.group))];
    const titles = groups.map((key) => report.groups.find((group) => group.key === key)?.title ?? key);
    const unit = units.map((u) => (u === "1" ? "no unit" : u)).join(", ");
    this.title.textContent = this.curves.length ? `${titles.join(", ")} in ${unit}` : "No channel chosen";
    const width = Math.max(this.host.clientWidth, 200);
    const [from, until] = this.plots.range;
    const numbers = axisNumbers();
    const options: uPlot.Options = {
      width,
      height: HEIGHT,
      padding: [8, 12, 0, 0],
      legend: { show: false },
      cursor: {
        sync: { key: "time", setSeries: false },
        drag: { x: true, y: false, uni: 20 },
        points: { size: 6 },
        bind: {
          dblclick: () => () => {
            this.plots.setRange(this.plots.clock.start, this.plots.clock.end);
            return null;
          },
        },
      },
      scales: { x: { time: false, range: () => this.plots.range }, y: { range: flatRange } },
      axes: numbers.axes,
      series: [{}, ...this.curves.map((curve) => this.series(curve))],
      plugins: [numbers.plugin],
      hooks: {
        setSelect: [
          (u) => {
            if (u.select.width > 4) {
              const left = u.posToVal(u.select.left, "x");
              this.plots.setRange(left, u.posToVal(u.select.left + u.select.width, "x"));
            }
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
        ready: [
          (u) => {
            u.over.append(this.line);
            u.over.addEventListener("click", (event) => {
              const left = event.clientX - u.over.getBoundingClientRect().left;
              this.plots.clock.seek(u.posToVal(left, "x"));
            });
          },
        ],
      },
    };
    this.host.replaceChildren();
    this.plot = new uPlot(options, columns(this.curves, from, until, width) as uPlot.AlignedData, this.host);
    this.buildLegend();
    this.showTime(this.plots.clock.time, true);
  }

  private colour(curve: Curve): string {
    const { sources } = this.plots;
    const byRecording = sources.length > 1 && this.names.length === 1;
    return curveColour(byRecording ? sources.indexOf(curve.recording) : this.names.indexOf(curve.channel.name));
  }

  private isMeasured(curve: Curve): boolean {
    return this.plots.report.measured.includes(curve.recording);
  }

  private dash(curve: Curve): number[] {
    return this.isMeasured(curve) ? MEASURED : DASHES[this.plots.sources.indexOf(curve.recording) % DASHES.length]!;
  }

  private series(curve: Curve): uPlot.Series {
    if (this.isMeasured(curve)) {
      const colour = this.colour(curve);
      return { label: curve.channel.name, stroke: colour, paths: () => null, points: { show: true, size: 6, fill: colour } };
    }
    return {
      label: curve.channel.name,
      stroke: this.colour(curve),
      width: 1.6,
      dash: this.dash(curve),
      spanGaps: true,
      points: { show: false },
    };
  }

  private buildLegend(): void {
    this.values = [];
    const many = this.plots.sources.length > 1;
    const entries = this.curves.map((curve, i) => {
      const value = h("b", {}, "");
      this.values.push({ element: value, curve });
      const entry = h(
        "label",
        { class: "key", title: many ? `${curve.channel.name} of ${curve.recording.label}` : curve.channel.name },
        h("input", {
          type: "checkbox",
          checked: true,
          onchange: (event: Event) => this.plot?.setSeries(i + 1, { show: (event.target as HTMLInputElement).checked }),
        }),
        swatch(this.colour(curve), this.dash(curve)),
        h("span", {}, curve.channel.name + (many ? ` · ${curve.recording.label}` : "")),
        value,
      );
      return entry;
    });
    this.legend.replaceChildren(...entries);
  }

  /** Shows another range of time. */
  zoom(): void {
    if (this.plot) {
      const [from, until] = this.plots.range;
      const data = columns(this.curves, from, until, this.plot.width);
      this.plot.setData(data as uPlot.AlignedData, true);
      this.showTime(this.plots.clock.time, true);
    }
  }

  /** Moves the line of the present instant; the numbers follow when they are due. */
  showTime(t: number, numbers: boolean): void {
    if (!this.plot) {
      return;
    }
    const at = this.plot.valToPos(t, "x");
    // asking the element for its width would make the browser lay out the page in every frame
    const inside = at >= 0 && at <= this.plot.bbox.width / devicePixelRatio;
    this.line.style.transform = `translateX(${at.toFixed(1)}px)`;
    this.line.hidden = !inside;
    if (numbers) {
      for (const { element, curve } of this.values) {
        const unit = curve.channel.unit === "1" ? "" : ` ${curve.channel.unit}`;
        element.textContent = digits(valueAt(curve.recording, curve.channel, t)) + unit;
      }
    }
  }

  resize(): void {
    const width = Math.max(this.host.clientWidth, 200);
    if (this.plot && Math.abs(width - this.plot.width) > 1) {
      this.plot.setSize({ width, height: HEIGHT });
      this.zoom();
    }
  }

  /** The plot with its title and legend as a PNG file. */
  private savePng(): void {
    const source = this.plot!.ctx.canvas;
    const scale = devicePixelRatio;
    const canvas = h("canvas", { width: source.width, height: source.height + (30 + 18 * this.curves.length) * scale });
    const context = canvas.getContext("2d")!;
    context.scale(scale, scale);
    context.fillStyle = css("--paper");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(source, 0, 24, source.width / scale, source.height / scale);
    context.fillStyle = css("--ink");
    context.font = "600 13px sans-serif";
    context.fillText(this.title.textContent ?? "", 10, 17);
    context.font = "11px sans-serif";
    for (const tick of this.host.querySelectorAll<HTMLElement>(".ticks span")) {
      const [place, box] = [tick.getBoundingClientRect(), this.host.getBoundingClientRect()];
      context.fillText(tick.textContent ?? "", place.left - box.left, place.bottom - box.top + 21);
    }
    const many = this.plots.sources.length > 1;
    this.curves.forEach((curve, i) => {
      const y = source.height / scale + 40 + 18 * i;
      context.fillStyle = this.colour(curve);
      context.fillRect(12, y - 5, 18, 3);
      context.fillStyle = css("--ink");
      context.fillText(curve.channel.name + (many ? ` · ${curve.recording.label}` : ""), 38, y);
    });
    canvas.toBlob((blob) => blob && save("plot.png", blob), "image/png");
  }
}

/** A little room around the data, and some around a curve that does not change. */
function flatRange(_: uPlot, least: number | null, greatest: number | null): [number, number] {
  if (least === null || greatest === null) {
    return [0, 1];
  }
  const span = greatest - least;
  const room = span > 0 ? 0.06 * span : Math.max(Math.abs(least) * 0.1, 1e-9);
  return [least - room, greatest + room];
}

export function swatch(colour: string, dash: number[]): HTMLElement {
  const span = h("i", { class: "swatch" });
  span.style.background = dash.length
    ? `repeating-linear-gradient(90deg, ${colour} 0 ${dash[0]}px, transparent ${dash[0]}px ${dash[0]! + dash[1]!}px)`
    : colour;
  return span;
}

/** The dialogue in which channels are chosen. */
class Picker {
  readonly dialog = h("dialog", { class: "picker", "aria-label": "Choose channels" });
  private panel: Panel | null = null;

  constructor(private readonly plots: Plots) {
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) {
        this.dialog.close();
      }
    });
  }

  open(panel: Panel): void {
    this.panel = panel;
    const { report } = this.plots;
    const known = new Map<string, Channel>();
    for (const recording of this.plots.sources) {
      for (const channel of recording.channels) {
        known.set(channel.name, known.get(channel.name) ?? channel);
      }
    }
    const filter = h("input", { type: "search", placeholder: "Find a channel", "aria-label": "Find a channel" });
    const groups = report.groups.flatMap(({ key, title }) => {
      const members = [...known.values()].filter((channel) => channel.group === key);
      if (members.length === 0) {
        return [];
      }
      const rows = members.map((channel) =>
        h(
          "label",
          { "data-name": channel.name.toLowerCase() },
          h("input", {
            type: "checkbox",
            value: channel.name,
            checked: panel.names.includes(channel.name),
            onchange: () => this.apply(),
          }),
          h("span", {}, channel.name),
          h("small", {}, `${channel.unit === "1" ? "" : channel.unit}${channel.constant ? " constant" : ""}`),
        ),
      );
      return [h("fieldset", {}, h("legend", {}, title), ...rows)];
    });
    filter.addEventListener("input", () => {
      for (const row of this.dialog.querySelectorAll<HTMLElement>("[data-name]")) {
        row.hidden = !row.dataset.name!.includes(filter.value.trim().toLowerCase());
      }
      for (const group of this.dialog.querySelectorAll<HTMLElement>("fieldset")) {
        group.hidden = !group.querySelector("[data-name]:not([hidden])");
      }
    });
    const all = h("button", { onclick: () => this.plots.saveCsv(null) }, "Save all channels as CSV");
    const done = h("button", { class: "primary", onclick: () => this.dialog.close() }, "Done");
    this.dialog.replaceChildren(h("header", {}, filter, all, done), h("div", { class: "groups" }, ...groups));
    this.dialog.showModal();
  }

  private apply(): void {
    const chosen = [...this.dialog.querySelectorAll<HTMLInputElement>("input[value]:checked")];
    this.panel!.names = chosen.map((box) => box.value);
    this.panel!.build();
  }
}

/** Channels that are named when plots begin without them. */
const NAMED = 6;

export class Plots {
  readonly element = h("div", { class: "plots" });
  readonly panels: Panel[] = [];
  readonly picker: Picker;
  /** Everything that has channels: recordings, and measured data behind them. */
  readonly sources: Series[];
  range: [number, number];
  private readonly list = h("div", { class: "panels" });
  private readonly reset = h("button", { onclick: () => this.setRange(this.clock.start, this.clock.end) }, "Whole time");
  private lastNumbers = 0;

  constructor(
    readonly report: Report,
    readonly clock: Clock,
  ) {
    this.range = [clock.start, clock.end];
    this.sources = [...report.recordings, ...report.measured];
    this.picker = new Picker(this);
    this.element.append(
      this.list,
      h(
        "footer",
        {},
        h("button", { onclick: () => this.add([]) }, "Add a plot…"),
        this.reset,
        h("span", { class: "hint" }, "Drag to zoom, double click for the whole time, click to go there."),
      ),
      this.picker.dialog,
    );
    const { leftOut } = report;
    if (leftOut.length > 0) {
      const more = leftOut.length > NAMED ? ` and ${leftOut.length - NAMED} more` : "";
      const words = `The plots begin without ${leftOut.slice(0, NAMED).join(", ")}${more}; every channel can be chosen.`;
      this.element.append(h("p", { class: "hint left-out" }, words));
    }
    this.reset.hidden = true;
  }

  /** Fills the page; it must stand in the document by then. */
  build(): void {
    for (const names of this.report.panels) {
      this.add(names);
    }
    new ResizeObserver(() => this.panels.forEach((panel) => panel.resize())).observe(this.list);
  }

  add(names: string[]): void {
    const panel = new Panel(this, names);
    this.panels.push(panel);
    this.list.append(panel.element);
    panel.build();
    if (names.length === 0) {
      this.picker.open(panel);
    }
  }

  remove(panel: Panel): void {
    panel.plot?.destroy();
    panel.element.remove();
    this.panels.splice(this.panels.indexOf(panel), 1);
  }

  setRange(from: number, until: number): void {
    this.range = [Math.max(from, this.clock.start), Math.min(until, this.clock.end)];
    this.reset.hidden = this.range[0] === this.clock.start && this.range[1] === this.clock.end;
    for (const panel of this.panels) {
      panel.zoom();
    }
    document.dispatchEvent(new CustomEvent("lissom-range"));
  }

  /** Follows the animation; numbers change ten times a second, which is as fast as they can be read. */
  showTime(t: number, now: number, settle: boolean): void {
    const numbers = settle || now - this.lastNumbers > 100;
    if (numbers) {
      this.lastNumbers = now;
    }
    for (const panel of this.panels) {
      panel.showTime(t, numbers);
    }
  }

  rebuild(): void {
    for (const panel of this.panels) {
      panel.build();
    }
  }

  /** Saves curves, or everything, of every recording within the shown time as CSV. */
  saveCsv(curves: Curve[] | null): void {
    for (const recording of this.report.recordings) {
      const channels = curves
        ? curves.filter((curve) => curve.recording === recording).map((curve) => curve.channel)
        : recording.channels;
      if (channels.length > 0) {
        const name = `${recording.label.replace(/[^\w.-]+/g, "-")}.csv`;
        save(name, new Blob([csv(recording, channels, this.range)], { type: "text/csv" }));
      }
    }
  }

  /** What a plot shows of a channel at the instant nearest to t, for tests; measured data count behind the recordings. */
  plotted(name: string, t: number, recording: number): { time: number; value: number } | null {
    for (const panel of this.panels) {
      const index = panel.curves.findIndex(
        (curve) => curve.channel.name === name && curve.recording === this.sources[recording],
      );
      if (index >= 0 && panel.plot) {
        const [x, ...y] = panel.plot.data;
        let best: { time: number; value: number } | null = null;
        for (let i = 0; i < x.length; i++) {
          const value = y[index]![i];
          if (value !== null && value !== undefined && (!best || Math.abs(x[i]! - t) < Math.abs(best.time - t))) {
            best = { time: x[i]!, value };
          }
        }
        return best;
      }
    }
    return null;
  }
}

/** Columns as `lissom run` writes them, in the seven digits that the page has. */
function csv(recording: Series, channels: Channel[], [from, until]: [number, number]): string {
  const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [["time_s", ...channels.map((c) => quoted(`${c.name} [${c.unit}]`))].join(",")];
  recording.time.forEach((t, i) => {
    if (t >= from && t <= until) {
      const values = channels.map((c) => Number(c.samples[c.constant ? 0 : i]!.toPrecision(7)));
      lines.push([t, ...values].join(","));
    }
  });
  return lines.join("\n") + "\n";
}
