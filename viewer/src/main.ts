// The page: puts the parts together and runs the clock.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Analyses, bode } from "./analysis";
import { curveColour, isDark, scaleGradient } from "./colours";
import { type Report, readReport, valueAt } from "./data";
import { largestMoment } from "./diagram";
import { digits, h, save } from "./dom";
import { Plots } from "./plots";
import { Spectra, spectrum } from "./spectrum";
import { Stage, type View } from "./stage";
import { summary, worst } from "./summary";

const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const KEYS: [string, string][] = [
  ["Space", "play, pause"],
  ["← →", "one frame back, on (with Shift ten)"],
  ["Home End", "start, end"],
  ["+ −", "more, less exaggeration"],
  ["G T C M N", "ghost, trace, colour, moments, names"],
  ["F", "fit"],
  ["0 1 2 3", "view from a corner, along x, y, z"],
];

/** Milliseconds that this page has spent on script per frame. */
const frameCost: number[] = [];

class Page {
  readonly stage: Stage | null;
  readonly plots: Plots;
  readonly spectra: Spectra;
  time: number;
  readonly start: number;
  readonly end: number;
  playing = false;
  speed = 1;
  private readonly scrubber: HTMLInputElement;
  private readonly clockText = h("output", { class: "clock" });
  private readonly playButton: HTMLButtonElement;
  private readonly factor: HTMLInputElement;
  private readonly factorText = h("output", { class: "factor" });
  private readonly badge = h("div", { class: "badge-exaggeration" });
  private readonly speedChoice: HTMLSelectElement;
  private readonly toggles = new Map<string, HTMLInputElement>();
  private last = 0;
  private moved = true;

  constructor(
    readonly report: Report,
    app: HTMLElement,
  ) {
    this.start = Math.min(...report.recordings.map((r) => r.time[0] ?? 0));
    this.end = Math.max(...report.recordings.map((r) => r.time[r.time.length - 1] ?? 0), this.start + 1e-9);
    this.time = this.start;
    this.playButton = h("button", { class: "play", onclick: () => this.toggle() });
    this.scrubber = h("input", {
      type: "range",
      min: 0,
      max: 100000,
      step: 1,
      value: 0,
      "aria-label": "Time",
      class: "scrubber",
      oninput: () => {
        this.playing = false;
        this.seek(this.start + (Number(this.scrubber.value) / 100000) * (this.end - this.start));
      },
    });
    this.factor = h("input", {
      type: "range",
      min: 0,
      max: 3,
      step: 0.01,
      value: 0,
      "aria-label": "Exaggeration of the deformation",
      oninput: () => this.setExaggeration(10 ** Number(this.factor.value)),
    });
    this.speedChoice = h(
      "select",
      { "aria-label": "Speed", onchange: () => (this.speed = Number(this.speedChoice.value)) },
      ...SPEEDS.map((speed) => h("option", { value: speed, selected: speed === 1 }, `${speed} ×`)),
    );
    const view = h("div", { class: "view" });
    const bench = h("section", { id: "motion", class: "bench" });
    this.plots = new Plots(report, this);
    const spectra = new Spectra(report, this.plots);
    this.spectra = spectra;
    const analyses = new Analyses(report.analyses);
    app.append(this.header(), bench, spectra.element, ...(analyses.element ? [analyses.element] : []), summary(report));
    bench.append(h("div", { class: "stage" }, view, this.transport()), this.plots.element);
    this.stage = this.makeStage(view);
    this.decorate(view);
    this.plots.build();
    analyses.build();
    this.setExaggeration(1);
    document.addEventListener("keydown", (event) => this.key(event));
    const themed = () => {
      this.stage?.themed();
      this.plots.rebuild();
      spectra.build();
      analyses.build();
      this.moved = true;
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);
    document.addEventListener("lissom-theme", themed);
    // paper is light
    let before: string | undefined;
    addEventListener("beforeprint", () => {
      before = document.documentElement.dataset.theme;
      document.documentElement.dataset.theme = "light";
      themed();
      this.draw(performance.now(), true);
      this.stage?.still(true);
    });
    addEventListener("afterprint", () => {
      this.stage?.still(false);
      if (before) {
        document.documentElement.dataset.theme = before;
      } else {
        delete document.documentElement.dataset.theme;
      }
      themed();
    });
    requestAnimationFrame((now) => this.frame(now));
  }

