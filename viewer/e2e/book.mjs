// The book and the pages of the Rust libraries in a real browser. Needs LISSOM_BOOK_DIR, the folder that docs/book/build has made,
// LISSOM_RUSTDOC_DIR, the one of docs/rustdoc/build, and LISSOM_E2E_DIR, a folder for pictures; CHROMIUM names the browser unless it
// is /usr/bin/chromium.
//
// Truth held: on every page equations are typeset, pictures are there and nothing is asked of a network; search finds a word.

import { mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const book = process.env.LISSOM_BOOK_DIR && resolve(process.env.LISSOM_BOOK_DIR);
const rustdoc = process.env.LISSOM_RUSTDOC_DIR && resolve(process.env.LISSOM_RUSTDOC_DIR);
const folder = process.env.LISSOM_E2E_DIR && resolve(process.env.LISSOM_E2E_DIR);
assert.ok(book && rustdoc && folder, "set LISSOM_BOOK_DIR, LISSOM_RUSTDOC_DIR and LISSOM_E2E_DIR");
mkdirSync(folder, { recursive: true });

/** A book of this size in bytes can be sent along with a release. */
const LARGEST = 12e6;
/** Pages that are kept as pictures, in light or dark. */
const PICTURES = [
  ["index.html", "light"],
  ["docs/guide/first-arm.html", "light"],
  ["docs/theory/rigid.html", "light"],
  ["docs/theory/recursions.html", "dark"],
  ["docs/notebooks/scara-lqg.html", "dark"],
];
/** What shows that TeX was not typeset: commands, or dollars with back quotes. */
const RAW = /\\(?:frac|tfrac|int|sum|begin|dot|ddot|omega|eta|Pi|text|mathrm)\b|\$`|`\$/;

/** Libraries whose pages are looked at: the front door, and the recursions, which have most of the equations. */
const LIBRARIES = ["lissom", "lissom_tree"];
/** Equations as rustdoc leaves them, before a browser has run the script in the page. */
const LEFT_BY_RUSTDOC = /\$<code>|<pre class="language-math">/;

const files = readdirSync(book, { recursive: true }).map((name) => join(book, name));
const pages = files.filter((path) => path.endsWith(".html")).map((path) => relative(book, path)).sort();
const bytes = files.map((path) => statSync(path)).filter((stat) => stat.isFile()).reduce((sum, stat) => sum + stat.size, 0);
assert.ok(pages.length > 40, `only ${pages.length} pages`);
assert.ok(bytes < LARGEST, `the book has ${bytes} bytes`);
assert.ok(statSync(join(book, "searchindex.js")).size > 1e4, "the index of words is empty");

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

/** Opens pages one after the other and complains of every error, and of every request beyond their folder. */
async function reader(colorScheme, home = book) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, colorScheme });
  page.complaints = [];
  const own = pathToFileURL(home).href;
  page.on("request", (request) => {
    if (!request.url().startsWith(own) && !request.url().startsWith("data:")) {
      page.complaints.push(`request: ${request.url()}`);
    }
  });
  page.on("requestfailed", (request) => page.complaints.push(`failed: ${request.url()}`));
  page.on("pageerror", (error) => page.complaints.push(`error: ${error.stack}`));
  return page;
}

const address = (name) => pathToFileURL(join(book, name)).href;

/** Pages of the libraries that have equations. */
function pagesWithEquations() {
  const all = LIBRARIES.flatMap((library) =>
    readdirSync(join(rustdoc, library), { recursive: true }).map((name) => join(rustdoc, library, name)));
  return all.filter((path) => path.endsWith(".html") && LEFT_BY_RUSTDOC.test(readFileSync(path, "utf8"))).sort();
}

/** What a page shows: equations and their errors, pictures without pixels, text outside of code that looks like TeX. */
function seen(raw) {
  const outside = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest("code, pre, script, style, .katex") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const texts = [];
  while (outside.nextNode()) {
    texts.push(outside.currentNode.data);
  }
  const equations = [...document.querySelectorAll(".math")];
  return {
    equations: equations.length,
    bare: equations.filter((node) => !node.querySelector(".katex-html")).map((node) => node.textContent.slice(0, 80)),
    errors: [...document.querySelectorAll(".katex-error")].map((node) => node.title),
    raw: texts.filter((text) => new RegExp(raw).test(text)),
    broken: [...document.images].filter((image) => image.naturalWidth === 0).map((image) => image.src),
    pictures: document.images.length,
  };
}

try {
  const page = await reader("light");
  const all = { equations: 0, pictures: 0 };
  for (const name of pages) {
    await page.goto(address(name));
    const { equations, pictures, ...wrong } = await page.evaluate(seen, RAW.source);
    assert.deepEqual(wrong, { bare: [], errors: [], raw: [], broken: [] }, name);
    all.equations += equations;
    all.pictures += pictures;
  }
  assert.ok(all.equations > 300 && all.pictures > 1, JSON.stringify(all));
  // fonts of the book, not those of the machine
  await page.goto(address("docs/theory/recursions.html"));
  await page.evaluate(() => document.fonts.ready);
  assert.ok(await page.evaluate(() => document.fonts.check("16px KaTeX_Math")), "KaTeX has no fonts");

  await page.goto(`${address("search.html")}?q=shortening`);
  await page.waitForFunction(() => document.querySelectorAll("#search-results ul.search li").length > 3);
  const found = await page.locator("#search-results ul.search li a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  assert.ok(found.some((link) => link.includes("docs/guide/flexible-bodies.html")), found.join(" "));
  assert.deepEqual(page.complaints, []);

  const libraries = await reader("light", rustdoc);
  const withEquations = pagesWithEquations();
  let inLibraries = 0;
  for (const path of withEquations) {
    await libraries.goto(pathToFileURL(path).href);
    await libraries.waitForSelector(".katex-html", { state: "attached" });
    const { equations, pictures, ...wrong } = await libraries.evaluate(seen, RAW.source);
    assert.deepEqual(wrong, { bare: [], errors: [], raw: [], broken: [] }, path);
    const body = await libraries.evaluate(() => document.body.innerHTML);
    assert.doesNotMatch(body, LEFT_BY_RUSTDOC, path);
    inLibraries += equations;
  }
  assert.ok(withEquations.length > 40 && inLibraries > 150, `${inLibraries} equations on ${withEquations.length} pages`);
  assert.deepEqual(libraries.complaints, []);
  const version = () => window.katex.version;
  await page.goto(address("docs/theory/recursions.html"));
  assert.equal(await libraries.evaluate(version), await page.evaluate(version), "the script in docs/rustdoc is not that of the book");
  await libraries.goto(pathToFileURL(join(rustdoc, "lissom_tree/tree/index.html")).href);
  await libraries.evaluate(() => document.fonts.ready);
  await libraries.screenshot({ path: join(folder, "rustdoc-tree.png") });

  for (const [name, scheme] of PICTURES) {
    const shown = await reader(scheme);
    await shown.goto(address(name));
    await shown.evaluate(() => document.fonts.ready);
    const label = `book-${name.replace(/.*\//, "").replace(".html", "")}-${scheme}.png`;
    await shown.screenshot({ path: join(folder, label) });
    await shown.close();
  }
  console.log(`${pages.length} pages, ${(bytes / 1e6).toFixed(1)} MB, ${all.equations} equations, ${all.pictures} pictures;`,
    `${inLibraries} equations on ${withEquations.length} pages of the libraries`);
} finally {
  await browser.close();
}
