// Colours that people with any kind of colour vision can tell apart.

/** Curves: after Okabe & Ito, with variants that stand out on dark ground. */
const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a87900", "#3a9bd5", "#5b5b5b", "#8c3fb0"];
const DARK = ["#56b4e9", "#ff8c42", "#2fd0a0", "#e79ac6", "#f0c419", "#8fb8ff", "#bdbdbd", "#c792ea"];

export const isDark = (): boolean => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

export function curveColour(index: number): string {
  const colours = isDark() ? DARK : LIGHT;
  return colours[index % colours.length]!;
}

/** Dashes by which the recordings of one panel differ. */
export const DASHES: number[][] = [[], [7, 4], [2, 3], [10, 3, 2, 3], [14, 5]];

/** Viridis, of even steps in lightness, from its second tenth on so that it stands out on dark ground. */
const VIRIDIS = [
  [0.28, 0.2, 0.5],
  [0.23, 0.32, 0.55],
  [0.17, 0.45, 0.56],
  [0.13, 0.57, 0.55],
  [0.16, 0.68, 0.5],
  [0.37, 0.79, 0.38],
  [0.68, 0.86, 0.19],
  [0.99, 0.91, 0.14],
];

/** Writes the colour of a share between 0 and 1 of the scale. */
export function scaleColour(share: number, out: Float32Array | number[], at: number): void {
  const x = Math.min(1, Math.max(0, share)) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(x));
  for (let c = 0; c < 3; c++) {
    const [a, b] = [VIRIDIS[i]![c]!, VIRIDIS[i + 1]![c]!];
    out[at + c] = a + (b - a) * (x - i);
  }
}

/** The scale as a CSS gradient. */
export function scaleGradient(): string {
  const stops = VIRIDIS.map((colour) => `rgb(${colour.map((c) => Math.round(255 * c)).join(" ")})`);
  return `linear-gradient(to right, ${stops.join(", ")})`;
}
