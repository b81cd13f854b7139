// Where the bodies of one recording are at an instant, with deformation exaggerated. The formulas are those of
// crates/lissom-engine/src/scene/mod.rs; everything that is mechanics has been computed there.

import { type FlexiblePoint, type Frames, type SceneData, type Side, intervalOf } from "./data";

/** A pose: position and unit quaternion (w, x, y, z). */
export interface Pose {
  p: [number, number, number];
  q: [number, number, number, number];
}

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

function times(a: Pose, b: Pose): Pose {
  const result = identity();
  rotate(a.q, b.p, result.p);
  for (let i = 0; i < 3; i++) {
    result.p[i]! += a.p[i]!;
  }
  const [w, x, y, z] = a.q;
  const [s, t, u, v] = b.q;
  result.q = [
    w * s - x * t - y * u - z * v,
    w * t + x * s + y * v - z * u,
    w * u - x * v + y * s + z * t,
    w * v + x * u - y * t + z * s,
  ];
  return result;
}

function inverse(a: Pose): Pose {
  const q: Pose["q"] = [a.q[0], -a.q[1], -a.q[2], -a.q[3]];
  const p: [number, number, number] = [0, 0, 0];
  rotate(q, a.p, p);
  return { p: [-p[0], -p[1], -p[2]], q };
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

/** Pose of a point of a deformed body in the body's frame. */
export function pointPose(point: FlexiblePoint, eta: Float64Array, first: number, s: number): Pose {
  const n = point.displacement.length;
  const pose = identity();
  if (n === 0) {
    pose.p = [...point.position];
    return pose;
  }
  const u = [0, 0, 0];
  const turn = [0, 0, 0];
  for (let a = 0; a < n; a++) {
    const x = eta[first + a]!;
    const [psi, theta] = [point.displacement[a]!, point.rotation[a]!];
    for (let i = 0; i < 3; i++) {
      u[i]! += psi[i]! * x;
      turn[i]! += theta[i]! * x;
    }
  }
  u[0]! -= shortening(point.shortening, 0, n, eta, first);
  for (let i = 0; i < 3; i++) {
    pose.p[i] = point.position[i]! + s * u[i]!;
  }
  pose.q = exponential(s * turn[0]!, s * turn[1]!, s * turn[2]!);
  return pose;
}

/** Half the quadratic form of the elastic coordinates with the n by n matrix at an offset. */
export function shortening(S: ArrayLike<number>, at: number, n: number, eta: Float64Array, first: number): number {
  if (S.length === 0) {
    return 0;
  }
  let sum = 0;
  for (let a = 0; a < n; a++) {
    const x = eta[first + a]!;
    if (x === 0) {
      continue;
    }
    let row = 0;
    for (let b = 0; b < n; b++) {
      row += S[at + a * n + b]! * eta[first + b]!;
    }
    sum += x * row;
  }
  return 0.5 * sum;
}

/** The bodies of one recording at one instant. */
export class Chain {
  /** Poses of the bodies, as drawn. */
  readonly poses: Pose[];
  /** Poses of the ghost's bodies. */
  readonly ghost: Pose[];
  /** Elastic coordinates of all bodies. */
  readonly eta: Float64Array;
  /** First elastic coordinate of every body. */
  readonly first: number[] = [];
  /** Exaggeration of the deformation. */
  exaggeration = 1;
  private readonly recorded: Pose[];

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
    this.recorded = scene.bodies.map(identity);
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
    this.interpolate(this.frames.poses, i, part, this.recorded);
    this.interpolate(this.frames.ghost, i, part, this.ghost);
    this.exaggerate();
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
      // both signs of a quaternion are one attitude: take the nearer
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

  /** T_k(s) = T_p(s) N_s N_1⁻¹ T_p⁻¹ T_k I_1 I_s⁻¹ */
  private exaggerate(): void {
    const s = this.exaggeration;
    this.scene.bodies.forEach((body, k) => {
      const recorded = this.recorded[k]!;
      let pose = recorded;
      if (s !== 1) {
        if (body.parent !== null) {
          const { eta, first } = this;
          const parent = body.parent;
          const before = first[parent]!;
          const change = times(
            pointPose(body.carried_by, eta, before, s),
            inverse(pointPose(body.carried_by, eta, before, 1)),
          );
          const relative = times(inverse(this.recorded[parent]!), recorded);
          pose = times(times(this.poses[parent]!, change), relative);
        }
        if (body.held_at.displacement.length > 0) {
          const own = this.first[k]!;
          const frame = times(
            pointPose(body.held_at, this.eta, own, 1),
            inverse(pointPose(body.held_at, this.eta, own, s)),
          );
          pose = times(pose, frame);
        }
      }
      const out = this.poses[k]!;
      for (let j = 0; j < 3; j++) {
        out.p[j] = pose.p[j]!;
      }
      for (let j = 0; j < 4; j++) {
        out.q[j] = pose.q[j]!;
      }
    });
  }

  /** A point in the ground frame. */
  place(side: Side): Pose {
    if (side.body === null) {
      return { p: [...side.point.position], q: [1, 0, 0, 0] };
    }
    const inBody = pointPose(side.point, this.eta, this.first[side.body]!, this.exaggeration);
    return times(this.poses[side.body]!, inBody);
  }
}
