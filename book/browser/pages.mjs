// Looks at the book's pages in a browser:
//
//   node pages.mjs PAGES BROWSER live|computed SCREENSHOTS
//
// Every page, light and dark, on a phone and on a desk: nothing sticks out, nothing is empty,
// and axe finds nothing. Then live parts are used as a reader would, with the keyboard too.
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [pages, browserPath, kind, screenshots] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const names = readdirSync(pages).filter((name) => name.endsWith(".html"));
// Not chapters: what mdBook shows in a frame, where nothing is, and the first one once more.
const others = ["toc.html", "404.html", "introduction.html"];
const chapters = names.filter((name) => !others.includes(name));
const address = (name) => pathToFileURL(path.join(pages, name)).href;

const problems = [];
let n_checks = 0;

function check(holds, what) {
  n_checks += 1;
  if (!holds) {
    problems.push(what);
    console.error(`  ${what}`);
  }
}

async function open(browser, name, theme, width) {
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  await context.addInitScript((theme) => {
    localStorage.setItem("mdbook-theme", theme);
    localStorage.setItem("mdbook-sidebar", "hidden");
  }, theme);
  const page = await context.newPage();
  page.on("pageerror", (error) => check(false, `${name}: ${error.message}`));
  await page.goto(address(name), { waitUntil: "load" });
  return page;
}

// What is wider than the page and is in no box that scrolls.
async function sticksOut(page) {
  return page.evaluate(() => {
    const edge = document.documentElement.clientWidth + 1;
    const scrolls = (element) => {
      for (let at = element; at && at !== document.body; at = at.parentElement) {
        if (["auto", "scroll", "hidden"].includes(getComputedStyle(at).overflowX)) {
          return true;
        }
      }
      return false;
    };
    const all = [...document.querySelectorAll(".content main *")];
    const out = all.filter((e) => e.getBoundingClientRect().right > edge && !scrolls(e));
    return out.slice(0, 3).map((e) => `${e.tagName} ${e.textContent.trim().slice(0, 40)}`);
  });
}

async function violations(page) {
  await page.evaluate(axe);
  const result = await page.evaluate(() =>
    window.axe.run(document.querySelector(".content main"), {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
    })
  );
  return result.violations.map(
    ({ id, nodes }) => `${id}: ${nodes.length}, first ${nodes[0].html.slice(0, 160)}`
  );
}

// Boxes in which something is cut off, and nothing says so; or the other way round.
async function silentBoxes(page) {
  return page.evaluate(() => {
    const all = [...document.querySelectorAll(".table-wrapper, pre > code, .map-box, .table-box")];
    const wrong = all.filter((box) => {
      const isCut = box.scrollWidth - box.clientWidth - Math.round(box.scrollLeft) > 1;
      return isCut !== (box.dataset.cut ?? "").includes("right");
    });
    return wrong.map((box) => box.getAttribute("aria-label") ?? box.tagName);
  });
}

async function look(browser, name, theme, width) {
  const page = await open(browser, name, theme, width);
  const place = `${name}, ${theme}, ${width} pixels`;
  const parts = await page.locator("section.live").count();
  for (let part = 0; part < parts; part += 1) {
    const section = page.locator("section.live").nth(part);
    await section.scrollIntoViewIfNeeded();
    await section.and(page.locator("[data-ready]")).waitFor({ timeout: 10_000 });
  }
  // Answers are looked at, too.
  await page.evaluate(() => document.querySelectorAll("details").forEach((e) => (e.open = true)));
  const text = await page.locator(".content main").innerText();
  check(text.length > 500, `${place}: there is hardly any text`);
  check(!text.includes("{{#"), `${place}: something was not filled in`);
  for (const what of await sticksOut(page)) {
    check(false, `${place}: sticks out: ${what}`);
  }
  for (const what of await silentBoxes(page)) {
    check(false, `${place}: more is behind an edge, and nothing says so: ${what}`);
  }
  // Colours are the theme's, whatever the width.
  for (const what of width > 1000 ? await violations(page) : []) {
    check(false, `${place}: ${what}`);
  }
  check(true, place);
  await page.evaluate(() => window.scrollTo(0, 0));
  const file = `${name.replace(".html", "")}-${theme}-${width}.png`;
  await page.screenshot({ path: path.join(screenshots, file) });
  await page.context().close();
}

