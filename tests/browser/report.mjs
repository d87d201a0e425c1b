// Drives the page of a report in Chromium, as a reader does, at the width of a phone and of a
// desktop, light and dark:
//
//     node report.mjs PAGE BROWSER [FOLDER]
//
// With a folder, pictures of what was seen are written there. The exit status says whether it
// failed; checks for which a page has nothing to try are reported as not run.
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [path, executablePath, folder] = process.argv.slice(2);
const url = pathToFileURL(path).href;
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const WIDTHS = { phone: { width: 390, height: 844 }, desktop: { width: 1400, height: 900 } };
const MOST_MS = 2000;
if (folder) mkdirSync(folder, { recursive: true });

let n_failed = 0;
function hold(is_so, what) {
  if (is_so) return;
  n_failed += 1;
  console.log(`FAILED: ${what}`);
}

const browser = await chromium.launch({
  executablePath,
  args: [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
  ],
});
const notes = new Set();
for (const [size, viewport] of Object.entries(WIDTHS)) {
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport, colorScheme });
    await drive(await context.newPage(), `${size} ${colorScheme}`);
    await context.close();
  }
}
await without_script();
if (folder) await for_readers();
await browser.close();
for (const note of notes) console.log(`not run: ${note}`);
console.log(n_failed === 0 ? "the page works in a browser" : `${n_failed} failed`);
process.exit(n_failed === 0 ? 0 : 1);

async function drive(page, name) {
  const said = [];
  page.on("console", (message) => {
    if (message.type() === "error") said.push(message.text());
  });
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:")) said.push(`asks for ${request.url()}`);
  });
  await page.goto(url);
  const loaded = await page.evaluate(() => {
    const { domContentLoadedEventEnd, loadEventEnd } = performance.getEntriesByType("navigation")[0];
    return [domContentLoadedEventEnd, loadEventEnd];
  });
  console.log(`${name}: interactive after ${loaded.map((ms) => ms.toFixed(0)).join(" and ")} ms`);
  hold(Math.max(...loaded) < MOST_MS, `${name}: slower than ${MOST_MS} ms`);
  await look(page, `${name}, overview`);

  const group = await page.$$eval("section.group", (groups) => {
    const most = (group) => group.querySelectorAll(".map-list a").length;
    return (groups.find((group) => group.id === "transpose")
      ?? groups.sort((a, b) => most(b) - most(a))[0]).id;
  });
  await choose_group(page, name, group);
  await choose_kernel(page, name, group);
  await resize(page, name);
  await choose_map(page, name);
  await choose_phase(page, name);
  await step(page, name);
  await unfold(page, name);
  await compare(page, name, group);
  await filter(page, name);
  hold(said.length === 0, `${name}: the console says ${said.join("; ")}`);
}

// Nothing is wider than the page.
async function fits(page, name) {
  const wide = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (element) => {
      for (let at = element.parentElement; at; at = at.parentElement) {
        if (["auto", "scroll", "hidden"].includes(getComputedStyle(at).overflowX)) return true;
      }
      return false;
    };
    const is_wide = (element) => {
      const { right, left, width: own } = element.getBoundingClientRect();
      return own > 0 && (right > width + 1 || left < -1) && !element.closest(".skip") && !scrolls(element);
    };
    const found = [...document.body.querySelectorAll("*")].filter(is_wide).slice(0, 3);
    if (document.documentElement.scrollWidth > width) found.push(document.documentElement);
    return found.map((element) => element.outerHTML.slice(0, 120));
  });
  hold(wide.length === 0, `${name}: wider than the page: ${wide.join(" and ")}`);
}