  private makeStage(view: HTMLElement): Stage | null {
    const reason = this.report.recordings.map((r) => r.noAnimation).find((text) => text);
    if (!this.report.recordings.some((recording) => recording.scene)) {
      view.append(h("p", { class: "nothing" }, `There is no animation: ${reason ?? "the recording is empty"}.`));
      return null;
    }
    try {
      return new Stage(this.report, view);
    } catch (error) {
      console.warn(error);
      view.replaceChildren(
        h("p", { class: "nothing" }, "There is no animation: this browser does not offer WebGL. Plots and summary do without."),
      );
      return null;
    }
  }

  private header(): HTMLElement {
    const chips = this.report.recordings.map((recording, i) => {
      const { level, words } = worst(recording);
      const many = this.report.recordings.length > 1;
      const chip = h("a", { class: `chip ${level}`, href: "#summary", title: words });
      if (many) {
        const dot = h("i", { class: "dot" });
        dot.style.background = curveColour(i);
        chip.append(dot, `${recording.label}: `);
      }
      chip.append(words);
      return chip;
    });
    const theme = h("button", { class: "small", title: "Light or dark", "aria-label": "Light or dark" }, "◐");
    theme.addEventListener("click", () => {
      document.documentElement.dataset.theme = isDark() ? "light" : "dark";
      document.dispatchEvent(new CustomEvent("lissom-theme"));
    });
    return h(
      "header",
      { class: "top" },
      h("div", { class: "name" }, h("span", { class: "brand" }, "Lissom"), h("h1", {}, this.report.title)),
      h("nav", {}, h("a", { href: "#motion" }, "Motion"), h("a", { href: "#spectrum" }, "Spectrum"), this.report.analyses.length > 0 && h("a", { href: "#analysis" }, "Analysis"), h("a", { href: "#summary" }, "Summary"), theme),
      h("div", { class: "chips" }, ...chips),
    );
  }

  private transport(): HTMLElement {
    return h(
      "div",
      { class: "transport" },
      h("div", { class: "row" }, this.playButton, this.scrubber, this.clockText, this.speedChoice),
      h(
        "div",
        { class: "row" },
        h("label", { class: "exaggeration" }, "Deformation ", this.factor, this.factorText),
        ...(["ghost", "trace", "colour", "moments", "names"] as const).map((name) => {
          const box = h("input", { type: "checkbox", onchange: () => this.apply(name, box.checked) });
          this.toggles.set(name, box);
          return h("label", { class: "toggle" }, box, name);
        }),
      ),
    );
  }

