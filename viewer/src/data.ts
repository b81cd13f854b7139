// The report as the command writes it (crates/lissom-report/src/data.rs), and its numbers as typed arrays.

/** Layout that this page understands. */
const FORMAT = 4;

interface Numbers {
  at: number;
  count: number;
}

type Vec3 = [number, number, number];

/** Rows and columns run from the first number to before the second; entries go by rows, station by station. */
export interface SecondOrder {
  component: number;
  rows: [number, number];
  columns: [number, number];
  entries: number[];
}

export interface FlexiblePoint {
  position: Vec3;
  displacement: Vec3[];
  rotation: Vec3[];
  second_order: SecondOrder[];
}

export interface Centreline {
  positions: Vec3[];
  displacement: Vec3[];
  rotation: Vec3[];
  second_order: SecondOrder[];
  curvature: [number, number][];
  half_axes: [number, number][];
  sections_known: boolean;
  youngs_modulus: number[];
}

/** Triangles that deform; lists over points and coordinates run over the coordinates of one point first. */
export interface DrawnSurface {
  positions: Vec3[];
  triangles: [number, number, number][];
  displacement: Vec3[];
  /** xx, yy, zz, xy, xz, yz in Pa. */
  stress: [number, number, number, number, number, number][];
}

export interface Solid {
  shape: "sphere" | "cylinder" | "box";
  size: Vec3;
  position: Vec3;
  quaternion: [number, number, number, number];
  payload?: string;
}

export interface DrawnBody {
  name: string;
  kind: "rigid" | "beam" | "nodal" | "payload" | "cross";
  parent: number | null;
  coordinates: number;
  line?: Centreline;
  surface?: DrawnSurface;
  solids: Solid[];
  struts: [Vec3, Vec3][];
  plate: Vec3[];
}

/** A shape that a rigid body or the ground (null) is drawn by; cylinders stand along z. */
export type Visual = {
  body: number | null;
  position: Vec3;
  rotation_vector: Vec3;
} & (
  | { shape: "mesh"; positions: Float32Array; triangles: Uint32Array; scale: Vec3 }
  | { shape: "box"; edges: Vec3 }
  | { shape: "cylinder"; diameter: number; length: number }
  | { shape: "sphere"; diameter: number }
);

export interface Side {
  body: number | null;
  point: FlexiblePoint;
}

export interface DrawnJoint {
  name: string;
  kind: string;
  closes_loop: boolean;
  parent: Side;
  child: Side;
  axis?: Vec3;
}

export interface SceneData {
  length_m: number;
  bodies: DrawnBody[];
  joints: DrawnJoint[];
  markers: { name: string; side: Side }[];
  colour: "stress" | "strain" | "nothing";
  ghost: "nominal" | "undeformed";
}

export interface Frames {
  time: Float64Array;
  poses: Float32Array;
  elastic: Float32Array;
  /** Poses of the rigid configuration from which deformation is exaggerated. */
  rigid: Float32Array;
  ghost: Float32Array;
}

export interface Channel {
  name: string;
  unit: string;
  group: string;
  /** One sample per instant; a channel that does not change has one for all. */
  samples: Float32Array;
  constant: boolean;
}

export interface Verdict {
  level: "good" | "note" | "caution" | "bad";
  subject: string;
  words: string;
}

export interface BodyEntry {
  name: string;
  kind: string;
  mass_kg: number;
  joint: { name: string; kind: string; parent: string; at: string | null; degrees_of_freedom: number };
  elastic_coordinates: string[];
  frequencies_rad_per_s: number[];
  payloads: { name: string; mass_kg: number }[];
  markers: string[];
  depth: number;
}

/** What `lissom check --json` says; keys may be added. */
export interface ModelSummary {
  bodies?: BodyEntry[];
  degrees_of_freedom?: Record<string, number>;
  total_mass_kg?: number;
  center_of_mass_m?: number[];
  gravity_m_per_s2?: number[];
  inputs?: { target: string; profile: string }[];
  motions?: { target: string; profile: string }[];
  integrator?: string;
  duration_s?: number;
  sample_period_s?: number;
  warnings?: string[];
}

/** Channels over time: a recording, or a table of measured data. */
export interface Series {
  label: string;
  time: Float64Array;
  channels: Channel[];
  byName: Map<string, Channel>;
}

type Known = number | null;

/** Numbers by frequency, output and input. */
export interface ResponseAnalysis {
  kind: "response";
  label: string;
  frequency_rad_per_s: number[];
  input_names: string[];
  input_units: string[];
  output_names: string[];
  output_units: string[];
  real: Known[][][];
  imaginary: Known[][][];
  pole_real: Known[];
  pole_imaginary: Known[];
}

export interface ModesAnalysis {
  kind: "modes";
  label: string;
  time_s: number[];
  modes: { eigenvalues: ([number, number][] | null)[] }[];
}

/** The first coordinate changes fastest. */
export interface MapAnalysis {
  kind: "map";
  label: string;
  axes: [[string, string], [string, string]];
  values: [number[], number[]];
  layers: { name: string; unit: string; values: Known[] }[];
}

