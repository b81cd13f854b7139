// uPlot for this page: few points for many samples, numbers on the axes as text that can be selected.

import uPlot from "uplot";
import { digits, h } from "./dom";
import type { Channel, Series } from "./data";

export interface Curve {
  recording: Series;
  channel: Channel;
}

/** Columns of uPlot: x, then one per curve. */
export type Columns = [number[], ...(number | null)[][]];

/**
 * Columns for curves between two instants that show on `width` pixels what all samples would: the samples themselves
 * where they are few, else smallest and largest value of every pixel.
 */
export function columns(curves: Curve[], from: number, until: number, width: number): Columns {
  const recordings = [...new Set(curves.map((curve) => curve.recording))];
  const ranges = new Map<Series, [number, number]>();
  let most = 0;
  for (const recording of recordings) {
    const first = Math.max(0, lower(recording.time, from) - 1);
    const last = Math.min(recording.time.length, lower(recording.time, until) + 2);
    ranges.set(recording, [first, last]);
    most = Math.max(most, last - first);
  }
  return most <= 2 * width ? samples(curves, recordings, ranges) : envelopes(curves, from, until, width);
}

/** First index whose instant is not before t. */
function lower(time: Float64Array, t: number): number {
  let [low, high] = [0, time.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle]! < t) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

const sample = (channel: Channel, i: number) => channel.samples[channel.constant ? 0 : i]!;

function samples(curves: Curve[], recordings: Series[], ranges: Map<Series, [number, number]>): Columns {
  if (recordings.length === 1) {
    const recording = recordings[0]!;
    const [first, last] = ranges.get(recording)!;
    const index = Array.from({ length: last - first }, (_, i) => first + i);
    return [
      index.map((i) => recording.time[i]!),
      ...curves.map((curve) => index.map((i) => sample(curve.channel, i))),
    ] as Columns;
  }
  const instants = new Set<number>();
  for (const recording of recordings) {
    const [first, last] = ranges.get(recording)!;
    for (let i = first; i < last; i++) {
      instants.add(recording.time[i]!);
    }
  }
  const x = [...instants].sort((a, b) => a - b);
  const y = curves.map(({ recording, channel }) => {
    const [first, last] = ranges.get(recording)!;
    let i = first;
    return x.map((t) => {
      while (i < last && recording.time[i]! < t) {
        i++;
      }
      return i < last && recording.time[i] === t ? sample(channel, i) : null;
    });
  });
  return [x, ...y];
}

function envelopes(curves: Curve[], from: number, until: number, width: number): Columns {
  const step = (until - from) / width;
  const x: number[] = [];
  for (let pixel = 0; pixel < width; pixel++) {
    x.push(from + (pixel + 0.25) * step, from + (pixel + 0.75) * step);
  }
  const y = curves.map(({ recording, channel }) => {
    const column: (number | null)[] = [];
    let i = lower(recording.time, from);
    for (let pixel = 0; pixel < width; pixel++) {
      const end = from + (pixel + 1) * step;
      let [least, greatest, leastAt, greatestAt] = [Infinity, -Infinity, 0, 0];
      for (; i < recording.time.length && recording.time[i]! < end; i++) {
        const value = sample(channel, i);
        if (value < least) {
          [least, leastAt] = [value, i];
        }
        if (value > greatest) {
          [greatest, greatestAt] = [value, i];
        }
      }
      if (least > greatest) {
        column.push(null, null);
      } else {
        column.push(...(leastAt <= greatestAt ? [least, greatest] : [greatest, least]));
      }
    }
    return column;
  });
  return [x, ...y];
}

/** Leaves the numbers of the axes to elements of the page, which can be selected, copied and read aloud. */
export function axisNumbers(logarithmic: readonly [boolean, boolean] = [false, false]): { axes: uPlot.Axis[]; plugin: uPlot.Plugin } {
  const shown: string[][] = [[], []];
  const splits: number[][] = [[], []];
  const layer = h("div", { class: "ticks" });
  const values = (axis: number) => (_: uPlot, ticks: number[], __: number, ___: number, step: number) => {
    // as many decimals as the step has
    let places = 0;
    while (places < 12 && Math.abs(step * 10 ** places - Math.round(step * 10 ** places)) > 1e-6) {
      places++;
    }
    const large = ticks.some((tick) => Math.abs(tick) >= 1e5) || step < 1e-4;
    splits[axis] = ticks;
    shown[axis] = ticks.map((tick) => {
      if (tick === null) {
        return "";
      }
      if (logarithmic[axis]) {
        return isDecade(tick) ? digits(tick, 3) : "";
      }
      return large ? Number(tick.toPrecision(6)).toExponential().replace("e+", "e") : tick.toFixed(places);
    });
    return ticks.map(() => "");
  };
  const isDecade = (tick: number) => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9;
  const common = (axis: number) => ({
    stroke: () => css("--ink-2"),
    grid: {
      stroke: () => css("--line"),
      width: 1,
      // lines between decades would fill the plot
      filter: (_: uPlot, ticks: number[]) => ticks.map((tick) => (!logarithmic[axis] || isDecade(tick) ? tick : null)),
    },
    ticks: { show: false },
  });
  return {
    axes: [
      { ...common(0), size: 22, values: values(0) as uPlot.Axis.Values },
      { ...common(1), size: 58, values: values(1) as uPlot.Axis.Values },
    ],
    plugin: {
      hooks: {
        init: (u: uPlot) => {
          u.root.querySelector(".u-wrap")!.append(layer);
        },
        draw: (u: uPlot) => {
          const keys = ["x", "y"];
          const [left, top] = [u.bbox.left / devicePixelRatio, u.bbox.top / devicePixelRatio];
          const [width, height] = [u.bbox.width / devicePixelRatio, u.bbox.height / devicePixelRatio];
          layer.replaceChildren();
          for (const axis of [0, 1]) {
            splits[axis]!.forEach((tick, i) => {
              const text = shown[axis]![i]!;
              if (!text) {
                return;
              }
              const at = u.valToPos(tick, keys[axis]!);
              if (at < -1 || at > (axis === 0 ? width : height) + 1) {
                return;
              }
              const place =
                axis === 0 ? `left:${left + at}px;top:${top + height + 3}px` : `right:calc(100% - ${left - 6}px);top:${top + at}px`;
              layer.append(h("span", { class: axis === 0 ? "tick-x" : "tick-y", style: place }, text));
            });
          }
        },
      },
    },
  };
}

export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