  /** What stands over the picture: exaggeration, views, the scale of colours. */
  private decorate(view: HTMLElement): void {
    const { stage } = this;
    if (!stage) {
      for (const input of [this.factor, ...this.toggles.values()]) {
        input.disabled = true;
      }
      return;
    }
    const button = (text: string, label: string, act: () => void) =>
      h("button", { class: "small", title: label, "aria-label": label, onclick: act }, text);
    const look = (text: string, label: string, at: View) => button(text, label, () => stage.view(at));
    view.append(
      this.badge,
      h(
        "div",
        { class: "views" },
        look("◱", "View from a corner (0)", "iso"),
        look("x", "View along x (1)", "x"),
        look("y", "View along y (2)", "y"),
        look("z", "View along z (3)", "z"),
        button("Fit", "Fit the motion into the picture (F)", () => stage.fit()),
        button("PNG", "Save the picture", async () => save("view.png", await stage.png(this.time))),
        button("?", "Keys", () => help.showModal()),
      ),
    );
    const help = h(
      "dialog",
      { class: "help", "aria-label": "Keys" },
      h("h2", {}, "Keys"),
      h("dl", { class: "facts" }, ...KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
      h("p", { class: "hint" }, "Drag turns the view, right drag moves it, the wheel zooms."),
      h("button", { class: "primary", onclick: () => help.close() }, "Done"),
    );
    document.body.append(help);
    if (stage.colourKind !== "nothing" && stage.fullLoad > 0) {
      const stress = stage.colourKind === "stress";
      const full = stress ? `${digits(stage.fullLoad / 1e6, 3)} MPa` : `${digits(stage.fullLoad * 1e6, 3)} µm/m`;
      const meaning = stress
        ? "Beams: largest bending stress of the section, for the solid elliptic section that has the EI and EA of the beam; surfaces of meshes: von Mises' stress"
        : "Largest bending strain of the section, curvature times the half axis drawn; the model does not tell a modulus";
      const bar = h("span", { class: "bar" });
      bar.style.background = scaleGradient();
      view.append(
        h("div", { class: "scale", title: meaning }, h("span", {}, stress ? "stress" : "bending strain"), h("span", {}, "0"), bar, h("span", {}, full)),
      );
    }
    const moments = Math.max(...this.report.recordings.map(largestMoment));
    if (stage.hasMoments) {
      const meaning = "Bending moments stand on the side to which the link curves; the largest of the whole motion is as high as this says";
      view.append(h("div", { class: "moment-scale", title: meaning }, `largest bending moment ${digits(moments, 3)} N m`));
    }
    const ghosts = { nominal: "rigid nominal motion", undeformed: "undeformed links, joints as recorded or as near as loops allow" };
    const ghost = this.toggles.get("ghost")!.parentElement!;
    ghost.title = `Ghost: ${ghosts[stage.mechanisms[0]!.recording.scene!.ghost]}`;
    if (this.report.recordings.length > 1) {
      const keys = this.report.recordings.map((recording, i) => {
        const dot = h("i", { class: "dot" });
        dot.style.background = curveColour(i);
        return h("span", {}, dot, recording.label);
      });
      view.append(h("div", { class: "who" }, ...keys));
    }
    const thinned = stage.mechanisms.find(({ recording }) => recording.frames!.time.length < recording.time.length);
    if (thinned) {
      const { frames, time } = thinned.recording;
      const words = `The animation has ${frames!.time.length} of ${time.length} samples, evenly spread; plots have all.`;
      view.parentElement!.append(h("p", { class: "hint thinned" }, words));
    }
    this.toggles.get("ghost")!.checked = stage.ghost;
    this.toggles.get("trace")!.checked = stage.traced;
    this.toggles.get("colour")!.checked = stage.coloured;
    this.toggles.get("colour")!.disabled = stage.colourKind === "nothing" || stage.fullLoad === 0;
    this.toggles.get("moments")!.checked = stage.moments;
    this.toggles.get("moments")!.disabled = !stage.hasMoments;
    this.toggles.get("moments")!.parentElement!.title = stage.hasMoments
      ? "Bending moments over the links"
      : "Bending moments are recorded with output.load_sections";
    this.toggles.get("names")!.checked = stage.showLabels;
  }

  private apply(name: string, on: boolean): void {
    const { stage } = this;
    const box = this.toggles.get(name)!;
    if (!stage || box.disabled) {
      return;
    }
    box.checked = on;
    if (name === "ghost") {
      stage.ghost = on;
    } else if (name === "trace") {
      stage.traced = on;
    } else if (name === "colour") {
      stage.coloured = on;
    } else if (name === "moments") {
      stage.moments = on;
    } else {
      stage.showLabels = on;
    }
    this.moved = true;
  }

  setExaggeration(factor: number): void {
    const rounded = Math.min(1000, Math.max(1, Number(factor.toPrecision(2))));
    this.factor.value = String(Math.log10(rounded));
    this.factorText.textContent = `× ${rounded}`;
    this.badge.textContent = rounded === 1 ? "deformation × 1, true to scale" : `deformation × ${rounded}`;
    this.badge.classList.toggle("exaggerated", rounded !== 1);
    if (this.stage) {
      this.stage.exaggeration = rounded;
    }
    this.moved = true;
  }

  get exaggeration(): number {
    return this.stage?.exaggeration ?? 1;
  }

  seek(t: number): void {
    this.time = Math.min(this.end, Math.max(this.start, t));
    this.moved = true;
  }

  toggle(): void {
    this.playing = !this.playing;
    if (this.playing && this.time >= this.end) {
      this.time = this.start;
    }
    this.moved = true;
  }

  private key(event: KeyboardEvent): void {
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input[type=search], select, dialog, pre")) {
      return;
    }
    const times = this.stage?.mechanisms[0]?.chain.frames.time ?? this.report.recordings[0]!.time;
    const frame = ((this.end - this.start) / Math.max(1, times.length - 1)) * (event.shiftKey ? 10 : 1);
    const actions: Record<string, () => void> = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.seek(this.time - frame),
      ArrowRight: () => this.seek(this.time + frame),
      Home: () => this.seek(this.start),
      End: () => this.seek(this.end),
      "+": () => this.setExaggeration(this.exaggeration * 1.5),
      "=": () => this.setExaggeration(this.exaggeration * 1.5),
      "-": () => this.setExaggeration(this.exaggeration / 1.5),
      g: () => this.flip("ghost"),
      t: () => this.flip("trace"),
      c: () => this.flip("colour"),
      m: () => this.flip("moments"),
      n: () => this.flip("names"),
      f: () => this.stage?.fit(),
      "0": () => this.stage?.view("iso"),
      "1": () => this.stage?.view("x"),
      "2": () => this.stage?.view("y"),
      "3": () => this.stage?.view("z"),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    // a slider in focus keeps its own keys, a button its space bar
    const own = target.matches("input[type=range]") && /^(Arrow|Home|End)/.test(event.key);
    const pressed = target.matches("button, input[type=checkbox], a, summary") && event.key === " ";
    if (action && !own && !pressed) {
      event.preventDefault();
      action();
    }
  }