export type Analysis = ResponseAnalysis | ModesAnalysis | MapAnalysis;

export interface Recording extends Series {
  model: string;
  scene: SceneData | null;
  visuals: Visual[];
  frames: Frames | null;
  noAnimation: string | null;
  /** Why natural frequencies along the motion are not known. */
  noFrequencies: string | null;
  verdicts: Verdict[];
  model_summary: ModelSummary;
  summary: Record<string, any>;
  fidelity: Record<string, unknown>;
  options: Record<string, unknown>;
  modelText: string;
  modelFile: string | null;
  madeBy: string;
}

export interface Report {
  title: string;
  version: string;
  groups: { key: string; title: string }[];
  panels: string[][];
  /** Further channels of the kinds that the panels begin with. */
  leftOut: string[];
  recordings: Recording[];
  /** Drawn as points over the curves. */
  measured: Series[];
  analyses: Analysis[];
}

function decode(text: string): ArrayBuffer {
  const direct = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (direct) {
    return direct.call(Uint8Array, text).buffer as ArrayBuffer;
  }
  const bytes = new Uint8Array((text.length / 4) * 3);
  let length = 0;
  // a whole number of groups at a time, so that no long string has to be made
  const step = 1 << 20;
  for (let at = 0; at < text.length; at += step) {
    const part = atob(text.slice(at, at + step));
    for (let i = 0; i < part.length; i++) {
      bytes[length++] = part.charCodeAt(i);
    }
  }
  return bytes.buffer;
}

/** Reads the report that this page carries. Throws, with words for a person, if there is none. */
export function readReport(): Report {
  const text = (id: string) => document.getElementById(id)?.textContent ?? "";
  const json = text("lissom-json");
  if (!json.startsWith("{")) {
    throw new Error("This is the empty page. `lissom report RECORDING` writes one with a recording in it.");
  }
  const report = JSON.parse(json);
  if (report.format !== FORMAT) {
    throw new Error(`This page reads reports of format ${FORMAT}; this one has format ${report.format}.`);
  }
  const numbers = document.getElementById("lissom-numbers");
  const buffer = decode(numbers?.textContent ?? "");
  // the text is as large as all data; nobody needs it any more
  numbers?.remove();
  const doubles = (n: Numbers) => new Float64Array(buffer, n.at, n.count);
  const singles = (n: Numbers) => new Float32Array(buffer, n.at, n.count);
  const indices = (n: Numbers) => new Uint32Array(buffer, n.at, n.count);
  const series = (raw: any): Series => {
    const channels = raw.channels.map((channel: any): Channel => ({
      name: channel.name,
      unit: channel.unit,
      group: channel.group,
      samples: channel.samples ? singles(channel.samples) : Float32Array.of(channel.constant ?? NaN),
      constant: !channel.samples,
    }));
    const byName = new Map(channels.map((channel: Channel) => [channel.name, channel])) as Map<string, Channel>;
    return { label: raw.label, time: doubles(raw.time), channels, byName };
  };
  const recordings = report.recordings.map((raw: any): Recording => {
    const animation = raw.animation;
    return {
      ...series(raw),
      model: raw.model,
      scene: raw.scene,
      visuals: raw.visuals.map((visual: any) =>
        visual.shape === "mesh"
          ? { ...visual, positions: singles(visual.positions), triangles: indices(visual.triangles) }
          : visual,
      ),
      frames: animation && {
        time: doubles(animation.time),
        poses: singles(animation.poses),
        elastic: singles(animation.elastic),
        rigid: singles(animation.rigid),
        ghost: singles(animation.ghost ?? animation.rigid),
      },
      noAnimation: raw.no_animation,
      noFrequencies: raw.no_frequencies,
      verdicts: raw.verdicts,
      model_summary: raw.model_summary ?? {},
      summary: raw.summary ?? {},
      fidelity: raw.fidelity ?? {},
      options: raw.options ?? {},
      modelText: raw.model_text,
      modelFile: raw.model_file,
      madeBy: raw.made_by,
    };
  });
  return {
    title: report.title,
    version: report.lissom_version,
    groups: report.groups,
    panels: report.panels,
    leftOut: report.left_out,
    recordings,
    measured: report.measured.map(series),
    analyses: report.analyses,
  };
}

/** Index of the last instant that is not after t, at least 0 and at most count - 2; instants are sorted. */
export function intervalOf(time: Float64Array, t: number): number {
  let low = 0;
  let high = time.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (time[middle]! <= t) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/** Value of a channel at an instant, linear between samples; NaN outside. */
export function valueAt(recording: Series, channel: Channel, t: number): number {
  const { time } = recording;
  const last = time.length - 1;
  if (last < 0 || t < time[0]! || t > time[last]!) {
    return NaN;
  }
  if (channel.constant) {
    return channel.samples[0]!;
  }
  if (last === 0) {
    return channel.samples[0]!;
  }
  const i = intervalOf(time, t);
  const part = (t - time[i]!) / (time[i + 1]! - time[i]!);
  const [a, b] = [channel.samples[i]!, channel.samples[i + 1]!];
  return part >= 1 ? b : a + (b - a) * part;
}