// Nothing clipped or empty, and no error of accessibility.
async function look(page, name) {
  await fits(page, name);
  await page.addScriptTag({ path: axe }).catch(() => {});
  const problems = await page.evaluate(async () => {
    if (!window.axe) return ["axe is not there"];
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes[0].html.slice(0, 160)}: ${nodes[0].failureSummary}`);
  });
  hold(problems.length === 0, `${name}: ${problems.join("\n  ")}`);
  if (folder) await page.screenshot({ path: `${folder}/${name.replace(/[ ,]+/g, "-")}.png` });
}

function shown(page, selector) {
  return page.$$eval(selector, (elements) =>
    elements.filter((element) => element.checkVisibility()).length);
}

async function choose_group(page, name, group) {
  const menu = page.locator("nav.groups details");
  if (!(await menu.evaluate((details) => details.open))) await menu.locator("summary").click();
  // By keyboard.
  await page.locator(`nav.groups a[href="#${group}"]`).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction((id) => document.getElementById(id).classList.contains("open"), group);
  hold((await shown(page, "section.group")) === 1, `${name}: other groups are shown next to ${group}`);
  const unfolds = page.locator(`section.group.open .unfolds`);
  for (let at = 0; at < (await unfolds.count()); at += 1) await unfolds.nth(at).locator("svg").waitFor();
  await look(page, `${name}, group`);
}

async function choose_kernel(page, name, group) {
  const links = page.locator(`section.group.open .ladder tbody th a`);
  const wasteful = await page.$$eval(`section.group.open .kernel`, (kernels) =>
    kernels.findIndex((kernel) => kernel.querySelector(".map-list .wasteful")));
  await links.nth(Math.max(wasteful, 0)).click();
  await page.locator(".kernel.open").waitFor();
  hold((await shown(page, "article.kernel")) === 1, `${name}: not one kernel is shown`);
  hold(page.url().includes(`#${group}/`), `${name}: the address does not name the kernel`);
  if ((await page.locator(".kernel.open .map-list a").count()) > 0) {
    await page.locator(".kernel.open .map-shown svg").waitFor();
  }
  await look(page, `${name}, kernel`);
}

// Widths between a phone's and a desktop's.
async function resize(page, name) {
  const own = page.viewportSize();
  for (const width of [1300, 1200, 1050, 900, 700, 520]) {
    await page.setViewportSize({ ...own, width });
    await fits(page, `${name}, ${width} wide`);
  }
  await page.setViewportSize(own);
}

function picture(page) {
  return page.locator(".kernel.open .map-shown").first().innerHTML();
}

async function choose_map(page, name) {
  const links = page.locator(".kernel.open .map-list a:not([aria-current])");
  if ((await links.count()) === 0) return void notes.add("a kernel with several maps");
  const before = await picture(page);
  const link = links.first();
  await link.focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction((before) =>
    document.querySelector(".kernel.open .map-shown").innerHTML !== before, before);
  const now = await picture(page);
  hold(now !== before && now.includes("<svg"), `${name}: another map is the same picture`);
  await page.locator(".kernel.open .maps").first().scrollIntoViewIfNeeded();
  if (folder) await page.screenshot({ path: `${folder}/${name.replace(" ", "-")}-map.png` });
}

// The first kernel of the page with an access of several phases.
async function choose_phase(page, name) {
  const start = page.url();
  const anchors = await page.$$eval(".map-list a", (links) => links
    .filter((link) => /phase/.test(link.closest("li").textContent) || /\.(v2|v4|64|128)/.test(link.textContent))
    .map((link) => link.getAttribute("href")));
  for (const anchor of anchors.slice(0, 40)) {
    await page.evaluate((anchor) => { location.hash = anchor; }, anchor);
    await page.waitForFunction((name) => {
      const place = document.querySelector(".kernel.open .map-shown");
      return place?.dataset.shown === name && place.querySelector("svg");
    }, anchor.split("@")[1]);
    const radios = page.locator(".kernel.open .phases:not([hidden]) input");
    if ((await radios.count()) < 3) continue;
    const visible = () => page.$$eval(".kernel.open .map-shown .phase", (phases) =>
      phases.filter((phase) => phase.getBoundingClientRect().width > 0).length);
    const all = await visible();
    await radios.nth(1).check();
    const one = await visible();
    hold(all >= 2 && one === 1, `${name}: of ${all} phases ${one} are shown where one was chosen`);
    await look(page, `${name}, phase`);
    await page.goto(start);
    await page.locator(".kernel.open").waitFor();
    return;
  }
  notes.add("a map with several phases");
  await page.goto(start);
}

// A kernel's run, back and forth.
async function step(page, name) {
  const player = page.locator(".kernel.open section.player[data-ready]").first();
  if ((await player.count()) === 0) return void notes.add("a kernel with a player");
  const now = () => player.locator(".player-now, .player-count").allInnerTexts();
  await player.locator(".player-slider").focus();
  const first = await now();
  await page.keyboard.press("ArrowRight");
  hold(String(await now()) !== String(first), `${name}: the next frame is the same`);
  await page.keyboard.press("ArrowLeft");
  hold(String(await now()) === String(first), `${name}: a step back is not where it was`);
}

async function unfold(page, name) {
  const ptx = page.locator(".kernel.open details.ptx").first();
  if ((await ptx.count()) === 0) return void notes.add("a kernel with PTX");
  await ptx.locator("summary").click();
  await page.waitForFunction(() =>
    document.querySelector(".kernel.open details.ptx pre").textContent.includes(".entry"));
  await page.$$eval(".kernel.open details", (all) => all.forEach((one) => { one.open = true; }));
  await look(page, `${name}, unfolded`);
}

async function compare(page, name, group) {
  const select = page.locator(".kernel.open .tools select").first();
  if ((await select.count()) === 0) return void notes.add("a group of several kernels");
  await select.selectOption({ index: 2 });
  await page.waitForFunction(() => document.querySelectorAll(".kernel.open").length === 2);
  const rows = await shown(page, "section.group.open .ladder tbody tr");
  hold(rows === 2, `${name}: ${rows} rows are shown of two kernels`);
  await page.locator(".kernel.open .map-shown svg").nth(1).waitFor();
  await look(page, `${name}, compared`);
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll(".kernel.open").length === 1);
}

