// The 3-D view: camera, light, ground, and the mechanisms in it.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { curveColour, isDark } from "./colours";
import type { Recording, Report } from "./data";
import { type Look, Mechanism } from "./mechanism";

export type View = "iso" | "x" | "y" | "z";

const WHITE = new THREE.Color("#ffffff");

/** Pixels at the upper and lower edge where words stand over the picture. */
const EDGE = 48;

/** Share of the largest extent below which a motion counts as plane. */
const PLANE = 0.08;

function plain(colour: string, rough = 0.55): THREE.MeshStandardMaterial {
  return new THREE.MeshStandardMaterial({ color: colour, metalness: 0, roughness: rough });
}

/** Materials of one recording; beside others, everything is in its colour. */
function lookOf(index: number, alone: boolean): Look {
  const own = curveColour(index);
  const tint = (colour: string) => (alone ? colour : own);
  const line = (opacity: number) =>
    new THREE.LineBasicMaterial({ color: alone ? "#e0592a" : own, transparent: opacity < 1, opacity });
  return {
    plain: new THREE.Color(tint("#9db2c9")),
    link: new THREE.MeshStandardMaterial({
      metalness: 0.1,
      roughness: 0.5,
      vertexColors: true,
      side: THREE.DoubleSide,
    }),
    surface: new THREE.MeshStandardMaterial({
      metalness: 0.1,
      roughness: 0.5,
      vertexColors: true,
      side: THREE.DoubleSide,
      // corners of a mesh stay corners, and normals need not follow
      flatShading: true,
    }),
    rigid: plain(tint("#8496aa"), 0.5),
    // meshes of others are not always closed, or wound alike
    visual: new THREE.MeshStandardMaterial({ color: tint("#8496aa"), roughness: 0.6, side: THREE.DoubleSide }),
    plate: new THREE.MeshStandardMaterial({
      color: tint("#8496aa"),
      roughness: 0.6,
      side: THREE.DoubleSide,
      transparent: true,
      opacity: 0.35,
      depthWrite: false,
    }),
    payload: plain(tint("#d3ab62"), 0.65),
    joint: plain(alone ? "#4a5a70" : own, 0.4),
    loop: plain("#d55e00", 0.5),
    support: plain("#66768a", 0.6),
    ghost: new THREE.MeshBasicMaterial({
      color: "#6d8fb8",
      transparent: true,
      opacity: 0.25,
      depthWrite: false,
      // behind what it coincides with
      polygonOffset: true,
      polygonOffsetFactor: 2,
      polygonOffsetUnits: 4,
    }),
    marker: plain("#e0592a", 0.4),
    trace: line(1),
    traceAhead: line(0.28),
    diagram: new THREE.MeshBasicMaterial({
      color: "#cc3d8f",
      transparent: true,
      opacity: 0.3,
      side: THREE.DoubleSide,
      depthWrite: false,
    }),
    diagramLine: new THREE.LineBasicMaterial({ color: "#cc3d8f" }),
  };
}

export class Stage {
  readonly mechanisms: Mechanism[];
  readonly canvas: HTMLCanvasElement;
  /** Load at the end of the colour scale. */
  readonly fullLoad: number;
  readonly colourKind: "stress" | "strain" | "nothing";
  coloured = true;
  traced = true;
  tracedMarker: string | null;
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly camera = new THREE.PerspectiveCamera(32, 1, 0.01, 1e5);
  private readonly controls: OrbitControls;
  private readonly box = new THREE.Box3();
  /** Corners of everything that moves, at a few instants. */
  private readonly corners: THREE.Vector3[] = [];
  private readonly up: THREE.Vector3;
  private readonly labelLayer = document.createElement("div");
  private readonly labels: { element: HTMLElement; object: THREE.Object3D }[] = [];
  private grid: THREE.GridHelper | null = null;
  private readonly looks: Look[] = [];
  private changed = true;
  private size: readonly [number, number, number] = [0, 0, 0];

