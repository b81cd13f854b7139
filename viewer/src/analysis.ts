// What else is known of the mechanism: frequency responses as Bode plots, poles in the plane, maps of a workspace.

import uPlot from "uplot";
import { curveColour, scaleColour, scaleGradient } from "./colours";
import { axisNumbers } from "./curves";
import type { Analysis, MapAnalysis, ModesAnalysis, ResponseAnalysis } from "./data";
import { digits, h } from "./dom";

const HEIGHT = 190;
/** Sides of a map's picture, of which one is as long as this. */
const MAP = 420;
/** Sides of the plane of poles. */
const PLANE = 420;
const MARGIN = 46;

/** Complex numbers of a pair over frequency, as magnitude and phase in degrees without jumps; null where it is not known or nothing. */
export function bode(response: ResponseAnalysis, input: number, output: number): [(number | null)[], (number | null)[]] {
  let before: number | null = null;
  const magnitude: (number | null)[] = [];
  const phase: (number | null)[] = [];
  response.frequency_rad_per_s.forEach((_, i) => {
    const re = response.real[i]![output]![input] ?? null;
    const im = response.imaginary[i]![output]![input] ?? null;
    const size = re === null || im === null ? 0 : Math.hypot(re, im);
    if (size === 0) {
      magnitude.push(null);
      phase.push(null);
      return;
    }
    let angle = (Math.atan2(im!, re!) * 180) / Math.PI;
    if (before !== null) {
      angle -= 360 * Math.round((angle - before) / 360);
    }
    before = angle;
    magnitude.push(size);
    phase.push(angle);
  });
  return [magnitude, phase];
}

/** Eigenvalues that are drawn: those of an instant of modes, or the poles of a response. */
export function poles(analysis: ResponseAnalysis | ModesAnalysis, instant: number): [number, number][] {
  if (analysis.kind === "modes") {
    return analysis.modes.flatMap((mode) => mode.eigenvalues[instant] ?? []);
  }
  // a response has one of every pair
  return analysis.pole_real.flatMap((re, i) => {
    const im = analysis.pole_imaginary[i] ?? null;
    if (re === null || im === null) {
      return [];
    }
    const pair: [number, number][] = im === 0 ? [[re, 0]] : [[re, im], [re, -im]];
    return pair;
  });
}

/** Poles of one mechanism are decades apart: axes are linear up to a number and logarithmic beyond it. */
class Decades {
  readonly linear: number;
  readonly most: number;

  constructor(values: number[]) {
    const sizes = values.map(Math.abs).filter((size) => size > 0);
    this.most = 1.2 * Math.max(...sizes, 1e-9);
    // six decades are enough to see; what is nearer to the axis is on it
    this.linear = Math.max(Math.min(...sizes, this.most), this.most * 1e-6);
  }

  /** Between -1 and 1. */
  at(value: number): number {
    return Math.asinh(value / this.linear) / Math.asinh(this.most / this.linear);
  }

  ticks(): number[] {
    const last = Math.floor(Math.log10(this.most));
    const first = Math.max(Math.ceil(Math.log10(this.linear)), last - 5);
    const step = Math.max(1, Math.ceil((last - first + 1) / 3));
    const found = [0];
    for (let exponent = last; exponent >= first; exponent -= step) {
      found.push(10 ** exponent, -(10 ** exponent));
    }
    return found;
  }
}

const SVG = "http://www.w3.org/2000/svg";

