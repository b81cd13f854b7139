// Bending moments as diagrams over a link: at every section the moment stands on the side to which the link curves.

import * as THREE from "three";
import { rotate } from "./chain";
import { type Channel, type Recording, valueAt } from "./data";
import type { Tube } from "./tube";

/** Height of the largest moment of the whole motion, in lengths of the arm. */
const HEIGHT = 0.16;

/** Axes about which a section is bent, and where a positive moment is drawn in its frame. */
const SIDES = [
  { about: "z", direction: [0, 1, 0] },
  { about: "y", direction: [0, 0, -1] },
] as const;

interface Plane {
  direction: readonly [number, number, number];
  channels: Channel[];
  ribbon: THREE.Mesh;
  outline: THREE.Line;
  positions: Float32Array;
}

/** Channels of the bending moments of a link about an axis, from root to tip. */
function momentsOf(recording: Recording, body: string, about: string): Channel[] {
  const channels: Channel[] = [];
  for (let section = 1; ; section++) {
    const channel = recording.byName.get(`${body}.section_${section}.bending_moment.${about}`);
    if (!channel) {
      return channels;
    }
    channels.push(channel);
  }
}

/** Whether a recording has moments of a link that are worth a diagram. */
function isDrawn(channels: Channel[]): boolean {
  return channels.length > 1 && channels.some(({ samples }) => samples.some((moment) => moment !== 0));
}

/** Largest bending moment of all links over the whole motion, in N m; zero where none is recorded. */
export function largestMoment(recording: Recording): number {
  let largest = 0;
  for (const { name, samples } of recording.channels) {
    if (/\.section_\d+\.bending_moment\.[yz]$/.test(name)) {
      samples.forEach((moment) => (largest = Math.max(largest, Math.abs(moment))));
    }
  }
  return largest;
}

export class Diagram {
  readonly root = new THREE.Group();
  private readonly planes: Plane[] = [];

  constructor(
    private readonly recording: Recording,
    body: string,
    private readonly tube: Tube,
    private readonly metresPerMoment: number,
    material: THREE.Material,
    line: THREE.Material,
  ) {
    for (const { about, direction } of SIDES) {
      const channels = momentsOf(recording, body, about);
      if (!isDrawn(channels)) {
        continue;
      }
      const positions = new Float32Array(6 * channels.length);
      const attribute = new THREE.BufferAttribute(positions, 3);
      const geometry = new THREE.BufferGeometry().setAttribute("position", attribute);
      const quads = Array.from({ length: channels.length - 1 }, (_, i) => [i, i + 1].map((k) => 2 * k));
      geometry.setIndex(quads.flatMap(([a, b]) => [a!, b!, b! + 1, a!, b! + 1, a! + 1]));
      const ribbon = new THREE.Mesh(geometry, material);
      // around the ribbon: out along the ends of the ordinates and back along the link
      const around = new THREE.BufferGeometry().setAttribute("position", attribute);
      const out = channels.map((_, i) => 2 * i + 1);
      around.setIndex([0, ...out, 2 * (channels.length - 1)]);
      const outline = new THREE.Line(around, line);
      ribbon.frustumCulled = outline.frustumCulled = false;
      this.root.add(ribbon, outline);
      this.planes.push({ direction, channels, ribbon, outline, positions });
    }
  }

  get isEmpty(): boolean {
    return this.planes.length === 0;
  }

  /** Metres that a newton metre is drawn by, so that the largest has its height. */
  static scale(recording: Recording, length: number): number {
    const largest = largestMoment(recording);
    return largest > 0 ? (HEIGHT * length) / largest : 0;
  }

  /** Draws the moments of an instant beside the link, which must have been moved there. */
  update(t: number): void {
    const offset = [0, 0, 0];
    for (const { direction, channels, ribbon, positions } of this.planes) {
      channels.forEach((channel, k) => {
        const { centre, q } = this.tube.section(k / (channels.length - 1));
        const moment = valueAt(this.recording, channel, t);
        rotate(q, direction, offset);
        const height = Number.isNaN(moment) ? 0 : moment * this.metresPerMoment;
        for (let j = 0; j < 3; j++) {
          positions[6 * k + j] = centre[j]!;
          positions[6 * k + 3 + j] = centre[j]! + offset[j]! * height;
        }
      });
      ribbon.geometry.getAttribute("position").needsUpdate = true;
    }
  }

  /** Where ordinates begin and end, plane by plane, for tests. */
  ordinates(): { direction: readonly number[]; from: number[][]; to: number[][] }[] {
    return this.planes.map(({ direction, channels, positions }) => ({
      direction,
      from: channels.map((_, k) => Array.from(positions.slice(6 * k, 6 * k + 3))),
      to: channels.map((_, k) => Array.from(positions.slice(6 * k + 3, 6 * k + 6))),
    }));
  }
}