  constructor(
    report: Report,
    private readonly host: HTMLElement,
  ) {
    const shown = report.recordings.filter((recording) => recording.scene);
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "Animated view of the mechanism");
    this.labelLayer.className = "labels";
    host.prepend(this.canvas, this.labelLayer);
    this.up = upOf(shown[0]!);
    this.camera.up.copy(this.up);
    this.mechanisms = shown.map((recording) => {
      const look = lookOf(report.recordings.indexOf(recording), shown.length === 1);
      this.looks.push(look);
      const mechanism = new Mechanism(recording, look);
      this.scene.add(mechanism.root, mechanism.ghostRoot, mechanism.traceRoot, mechanism.momentRoot);
      return mechanism;
    });
    // one ghost is enough; others differ by their links only
    this.mechanisms.slice(1).forEach((mechanism) => (mechanism.ghostRoot.visible = false));
    const kinds = shown.map((recording) => recording.scene!.colour);
    this.colourKind = kinds.every((kind) => kind === kinds[0]) ? kinds[0]! : "nothing";
    this.fullLoad = Math.max(...this.mechanisms.map((mechanism) => mechanism.largestLoad));
    this.coloured = shown.length === 1 && this.colourKind !== "nothing" && this.fullLoad > 0;
    const markers = shown[0]!.scene!.markers;
    this.tracedMarker = markers[markers.length - 1]?.name ?? null;
    for (const mechanism of this.mechanisms) {
      this.corners.push(...mechanism.corners());
    }
    this.box.setFromPoints(this.corners);
    this.addLabels();
    this.addLight();
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => (this.changed = true));
    this.themed();
    this.view(this.defaultView());
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  private addLight(): void {
    const size = this.box.getSize(new THREE.Vector3()).length();
    const sky = new THREE.HemisphereLight("#ffffff", "#aab3c0", 2.1);
    sky.position.copy(this.up);
    const sun = new THREE.DirectionalLight("#ffffff", 2.2);
    sun.position.copy(this.up).multiplyScalar(size).add(new THREE.Vector3(0.5 * size, -0.4 * size, 0.3 * size));
    const fill = new THREE.DirectionalLight("#dfe9ff", 0.6);
    fill.position.set(-size, 0.6 * size, -0.2 * size);
    this.scene.add(sky, sun, fill);
  }

  private addLabels(): void {
    for (const label of this.mechanisms[0]!.labels) {
      if (label.kind === "joint" && label.text.endsWith(".mount")) {
        continue;
      }
      const element = document.createElement("span");
      element.textContent = label.text;
      element.className = `label ${label.kind}`;
      this.labelLayer.append(element);
      this.labels.push({ element, object: label.object });
    }
    this.labelLayer.hidden = true;
  }

  set showLabels(shown: boolean) {
    this.labelLayer.hidden = !shown;
    this.changed = true;
  }

  get showLabels(): boolean {
    return !this.labelLayer.hidden;
  }

  set ghost(shown: boolean) {
    this.mechanisms[0]!.ghostRoot.visible = shown;
    this.changed = true;
  }

  get ghost(): boolean {
    return this.mechanisms[0]!.ghostRoot.visible;
  }

  /** Bending moments over the links. */
  set moments(shown: boolean) {
    this.mechanisms.forEach((mechanism) => (mechanism.momentRoot.visible = shown));
    this.changed = true;
  }

  get moments(): boolean {
    return this.hasMoments && this.mechanisms[0]!.momentRoot.visible;
  }

  get hasMoments(): boolean {
    return this.mechanisms.some((mechanism) => mechanism.hasMoments);
  }

  set exaggeration(factor: number) {
    for (const mechanism of this.mechanisms) {
      mechanism.chain.exaggeration = factor;
    }
    this.changed = true;
  }

  get exaggeration(): number {
    return this.mechanisms[0]!.chain.exaggeration;
  }

  /** Adapts ground and materials to light or dark. */
  themed(): void {
    this.grid?.removeFromParent();
    const size = this.box.getSize(new THREE.Vector3());
    const cell = 10 ** Math.floor(Math.log10(Math.max(size.x, size.y, size.z) || 1));
    const cells = 2 * Math.ceil((1.6 * Math.max(size.x, size.y, size.z)) / cell);
    const [axis, line] = isDark() ? ["#56657a", "#2c3644"] : ["#a9b5c4", "#dbe2ea"];
    this.grid = new THREE.GridHelper(cells * cell, cells, axis, line);
    this.grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), this.up);
    const middle = this.box.getCenter(new THREE.Vector3());
    const snapped = middle.clone().divideScalar(cell).round().multiplyScalar(cell);
    // beneath everything that ever is in the picture
    const corners = [this.box.min, this.box.max];
    const lowest = Math.min(...corners.map((corner) => corner.dot(this.up)));
    snapped.addScaledVector(this.up, lowest - snapped.dot(this.up) - 0.02 * size.length());
    this.grid.position.copy(snapped);
    this.scene.add(this.grid);
    const alone = this.mechanisms.length === 1;
    this.looks.forEach((look, index) => {
      if (!alone) {
        const colour = curveColour(index);
        look.plain.set(colour);
        for (const material of [look.rigid, look.plate, look.payload, look.joint, look.trace, look.traceAhead]) {
          material.color.set(colour);
        }
      } else {
        look.joint.color.set(isDark() ? "#c3cfde" : "#4a5a70");
      }
      look.ghost.color.set(isDark() ? "#a7c3ea" : "#4f78a8");
    });
    this.changed = true;
  }

  /** Plane motions are looked at squarely. */
  private defaultView(): View {
    const size = this.box.getSize(new THREE.Vector3());
    const largest = Math.max(size.x, size.y, size.z);
    const thin = (["x", "y", "z"] as const).filter((axis) => size[axis] < PLANE * largest);
    const plane = thin.length === 1 ? thin[0]! : thin.find((axis) => Math.abs(this.up[axis]) < 0.5);
    return plane ?? "iso";
  }

  /** Looks along an axis, or from a corner, at everything that ever moves. */
  view(view: View): void {
    const direction = new THREE.Vector3();
    if (view === "iso") {
      direction.set(0.75, -1, 0.6);
      if (Math.abs(this.up.y) > 0.5) {
        direction.set(0.75, 0.6 * this.up.y, 1);
      }
    } else {
      direction[view] = view === "y" ? -1 : 1;
    }
    const along = Math.abs(direction.clone().normalize().dot(this.up)) > 0.99;
    this.camera.up.copy(along ? new THREE.Vector3(0, 1, 0) : this.up);
    if (along && Math.abs(this.up.y) > 0.5) {
      this.camera.up.set(1, 0, 0);
    }
    this.camera.position.copy(this.box.getCenter(new THREE.Vector3())).add(direction);
    this.controls.target.copy(this.box.getCenter(new THREE.Vector3()));
    this.controls.update();
    this.fit();
  }

  /** Brings the whole motion into the picture, from where the camera looks. */
  fit(): void {
    const centre = this.box.getCenter(new THREE.Vector3());
    const direction = this.camera.position.clone().sub(this.controls.target).normalize();
    this.camera.position.copy(centre).add(direction);
    this.camera.lookAt(centre);
    this.camera.updateMatrixWorld();
    const inverse = this.camera.matrixWorldInverse;
    const slope = Math.tan((0.5 * this.camera.fov * Math.PI) / 180);
    const free = Math.max(0.5, 1 - (2 * EDGE) / Math.max(this.host.clientHeight, 1));
    // the middle of what is seen, not of the box, is brought to the middle of the picture
    const seen = this.corners.map((corner) => corner.clone().applyMatrix4(inverse));
    const flat = new THREE.Box3().setFromPoints(seen);
    const middle = flat.getCenter(new THREE.Vector3());
    let distance = 0;
    for (const corner of seen) {
      const [x, y] = [Math.abs(corner.x - middle.x), Math.abs(corner.y - middle.y)];
      const half = Math.max(y / (slope * free), x / (slope * this.camera.aspect));
      // 1 is the distance it was seen from
      distance = Math.max(distance, half + corner.z + 1);
    }
    middle.setZ(0).applyQuaternion(this.camera.quaternion);
    centre.add(middle);
    distance = Math.max(distance, 1e-3) * 1.04;
    this.camera.position.copy(centre).addScaledVector(direction, distance);
    const size = this.box.getSize(new THREE.Vector3()).length();
    this.camera.near = Math.max(distance / 1000, 1e-4);
    this.camera.far = distance + 12 * size;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(centre);
    this.controls.update();
    this.changed = true;
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (width === 0 || height === 0) {
      return;
    }
    const size = [width, height, Math.min(devicePixelRatio, 2)] as const;
    if (size.every((x, i) => x === this.size[i])) {
      return;
    }
    this.size = size;
    this.renderer.setDrawingBufferSize(...size);
    const ratio = width / height;
    const refit = Math.abs(ratio - this.camera.aspect) > 1e-3;
    this.camera.aspect = ratio;
    this.camera.updateProjectionMatrix();
    if (refit) {
      this.fit();
    }
    this.changed = true;
  }

  /** Whether the camera, the size or what is shown has changed since the last picture. */
  get stale(): boolean {
    return this.changed;
  }

  draw(t: number): void {
    const full = this.coloured ? this.fullLoad : null;
    this.mechanisms.forEach((mechanism, i) => {
      const look = this.looks[i]!;
      look.link.color.copy(this.coloured ? WHITE : look.plain);
      look.surface.color.copy(this.coloured ? WHITE : look.plain);
      mechanism.traceRoot.visible = this.traced;
      if (this.traced) {
        mechanism.trace(this.tracedMarker);
      }
      mechanism.update(t, full);
    });
    this.renderer.render(this.scene, this.camera);
    this.placeLabels();
    this.changed = false;
  }

  private placeLabels(): void {
    if (this.labelLayer.hidden) {
      return;
    }
    const place = new THREE.Vector3();
    for (const { element, object } of this.labels) {
      object.getWorldPosition(place).project(this.camera);
      const x = (0.5 + 0.5 * place.x) * this.host.clientWidth;
      const y = (0.5 - 0.5 * place.y) * this.host.clientHeight;
      element.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
  }

  /** Puts a still picture in the place of the moving one, which a printer may find a frame late, or takes it away. */
  still(shown: boolean): void {
    this.host.querySelector("img.still")?.remove();
    if (shown) {
      const image = document.createElement("img");
      image.className = "still";
      image.alt = "The mechanism";
      image.src = this.canvas.toDataURL("image/png");
      this.host.prepend(image);
    }
    this.canvas.hidden = shown;
  }

  /** The picture as a PNG file, on the colour of the page. */
  async png(t: number): Promise<Blob> {
    this.draw(t);
    const flat = document.createElement("canvas");
    [flat.width, flat.height] = [this.canvas.width, this.canvas.height];
    const context = flat.getContext("2d")!;
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, flat.width, flat.height);
    context.drawImage(this.canvas, 0, 0);
    context.fillStyle = getComputedStyle(document.body).color;
    context.font = `${16 * Math.min(devicePixelRatio, 2)}px sans-serif`;
    const text = `t = ${t.toFixed(3)} s, deformation × ${this.exaggeration}`;
    context.fillText(text, 16, flat.height - 18);
    return new Promise((done, failed) =>
      flat.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture"))), "image/png"),
    );
  }
}

/** Against gravity, along the nearest axis; z where there is none. */
function upOf(recording: Recording): THREE.Vector3 {
  const gravity = recording.model_summary.gravity_m_per_s2 ?? [0, 0, 0];
  const up = new THREE.Vector3(-gravity[0]!, -gravity[1]!, -gravity[2]!);
  return up.lengthSq() > 0 ? up.normalize() : new THREE.Vector3(0, 0, 1);
}
