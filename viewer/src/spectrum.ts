// Amplitude spectrum of any channel, with the natural frequencies of the mechanism along its motion.

import uPlot from "uplot";
import { DASHES, curveColour } from "./colours";
import { axisNumbers, css } from "./curves";
import { type Channel, type Recording, type Report, valueAt } from "./data";
import { digits, h } from "./dom";
import { type Plots, swatch } from "./plots";

/** Samples of a transform, at most. */
const LONGEST = 1 << 17;

/** In-place transform of 2^k complex numbers, decimation in time. */
export function transform(re: Float64Array, im: Float64Array): void {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) {
      j ^= bit;
    }
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j]!, re[i]!];
      [im[i], im[j]] = [im[j]!, im[i]!];
    }
  }
  for (let size = 2; size <= n; size *= 2) {
    const half = size / 2;
    for (let k = 0; k < half; k++) {
      const angle = (-2 * Math.PI * k) / size;
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      for (let start = 0; start < n; start += size) {
        const [a, b] = [start + k, start + k + half];
        const x = c * re[b]! - s * im[b]!;
        const y = s * re[b]! + c * im[b]!;
        re[b] = re[a]! - x;
        im[b] = im[a]! - y;
        re[a]! += x;
        im[a]! += y;
      }
    }
  }
}

/**
 * Amplitudes over frequency between two instants: mean and trend taken off, Hann's window, as many even steps as there
 * are samples, zeros behind for a smooth curve. A lasting sine of amplitude a has a peak of a.
 */
export function spectrum(
  recording: Recording,
  channel: Channel,
  from: number,
  until: number,
): { hz: number[]; amplitude: number[]; inside: number } {
  const { time } = recording;
  const first = Math.max(from, time[0]!);
  const last = Math.min(until, time[time.length - 1]!);
  const inside = time.filter((t) => t >= first && t <= last).length;
  const count = Math.min(inside, LONGEST);
  if (channel.constant || count < 8 || last <= first) {
    return { hz: [], amplitude: [], inside };
  }
  const step = (last - first) / (count - 1);
  const x = Float64Array.from({ length: count }, (_, i) => valueAt(recording, channel, Math.min(first + i * step, last)));
  let [sum, moment, square] = [0, 0, 0];
  const middle = (count - 1) / 2;
  x.forEach((value, i) => {
    sum += value;
    moment += value * (i - middle);
    square += (i - middle) ** 2;
  });
  const size = 2 ** Math.ceil(Math.log2(2 * count));
  const [re, im] = [new Float64Array(size), new Float64Array(size)];
  for (let i = 0; i < count; i++) {
    const hann = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / (count - 1));
    re[i] = (x[i]! - sum / count - (moment / square) * (i - middle)) * hann;
  }
  transform(re, im);
  const hz: number[] = [];
  const amplitude: number[] = [];
  for (let k = 1; k < size / 2; k++) {
    hz.push(k / (size * step));
    // the window has a mean of one half, and each side of the spectrum half of the amplitude
    amplitude.push((4 * Math.hypot(re[k]!, im[k]!)) / (count - 1));
  }
  return { hz, amplitude, inside };
}

/** Points of a spectrum for so many pixels: the largest amplitude of each. */
function thinned(hz: number[], amplitude: number[], until: number, width: number): [number[], number[]] {
  const end = hz.findIndex((f) => f > until);
  const count = end < 0 ? hz.length : end + 1;
  if (count <= 2 * width) {
    return [hz.slice(0, count), amplitude.slice(0, count)];
  }
  const [x, y]: [number[], number[]] = [[], []];
  const step = count / width;
  for (let pixel = 0; pixel < width; pixel++) {
    let best = Math.floor(pixel * step);
    for (let i = best; i < Math.min(count, (pixel + 1) * step); i++) {
      if (amplitude[i]! > amplitude[best]!) {
        best = i;
      }
    }
    x.push(hz[best]!);
    y.push(amplitude[best]!);
  }
  return [x, y];
}

/** The channel of a group that goes furthest. */
function liveliest(channels: Channel[], group: string): Channel | undefined {
  const span = ({ samples }: Channel) => {
    let [least, greatest] = [Infinity, -Infinity];
    for (const value of samples) {
      least = Math.min(least, value);
      greatest = Math.max(greatest, value);
    }
    return greatest - least;
  };
  const members = channels.filter((channel) => channel.group === group);
  const spans = members.map(span);
  return members[spans.indexOf(Math.max(...spans))];
}

interface Mark {
  hz: number;
  /** Lowest and highest value in the shown time. */
  range: [number, number];
  text: string;
}