async function filter(page, name) {
  await page.goto(`${url}#`);
  const menu = page.locator("nav.groups details");
  if (!(await menu.evaluate((details) => details.open))) await menu.locator("summary").click();
  const all = await shown(page, ".ladder tbody tr");
  await page.locator("#filter").fill("no such kernel");
  hold((await shown(page, ".ladder tbody tr")) === 0, `${name}: kernels are shown that were filtered out`);
  hold((await shown(page, ".nothing")) === 1, `${name}: it does not say that nothing is left`);
  await page.locator("#filter").fill("");
  hold((await shown(page, ".ladder tbody tr")) === all, `${name}: kernels are lost by the filter`);
}

// Without JavaScript all kernels are there, with their source.
async function without_script() {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: WIDTHS.desktop });
  const page = await context.newPage();
  await page.goto(url);
  const kernels = await page.locator("article.kernel").count();
  const visible = await page.locator("article.kernel:visible").count();
  hold(kernels > 0 && visible === kernels, `without JavaScript ${visible} of ${kernels} kernels are shown`);
  hold((await page.locator(".source:visible").count()) > 0, "without JavaScript no source is shown");
  await context.close();
}

// The README's picture, if the page has the kernel that it shows.
async function for_readers() {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 } });
  const page = await context.newPage();
  await page.goto(url);
  const kernel = "transpose/transpose_shared";
  if (!(await page.evaluate((id) => document.getElementById(id) !== null, kernel))) {
    return void notes.add(`a picture of ${kernel}`);
  }
  await page.goto(`${url}#${kernel}`);
  await page.locator(".kernel.open .map-shown svg").waitFor();
  await page.evaluate(() => document.getElementById("transpose").scrollIntoView());
  await page.screenshot({ path: `${folder}/report.png` });
  await context.close();
}
