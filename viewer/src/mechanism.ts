// One recording as things of the 3-D scene: links, joints, supports, payloads, markers, ghost and trace.

import * as THREE from "three";
import { Chain, type Pose } from "./chain";
import type { DrawnBody, DrawnJoint, Recording, Side, Solid, Visual } from "./data";
import { Diagram } from "./diagram";
import { Surface } from "./surface";
import { Tube } from "./tube";
import { visualMesh } from "./visual";

/** Frames that the trace and the colour scale are sampled at, at most. */
const SAMPLED_FRAMES = 1500;

/** Thicknesses in lengths of the arm, so that everything can be seen. */
const THINNEST_LINK = 0.0075;
const STRUT = 0.005;
const JOINT = 0.0125;
const MARKER = 0.0085;

/** Kinds of joints whose sides move along each other. */
const SLIDING = ["prismatic", "point_on_line", "on_beam", "along_beam"];
/** Kinds whose sides need not be in one place. */
const APART = [...SLIDING, "distance", "free"];

export interface Look {
  /** Colour of links that show no load. */
  plain: THREE.Color;
  link: THREE.MeshStandardMaterial;
  surface: THREE.MeshStandardMaterial;
  rigid: THREE.MeshStandardMaterial;
  visual: THREE.MeshStandardMaterial;
  plate: THREE.MeshStandardMaterial;
  payload: THREE.MeshStandardMaterial;
  joint: THREE.MeshStandardMaterial;
  loop: THREE.MeshStandardMaterial;
  support: THREE.MeshStandardMaterial;
  ghost: THREE.MeshBasicMaterial;
  marker: THREE.MeshStandardMaterial;
  trace: THREE.LineBasicMaterial;
  traceAhead: THREE.LineBasicMaterial;
  diagram: THREE.MeshBasicMaterial;
  diagramLine: THREE.LineBasicMaterial;
}

function setPose(object: THREE.Object3D, pose: Pose): void {
  object.position.set(pose.p[0], pose.p[1], pose.p[2]);
  object.quaternion.set(pose.q[1], pose.q[2], pose.q[3], pose.q[0]);
}

function vector(v: readonly number[]): THREE.Vector3 {
  return new THREE.Vector3(v[0], v[1], v[2]);
}

/** A bar between two points that move. */
class Rod {
  readonly root = new THREE.Group();
  private readonly shaft: THREE.Mesh;
  private readonly ends: THREE.Mesh[];

  constructor(radius: number, material: THREE.Material) {
    this.shaft = new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, 1, 14), material);
    this.ends = [0, 1].map(() => new THREE.Mesh(new THREE.SphereGeometry(radius, 14, 10), material));
    this.root.add(this.shaft, ...this.ends);
  }

  update(from: THREE.Vector3, to: THREE.Vector3): void {
    const along = to.clone().sub(from);
    const length = along.length();
    this.shaft.position.copy(from).addScaledVector(along, 0.5);
    this.shaft.scale.set(1, length, 1);
    if (length > 0) {
      this.shaft.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.divideScalar(length));
    }
    this.ends[0]!.position.copy(from);
    this.ends[1]!.position.copy(to);
  }
}

/** A plane polygon between points that move. */
class Plate {
  readonly mesh: THREE.Mesh;
  private readonly positions: Float32Array;

  constructor(corners: number, material: THREE.Material) {
    this.positions = new Float32Array(3 * corners);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.positions, 3));
    const fan = Array.from({ length: corners - 2 }, (_, i) => [0, i + 1, i + 2]);
    geometry.setIndex(fan.flat());
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
  }

  update(corners: readonly (readonly number[])[]): void {
    corners.forEach((corner, i) => this.positions.set(corner, 3 * i));
    this.mesh.geometry.getAttribute("position").needsUpdate = true;
    this.mesh.geometry.computeVertexNormals();
  }
}

/** A bar from one point to another. */
function bar(from: THREE.Vector3, to: THREE.Vector3, radius: number, material: THREE.Material): THREE.Mesh {
  const along = to.clone().sub(from);
  const geometry = new THREE.CapsuleGeometry(radius, along.length(), 4, 12);
  const mesh = new THREE.Mesh(geometry, material);
  mesh.position.copy(from).addScaledVector(along, 0.5);
  mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize());
  return mesh;
}

