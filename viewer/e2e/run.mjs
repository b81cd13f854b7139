// The page in a real browser. Needs LISSOM_BIN, the command, and LISSOM_E2E_DIR, a folder for reports and pictures;
// CHROMIUM names the browser unless it is /usr/bin/chromium.
//
// Truth held: what is drawn and plotted is what the command recorded, read from its CSV file on another way.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const command = process.env.LISSOM_BIN;
const folder = process.env.LISSOM_E2E_DIR && resolve(process.env.LISSOM_E2E_DIR);
assert.ok(command && folder, "set LISSOM_BIN and LISSOM_E2E_DIR");
mkdirSync(folder, { recursive: true });

/**
 * Models that are shown: a name, what to change, the instant of the pictures as a share of the run, their exaggeration;
 * beams with a marker at their tips, and beams with a joint there.
 */
const MODELS = [
  {
    model: "shuttle-arm",
    set: ["output.sample_period_s=0.05"],
    at: 0.62,
    exaggeration: 10,
    tips: [["upper_boom", "upper_tip"], ["lower_boom", "lower_tip"]],
    carried: [["upper_boom", "elbow_pitch"], ["lower_boom", "wrist_pitch_joint"]],
  },
  { model: "two-link-arm", set: [], at: 0.3, exaggeration: 5 },
  { model: "planar-3rrr", set: [], at: 0.5, exaggeration: 20 },
  { model: "space-arm", set: [], at: 0.5, exaggeration: 10 },
  { model: "sliding-boom", set: [], at: 0.5, exaggeration: 10 },
  // finite elements: nodes in a plane, and bodies and joints as elements
  { model: "flying-spaghetti", set: ["simulation.duration_s=2.4"], at: 0.6, exaggeration: 2, tips: [["beam", "upper"]] },
  {
    name: "spin-up-by-elements",
    model: "spin-up-beam",
    set: ["formulation.nodal.elements_per_link=4", "simulation.duration_s=6", "simulation.integrator={generalized_alpha={step_s=0.01}}"],
    at: 0.9,
    exaggeration: 5,
    tips: [["beam", "tip"]],
  },
];

/** The drawn tip may be off by this part of the arm's length, as the page promises. */
const TIP_TOLERANCE = 1e-3;
/** Both sides of a joint may be apart by this part of the arm's length, times the exaggeration: single precision. */
const HELD = 1e-5;
/** Plots hold single precision: relative to the largest value of a channel. */
const SINGLE = 1e-6;
/** Single precision of the samples, of which a spectrum takes differences. */
const SPECTRUM = 1e-3;
/** Numbers beside plots have five digits. */
const FIVE_DIGITS = 1e-4;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});

