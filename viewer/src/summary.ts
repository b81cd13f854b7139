// What was simulated, how, at what cost, and how far it can be trusted.

import type { BodyEntry, Recording, Report } from "./data";
import { digits, h, save } from "./dom";

const MARKS = { good: "✓", note: "i", caution: "!", bad: "✕" } as const;

export function verdictList(recording: Recording): HTMLElement {
  const rows = recording.verdicts.map((verdict) =>
    h(
      "li",
      { class: `verdict ${verdict.level}` },
      h("span", { class: "badge", title: verdict.level }, MARKS[verdict.level]),
      h("span", {}, h("b", {}, `${verdict.subject} `), verdict.words),
    ),
  );
  const warnings = (recording.model_summary.warnings ?? []).map((warning) =>
    h("li", { class: "verdict caution" }, h("span", { class: "badge" }, "!"), h("span", {}, h("b", {}, "model "), warning)),
  );
  return h("ul", { class: "verdicts" }, ...rows, ...warnings);
}

/** The worst news of a recording, for the top of the page. */
export function worst(recording: Recording): { level: keyof typeof MARKS; words: string } {
  const order = ["good", "note", "caution", "bad"] as const;
  let level: keyof typeof MARKS = "good";
  for (const verdict of recording.verdicts) {
    if (order.indexOf(verdict.level) > order.indexOf(level)) {
      level = verdict.level;
    }
  }
  const energy = recording.verdicts.find((verdict) => verdict.subject === "energy");
  const first = recording.verdicts.find((verdict) => verdict.level === level && level !== "good" && level !== "note");
  // what is only worth knowing is no reason to be wary
  return { level: level === "note" ? "good" : level, words: (first ?? energy)?.words ?? "no audit" };
}

function table(head: string[], rows: (string | HTMLElement)[][]): HTMLElement {
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))))),
    ),
  );
}

function facts(entries: [string, string | undefined][]): HTMLElement {
  const rows = entries.filter(([, value]) => value !== undefined && value !== "");
  return h("dl", { class: "facts" }, ...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value!)]));
}

function tree(bodies: BodyEntry[]): HTMLElement {
  const lines = bodies.map((body) => {
    const joint = `${body.joint.name} (${body.joint.kind}${body.joint.at ? ` at ${body.joint.at}` : ""})`;
    const elastic = body.elastic_coordinates.length;
    const carried = [
      ...body.payloads.map((payload) => `payload ${payload.name}, ${digits(payload.mass_kg)} kg`),
      ...(body.markers.length ? [`marker ${body.markers.join(", ")}`] : []),
    ];
    return h(
      "li",
      { style: `--depth:${body.depth}` },
      h("b", {}, body.name),
      ` ${body.kind}, ${digits(body.mass_kg)} kg${elastic ? `, ${elastic} elastic coordinates` : ""}`,
      h("small", {}, ` on ${joint}`),
      ...carried.map((text) => h("small", { class: "carried" }, text)),
    );
  });
  return h("ul", { class: "tree" }, h("li", { style: "--depth:0" }, h("b", {}, "ground")), ...lines);
}

function frequencies(bodies: BodyEntry[]): HTMLElement | null {
  const flexible = bodies.filter((body) => body.frequencies_rad_per_s.length > 0);
  if (flexible.length === 0) {
    return null;
  }
  const rows = flexible.map((body) => {
    const list = body.frequencies_rad_per_s.slice(0, 8).map((omega) => digits(omega / (2 * Math.PI), 4));
    const more = body.frequencies_rad_per_s.length > 8 ? ", …" : "";
    return [body.name, list.join(", ") + more];
  });
  return h("div", {}, h("h3", {}, "Natural frequencies, frame held"), table(["body", "Hz"], rows));
}

/** What to type for the same run. */
function command(recording: Recording): string {
  const { verb, model, set, points, case: terms, second_order: secondOrder } = recording.options;
  const quoted = (text: string) => (/^[\w.=/:-]+$/.test(text) ? text : `'${text}'`);
  const words = [`lissom ${verb ?? "run"}`, quoted(recording.modelFile ?? String(model ?? recording.label))];
  words.push(...(Array.isArray(set) ? (set as string[]) : []).map((change) => `--set ${quoted(change)}`));
  if (verb === "perturb") {
    words.push(`--points ${points}`, `--case ${terms}`, ...(secondOrder === false ? ["--first-order"] : []));
  }
  return words.join(" ");
}