function solidMesh(solid: Solid, smallest: number, material: THREE.Material): THREE.Mesh {
  const [x, y, z] = solid.size.map((size) => Math.max(size, smallest)) as [number, number, number];
  let geometry: THREE.BufferGeometry;
  if (solid.shape === "sphere") {
    geometry = new THREE.SphereGeometry(x / 2, 32, 20);
  } else if (solid.shape === "cylinder") {
    // three's cylinders stand along y
    geometry = new THREE.CylinderGeometry(y / 2, y / 2, x, 48).rotateZ(-Math.PI / 2);
  } else {
    geometry = new THREE.BoxGeometry(x, y, z);
  }
  const mesh = new THREE.Mesh(geometry, material);
  setPose(mesh, { p: solid.position, q: solid.quaternion });
  return mesh;
}

function meshes(object: THREE.Object3D): THREE.Mesh[] {
  const found: THREE.Mesh[] = [];
  object.traverse((part) => {
    if (part instanceof THREE.Mesh) {
      found.push(part);
    }
  });
  return found;
}

interface DrawnThing {
  side: Side;
  object: THREE.Object3D;
}

export class Mechanism {
  readonly root = new THREE.Group();
  readonly ghostRoot = new THREE.Group();
  readonly traceRoot = new THREE.Group();
  readonly jointRoot = new THREE.Group();
  /** Bending moments over the links. */
  readonly momentRoot = new THREE.Group();
  readonly chain: Chain;
  /** Largest stress or strain over the whole motion. */
  readonly largestLoad: number;
  readonly markers = new Map<string, THREE.Object3D>();
  /** Names and where they stand in the scene. */
  readonly labels: { text: string; object: THREE.Object3D; kind: "marker" | "joint" }[] = [];
  private readonly rods: { body: number; ends: DrawnBody["struts"][number]; rod: Rod }[] = [];
  private readonly plates: { body: number; corners: DrawnBody["plate"]; plate: Plate }[] = [];
  private readonly ghosts: THREE.Group[] = [];
  private readonly tubes: (Tube | null)[] = [];
  private readonly surfaces: (Surface | null)[] = [];
  private readonly visuals: { visual: Visual; mesh: THREE.Mesh }[] = [];
  private readonly things: DrawnThing[] = [];
  private readonly gaps: { from: Side; to: Side; line: THREE.Line }[] = [];
  private readonly diagrams: { body: number; diagram: Diagram }[] = [];
  private traced: string | null = null;
  private tracedAt = NaN;
  private traceTimes: number[] = [];
  private readonly path: THREE.Line;
  private readonly pathAhead: THREE.Line;

  constructor(
    readonly recording: Recording,
    private readonly look: Look,
  ) {
    const scene = recording.scene!;
    this.chain = new Chain(scene, recording.frames!);
    const length = scene.length_m;
    scene.bodies.forEach((body, k) => this.addBody(body, k, length));
    recording.visuals.forEach((visual) => this.addVisual(visual));
    for (const joint of scene.joints) {
      this.addJoint(joint, length);
    }
    for (const marker of scene.markers) {
      const object = new THREE.Mesh(new THREE.SphereGeometry(MARKER * length, 20, 14), look.marker);
      object.name = `marker:${marker.name}`;
      this.things.push({ side: marker.side, object });
      this.markers.set(marker.name, object);
      this.labels.push({ text: marker.name, object, kind: "marker" });
      this.root.add(object);
    }
    const line = (material: THREE.LineBasicMaterial) => {
      const made = new THREE.Line(new THREE.BufferGeometry(), material);
      made.frustumCulled = false;
      this.traceRoot.add(made);
      return made;
    };
    this.pathAhead = line(look.traceAhead);
    this.path = line(look.trace);
    this.root.add(this.jointRoot);
    const scale = Diagram.scale(recording, length);
    this.tubes.forEach((tube, body) => {
      if (tube && scale > 0) {
        const diagram = new Diagram(recording, scene.bodies[body]!.name, tube, scale, look.diagram, look.diagramLine);
        if (!diagram.isEmpty) {
          this.diagrams.push({ body, diagram });
          this.momentRoot.add(diagram.root);
        }
      }
    });
    this.largestLoad = this.findLargestLoad();
  }