  private flip(name: string): void {
    this.apply(name, !this.toggles.get(name)!.checked);
  }

  private frame(now: number): void {
    requestAnimationFrame((next) => this.frame(next));
    const began = performance.now();
    if (this.playing) {
      const passed = Math.min(0.1, (now - this.last) / 1000) * this.speed;
      this.time += passed;
      if (this.time >= this.end) {
        this.time = this.start + ((this.time - this.start) % (this.end - this.start));
      }
      this.moved = true;
    }
    this.last = now;
    if (this.moved || this.stage?.stale) {
      this.draw(now, !this.playing);
      if (this.playing) {
        frameCost.push(performance.now() - began);
      }
    }
  }

  draw(now: number, settle: boolean): void {
    this.moved = false;
    this.stage?.draw(this.time);
    this.plots.showTime(this.time, now, settle);
    this.scrubber.value = String(Math.round((100000 * (this.time - this.start)) / (this.end - this.start)));
    const places = this.end - this.start < 20 ? 3 : 2;
    this.clockText.textContent = `${this.time.toFixed(places)} s`;
    const label = this.playing ? "Pause" : "Play";
    if (this.playButton.textContent !== label) {
      this.playButton.textContent = label;
      this.playButton.setAttribute("aria-pressed", String(this.playing));
    }
  }
}

/**
 * For tests and for the console: reads what is on the page. Instants are in seconds, places in metres in the ground
 * frame; `recording` counts from 0.
 */