// A reader changes things.
async function use(browser) {
  const page = await open(browser, "transpose.html", "light", 1400);
  const part = page.locator("section.live").first();
  await part.scrollIntoViewIfNeeded();
  await part.and(page.locator("[data-ready]")).waitFor({ timeout: 10_000 });
  const first = part.locator(".live-answer");
  const before = await first.innerHTML();
  const tops = part.locator("label > span").evaluateAll((all) => all.map((e) => e.offsetTop));
  check(new Set(await tops).size <= 1, `labels of one row are not level: ${await tops}`);
  if (kind === "computed") {
    check((await part.getAttribute("data-ready")) === "false", "a simulator is in the page");
    await part.locator("select").first().selectOption({ index: 1 });
    check((await first.innerHTML()) !== before, "another case shows the same picture");
    const state = await part.locator(".live-state").innerText();
    check(state.includes("precomputed"), `the page does not say so: ${state}`);
    await page.context().close();
    return;
  }
  check((await part.getAttribute("data-ready")) === "true", "no simulator is in the page");
  const state = () => part.locator(".live-state").innerText();
  check((await state()).includes("1024 wavefronts"), `plain columns: ${await state()}`);
  const begun = Date.now();
  const layout = part.locator("form").getByLabel("Layout");
  await layout.fill("pad:1");
  await layout.press("Tab");
  await page.waitForFunction(
    () => document.querySelector(".live-state").textContent.includes("32 wavefronts, 0"),
    null,
    { timeout: 5_000 }
  );
  check(Date.now() - begun < 2_000, "a change takes more than two seconds");
  check((await first.innerHTML()) !== before, "another layout shows the same picture");
  await layout.fill("nonsense");
  await layout.press("Tab");
  check((await state()).includes("is not a layout"), `a wrong layout: ${await state()}`);
  const isDimmed = () =>
    first.evaluate((e) => e.inert && Number(getComputedStyle(e).opacity) < 0.5);
  check(await isDimmed(), "the answer to another layout stands as if it were this one's");
  await layout.fill("plain");
  await part.locator("form").getByLabel("Element").selectOption("f64");
  check(!(await isDimmed()), "a new answer is dimmed");
  const phase = part.getByRole("combobox", { name: "Phase" }).first();
  const groups = part.locator("figure").first().locator("g.phase");
  const n_groups = await groups.count();
  check(n_groups === 2, `8 bytes per lane in ${n_groups} phases`);
  await phase.selectOption({ index: 2 });
  check(!(await groups.first().isVisible()), "the first phase is still shown");
  check(await groups.nth(1).isVisible(), "the second phase is not shown");
  await page.context().close();
}

// The simulator is on its way: the answer on the page is not its own yet.
async function wait(browser) {
  const page = await browser.newPage();
  await page.route("**/live/simulator.js", () => {});
  await page.goto(address("transpose.html"));
  const part = page.locator("section.live").first();
  await part.scrollIntoViewIfNeeded();
  const state = part.locator(".live-state").filter({ hasText: "Loading" });
  await state.waitFor({ timeout: 5_000 });
  const text = await state.innerText();
  check(text.includes("Computed when this book was built"), `while it is loaded: ${text}`);
  await page.close();
}

// A map that is wider than a phone: it fades where there is more, and no longer at its end.
async function push(browser) {
  const page = await open(browser, "transpose.html", "light", 390);
  const box = page.locator(".map-box").first();
  const isFaded = () => box.evaluate((e) => getComputedStyle(e).maskImage.includes("gradient"));
  check((await box.getAttribute("data-cut")) === "right", "a map is cut off on the right");
  check(await isFaded(), "nothing shows that a map can be pushed");
  await box.evaluate((e) => e.scrollTo(e.scrollWidth, 0));
  await box.and(page.locator('[data-cut="left"]')).waitFor({ timeout: 2_000 });
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.waitForFunction(() => !("cut" in document.querySelector(".map-box").dataset));
  check(!(await isFaded()), "a whole map is faded");
  await page.context().close();
}

// A reader steps through a kernel's run, back and forth, and no page is turned meanwhile.
async function step(browser) {
  const page = await open(browser, "reduction.html", "light", 390);
  const player = page.locator("section.player").first();
  await player.scrollIntoViewIfNeeded();
  const shown = async () => ({
    count: await player.locator(".player-count").innerText(),
    now: await player.locator(".player-now").innerText(),
    lanes: await player.locator(".player-warp path.player-served").first().getAttribute("d"),
    words: await player.locator(".player-written").count(),
  });
  const press = async (key, n = 1) => {
    for (let i = 0; i < n; i += 1) {
      await page.keyboard.press(key);
    }
    return shown();
  };
  check(!(await player.locator(".player-static").isVisible()), "the player does not replace the table");
  await player.locator(".player-slider").focus();
  const first = await shown();
  check(first.count.startsWith("1 /") && first.now.startsWith("Warp 0: lanes 0–31 load"), `at first: ${first.now}`);
  const third = await press("ArrowRight", 2);
  check(third.count.startsWith("3 /") && third.now !== first.now, `two frames on: ${third.now}`);
  check(third.words === 32, `a warp has stored ${third.words} words`);
  check(JSON.stringify(await press("ArrowLeft", 2)) === JSON.stringify(first), "back is not where it was");
  const last = await press("End");
  const [number, all] = last.count.split(" / ");
  check(number === all && last.now.includes("to global memory"), `at the end: ${last.count}: ${last.now}`);
  check(last.lanes !== first.lanes, "at the end of a sum all lanes are still at work");
  check((await press("Home")).count === first.count, "Home is not the first frame");
  const second = await press("ArrowDown", 2);
  check(second.now.startsWith("Warp 1:"), `the next warp's first frame: ${second.now}`);
  await player.locator("button", { hasText: "Play" }).click();
  await page.waitForFunction(
    (before) => document.querySelector(".player-count").textContent !== before,
    second.count,
    { timeout: 5_000 }
  );
  await player.locator("button", { hasText: "Pause" }).click();
  check(page.url().endsWith("reduction.html"), "a key in the player turns the page");
  await page.context().close();
}

// Without scripts there is a table of the main frames.
async function read(browser) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(address("reduction.html"));
  const table = page.locator(".player-static").first();
  check(await table.isVisible(), "without scripts there is no table of frames");
  check((await table.locator("tbody tr").count()) > 5, "the table of frames is nearly empty");
  await context.close();
}

mkdirSync(screenshots, { recursive: true });
const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  for (const name of chapters) {
    for (const theme of ["light", "navy"]) {
      for (const width of [390, 1400]) {
        await look(browser, name, theme, width);
      }
    }
  }
  await use(browser);
  await wait(browser);
  await push(browser);
  await step(browser);
  await read(browser);
} finally {
  await browser.close();
}
console.log(`${chapters.length} pages, ${n_checks} checks, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