  private addBody(body: DrawnBody, index: number, length: number): void {
    const ghost = new THREE.Group();
    const smallest = 2 * THINNEST_LINK * length;
    let tube: Tube | null = null;
    if (body.line) {
      tube = new Tube(body.line, body.coordinates, THINNEST_LINK * length, this.look.link);
      this.root.add(tube.mesh);
      const straight = body.line.positions;
      const [from, to] = [vector(straight[0]!), vector(straight[straight.length - 1]!)];
      if (from.distanceTo(to) > 0) {
        ghost.add(bar(from, to, 0.8 * THINNEST_LINK * length, this.look.ghost));
      }
    }
    let surface: Surface | null = null;
    if (body.surface) {
      surface = new Surface(body.surface, this.look.surface, this.look.plain);
      this.root.add(surface.mesh);
      const ghostly = surface.mesh.geometry.clone();
      ghostly.setAttribute("position", new THREE.Float32BufferAttribute(body.surface.positions.flat(), 3));
      ghost.add(new THREE.Mesh(ghostly, this.look.ghost));
    }
    for (const solid of body.solids) {
      const material = solid.payload || body.kind === "payload" ? this.look.payload : this.look.rigid;
      ghost.add(solidMesh(solid, smallest, this.look.ghost));
      // its centre goes where exaggeration takes it, its shape stays
      const [object, mesh] = [new THREE.Group(), solidMesh(solid, smallest, material)];
      mesh.position.set(0, 0, 0);
      object.add(mesh);
      const point = { position: solid.position, displacement: [], rotation: [], second_order: [] };
      this.things.push({ side: { body: index, point }, object });
      this.root.add(object);
    }
    for (const ends of body.struts) {
      const rod = new Rod(STRUT * length, this.look.rigid);
      this.rods.push({ body: index, ends, rod });
      this.root.add(rod.root);
      ghost.add(bar(vector(ends[0]), vector(ends[1]), STRUT * length, this.look.ghost));
    }
    if (body.plate.length > 2) {
      const plate = new Plate(body.plate.length, this.look.plate);
      this.plates.push({ body: index, corners: body.plate, plate });
      this.root.add(plate.mesh);
    }
    this.ghosts.push(ghost);
    this.tubes.push(tube);
    this.surfaces.push(surface);
    this.ghostRoot.add(ghost);
  }

  private addVisual(visual: Visual): void {
    const mesh = visualMesh(visual, visual.body === null ? this.look.support : this.look.visual);
    // as of solids: its origin goes where exaggeration takes it, its shape stays
    const object = new THREE.Group();
    object.add(mesh);
    const point = { position: visual.position, displacement: [], rotation: [], second_order: [] };
    this.things.push({ side: { body: visual.body, point }, object });
    this.visuals.push({ visual, mesh });
    this.root.add(object);
    if (visual.body !== null) {
      const ghost = new THREE.Mesh(mesh.geometry, this.look.ghost);
      ghost.quaternion.copy(mesh.quaternion);
      ghost.position.set(...visual.position);
      this.ghosts[visual.body]!.add(ghost);
    }
  }