function hook(page: Page) {
  const mechanism = (recording: number) => page.stage!.mechanisms[recording]!;
  const settle = () => page.draw(performance.now(), true);
  return {
    /** Span of the recordings. */
    span: () => [page.start, page.end],
    time: () => page.time,
    /** Goes to an instant and draws it. */
    seek: (t: number) => {
      page.playing = false;
      page.seek(t);
      settle();
    },
    playing: () => page.playing,
    exaggeration: () => page.exaggeration,
    /** Names of markers and bodies. */
    markers: (recording = 0) => [...mechanism(recording).markers.keys()],
    bodies: (recording = 0) => mechanism(recording).recording.scene!.bodies.map((body) => body.name),
    length: (recording = 0) => mechanism(recording).recording.scene!.length_m,
    /** Where the marker is drawn, read from the scene. */
    marker: (name: string, recording = 0) => {
      const object = mechanism(recording).markers.get(name)!;
      object.updateWorldMatrix(true, false);
      return [12, 13, 14].map((i) => object.matrixWorld.elements[i]!);
    },
    /** Where a joint is drawn, read from the scene. */
    joint: (name: string, recording = 0) => mechanism(recording).jointPlace(name),
    /** Boxes around the shapes of a body, null for the ground. */
    visuals: (body: string | null, recording = 0) => mechanism(recording).visualBoxes(body),
    /** Corners of the surface of a flexible body, and the stress there. */
    surface: (body: string, recording = 0) => {
      const found = mechanism(recording).surfaceOf(body);
      return found && { vertices: [...found.vertices], load: [...found.load] };
    },
    /** Where the drawn tube of a flexible body begins and ends, read from the scene. */
    tubeEnds: (body: string, recording = 0) => mechanism(recording).tubeEnds(body),
    /** Both sides of every joint that holds them together. */
    jointSides: (recording = 0) => mechanism(recording).jointSides(),
    /** Ordinates of the moment diagrams of a body, plane by plane: where they begin and end. */
    ordinates: (body: string, recording = 0) => mechanism(recording).ordinates(body),
    /** Corners of the drawn tube of a flexible body. */
    tube: (body: string, recording = 0) => Array.from(mechanism(recording).tubeVertices(body) ?? []),
    /** Value of a channel in the data of the page. */
    value: (name: string, t: number, recording = 0) => {
      const found = page.report.recordings[recording]!;
      const channel = found.byName.get(name);
      return channel ? valueAt(found, channel, t) : NaN;
    },
    /** Frequencies in Hz and amplitudes of a channel over the shown time. */
    spectrum: (name: string, recording = 0) => {
      const found = page.report.recordings[recording]!;
      return spectrum(found, found.byName.get(name)!, ...page.plots.range);
    },
    /** Instant and value of the point that a plot draws nearest to t. */
    plotted: (name: string, t: number, recording = 0) => page.plots.plotted(name, t, recording),
    /** Magnitude and phase in degrees that are drawn of a response between an input and an output, all counted from 0. */
    bode: (analysis: number, input: number, output: number) => {
      const found = page.report.analyses[analysis];
      return found?.kind === "response" ? bode(found, input, output) : null;
    },
    /** Milliseconds of script of every frame played so far. */
    frameCost: () => frameCost.slice(),
    setRange: (from: number, until: number) => page.plots.setRange(from, until),
    /** Frequencies that are marked in the spectrum, in Hz, once it was seen. */
    marks: () => page.spectra.marked(),
  };
}

declare global {
  interface Window {
    lissom?: ReturnType<typeof hook>;
  }
}

const app = document.getElementById("app")!;
try {
  window.lissom = hook(new Page(readReport(), app));
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
} catch (error) {
  app.append(h("p", { class: "nothing" }, error instanceof Error ? error.message : String(error)));
  throw error;
}
