// Where points of the bodies of one recording are at an instant, with deformation exaggerated: from where they are in
// the rigid configuration to where they were, times the factor. The formulas are those of
// crates/lissom-engine/src/scene/mod.rs; everything that is mechanics has been computed there.

import { type Frames, type SceneData, type SecondOrder, type Side, intervalOf } from "./data";

/** A pose: position and unit quaternion (w, x, y, z). */
export interface Pose {
  p: [number, number, number];
  q: [number, number, number, number];
}

const ZERO = [0, 0, 0] as const;

export const identity = (): Pose => ({ p: [0, 0, 0], q: [1, 0, 0, 0] });

export function rotate(q: Pose["q"], v: readonly number[], out: number[]): void {
  const [w, x, y, z] = q;
  const [a, b, c] = v as [number, number, number];
  const tx = 2 * (y * c - z * b);
  const ty = 2 * (z * a - x * c);
  const tz = 2 * (x * b - y * a);
  out[0] = a + w * tx + y * tz - z * ty;
  out[1] = b + w * ty + z * tx - x * tz;
  out[2] = c + w * tz + x * ty - y * tx;
}

function product(a: Pose["q"], b: Pose["q"]): Pose["q"] {
  const [w, x, y, z] = a;
  const [s, t, u, v] = b;
  return [
    w * s - x * t - y * u - z * v,
    w * t + x * s + y * v - z * u,
    w * u - x * v + y * s + z * t,
    w * v + x * u - y * t + z * s,
  ];
}

/** Quaternion of a rotation vector. */
export function exponential(x: number, y: number, z: number): Pose["q"] {
  const angle = Math.hypot(x, y, z);
  if (angle < 1e-12) {
    return [1, 0.5 * x, 0.5 * y, 0.5 * z];
  }
  const s = Math.sin(0.5 * angle) / angle;
  return [Math.cos(0.5 * angle), s * x, s * y, s * z];
}

/** Rotation vector of a quaternion, by the shorter way round. */
function logarithm(q: Pose["q"]): [number, number, number] {
  const sign = q[0] < 0 ? -1 : 1;
  const sine = Math.hypot(q[1], q[2], q[3]);
  const factor = sine < 1e-12 ? 2 * sign : (2 * sign * Math.atan2(sine, sign * q[0])) / sine;
  return [factor * q[1], factor * q[2], factor * q[3]];
}

/** Adds the second-order terms of a station to a displacement and a rotation vector. */
export function addSecondOrder(
  parts: SecondOrder[],
  station: number,
  eta: Float64Array,
  first: number,
  u: number[],
  turn: number[],
): void {
  for (const { component, rows, columns, entries } of parts) {
    const width = columns[1] - columns[0];
    let at = station * (rows[1] - rows[0]) * width;
    let sum = 0;
    for (let a = rows[0]; a < rows[1]; a++) {
      let row = 0;
      for (let b = columns[0]; b < columns[1]; b++) {
        row += entries[at++]! * eta[first + b]!;
      }
      sum += row * eta[first + a]!;
    }
    // entries aside from the diagonal stand for their mirror image too
    const share = rows[0] === columns[0] ? 0.5 * sum : sum;
    if (component < 3) {
      u[component]! += share;
    } else {
      turn[component - 3]! += share;
    }
  }
}

/** The bodies of one recording at one instant. */
export class Chain {
  /** Poses of the bodies as they were, and in the rigid configuration. */
  private readonly poses: Pose[];
  private readonly rigid: Pose[];
  /** Poses of the ghost's bodies. */
  readonly ghost: Pose[];
  /** Elastic coordinates of all bodies. */
  readonly eta: Float64Array;
  /** First elastic coordinate of every body. */
  readonly first: number[] = [];
  /** Exaggeration of the deformation. */
  exaggeration = 1;

  constructor(
    readonly scene: SceneData,
    readonly frames: Frames,
  ) {
    let count = 0;
    for (const body of scene.bodies) {
      this.first.push(count);
      count += body.coordinates;
    }
    this.eta = new Float64Array(count);
    this.poses = scene.bodies.map(identity);
    this.rigid = scene.bodies.map(identity);
    this.ghost = scene.bodies.map(identity);
  }

  get start(): number {
    return this.frames.time[0]!;
  }

  get end(): number {
    return this.frames.time[this.frames.time.length - 1]!;
  }

