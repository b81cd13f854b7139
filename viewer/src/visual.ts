// Shapes that rigid bodies and the ground are drawn by, where the model says what they look like.

import * as THREE from "three";
import type { Visual } from "./data";

function geometryOf(visual: Visual): THREE.BufferGeometry {
  switch (visual.shape) {
    case "mesh": {
      const indexed = new THREE.BufferGeometry();
      indexed.setAttribute("position", new THREE.BufferAttribute(visual.positions, 3));
      indexed.setIndex(new THREE.BufferAttribute(visual.triangles, 1));
      // corners of housings are sharp: every triangle has a normal of its own
      const geometry = indexed.toNonIndexed();
      geometry.scale(...visual.scale);
      geometry.computeVertexNormals();
      return geometry;
    }
    case "box":
      return new THREE.BoxGeometry(...visual.edges);
    case "cylinder":
      // three's cylinders stand along y
      return new THREE.CylinderGeometry(visual.diameter / 2, visual.diameter / 2, visual.length, 48).rotateX(Math.PI / 2);
    case "sphere":
      return new THREE.SphereGeometry(visual.diameter / 2, 32, 20);
  }
}

/** The shape, turned as it is on its body, around the origin. */
export function visualMesh(visual: Visual, material: THREE.Material): THREE.Mesh {
  const mesh = new THREE.Mesh(geometryOf(visual), material);
  const turn = new THREE.Vector3(...visual.rotation_vector);
  const angle = turn.length();
  if (angle > 0) {
    mesh.quaternion.setFromAxisAngle(turn.divideScalar(angle), angle);
  }
  return mesh;
}
