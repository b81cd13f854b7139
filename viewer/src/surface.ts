// A flexible body as the surface of its mesh, deformed, in the ground frame.

import * as THREE from "three";
import type { Chain } from "./chain";
import { scaleColour } from "./colours";
import type { DrawnSurface } from "./data";

export class Surface {
  readonly mesh: THREE.Mesh;
  /** Von Mises' stress in Pa at every point. */
  readonly load: Float64Array;
  private readonly n: number;
  private readonly positions: Float32Array;
  private readonly colours: Float32Array;
  private readonly displacement: Float64Array;
  private readonly stress: Float64Array;

  constructor(
    private readonly surface: DrawnSurface,
    material: THREE.Material,
    /** Colour where others show loads and this body has none. */
    private readonly plain: THREE.Color,
  ) {
    const count = surface.positions.length;
    this.n = surface.displacement.length / Math.max(count, 1);
    this.load = new Float64Array(count);
    this.displacement = Float64Array.from(surface.displacement.flat());
    this.stress = Float64Array.from(surface.stress.flat());
    this.positions = new Float32Array(3 * count);
    this.colours = new Float32Array(3 * count).fill(1);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.positions, 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(this.colours, 3));
    geometry.setIndex(surface.triangles.flat());
    this.mesh = new THREE.Mesh(geometry, material);
    // it moves; a sphere around where it was would hide it
    this.mesh.frustumCulled = false;
  }

  /** Stress at every point for elastic coordinates. */
  computeLoad(eta: Float64Array, first: number): void {
    if (this.stress.length === 0) {
      return;
    }
    const s = [0, 0, 0, 0, 0, 0];
    for (let i = 0; i < this.load.length; i++) {
      s.fill(0);
      for (let a = 0; a < this.n; a++) {
        const x = eta[first + a]!;
        const at = 6 * (i * this.n + a);
        for (let j = 0; j < 6; j++) {
          s[j]! += this.stress[at + j]! * x;
        }
      }
      this.load[i] = vonMises(s);
    }
  }

  /** Deforms the surface; colours it by share of `full`, or leaves it plain. */
  update(chain: Chain, body: number, full: number | null): void {
    const { eta } = chain;
    const first = chain.first[body]!;
    const coloured = full !== null && this.stress.length > 0;
    if (coloured) {
      this.computeLoad(eta, first);
    }
    const [u, place] = [[0, 0, 0], [0, 0, 0]];
    for (let i = 0; i < this.load.length; i++) {
      u.fill(0);
      for (let a = 0; a < this.n; a++) {
        const x = eta[first + a]!;
        const at = 3 * (i * this.n + a);
        for (let j = 0; j < 3; j++) {
          u[j]! += this.displacement[at + j]! * x;
        }
      }
      chain.displaced(body, this.surface.positions[i]!, u, place);
      this.positions.set(place, 3 * i);
      if (coloured) {
        scaleColour(this.load[i]! / full, this.colours, 3 * i);
      }
    }
    if (!coloured) {
      const own = full === null ? [1, 1, 1] : this.plain.toArray();
      for (let i = 0; i < this.colours.length; i++) {
        this.colours[i] = own[i % 3]!;
      }
    }
    const { geometry } = this.mesh;
    for (const name of ["position", "color"]) {
      (geometry.getAttribute(name) as THREE.BufferAttribute).needsUpdate = true;
    }
  }
}

/** Of xx, yy, zz, xy, xz, yz. */
export function vonMises(s: readonly number[]): number {
  const [xx, yy, zz, xy, xz, yz] = s as [number, number, number, number, number, number];
  const deviation = (xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2;
  return Math.sqrt(0.5 * deviation + 3 * (xy * xy + xz * xz + yz * yz));
}