/** Natural frequencies of the mechanism between two instants, as they change along the motion. */
function ofMechanism(recording: Recording, from: number, until: number): Mark[] {
  const marks: Mark[] = [];
  for (const channel of recording.channels.filter(({ group }) => group === "frequency")) {
    let [sum, count, least, greatest] = [0, 0, Infinity, -Infinity];
    const inside = (i: number) => channel.constant || (recording.time[i]! >= from && recording.time[i]! <= until);
    channel.samples.forEach((omega, i) => {
      // a mode that grows has no frequency
      if (inside(i) && Number.isFinite(omega)) {
        const hz = omega / (2 * Math.PI);
        [sum, count] = [sum + hz, count + 1];
        [least, greatest] = [Math.min(least, hz), Math.max(greatest, hz)];
      }
    });
    if (count > 0) {
      marks.push({ hz: sum / count, range: [least, greatest], text: channel.name.replace("frequency.mode_", "mode ") });
    }
  }
  return marks;
}

/** Natural frequencies of the flexible bodies; those of a round beam in both planes are one mark. */
function ofBodies(recording: Recording): Mark[] {
  const marks: Mark[] = [];
  for (const body of recording.model_summary.bodies ?? []) {
    body.frequencies_rad_per_s.forEach((omega, i) => {
      const hz = omega / (2 * Math.PI);
      const last = marks[marks.length - 1];
      if (i > 0 && last && hz < 1.001 * last.hz) {
        last.text += `, ${i + 1}`;
      } else {
        marks.push({ hz, range: [hz, hz], text: `${body.name} ${i + 1}` });
      }
    });
  }
  return marks;
}

export class Spectra {
  readonly element: HTMLElement;
  private readonly choice: HTMLSelectElement;
  private readonly upTo: HTMLSelectElement;
  private readonly host = h("div", { class: "plot" });
  private readonly legend = h("div", { class: "legend" });
  private readonly note = h("p", { class: "hint" });
  private plot: uPlot | null = null;
  private marks: Mark[] = [];
  private wasBuilt = false;

  constructor(
    private readonly report: Report,
    private readonly plots: Plots,
  ) {
    const rebuild = () => this.build();
    this.choice = h("select", { "aria-label": "Channel", onchange: rebuild });
    for (const { key, title } of report.groups) {
      const members = report.recordings[0]!.channels.filter((c) => c.group === key && !c.constant);
      if (members.length > 0) {
        const options = members.map((c) => h("option", { value: c.name }, `${c.name} in ${c.unit}`));
        this.choice.append(h("optgroup", { label: title }, ...options));
      }
    }
    const moving = report.recordings[0]!.channels.filter((c) => !c.constant);
    const start = liveliest(moving, "deflection") ?? liveliest(moving, "elastic") ?? moving[0];
    this.choice.value = start?.name ?? "";
    this.upTo = h("select", { "aria-label": "Highest frequency", onchange: rebuild });
    this.element = h(
      "section",
      { id: "spectrum", class: "card" },
      h("h2", {}, "Spectrum"),
      h("div", { class: "row" }, h("label", {}, "Channel ", this.choice), h("label", {}, "up to ", this.upTo)),
      this.host,
      this.legend,
      this.note,
    );
    document.addEventListener("lissom-range", () => this.wasBuilt && this.build());
    new ResizeObserver(() => this.wasBuilt && this.build()).observe(this.host);
    // a transform takes a while: wait until somebody looks, or prints
    const seen = new IntersectionObserver((entries) => {
      if (!this.wasBuilt && entries.some((entry) => entry.isIntersecting)) {
        this.build();
      }
    });
    seen.observe(this.host);
    addEventListener("beforeprint", () => this.build());
  }

  private fillUpTo(nyquist: number): void {
    const before = this.upTo.value;
    const marks = this.marks.map((mark) => mark.hz).filter((hz) => hz < nyquist);
    const useful = Math.min(nyquist, 2.5 * Math.max(...marks.slice(0, 3), nyquist / 25));
    const choices: [string, string][] = [
      [String(useful), `${digits(useful, 3)} Hz`],
      [String(nyquist / 4), `${digits(nyquist / 4, 3)} Hz`],
      [String(nyquist), `${digits(nyquist, 3)} Hz (half the sampling rate)`],
    ];
    if (this.upTo.options.length === 0) {
      this.upTo.replaceChildren(...choices.map(([value, text]) => h("option", { value }, text)));
    } else if (before) {
      this.upTo.value = before;
    }
  }