/** Runs a command of lissom; its words go to the console only when it fails. */
function lissom(...words) {
  return execFileSync(command, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
}

function readCsv(path) {
  const [head, ...rows] = readFileSync(path, "utf8").trim().split("\n");
  const names = head.split(",").map((name) => name.replace(/ \[.*\]$/, ""));
  const columns = new Map(names.map((name) => [name, []]));
  for (const row of rows) {
    row.split(",").forEach((value, i) => columns.get(names[i]).push(Number(value)));
  }
  return columns;
}

/** Amplitude at one frequency by its definition: trend off, Hann's window, sum. */
function amplitudeAt(hz, times, values) {
  const count = times.length;
  const middle = (count - 1) / 2;
  const mean = values.reduce((sum, x) => sum + x, 0) / count;
  const square = values.reduce((sum, _, i) => sum + (i - middle) ** 2, 0);
  const trend = values.reduce((sum, x, i) => sum + x * (i - middle), 0) / square;
  let [re, im, weight] = [0, 0, 0];
  values.forEach((x, i) => {
    const hann = Math.sin((Math.PI * i) / (count - 1)) ** 2;
    const rest = (x - mean - trend * (i - middle)) * hann;
    const angle = 2 * Math.PI * hz * (times[i] - times[0]);
    re += rest * Math.cos(angle);
    im += rest * Math.sin(angle);
    weight += hann;
  });
  return (2 * Math.hypot(re, im)) / weight;
}

const isReport = () => window.lissom !== undefined || document.querySelector("#app > .nothing");

/** Opens a page from its file and complains of every request, message or error. */
async function open(path, options = {}, isReady = isReport) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, acceptDownloads: true, ...options });
  const complaints = [];
  const own = pathToFileURL(path).href;
  page.on("request", (request) => {
    const url = request.url();
    if (url !== own && !url.startsWith("blob:") && !url.startsWith("data:")) {
      complaints.push(`request: ${url}`);
    }
  });
  page.on("console", (message) => {
    // how the software renderer reads pixels back is no concern of the page
    if (!/GL Driver Message|GPU stall/.test(message.text())) {
      complaints.push(`console: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => complaints.push(`error: ${error.stack}`));
  await page.goto(own);
  await page.waitForFunction(isReady);
  page.complaints = complaints;
  return page;
}

const run = (page, code, argument) => page.evaluate(code, argument);

/** Where a marker or a node was recorded; one in the plane has no z. */
function recordedPlace(csv, marker, i) {
  return ["x", "y", "z"].map((axis) => csv.get(`${marker}.position.${axis}`)?.[i] ?? 0);
}

async function shows({ model, name: label = model, set, at, exaggeration, tips = [], carried = [] }) {
  const out = join(folder, label);
  lissom("run", model, ...set.flatMap((change) => ["--set", change]), "--report", "--quiet", "--out", out);
  const csv = readCsv(join(out, "recording.csv"));
  const times = csv.get("time_s");
  const page = await open(join(out, "report.html"));
  const length = await run(page, () => lissom.length());
  const markers = await run(page, () => lissom.markers());
  assert.ok(markers.length > 0, `${model} has no marker`);

  // three instants at 1x: drawn markers are the recorded ones
  assert.equal(await run(page, () => lissom.exaggeration()), 1);
  let worst = 0;
  const drawn = [];
  for (const share of [0.23, 0.57, 0.91]) {
    const i = Math.round(share * (times.length - 1));
    await run(page, (t) => lissom.seek(t), times[i]);
    for (const marker of markers) {
      const place = await run(page, (name) => lissom.marker(name), marker);
      const recorded = recordedPlace(csv, marker, i);
      const distance = Math.hypot(...place.map((x, axis) => x - recorded[axis]));
      worst = Math.max(worst, distance / length);
      drawn.push(place);
    }
    for (const [body, marker] of tips) {
      const tip = await run(page, (name) => lissom.tubeEnds(name)[1], body);
      const recorded = recordedPlace(csv, marker, i);
      worst = Math.max(worst, Math.hypot(...tip.map((x, axis) => x - recorded[axis])) / length);
    }
  }
  assert.ok(worst < TIP_TOLERANCE, `${model}: a drawn marker is off by ${worst} of the arm's length`);
  // scrubbing changed the pose
  const moved = Math.hypot(...drawn[0].map((x, axis) => x - drawn.at(-markers.length)[axis]));
  assert.ok(moved > 10 * TIP_TOLERANCE * length, `${model}: nothing moves between instants`);

  // plots show the recorded values at a sampled instant
  const i = Math.round(at * (times.length - 1));
  await run(page, (t) => lissom.seek(t), times[i]);
  const shownNames = await run(page, () => JSON.parse(document.getElementById("lissom-json").textContent).panels.flat());
  const panels = shownNames.filter((name) => csv.has(name));
  for (const name of panels) {
    const found = await run(page, ([name, t]) => lissom.plotted(name, t), [name, times[i]]);
    const largest = Math.max(...csv.get(name).map(Math.abs));
    assert.ok(Math.abs(found.time - times[i]) < 1e-9, `${name} is plotted at ${found.time} s instead of ${times[i]} s`);
    assert.ok(Math.abs(found.value - csv.get(name)[i]) <= SINGLE * largest, `${name}: ${found.value}`);
  }
  // and natural frequencies, those that `modes` finds where the motion starts
  const frequencies = shownNames.filter((name) => name.startsWith("frequency."));
  if (frequencies.length > 0) {
    const changes = set.flatMap((change) => ["--set", change]);
    const words = ["modes", model, ...changes, "--about", "run", "--at", String(times[0]), "--json"];
    const modes = JSON.parse(lissom(...words)).modes;
    for (const [k, name] of frequencies.entries()) {
      const found = await run(page, ([name, t]) => lissom.plotted(name, t), [name, times[0]]);
      const expected = modes[k].frequency_rad_per_s[0];
      assert.ok(Math.abs(found.value - expected) <= SINGLE * Math.abs(expected), `${name}: ${found.value}, ${expected}`);
    }
  }
  assert.ok(frequencies.length > 0 || !["two-link-arm", "shuttle-arm", "planar-3rrr"].includes(model), "no natural frequencies of the arm");
  const shown = await page.locator(".legend .key").first().innerText();
  const value = Number(/(-?[\d.]+(?:e-?\d+)?) \S+$/.exec(shown)?.[1]);
  const largest = Math.max(...csv.get(panels[0]).map(Math.abs));
  const off = Math.abs(value - csv.get(panels[0])[i]);
  assert.ok(shown.includes(panels[0]) && off < FIVE_DIGITS * largest, `${shown} is off by ${off}`);

  // the slider changes the shape, and its factor is on the screen
  const bent = await run(page, () => lissom.bodies().find((body) => lissom.tube(body).length > 0));
  const before = await run(page, (body) => lissom.tube(body), bent);
  const slider = page.getByLabel("Exaggeration of the deformation");
  await slider.fill(String(Math.log10(exaggeration)));
  await run(page, () => lissom.seek(lissom.time()));
  const after = await run(page, (body) => lissom.tube(body), bent);
  const change = Math.max(...after.map((x, k) => Math.abs(x - before[k])));
  assert.ok(change > 1e-6 * length, `${model}: the slider does not change ${bent}`);
  for (const [body, joint] of carried) {
    const [tip, place] = await run(page, ([body, joint]) => [lissom.tubeEnds(body)[1], lissom.joint(joint)], [body, joint]);
    const gap = Math.hypot(...tip.map((x, axis) => x - place[axis]));
    assert.ok(gap < TIP_TOLERANCE * length, `${joint} is ${gap} m off the tip of the exaggerated ${body}`);
  }
  // both sides of every joint are drawn in one place, in loops too, and rigid bodies where their joints are
  const joints = await run(page, () => lissom.jointSides());
  const apart = Math.max(0, ...joints.map(({ sides: [from, to] }) => Math.hypot(...from.map((x, axis) => x - to[axis]))));
  assert.ok(apart < HELD * exaggeration * length, `${model}: joints come apart by ${apart} m at × ${exaggeration}`);
  const badge = await page.locator(".badge-exaggeration").innerText();
  assert.ok(badge.includes(`× ${exaggeration}`), badge);
  await page.screenshot({ path: join(folder, `${label}-exaggerated.png`) });
  await slider.fill("0");

  // the highest peak of a spectrum is the sum that defines it
  const moves = (key) => csv.get(key).some((x) => x !== csv.get(key)[0]);
  const name = [".deflection.y", ".position.y"]
    .map((kind) => [...csv.keys()].find((key) => key.includes(kind) && moves(key)))
    .find((found) => found !== undefined);
  const peak = await run(page, (name) => {
    const { hz, amplitude } = lissom.spectrum(name);
    const at = amplitude.indexOf(Math.max(...amplitude));
    return { hz: hz[at], amplitude: amplitude[at] };
  }, name);
  const expected = amplitudeAt(peak.hz, times, csv.get(name));
  assert.ok(Math.abs(peak.amplitude / expected - 1) < SPECTRUM, `${name}: ${peak.amplitude} instead of ${expected}`);

  // marked are the natural frequencies of the mechanism in the shown time, and the page says so
  if (frequencies.length > 0) {
    await page.locator("#spectrum").scrollIntoViewIfNeeded();
    await page.waitForFunction(() => lissom.marks().length > 0);
    const marks = await run(page, () => lissom.marks());
    assert.equal(marks.length, frequencies.length);
    for (const [k, name] of frequencies.entries()) {
      const found = await run(page, ([name, t]) => lissom.value(name, t), [name, times[i]]);
      const mark = marks.find(({ text }) => text === `mode ${k + 1}`);
      const [low, high] = mark.range.map((hz) => 2 * Math.PI * hz);
      assert.ok(found > low * (1 - SINGLE) && found < high * (1 + SINGLE), `${name}: ${found} is not in ${mark.range}`);
    }
    assert.match(await page.locator("#spectrum p.hint").innerText(), /natural frequencies of the mechanism, driven joints held/);
    await page.screenshot({ path: join(folder, `${label}-spectrum.png`) });
    await page.locator("h1").scrollIntoViewIfNeeded();
  }

  // the animation moves, by button and by keyboard
  await run(page, () => lissom.seek(lissom.span()[0]));
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForFunction(() => lissom.frameCost().length > 5);
  await page.keyboard.press("Escape");
  await page.locator("body").press("k");
  await page.locator("h1").click();
  await page.keyboard.press("Space");
  assert.equal(await run(page, () => lissom.playing()), false, "the space bar does not pause");
  assert.ok((await run(page, () => lissom.time() - lissom.span()[0])) > 0, "the time stands still");

  // pictures for people
  await run(page, (t) => lissom.seek(t), times[i]);
  await page.screenshot({ path: join(folder, `${label}.png`) });
  await page.screenshot({ path: join(folder, `${label}-page.png`), fullPage: true });
  const cost = await run(page, () => lissom.frameCost());
  assert.deepEqual(page.complaints, []);
  await page.close();
  const mean = cost.reduce((sum, x) => sum + x, 0) / cost.length;
  console.log(`${label}: markers within ${worst.toExponential(1)} of ${length.toFixed(2)} m, ${mean.toFixed(2)} ms of script per frame`);
}

/** Several recordings over each other, dark, and the files that the page saves. */
async function overlaysAndSaves() {
  const [a, b] = ["two-link-arm", "heavy"].map((name) => join(folder, name));
  lissom("run", "two-link-arm", "--set", "payload.gripper.mass_kg=0.6", "--quiet", "--out", b);
  const out = join(folder, "both.html");
  lissom("report", a, b, "--out", out, "--quiet");
  const page = await open(out, { colorScheme: "dark" });
  assert.equal(await run(page, () => JSON.parse(document.getElementById("lissom-json").textContent).recordings.length), 2);
  const t = readCsv(join(a, "recording.csv")).get("time_s")[150];
  const name = "hand.position.x";
  for (const [index, from] of [a, b].entries()) {
    const found = await run(page, ([name, t, index]) => lissom.plotted(name, t, index), [name, t, index]);
    const expected = readCsv(join(from, "recording.csv")).get(name)[150];
    assert.ok(Math.abs(found.value - expected) < SINGLE, `${found.value} is not ${expected}`);
  }
  await run(page, (t) => lissom.seek(t), t);
  await page.screenshot({ path: join(folder, "both-dark.png") });

  const saved = async (click) => {
    const [download] = await Promise.all([page.waitForEvent("download"), click()]);
    return readFileSync(await download.path());
  };
  const panel = page.locator(".panel").nth(1);
  const text = (await saved(() => panel.getByRole("button", { name: "Save the data of this plot as CSV" }).click())).toString();
  assert.match(text, /^time_s,hand\.position\.x \[m\]/);
  const png = (bytes) => assert.deepEqual([...bytes.subarray(1, 4)], [..."PNG"].map((c) => c.charCodeAt(0)));
  png(await saved(() => panel.getByRole("button", { name: "Save this plot as a picture" }).click()));
  png(await saved(() => page.getByRole("button", { name: "Save the picture" }).click()));

  // zooming shows fewer samples, all of them
  await run(page, () => lissom.setRange(0.5, 0.6));
  const inside = await run(page, ([name]) => lissom.plotted(name, 0.55, 0), [name]);
  assert.ok(Math.abs(inside.time - 0.55) < 0.011);
  assert.deepEqual(page.complaints, []);
  await page.close();
  console.log("two recordings over each other, saving, zooming");
}

/** Measured data stand as points over the curves of the same channels, in SI, and in the first panels. */
async function overlaysMeasuredData() {
  const run_ = join(folder, "two-link-arm");
  const csv = readCsv(join(run_, "recording.csv"));
  const times = csv.get("time_s");
  const chosen = [20, 77, 150, 240];
  const rows = chosen.map((i) => [times[i] + 0.0005, 1000 * csv.get("hand.position.x")[i] + 3].join(";").replaceAll(".", ","));
  const table = join(folder, "experiment.csv");
  writeFileSync(table, ["time_s;hand.position.x [mm]", ...rows, ""].join("\n"));
  const out = join(folder, "measured.html");
  lissom("report", run_, "--measured", table, "--out", out, "--quiet");
  const page = await open(out);
  for (const i of chosen) {
    const found = await run(page, ([t]) => lissom.plotted("hand.position.x", t, 1), [times[i]]);
    assert.ok(Math.abs(found.time - times[i] - 0.0005) < 1e-9, `a measured point at ${found.time}`);
    const expected = csv.get("hand.position.x")[i] + 0.003;
    assert.ok(Math.abs(found.value - expected) < SINGLE * 2, `${found.value} is not ${expected}`);
  }
  const first = page.locator(".panel").first();
  assert.match(await first.locator(".legend").innerText(), /hand\.position\.x · two-link-arm.*hand\.position\.x · experiment\.csv/s);
  // there is ink of the points, which no line connects
  await page.screenshot({ path: join(folder, "measured.png") });
  assert.deepEqual(page.complaints, []);
  await page.close();
  assert.throws(() => lissom("report", run_, "--measured", join(folder, "nothing.csv"), "--out", out, "--quiet"));
  writeFileSync(join(folder, "other.csv"), "time_s,volts\n0,1\n1,2\n");
  assert.throws(() => lissom("report", run_, "--measured", join(folder, "other.csv"), "--out", out, "--quiet"), /no channel of the recording, only volts/);
  console.log("measured data over a recording");
}

/** Bending moments stand on the links where their sections are, as high as recorded, on the side to which the link curves. */
async function drawsMoments() {
  const out = join(folder, "moments");
  lissom("run", "two-link-arm", "--set", "output.load_sections=9", "--report", "--quiet", "--out", out);
  const page = await open(join(out, "report.html"));
  const csv = readCsv(join(out, "recording.csv"));
  const times = csv.get("time_s");
  const moment = (body, k, i) => csv.get(`${body}.section_${k}.bending_moment.z`)[i];
  const length = await run(page, () => lissom.length());
  const bodies = ["upper_arm", "forearm"];
  const all = bodies.flatMap((body) => Array.from({ length: 9 }, (_, k) => times.map((_, i) => Math.abs(moment(body, k + 1, i)))));
  const largest = Math.max(...all.flat());
  for (const share of [0.2, 0.5, 0.9]) {
    const i = Math.round(share * (times.length - 1));
    await run(page, (t) => lissom.seek(t), times[i]);
    for (const body of bodies) {
      const planes = await run(page, (body) => lissom.ordinates(body), body);
      assert.equal(planes.length, 1, `${body} bends in one plane`);
      const { from, to } = planes[0];
      const [root, tip] = await run(page, (body) => lissom.tubeEnds(body), body);
      [[from[0], root], [from[8], tip]].forEach(([a, b]) => {
        assert.ok(Math.hypot(...a.map((x, axis) => x - b[axis])) < TIP_TOLERANCE * length, `${body} has its diagram elsewhere`);
      });
      from.forEach((start, k) => {
        const high = Math.hypot(...to[k].map((x, axis) => x - start[axis]));
        const expected = (0.16 * length * Math.abs(moment(body, k + 1, i))) / largest;
        assert.ok(Math.abs(high - expected) < 1e-5 * length, `section ${k + 1} of ${body}: ${high} is not ${expected}`);
      });
      // a positive moment curves the beam to its left
      const [along, up] = [tip.map((x, axis) => x - root[axis]), to[0].map((x, axis) => x - from[0][axis])];
      const left = along[0] * up[1] - along[1] * up[0];
      assert.ok(left * moment(body, 1, i) >= 0, `${body} has its diagram on the other side`);
    }
  }
  assert.match(await page.locator(".moment-scale").innerText(), /largest bending moment .* N m/);
  await page.screenshot({ path: join(folder, "moments.png") });
  await page.keyboard.press("m");
  assert.equal(await page.getByLabel("moments").isChecked(), false);
  await page.screenshot({ path: join(folder, "moments-off.png") });
  assert.deepEqual(page.complaints, []);
  await page.close();
  console.log("bending moments over the links");
}

/** Bode plots, poles and maps are those of the files, and joints that follow a motion have their errors shown. */
async function showsAnalyses() {
  const arm = join(folder, "two-link-arm");
  const [response, modes, map] = ["response.json", "modes.json", "map.csv"].map((name) => join(folder, name));
  lissom("response", "two-link-arm", "--out", response, "--quiet");
  writeFileSync(modes, lissom("modes", "two-link-arm", "--json"));
  lissom("map", "two-link-arm", "--over", "shoulder.angle=-1:1:9", "--over", "elbow.angle=0.1:2.5:7", "--out", map, "--quiet");
  const out = join(folder, "analyses.html");
  lissom("report", arm, ...[response, modes, map].flatMap((file) => ["--analysis", file]), "--out", out, "--quiet");
  const page = await open(out);
  await page.locator("#analysis").scrollIntoViewIfNeeded();
  const { frequency_rad_per_s: omega, real, imaginary, pole_imaginary: poles } = JSON.parse(readFileSync(response, "utf8"));
  const drawn = await run(page, () => lissom.bode(0, 0, 0));
  for (const i of [0, omega.length >> 1, omega.length - 1]) {
    const expected = Math.hypot(real[i][0][0], imaginary[i][0][0]);
    assert.ok(Math.abs(drawn[0][i] / expected - 1) < 1e-9, `${drawn[0][i]} is not ${expected}`);
    const turned = drawn[1][i] - (Math.atan2(imaginary[i][0][0], real[i][0][0]) * 180) / Math.PI;
    assert.ok(Math.abs(turned / 360 - Math.round(turned / 360)) < 1e-9, "the phase is another");
  }
  const articles = page.locator("article.analysis");
  assert.equal(await articles.count(), 3);
  assert.equal(await articles.nth(0).locator("path.pole").count(), poles.flatMap((im) => (im === 0 ? [im] : [im, -im])).length);
  assert.equal(await articles.nth(0).locator("canvas").count(), 2);
  const found = JSON.parse(readFileSync(modes, "utf8"));
  assert.equal(await articles.nth(1).locator("path.pole").count(), found.modes.flatMap((mode) => mode.eigenvalues[0]).length);
  // the map under the pointer says what its row of the table says
  const table = readCsv(map);
  await articles.nth(2).locator("canvas").scrollIntoViewIfNeeded();
  const box = await articles.nth(2).locator("canvas").boundingBox();
  for (const [column, row] of [[0, 0], [8, 6], [3, 5]]) {
    await page.mouse.move(box.x + (box.width * (column + 0.5)) / 9, box.y + (box.height * (6 - row + 0.5)) / 7);
    const said = await articles.nth(2).locator("output").innerText();
    const value = Number(/: (\S+) rad\/s$/.exec(said)?.[1]);
    const expected = table.get("lowest_frequency")[row * 9 + column];
    assert.ok(Math.abs(value / expected - 1) < FIVE_DIGITS, `${said}, expected ${expected}`);
  }
  await articles.nth(0).screenshot({ path: join(folder, "bode.png") });
  await articles.nth(1).screenshot({ path: join(folder, "poles.png") });
  await articles.nth(2).screenshot({ path: join(folder, "map.png") });
  await articles.nth(0).getByLabel("Output").selectOption("1");
  assert.match(await articles.nth(0).innerText(), /does not move this output/);
  assert.deepEqual(page.complaints, []);
  await page.close();
  assert.throws(() => lissom("report", arm, "--analysis", join(arm, "recording.csv"), "--out", out, "--quiet"), /no column of a map/);

  const driven = join(folder, "tracking");
  lissom("run", "spatial-two-link", "--set", "simulation.duration_s=0.2", "--report", "--quiet", "--out", driven);
  const tracked = await open(join(driven, "report.html"));
  assert.match(await tracked.locator(".panel-title").allInnerTexts().then((titles) => titles.join(", ")), /Tracking errors in rad/);
  const csv = readCsv(join(driven, "recording.csv"));
  const off = await run(tracked, () => lissom.plotted("hinge_3.rotation_error", 0.15));
  const i = csv.get("time_s").findIndex((t) => Math.abs(t - off.time) < 1e-9);
  assert.ok(Math.abs(off.value - csv.get("hinge_3.rotation_error")[i]) < SINGLE, "another tracking error");
  await tracked.screenshot({ path: join(folder, "tracking.png") });
  assert.deepEqual(tracked.complaints, []);
  await tracked.close();
  console.log("Bode plots, poles, a map, tracking errors");
}

/** A recording without coordinates has plots and says why there is no animation. */
async function withoutCoordinates() {
  const out = join(folder, "energy-only");
  lissom("run", "two-link-arm", "--set", 'output.channels=["energy"]', "--report", "--quiet", "--out", out);
  const page = await open(join(out, "report.html"));
  assert.match(await page.locator(".nothing").innerText(), /no animation.*output\.channels/s);
  assert.ok(Math.abs((await run(page, () => lissom.plotted("energy.kinetic", 1))).time - 1) < 1e-9);
  assert.deepEqual(page.complaints, []);
  await page.close();
  console.log("no animation without coordinates, and the page says so");
}

/** A pendulum of a mesh of 1000 units along its z axis, on a box; the same mesh, mirrored, beside its bob. */
const DRAWN = `format = 1
gravity_m_per_s2 = [0.0, 0.0, -9.81]
body = [{ name = "rod", rigid = { mass_kg = 1.0, center_of_mass_m = [0.0, 0.0, -0.5], inertia_kg_m2 = [0.1, 0.1, 0.01] } }]
joint = [{ name = "pivot", parent = "ground", child = "rod", revolute = { axis = [0.0, 1.0, 0.0], initial_angle_rad = 1.0 } }]
marker = [{ name = "end", body = "rod", position_m = [0.0, 0.0, -1.0] }]
visual = [
  { body = "ground", position_m = [0.0, 0.0, 0.3], box = { edges_m = [0.2, 0.4, 0.6] } },
  { body = "rod", rotation_vector_rad = [3.141592653589793, 0.0, 0.0], mesh = { file = "needle.obj", scale = [0.001, 0.001, 0.001] } },
]
`;

/** Meshes of the model stand where their bodies do. */
async function drawsWhatBodiesLookLike() {
  writeFileSync(join(folder, "drawn.toml"), DRAWN);
  writeFileSync(join(folder, "needle.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1000\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
  const out = join(folder, "drawn");
  lissom("run", join(folder, "drawn.toml"), "--report", "--quiet", "--out", out);
  const page = await open(join(out, "report.html"));
  const [base] = await run(page, () => lissom.visuals(null));
  for (const [found, expected] of [[base[0], [-0.1, -0.2, 0]], [base[1], [0.1, 0.2, 0.6]]]) {
    found.forEach((x, axis) => assert.ok(Math.abs(x - expected[axis]) < TIP_TOLERANCE, `the base reaches to ${found}`));
  }
  const csv = readCsv(join(out, "recording.csv"));
  const times = csv.get("time_s");
  for (const share of [0, 0.3, 0.8]) {
    const i = Math.round(share * (times.length - 1));
    await run(page, (t) => lissom.seek(t), times[i]);
    const [[low, high], ...more] = await run(page, () => lissom.visuals("rod"));
    assert.equal(more.length, 0);
    // the needle ends in the marker, and begins in the pivot, a thousandth wide
    const end = recordedPlace(csv, "end", i);
    [0, 2].forEach((axis) => {
      const [least, most] = [Math.min(end[axis], 0), Math.max(end[axis], 0)];
      const off = Math.max(Math.abs(low[axis] - least), Math.abs(high[axis] - most));
      assert.ok(off < 2 * TIP_TOLERANCE, `the needle is ${off} m off`);
    });
  }
  assert.deepEqual(page.complaints, []);
  await page.screenshot({ path: join(folder, "drawn.png") });
  await page.close();
  console.log("meshes and shapes of rigid bodies and the ground");
}

/** A bar of four bricks along x as a Gmsh file of version 2.2, with the ends as physical groups. */
function bar() {
  const nodes = [];
  for (let i = 0; i <= 4; i++) {
    for (const [y, z] of [[0, 0], [0.1, 0], [0.1, 0.05], [0, 0.05]]) {
      nodes.push(`${nodes.length + 1} ${0.25 * i} ${y} ${z}`);
    }
  }
  const section = (i) => [1, 2, 3, 4].map((k) => 4 * i + k);
  const bricks = [0, 1, 2, 3].map((i) => `${i + 3} 5 2 3 3 ${section(i).join(" ")} ${section(i + 1).join(" ")}`);
  const ends = [0, 4].map((i, k) => `${k + 1} 3 2 ${k + 1} ${k + 1} ${section(i).join(" ")}`);
  const lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", 3, '2 1 "root"', '2 2 "tip"', '3 3 "bar"', "$EndPhysicalNames"];
  lines.push("$Nodes", nodes.length, ...nodes, "$EndNodes", "$Elements", 6, ...ends, ...bricks, "$EndElements", "");
  return lines.join("\n");
}

const MESHED = `format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "bar"
[body.mesh]
file = "bar.msh"
material = [{ youngs_modulus_pa = 2.0e7, poisson_ratio = 0.3, density_kg_per_m3 = 1000.0 }]
interface = [{ name = "root" }, { name = "tip" }]
basis.clamped_free = { modes = 2 }
[[joint]]
name = "pivot"
parent = "ground"
child = { body = "bar", at = "root" }
revolute = { axis = [0.0, 0.0, 1.0] }
[[marker]]
name = "tip"
body = "bar"
at = "tip"
`;

/** The surface of a meshed link goes with its tip, and where the link bends there is stress. */
async function drawsSurfaces() {
  writeFileSync(join(folder, "meshed.toml"), MESHED);
  writeFileSync(join(folder, "bar.msh"), bar());
  const out = join(folder, "meshed");
  lissom("run", join(folder, "meshed.toml"), "--report", "--quiet", "--out", out);
  const page = await open(join(out, "report.html"));
  const csv = readCsv(join(out, "recording.csv"));
  const times = csv.get("time_s");
  for (const share of [0.3, 0.7, 1]) {
    const i = Math.round(share * (times.length - 1));
    await run(page, (t) => lissom.seek(t), times[i]);
    const { vertices, load } = await run(page, () => lissom.surface("bar"));
    const tip = recordedPlace(csv, "tip", i);
    // the interface is the mean of four corners
    const corners = [0, 1, 2].map((axis) => vertices.filter((_, k) => k % 3 === axis));
    const near = corners[0].map((_, k) => Math.hypot(...tip.map((x, axis) => x - corners[axis][k])));
    const four = near.map((distance, k) => [distance, k]).sort((a, b) => a[0] - b[0]).slice(0, 4);
    const mean = corners.map((along) => four.reduce((sum, [, k]) => sum + along[k] / 4, 0));
    const off = Math.hypot(...tip.map((x, axis) => x - mean[axis]));
    // surfaces are displaced to first order: slopes of a few hundredths, squared
    assert.ok(off < 5e-3, `the drawn tip is ${off} m off`);
    assert.ok(Math.max(...load) > 0, "a link that bends has no stress");
  }
  assert.deepEqual(page.complaints, []);
  await page.close();
  console.log("the surface of a meshed link, with stress");
}

/** The page of a body moves in the mode that is chosen, and stands still when it is asked to. */
async function movesInItsModes() {
  const bar = `${join(folder, "meshed.toml")}:bar`;
  const path = join(folder, "bar.html");
  const { modes } = JSON.parse(lissom("body", bar, "--json", "--page", path));
  const page = await open(path, {}, () => document.querySelectorAll("#modes button").length > 0);
  assert.equal(await page.locator("#modes button").count(), modes.length);
  const picture = () =>
    run(page, async () => {
      for (let k = 0; k < 2; k += 1) {
        await new Promise((drawn) => requestAnimationFrame(drawn));
      }
      return document.getElementById("canvas").toDataURL();
    });
  const before = await picture();
  await page.waitForFunction((own) => document.getElementById("canvas").toDataURL() !== own, before);
  await page.getByLabel("stand still").check();
  const first = await picture();
  assert.equal(await picture(), first, "it moves while it stands still");
  await page.getByRole("button", { name: "2", exact: true }).click();
  assert.notEqual(await picture(), first, "two modes look alike");
  const hertz = Number.parseFloat(await page.locator("#says").textContent());
  assert.ok(Math.abs((hertz * 2 * Math.PI) / modes[1].frequency_rad_per_s - 1) < 1e-4, `mode 2 at ${hertz} Hz`);
  assert.deepEqual(page.complaints, []);
  await page.screenshot({ path: join(folder, "bar.png") });
  await page.close();
  console.log("the page of a body, in its modes");
}

/** 60 s at 1 kHz with 40 channels that change: prints how long it takes to open and to animate. */
async function large() {
  const out = join(folder, "large");
  const set = ["simulation.duration_s=60", "output.sample_period_s=0.001", 'output.formats=["npz"]'];
  lissom("run", "two-link-arm", ...set.flatMap((change) => ["--set", change]), "--report", "--quiet", "--out", out);
  const path = join(out, "report.html");
  const page = await open(path);
  const channels = await run(page, () => {
    const all = JSON.parse(document.getElementById("lissom-json").textContent).recordings[0].channels;
    return [all.length, all.filter((channel) => channel.samples).length];
  });
  const ready = await run(page, () => Number(document.documentElement.dataset.ready));
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForFunction(() => lissom.frameCost().length > 60, null, { timeout: 120_000 });
  const cost = (await run(page, () => lissom.frameCost())).sort((a, b) => a - b);
  assert.match(await page.locator(".thinned").innerText(), /of 60001 samples/);
  assert.deepEqual(page.complaints, []);
  await page.close();
  const template = statSync(join(import.meta.dirname, "../../crates/lissom-report/page/report.html")).size;
  const line =
    `60 s at 1 kHz, ${channels[0]} channels of which ${channels[1]} change: ${(statSync(path).size / 1e6).toFixed(1)} MB ` +
    `(page ${(template / 1e6).toFixed(2)} MB), open in ${ready} ms, script per frame: median ` +
    `${cost[cost.length >> 1].toFixed(2)} ms, 95 % below ${cost[Math.floor(0.95 * cost.length)].toFixed(2)} ms`;
  writeFileSync(join(folder, "large.txt"), line + "\n");
  console.log(line);
}

try {
  for (const model of MODELS) {
    await shows(model);
  }
  await overlaysAndSaves();
  await overlaysMeasuredData();
  await drawsMoments();
  await showsAnalyses();
  await withoutCoordinates();
  await drawsWhatBodiesLookLike();
  await drawsSurfaces();
  await movesInItsModes();
  await large();
  console.log(`pictures are in ${folder}`);
} finally {
  await browser.close();
}
