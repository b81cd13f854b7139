// A flexible body as a tube around its deformed centreline, in the ground frame.

import * as THREE from "three";
import { type Chain, type Pose, addSecondOrder, rotate } from "./chain";
import type { Centreline } from "./data";
import { scaleColour } from "./colours";

/** Corners of a section. */
const CORNERS = 20;

export class Tube {
  readonly mesh: THREE.Mesh;
  /** Stress in Pa or strain at every station. */
  readonly load: Float64Array;
  private readonly stations: number;
  private readonly n: number;
  private readonly positions: Float32Array;
  private readonly normals: Float32Array;
  private readonly colours: Float32Array;
  private readonly displacement: Float64Array;
  private readonly rotation: Float64Array;
  private readonly curvature: Float64Array;
  private readonly axes: [number, number][];
  /** Where the stations are, how they are turned, and how far along the straight line they stand, from 0 to 1. */
  private readonly centres: [number, number, number][];
  private readonly turns: Pose["q"][];
  private readonly along: number[];

  constructor(
    private readonly line: Centreline,
    n: number,
    thinnest: number,
    material: THREE.Material,
  ) {
    this.stations = line.positions.length;
    this.n = n;
    this.load = new Float64Array(this.stations);
    this.displacement = Float64Array.from(line.displacement.flat());
    this.rotation = Float64Array.from(line.rotation.flat());
    this.curvature = Float64Array.from(line.curvature.flat());
    this.axes = line.positions.map((_, i) => {
      const [a, b] = line.half_axes[i] ?? [0, 0];
      return [Math.max(a, thinnest), Math.max(b, thinnest)];
    });
    this.centres = line.positions.map((position) => [...position]);
    this.turns = line.positions.map(() => [1, 0, 0, 0]);
    const steps = line.positions.map((to, i) => {
      const from = line.positions[Math.max(i - 1, 0)]!;
      return Math.hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
    });
    let sum = 0;
    const lengths = steps.map((step) => (sum += step));
    this.along = lengths.map((length) => (sum > 0 ? length / sum : 0));
    const count = this.stations * CORNERS + 2;
    this.positions = new Float32Array(3 * count);
    this.normals = new Float32Array(3 * count);
    this.colours = new Float32Array(3 * count).fill(1);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.positions, 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(this.normals, 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(this.colours, 3));
    geometry.setIndex(this.triangles());
    this.mesh = new THREE.Mesh(geometry, material);
    // it moves; a sphere around where it was would hide it
    this.mesh.frustumCulled = false;
  }

  private triangles(): number[] {
    const index: number[] = [];
    const [root, tip] = [this.stations * CORNERS, this.stations * CORNERS + 1];
    for (let c = 0; c < CORNERS; c++) {
      const next = (c + 1) % CORNERS;
      for (let i = 0; i + 1 < this.stations; i++) {
        const [a, b] = [i * CORNERS, (i + 1) * CORNERS];
        index.push(a + c, b + c, b + next, a + c, b + next, a + next);
      }
      const last = (this.stations - 1) * CORNERS;
      index.push(root, c, next, tip, last + next, last + c);
    }
    return index;
  }

  /** Stress or strain of every station for elastic coordinates. */
  computeLoad(eta: Float64Array, first: number): void {
    if (this.curvature.length === 0) {
      return;
    }
    for (let i = 0; i < this.stations; i++) {
      let [y, z] = [0, 0];
      for (let a = 0; a < this.n; a++) {
        const at = 2 * (i * this.n + a);
        y += this.curvature[at]! * eta[first + a]!;
        z += this.curvature[at + 1]! * eta[first + a]!;
      }
      const [ay, az] = this.line.half_axes[i] ?? [0, 0];
      this.load[i] = Math.hypot(y * ay, z * az) * (this.line.youngs_modulus[i] ?? 1);
    }
  }

  /** Bends the tube; colours it by share of `full`, or leaves it plain. */
  update(chain: Chain, body: number, full: number | null): void {
    const { eta } = chain;
    const first = chain.first[body]!;
    const coloured = full !== null && this.curvature.length > 0;
    if (coloured) {
      this.computeLoad(eta, first);
    }
    const colour = [1, 1, 1];
    const offset = [0, 0, 0];
    const normal = [0, 0, 0];
    for (let i = 0; i < this.stations; i++) {
      const u = [0, 0, 0];
      const turn = [0, 0, 0];
      for (let a = 0; a < this.n; a++) {
        const x = eta[first + a]!;
        const at = 3 * (i * this.n + a);
        for (let j = 0; j < 3; j++) {
          u[j]! += this.displacement[at + j]! * x;
          turn[j]! += this.rotation[at + j]! * x;
        }
      }
      addSecondOrder(this.line.second_order, i, eta, first, u, turn);
      const { p: centre, q } = chain.exaggerated(body, this.line.positions[i]!, u, turn);
      [this.centres[i], this.turns[i]] = [centre, q];
      const [ay, az] = this.axes[i]!;
      if (coloured) {
        scaleColour(this.load[i]! / full, colour, 0);
      }
      for (let c = 0; c < CORNERS; c++) {
        const angle = (2 * Math.PI * c) / CORNERS;
        const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
        rotate(q, [0, ay * cos, az * sin], offset);
        const length = Math.hypot(az * cos, ay * sin);
        rotate(q, [0, (az * cos) / length, (ay * sin) / length], normal);
        const at = 3 * (i * CORNERS + c);
        for (let j = 0; j < 3; j++) {
          this.positions[at + j] = centre[j]! + offset[j]!;
          this.normals[at + j] = normal[j]!;
          this.colours[at + j] = colour[j]!;
        }
      }
      const cap = i === 0 ? 0 : i === this.stations - 1 ? 1 : -1;
      if (cap >= 0) {
        rotate(q, [cap === 0 ? -1 : 1, 0, 0], normal);
        const at = 3 * (this.stations * CORNERS + cap);
        for (let j = 0; j < 3; j++) {
          this.positions[at + j] = centre[j]!;
          this.normals[at + j] = normal[j]!;
          this.colours[at + j] = colour[j]!;
        }
      }
    }
    for (const name of ["position", "normal", "color"]) {
      (this.mesh.geometry.getAttribute(name) as THREE.BufferAttribute).needsUpdate = true;
    }
  }

  /** Where the section at a share of the length is drawn, and how it is turned. */
  section(share: number): { centre: number[]; q: Pose["q"] } {
    let next = this.along.findIndex((along) => along >= share);
    next = next < 0 ? this.stations - 1 : next;
    const before = Math.max(next - 1, 0);
    const gap = this.along[next]! - this.along[before]!;
    const part = gap > 0 ? (share - this.along[before]!) / gap : 0;
    const [a, b] = [this.centres[before]!, this.centres[next]!];
    const centre = a.map((x, j) => x + (b[j]! - x) * part);
    return { centre, q: this.turns[part > 0.5 ? next : before]! };
  }

  /** Centres of the sections at the root and at the tip. */
  ends(): [number[], number[]] {
    const at = 3 * this.stations * CORNERS;
    return [Array.from(this.positions.slice(at, at + 3)), Array.from(this.positions.slice(at + 3, at + 6))];
  }
}