function svg(tag: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/** Crosses in the plane; those to the right of the axis grow. */
function polePlane(found: [number, number][]): HTMLElement {
  const [across, upward] = [new Decades(found.map(([re]) => re)), new Decades(found.map(([, im]) => im))];
  const half = PLANE / 2 - MARGIN;
  const x = (value: number) => PLANE / 2 + half * across.at(value);
  const y = (value: number) => PLANE / 2 - half * upward.at(value);
  const picture = svg("svg", { viewBox: `0 0 ${PLANE} ${PLANE}`, class: "poles", role: "img", "aria-label": "Poles" });
  for (const tick of across.ticks()) {
    const line = { x1: x(tick), x2: x(tick), y1: MARGIN, y2: PLANE - MARGIN, class: tick === 0 ? "axis" : "grid" };
    picture.append(svg("line", line), svg("text", { x: x(tick), y: PLANE - MARGIN + 16, "text-anchor": "middle" }, digits(tick, 3)));
  }
  for (const tick of upward.ticks()) {
    const line = { y1: y(tick), y2: y(tick), x1: MARGIN, x2: PLANE - MARGIN, class: tick === 0 ? "axis" : "grid" };
    picture.append(svg("line", line), svg("text", { x: MARGIN - 6, y: y(tick) + 4, "text-anchor": "end" }, digits(tick, 3)));
  }
  picture.append(
    svg("text", { x: PLANE / 2, y: PLANE - 6, "text-anchor": "middle" }, "real part in 1/s"),
    svg("text", { x: 12, y: MARGIN - 14 }, "imaginary part in rad/s"),
  );
  for (const [re, im] of found) {
    const size = Math.hypot(re, im);
    const damping = size > 0 ? -re / size : 0;
    const words = `${digits(re)} ${im < 0 ? "−" : "+"} ${digits(Math.abs(im))} i 1/s: ${digits(size)} rad/s, damping ratio ${digits(damping, 3)}`;
    const place = `translate(${x(re).toFixed(2)} ${y(im).toFixed(2)})`;
    const cross = svg("path", { d: "M-5-5 5 5M-5 5 5-5", transform: place, class: re > 0 ? "pole grows" : "pole" }, svg("title", {}, words));
    picture.append(cross);
  }
  const growing = found.filter(([re]) => re > 0).length;
  const words = growing > 0 ? `${growing} of ${found.length} grow.` : `${found.length} poles, none of which grows.`;
  return h("figure", { class: "plane" }, picture as unknown as Node, h("figcaption", { class: "hint" }, `${words} Axes by decades.`));
}

function bodePlots(response: ResponseAnalysis, host: HTMLElement, input: number, output: number): uPlot[] {
  const [magnitude, phase] = bode(response, input, output);
  const unit = `${response.output_units[output]}/(${response.input_units[input]})`;
  if (magnitude.every((value) => value === null)) {
    host.replaceChildren(h("p", { class: "hint" }, "This input does not move this output."));
    return [];
  }
  const panels: [string, (number | null)[], boolean][] = [
    [`Magnitude in ${unit}`, magnitude, true],
    ["Phase in degrees", phase, false],
  ];
  host.replaceChildren();
  return panels.map(([title, values, logarithmic], i) => {
    const place = h("div", { class: "plot" });
    host.append(h("p", { class: "panel-title" }, title), place);
    const numbers = axisNumbers([true, logarithmic]);
    const options: uPlot.Options = {
      width: Math.max(host.clientWidth, 240),
      height: HEIGHT,
      padding: [8, 12, 0, 0],
      legend: { show: false },
      cursor: { sync: { key: "bode", setSeries: false }, drag: { x: false, y: false } },
      scales: { x: { time: false, distr: 3 }, y: logarithmic ? { distr: 3 } : {} },
      axes: numbers.axes,
      series: [{}, { stroke: curveColour(i), width: 1.6, points: { show: false } }],
      plugins: [numbers.plugin],
    };
    return new uPlot(options, [response.frequency_rad_per_s, values] as uPlot.AlignedData, place);
  });
}

function choice(label: string, names: string[], changed: () => void): HTMLSelectElement {
  return h("select", { "aria-label": label, onchange: changed }, ...names.map((name, i) => h("option", { value: i }, name)));
}

/** A response: Bode plots of a pair, and its poles. */
class ResponseView {
  readonly element: HTMLElement;
  private plots: uPlot[] = [];
  private readonly host = h("div", { class: "bode" });
  private readonly input: HTMLSelectElement;
  private readonly output: HTMLSelectElement;

  constructor(private readonly response: ResponseAnalysis) {
    const changed = () => this.build();
    this.input = choice("Input", response.input_names, changed);
    this.output = choice("Output", response.output_names, changed);
    this.element = h(
      "div",
      {},
      h("div", { class: "row" }, h("label", {}, "from ", this.input), h("label", {}, " to ", this.output)),
      h("div", { class: "beside" }, this.host, polePlane(poles(response, 0))),
      h("p", { class: "hint" }, "Over the angular frequency in rad/s."),
    );
  }

  build(): void {
    this.plots.forEach((plot) => plot.destroy());
    this.plots = bodePlots(this.response, this.host, Number(this.input.value), Number(this.output.value));
  }
}

/** Eigenvalues of modes at an instant. */
class ModesView {
  readonly element: HTMLElement;
  private readonly host = h("div", {});
  private readonly instant: HTMLSelectElement;

  constructor(private readonly modes: ModesAnalysis) {
    this.instant = choice("Instant", modes.time_s.map((t) => `${digits(t)} s`), () => this.build());
    this.element = h("div", {}, h("div", { class: "row" }, h("label", {}, "at ", this.instant)), this.host);
  }

  build(): void {
    this.host.replaceChildren(polePlane(poles(this.modes, Number(this.instant.value))));
  }
}

/** A quantity over two coordinates as colours. */
class MapView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { class: "map", role: "img", "aria-label": "Map" });
  private readonly told = h("output", { class: "hint" });
  private readonly layer: HTMLSelectElement;
  private readonly ends = [h("span", {}), h("span", {})];

  constructor(private readonly map: MapAnalysis) {
    const names = map.layers.map(({ name, unit }) => name.replaceAll("_", " ") + (unit && unit !== "1" ? ` in ${unit}` : ""));
    this.layer = choice("Quantity", names, () => this.build());
    this.canvas.addEventListener("pointermove", (event) => this.tell(event));
    this.canvas.addEventListener("pointerleave", () => (this.told.textContent = ""));
    const bar = h("span", { class: "bar" });
    bar.style.background = scaleGradient();
    const [x, y] = map.axes.map(([name, unit]) => `${name} in ${unit}`);
    const [across, upward] = map.values.map((values) => [values[0]!, values[values.length - 1]!].map((value) => digits(value, 4)));
    this.element = h(
      "div",
      {},
      h("div", { class: "row" }, this.layer, h("span", { class: "scale" }, this.ends[0]!, bar, this.ends[1]!)),
      h(
        "div",
        { class: "map-frame" },
        h("div", { class: "map-y" }, h("span", {}, upward![1]!), h("span", {}, y!), h("span", {}, upward![0]!)),
        h("div", {}, this.canvas, h("div", { class: "map-x" }, h("span", {}, across![0]!), h("span", {}, x!), h("span", {}, across![1]!))),
      ),
      this.told,
    );
  }

  private shown() {
    return this.map.layers[Number(this.layer.value)]!;
  }

  build(): void {
    const [columns, rows] = this.map.values.map((values) => values.length) as [number, number];
    const { values } = this.shown();
    const known = values.filter((value): value is number => value !== null);
    const [least, most] = [Math.min(...known), Math.max(...known)];
    [this.canvas.width, this.canvas.height] = [columns, rows];
    const [width, height] = columns >= rows ? [MAP, (MAP * rows) / columns] : [(MAP * columns) / rows, MAP];
    this.canvas.style.width = `${Math.max(width, 120)}px`;
    this.canvas.style.height = `${Math.max(height, 120)}px`;
    const context = this.canvas.getContext("2d")!;
    const image = context.createImageData(columns, rows);
    const colour = [0, 0, 0];
    values.forEach((value, at) => {
      if (value === null) {
        return;
      }
      scaleColour(most > least ? (value - least) / (most - least) : 0.5, colour, 0);
      // the first row of a picture is the upper one
      const pixel = 4 * ((rows - 1 - Math.floor(at / columns)) * columns + (at % columns));
      colour.forEach((part, c) => (image.data[pixel + c] = Math.round(255 * part)));
      image.data[pixel + 3] = 255;
    });
    context.putImageData(image, 0, 0);
    this.ends[0]!.textContent = known.length > 0 ? digits(least, 4) : "nowhere";
    this.ends[1]!.textContent = known.length > 0 ? digits(most, 4) : "";
  }

  private tell(event: PointerEvent): void {
    const [columns, rows] = this.map.values.map((values) => values.length) as [number, number];
    const box = this.canvas.getBoundingClientRect();
    const column = Math.min(columns - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * columns)));
    const row = Math.min(rows - 1, Math.max(0, rows - 1 - Math.floor(((event.clientY - box.top) / box.height) * rows)));
    const value = this.shown().values[row * columns + column] ?? null;
    const [x, y] = [this.map.values[0][column]!, this.map.values[1][row]!];
    const [[a, ua], [b, ub]] = this.map.axes;
    const at = `${a} ${digits(x)} ${ua}, ${b} ${digits(y)} ${ub}`;
    this.told.textContent = value === null ? `${at}: the mechanism cannot be there` : `${at}: ${digits(value)} ${this.shown().unit}`;
  }
}

const TITLES = { response: "Frequency response", modes: "Modes", map: "Map" };

/** The section of the page, absent where there is nothing. */
export class Analyses {
  readonly element: HTMLElement | null;
  private readonly views: { element: HTMLElement; build(): void }[];

  constructor(analyses: Analysis[]) {
    this.views = analyses.map((analysis) => {
      switch (analysis.kind) {
        case "response":
          return new ResponseView(analysis);
        case "modes":
          return new ModesView(analysis);
        case "map":
          return new MapView(analysis);
      }
    });
    const parts = this.views.map(({ element }, i) =>
      h("article", { class: "panel analysis" }, h("h3", {}, `${TITLES[analyses[i]!.kind]} `, h("small", {}, analyses[i]!.label)), element),
    );
    this.element = analyses.length > 0 ? h("section", { id: "analysis", class: "analyses" }, h("h2", {}, "Analysis"), ...parts) : null;
  }

  /** Draws everything, in the colours of light or dark; it must stand in the document by then. */
  build(): void {
    this.views.forEach((view) => view.build());
  }
}