  private addJoint(joint: DrawnJoint, length: number): void {
    const material = joint.closes_loop ? this.look.loop : this.look.joint;
    const size = JOINT * length;
    const axis = joint.axis ? vector(joint.axis) : null;
    let mesh: THREE.Mesh | null = null;
    if (joint.kind === "revolute" || joint.kind === "universal") {
      mesh = new THREE.Mesh(new THREE.CylinderGeometry(size, size, 2.6 * size, 28), material);
    } else if (SLIDING.includes(joint.kind)) {
      mesh = new THREE.Mesh(new THREE.BoxGeometry(1.7 * size, 3.4 * size, 1.7 * size), material);
    } else if (joint.kind === "spherical") {
      mesh = new THREE.Mesh(new THREE.SphereGeometry(1.15 * size, 24, 16), material);
    } else if (joint.closes_loop) {
      mesh = new THREE.Mesh(new THREE.SphereGeometry(0.8 * size, 20, 14), material);
    }
    if (mesh) {
      const holder = new THREE.Group();
      holder.name = `joint:${joint.name}`;
      if (axis) {
        mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), axis.clone().normalize());
      }
      holder.add(mesh);
      this.things.push({ side: joint.child, object: holder });
      this.labels.push({ text: joint.name, object: holder, kind: "joint" });
      this.jointRoot.add(holder);
    }
    if (joint.closes_loop && !SLIDING.includes(joint.kind)) {
      const line = new THREE.Line(new THREE.BufferGeometry(), this.look.trace);
      line.frustumCulled = false;
      this.gaps.push({ from: joint.parent, to: joint.child, line });
      this.jointRoot.add(line);
    } else if (!joint.closes_loop && joint.parent.body === null && joint.kind !== "free") {
      this.addSupport(joint, axis, size);
    }
  }

  /** A plate under a joint that stands on the ground. */
  private addSupport(joint: DrawnJoint, axis: THREE.Vector3 | null, size: number): void {
    const support = new THREE.Group();
    const plate = new THREE.Mesh(new THREE.CylinderGeometry(3 * size, 3.4 * size, 0.7 * size, 40), this.look.support);
    plate.position.y = -2.1 * size;
    const post = new THREE.Mesh(new THREE.CylinderGeometry(0.9 * size, 1.3 * size, 1.6 * size, 28), this.look.support);
    post.position.y = -1.1 * size;
    support.add(plate, post);
    support.position.copy(vector(joint.parent.point.position));
    support.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), axis?.normalize() ?? new THREE.Vector3(0, 0, 1));
    this.jointRoot.add(support);
  }

  private *sampledFrames(): Generator<number> {
    const { time } = this.chain.frames;
    const step = Math.max(1, Math.ceil(time.length / SAMPLED_FRAMES));
    for (let i = 0; i < time.length; i += step) {
      yield time[i]!;
    }
    yield time[time.length - 1]!;
  }

  private findLargestLoad(): number {
    let largest = 0;
    for (const t of this.sampledFrames()) {
      this.chain.goTo(t);
      for (const drawn of [this.tubes, this.surfaces]) {
        drawn.forEach((body, k) => {
          body?.computeLoad(this.chain.eta, this.chain.first[k]!);
          for (const load of body?.load ?? []) {
            largest = Math.max(largest, load);
          }
        });
      }
    }
    return largest;
  }

  /** Corners of the boxes around all bodies at a few instants, without exaggeration. */
  corners(): THREE.Vector3[] {
    const corners: THREE.Vector3[] = [];
    const before = this.chain.exaggeration;
    this.chain.exaggeration = 1;
    const times = [...this.sampledFrames()];
    const step = Math.max(1, Math.floor(times.length / 60));
    for (let i = 0; i < times.length; i += step) {
      this.update(times[i]!, null);
      this.root.updateMatrixWorld(true);
      for (const child of meshes(this.root)) {
        const { geometry } = child;
        geometry.computeBoundingBox();
        const { min, max } = geometry.boundingBox!;
        for (let c = 0; c < 8; c++) {
          const corner = new THREE.Vector3(c & 1 ? max.x : min.x, c & 2 ? max.y : min.y, c & 4 ? max.z : min.z);
          corners.push(corner.applyMatrix4(child.matrixWorld));
        }
      }
    }
    this.chain.exaggeration = before;
    return corners;
  }

  /** Moves everything to an instant. `full` is the load at the end of the colour scale. */
  update(t: number, full: number | null): void {
    const { chain } = this;
    chain.goTo(t);
    this.tubes.forEach((tube, k) => tube?.update(chain, k, full));
    this.surfaces.forEach((surface, k) => surface?.update(chain, k, full));
    if (this.momentRoot.visible) {
      this.diagrams.forEach(({ diagram }) => diagram.update(t));
    }
    for (const { body, ends, rod } of this.rods) {
      const [from, to] = ends.map((end) => vector(chain.fixed(body, end).p));
      rod.update(from!, to!);
    }
    for (const { body, corners, plate } of this.plates) {
      plate.update(corners.map((corner) => chain.fixed(body, corner).p));
    }
    if (this.ghostRoot.visible) {
      this.ghosts.forEach((ghost, k) => setPose(ghost, chain.ghost[k]!));
    }
    for (const thing of this.things) {
      setPose(thing.object, chain.place(thing.side));
    }
    for (const gap of this.gaps) {
      gap.line.geometry.setFromPoints([vector(chain.place(gap.from).p), vector(chain.place(gap.to).p)]);
    }
    if (this.traceRoot.visible && this.traceTimes.length > 0) {
      // the part behind is drawn strongly, the part ahead faintly
      let behind = 0;
      while (behind < this.traceTimes.length && this.traceTimes[behind]! <= t) {
        behind++;
      }
      this.path.geometry.setDrawRange(0, Math.max(behind, 1));
      this.pathAhead.geometry.setDrawRange(Math.max(behind - 1, 0), Infinity);
    }
  }

  /** Traces a marker with the present exaggeration; nothing happens if that is drawn already. */
  trace(marker: string | null): void {
    if (marker === this.traced && this.chain.exaggeration === this.tracedAt) {
      return;
    }
    [this.traced, this.tracedAt] = [marker, this.chain.exaggeration];
    const found = this.recording.scene!.markers.find((m) => m.name === marker);
    const points: THREE.Vector3[] = [];
    this.traceTimes = [];
    if (found) {
      for (const t of this.sampledFrames()) {
        this.chain.goTo(t);
        points.push(vector(this.chain.place(found.side).p));
        this.traceTimes.push(t);
      }
    }
    for (const line of [this.path, this.pathAhead]) {
      line.geometry.dispose();
      line.geometry = new THREE.BufferGeometry().setFromPoints(points);
    }
  }

  get hasMoments(): boolean {
    return this.diagrams.length > 0;
  }

  /** Ordinates of the moment diagrams of a body, in the ground frame, for tests. */
  ordinates(body: string): ReturnType<Diagram["ordinates"]> {
    const k = this.recording.scene!.bodies.findIndex((b) => b.name === body);
    return this.diagrams.find((drawn) => drawn.body === k)?.diagram.ordinates() ?? [];
  }

  /** Vertices of the tube of a body, in the ground frame, for tests. */
  tubeVertices(body: string): Float32Array | null {
    const k = this.recording.scene!.bodies.findIndex((b) => b.name === body);
    const mesh = this.tubes[k]?.mesh;
    return mesh ? Float32Array.from(mesh.geometry.getAttribute("position").array) : null;
  }

  /** Vertices of the surface of a body, in the ground frame, and the stress there, for tests. */
  surfaceOf(body: string): { vertices: Float32Array; load: Float64Array } | null {
    const k = this.recording.scene!.bodies.findIndex((b) => b.name === body);
    const surface = this.surfaces[k];
    if (!surface) {
      return null;
    }
    surface.computeLoad(this.chain.eta, this.chain.first[k]!);
    return { vertices: Float32Array.from(surface.mesh.geometry.getAttribute("position").array), load: surface.load };
  }

  /** Boxes around the shapes of a body, null for the ground, in the ground frame, for tests. */
  visualBoxes(body: string | null): number[][][] {
    const bodies = this.recording.scene!.bodies;
    const own = this.visuals.filter(({ visual }) => (visual.body === null ? null : bodies[visual.body]!.name) === body);
    this.root.updateMatrixWorld(true);
    return own.map(({ mesh }) => {
      const { min, max } = new THREE.Box3().setFromObject(mesh, true);
      return [min.toArray(), max.toArray()];
    });
  }

  /** Where a joint is drawn, in the ground frame, for tests. */
  jointPlace(name: string): number[] | null {
    const object = this.jointRoot.getObjectByName(`joint:${name}`);
    return object ? object.getWorldPosition(new THREE.Vector3()).toArray() : null;
  }

  /** Where the drawn tube of a body begins and ends, in the ground frame, for tests. */
  tubeEnds(body: string): number[][] | null {
    const k = this.recording.scene!.bodies.findIndex((b) => b.name === body);
    return this.tubes[k]?.ends() ?? null;
  }

  /** Both sides of every joint that holds them together, in the ground frame, for tests. */
  jointSides(): { name: string; sides: number[][] }[] {
    const joints = this.recording.scene!.joints.filter((joint) => !APART.includes(joint.kind));
    return joints.map(({ name, parent, child }) => ({ name, sides: [parent, child].map((side) => this.chain.place(side).p) }));
  }
}