  /** Goes to an instant; before the first and after the last frame the bodies rest. */
  goTo(t: number): void {
    const { time, elastic } = this.frames;
    const i = intervalOf(time, t);
    const part = Math.min(1, Math.max(0, (t - time[i]!) / (time[i + 1]! - time[i]!)));
    const n = this.eta.length;
    for (let a = 0; a < n; a++) {
      const [x, y] = [elastic[i * n + a]!, elastic[(i + 1) * n + a]!];
      this.eta[a] = x + (y - x) * part;
    }
    this.interpolate(this.frames.poses, i, part, this.poses);
    this.interpolate(this.frames.rigid, i, part, this.rigid);
    this.interpolate(this.frames.ghost, i, part, this.ghost);
  }

  private interpolate(poses: Float32Array, i: number, part: number, out: Pose[]): void {
    const count = out.length;
    for (let k = 0; k < count; k++) {
      const a = 7 * (i * count + k);
      const b = a + 7 * count;
      const { p, q } = out[k]!;
      for (let j = 0; j < 3; j++) {
        p[j] = poses[a + j]! + (poses[b + j]! - poses[a + j]!) * part;
      }
      // both signs of a quaternion are one orientation: take the nearer
      let dot = 0;
      for (let j = 3; j < 7; j++) {
        dot += poses[a + j]! * poses[b + j]!;
      }
      const sign = dot < 0 ? -1 : 1;
      let length = 0;
      for (let j = 0; j < 4; j++) {
        q[j] = poses[a + 3 + j]! * (1 - part) + sign * poses[b + 3 + j]! * part;
        length += q[j]! * q[j]!;
      }
      length = Math.sqrt(length);
      for (let j = 0; j < 4; j++) {
        q[j]! /= length;
      }
    }
  }

  /** A point that is at `position` in the undeformed body, displaced by `u` and turned by `turn` in the body's frame. */
  exaggerated(body: number, position: readonly number[], u: readonly number[], turn: readonly number[]): Pose {
    const s = this.exaggeration;
    const [was, rigid] = [this.poses[body]!, this.rigid[body]!];
    const pose = identity();
    const [from, to] = [[0, 0, 0], [0, 0, 0]];
    rotate(rigid.q, position, from);
    rotate(was.q, [position[0]! + u[0]!, position[1]! + u[1]!, position[2]! + u[2]!], to);
    for (let i = 0; i < 3; i++) {
      const start = rigid.p[i]! + from[i]!;
      pose.p[i] = start + s * (was.p[i]! + to[i]! - start);
    }
    const turned = product(was.q, exponential(turn[0]!, turn[1]!, turn[2]!));
    const back: Pose["q"] = [rigid.q[0], -rigid.q[1], -rigid.q[2], -rigid.q[3]];
    const [x, y, z] = logarithm(product(turned, back));
    pose.q = product(exponential(s * x, s * y, s * z), rigid.q);
    return pose;
  }

  /** Where a point is drawn that is at `position` in the undeformed body and displaced by `u` in the body's frame. */
  displaced(body: number, position: readonly number[], u: readonly number[], out: number[]): void {
    const s = this.exaggeration;
    const [was, rigid] = [this.poses[body]!, this.rigid[body]!];
    rotate(was.q, [position[0]! + u[0]!, position[1]! + u[1]!, position[2]! + u[2]!], out);
    const [x, y, z] = [was.p[0] + out[0]!, was.p[1] + out[1]!, was.p[2] + out[2]!];
    rotate(rigid.q, position, out);
    const to = [x, y, z];
    for (let i = 0; i < 3; i++) {
      const start = rigid.p[i]! + out[i]!;
      out[i] = start + s * (to[i]! - start);
    }
  }

  /** A point that no coordinate of its body moves. */
  fixed(body: number, position: readonly number[]): Pose {
    return this.exaggerated(body, position, ZERO, ZERO);
  }

  /** A point in the ground frame. */
  place({ body, point }: Side): Pose {
    if (body === null) {
      return { p: [...point.position], q: [1, 0, 0, 0] };
    }
    const first = this.first[body]!;
    const [u, turn] = [[0, 0, 0], [0, 0, 0]];
    for (let a = 0; a < point.displacement.length; a++) {
      const x = this.eta[first + a]!;
      const [psi, theta] = [point.displacement[a]!, point.rotation[a]!];
      for (let i = 0; i < 3; i++) {
        u[i]! += psi[i]! * x;
        turn[i]! += theta[i]! * x;
      }
    }
    addSecondOrder(point.second_order, 0, this.eta, first, u, turn);
    return this.exaggerated(body, point.position, u, turn);
  }
}