function one(recording: Recording): HTMLElement {
  const { model_summary: known, summary } = recording;
  const cost = summary.cost ?? {};
  const freedom = known.degrees_of_freedom ?? {};
  const bodies = known.bodies ?? [];
  const name = `${recording.label.replace(/[^\w.-]+/g, "-")}.toml`;
  const span = recording.time.length ? recording.time[recording.time.length - 1]! - recording.time[0]! : 0;
  const profiles = new Map<string, string[]>();
  for (const { profile, target } of [...(known.inputs ?? []), ...(known.motions ?? [])]) {
    profiles.set(profile, [...(profiles.get(profile) ?? []), target.replace(/^joint /, "")]);
  }
  const driven = [...profiles].map(([profile, targets]) => `${profile.replaceAll("_", " ")} of ${targets.join(", ")}`);
  return h(
    "div",
    { class: "summary-grid" },
    h("div", { class: "card wide" }, h("h3", {}, "Can it be trusted?"), verdictList(recording)),
    h(
      "div",
      { class: "card" },
      h("h3", {}, "Model"),
      tree(bodies),
      facts([
        ["degrees of freedom", freedom.total === undefined ? undefined : `${freedom.total} (${freedom.joint} of joints, ${freedom.elastic} elastic, ${freedom.motor} of motors), ${freedom.prescribed} prescribed`],
        ["mass", known.total_mass_kg === undefined ? undefined : `${digits(known.total_mass_kg)} kg`],
        ["centre at the start", known.center_of_mass_m ? `[${known.center_of_mass_m.map((x) => digits(x, 4)).join(", ")}] m` : undefined],
        ["gravity", known.gravity_m_per_s2 ? `[${known.gravity_m_per_s2.map((x) => digits(x, 4)).join(", ")}] m/s²` : undefined],
        ["driven by", driven.join("; ")],
      ]),
    ),
    h(
      "div",
      { class: "card" },
      h("h3", {}, "How it was computed"),
      facts([
        ...Object.entries(recording.fidelity).map(([key, value]): [string, string] => [key, String(value).replaceAll("_", " ")]),
        ["integrator", known.integrator],
        ["simulated", `${digits(span)} s of ${digits(summary.duration_s ?? span)} s`],
        ["recorded", `${recording.time.length} samples of ${recording.channels.length} channels`],
        ["steps", cost.steps === undefined ? undefined : `${cost.steps} (${cost.rejected} rejected)`],
        ["evaluations", cost.evaluations === undefined ? undefined : `${cost.evaluations}${cost.jacobians ? `, ${cost.jacobians} Jacobians` : ""}`],
        ["computing time", cost.wall_s === undefined ? undefined : `${digits(cost.wall_s, 3)} s, ${digits(span / cost.wall_s, 3)} times real time`],
      ]),
      frequencies(bodies),
    ),
    h(
      "div",
      { class: "card wide" },
      h("h3", {}, "Run it again"),
      h("pre", { class: "command" }, command(recording)),
      facts([
        ["simulated by", `lissom ${recording.madeBy}`],
        ["options", JSON.stringify(recording.options)],
      ]),
      h(
        "details",
        {},
        h("summary", {}, "The model as run, with all changes"),
        h("button", { onclick: () => save(name, new Blob([recording.modelText], { type: "text/plain" })) }, `Save as ${name}`),
        h("pre", {}, recording.modelText),
      ),
    ),
  );
}

export function summary(report: Report): HTMLElement {
  const section = h("section", { id: "summary" }, h("h2", {}, "Summary"));
  for (const recording of report.recordings) {
    if (report.recordings.length > 1) {
      section.append(h("h3", { class: "which" }, recording.label));
    }
    section.append(one(recording));
  }
  section.append(h("p", { class: "hint" }, `Page written by lissom ${report.version}. Everything it shows is in this one file.`));
  return section;
}