  build(): void {
    this.wasBuilt = true;
    this.plot?.destroy();
    const name = this.choice.value;
    const [from, until] = this.plots.range;
    const found = this.report.recordings.flatMap((recording) => {
      const channel = recording.byName.get(name);
      return channel ? [{ recording, channel, ...spectrum(recording, channel, from, until) }] : [];
    });
    const drawn = found.filter((entry) => entry.hz.length > 0);
    const first = this.report.recordings[0]!;
    const own = ofMechanism(first, from, until);
    this.marks = (own.length > 0 ? own : ofBodies(first)).sort((a, b) => a.hz - b.hz);
    if (drawn.length === 0) {
      this.host.replaceChildren(h("p", { class: "hint" }, "Too few samples in the shown time for a spectrum."));
      this.plot = null;
      return;
    }
    const nyquist = Math.max(...drawn.map((entry) => entry.hz[entry.hz.length - 1]!));
    this.fillUpTo(nyquist);
    const limit = Math.min(Number(this.upTo.value), nyquist);
    const width = Math.max(this.host.clientWidth, 240);
    const data = drawn.map((entry) => thinned(entry.hz, entry.amplitude, limit, width));
    const largest = Math.max(...data.flatMap(([, y]) => y));
    const numbers = axisNumbers([false, true]);
    const options: uPlot.Options = {
      width,
      height: 260,
      padding: [32, 14, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: () => [0, limit] },
        // five decades tell a vibration from rounding
        y: { distr: 3, range: () => [largest * 1e-5, largest * 2] },
      },
      axes: numbers.axes,
      series: [
        {},
        ...drawn.map((entry) => {
          const index = this.report.recordings.indexOf(entry.recording);
          return {
            stroke: curveColour(index),
            dash: DASHES[index % DASHES.length],
            width: 1.6,
            spanGaps: true,
            points: { show: false },
          };
        }),
      ],
      plugins: [numbers.plugin],
      hooks: { draw: [(u) => this.drawMarks(u)] },
    };
    const joined = uPlot.join(data.map(([x, y]) => [x, y]) as uPlot.AlignedData[]);
    this.host.replaceChildren();
    this.plot = new uPlot(options, joined, this.host);
    this.legend.replaceChildren(
      ...drawn.map((entry) => {
        const index = this.report.recordings.indexOf(entry.recording);
        const peak = entry.amplitude.reduce((best, y, i) => (y > entry.amplitude[best]! ? i : best), 0);
        return h(
          "span",
          { class: "key" },
          swatch(curveColour(index), DASHES[index % DASHES.length]!),
          `${this.report.recordings.length > 1 ? `${entry.recording.label}: ` : ""}amplitude in ${entry.channel.unit}, largest at `,
          h("b", {}, `${digits(entry.hz[peak]!, 4)} Hz`),
        );
      }),
    );
    const sentences = ["Mean and trend are taken off, Hann's window."];
    const hidden = this.marks.filter((mark) => mark.hz > limit).length;
    const above = hidden ? `; ${hidden} lie above` : "";
    const whose = this.report.recordings.length > 1 ? ` in ${first.label}` : "";
    if (own.length > 0) {
      sentences.push(
        `Marked are ${own.length} natural frequencies of the mechanism${whose}, driven joints held, the lowest at the start: their mean ` +
          `over the shown time, and shaded how far they change along the motion${above}.`,
      );
    } else if (this.marks.length > 0) {
      sentences.push(
        `Marked are the natural frequencies of the flexible bodies${whose}, each with its frame held${above}. Those of the mechanism ` +
          `lie elsewhere${first.noFrequencies ? `: ${first.noFrequencies}` : ""}.`,
      );
    }
    if (drawn.some((entry) => entry.inside > LONGEST)) {
      sentences.push(`Of more samples than ${LONGEST}, as many are taken, evenly spread.`);
    }
    this.note.textContent = sentences.join(" ");
  }

  /** What is marked, for tests. */
  marked(): Mark[] {
    return this.marks;
  }

  private drawMarks(u: uPlot): void {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = css("--mark");
    ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.lineWidth = devicePixelRatio;
    const layer = u.root.querySelector(".u-wrap")!;
    layer.querySelectorAll(".mark").forEach((mark) => mark.remove());
    // names stand in two rows
    const free = [-Infinity, -Infinity];
    for (const mark of this.marks) {
      const x = u.valToPos(mark.hz, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) {
        continue;
      }
      const [low, high] = mark.range.map((hz) => Math.min(Math.max(u.valToPos(hz, "x", true), bbox.left), bbox.left + bbox.width));
      ctx.globalAlpha = 0.12;
      ctx.fillStyle = css("--mark");
      ctx.fillRect(low!, bbox.top, high! - low!, bbox.height);
      ctx.globalAlpha = 1;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const left = x / devicePixelRatio;
      // names that would still cover each other are left out
      const row = free.findIndex((end) => left > end);
      if (row >= 0) {
        const place = `left:${left}px;top:${row * 13 + 1}px`;
        layer.append(h("span", { class: "mark", style: place, title: `${digits(mark.hz, 4)} Hz` }, mark.text));
        free[row] = left + 6.2 * mark.text.length + 12;
      }
    }
    ctx.restore();
  }
}
