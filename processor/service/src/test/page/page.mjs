// The page in a real browser; PageIT starts what it looks at, and this.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { URL: url, TOKEN: token, HOSTILE: hostile, LETTERS: letters, SHOTS: shots } = process.env;
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
const complaints = [];

async function open(options) {
  const page = await (await browser.newContext(options)).newPage();
  page.setDefaultTimeout(30_000);
  page.on("console", (message) => {
    // Chromium tells each refusal, and the page begins with one, to learn whether a token is needed.
    const isRefusal = message.text().includes("401");
    if (message.type() === "error" && !isRefusal) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => complaints.push(`a dialog: ${dialog.message()}`));
  return page;
}

async function enter(page, path = "") {
  await page.goto(url + path);
  await page.fill("#token", token);
  await page.click("#token-dialog [type=submit]");
  await page.locator("#zones .zone").nth(1).waitFor();
}

/** Rules by themselves would need the page's policy to allow scripts; through the protocol they need not. */
async function requireAccessible(page, what) {
  await page.evaluate((await import("node:fs")).readFileSync(axe, "utf8"));
  const { violations } = await page.evaluate(() => window.axe.run());
  const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  assert.deepEqual(
    serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => html + failureSummary).join("\n")}`),
    [],
    what,
  );
}

async function requireNoSideways(page, what) {
  const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= seen, `${what} is ${wide} px wide in a window of ${seen}`);
}

const shot = (page, name, fullPage = true) => page.screenshot({ path: `${shots}/${name}.png`, fullPage });
const step = (what) => console.log(`- ${what}`);

try {
  step("a wrong token is refused, a right one goes on");
  const page = await open({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  await page.goto(url);
  await page.fill("#token", "a-guess");
  await page.click("#token-dialog [type=submit]");
  await page.getByText("This token is not known here.").waitFor();
  await requireAccessible(page, "the question for the token");
  await page.fill("#token", token);
  await page.keyboard.press("Enter");
  await page.locator("#zones .zone").nth(1).waitFor();
  assert.equal(await page.evaluate(() => localStorage.length), 0);

  step("the zones, the charts and the instance are there");
  await page.locator("#chart-completed canvas").waitFor();
  await page.locator(".instance .badge", { hasText: "running" }).waitFor();
  await page.locator("#rows .row").first().waitFor();
  await requireAccessible(page, "the page, light");
  await shot(page, "light");
  await shot(page, "first", false);

  step("a hostile ID is text, in the list and on its own");
  await page.locator("#rows a", { hasText: hostile }).waitFor();
  await page.locator("#wanted").focus();
  await page.keyboard.type(hostile);
  await page.keyboard.press("Enter");
  await page.locator("#record .badge", { hasText: "dead" }).waitFor();
  assert.equal(await page.locator("#record-id").textContent(), hostile);
  await page.locator("#record .timeline li[data-mood=bad]").first().waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.ok(page.url().includes(encodeURIComponent("<")), "the view is in the address");
  await requireAccessible(page, "a record");
  await shot(page, "record", false);

  step("a selection is left alone, and what is new comes when it is over");
  await page.evaluate(() => getSelection().selectAllChildren(document.querySelector("#record-id")));
  await page.getByText(/waits for your selection, [4-9] s old/).waitFor();
  assert.equal(await page.evaluate(() => String(getSelection())), hostile);
  await page.evaluate(() => getSelection().removeAllRanges());

  step("a redrive needs a reason, and the page shows by itself that it was done");
  await page.click("#record [data-acts] button");
  await requireAccessible(page, "the question for a reason");
  await page.click("#act-dialog [type=submit]");
  assert.ok(await page.locator("#act-dialog").isVisible(), "there is no reason yet");
  await page.fill("#reason", "mended");
  await shot(page, "redrive", false);
  await page.click("#act-dialog [type=submit]");
  await page.locator("#act-dialog").waitFor({ state: "hidden" });
  await page.locator("#record .badge", { hasText: "done" }).waitFor();
  await page.locator("#record .timeline li[data-mood=good]").waitFor();
  await shot(page, "done", false);

  step("many are redriven after a dry run");
  await page.getByRole("button", { name: "Close" }).click();
  await page.click("#bulk");
  await page.fill("#bulk-cause", "422");
  await page.click("#bulk-try");
  await page.locator(".found-count").waitFor();
  assert.match(await page.locator(".causes").textContent(), /422/);
  await requireAccessible(page, "a dry run");
  await page.fill("#bulk-reason", "mended");
  await shot(page, "dry-run", false);
  await page.click("#bulk-dialog [type=submit]");
  const job = page.locator("#rows .job").first();
  await job.locator(".badge", { hasText: "done" }).waitFor();
  assert.match(await job.locator(".counts").textContent(), new RegExp(`${letters} moved · ${letters} completed`));
  await requireAccessible(page, "the redrives");
  await shot(page, "redrives");

  step("dark");
  const dark = await open({ viewport: { width: 1280, height: 900 }, colorScheme: "dark" });
  await enter(dark);
  await dark.locator("#chart-completed canvas").waitFor();
  await requireAccessible(dark, "the page, dark");
  await shot(dark, "dark");

  step("on a phone, with a record from a link, and by keyboard");
  const phone = await open({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, colorScheme: "light" });
  await enter(phone, `#record=${encodeURIComponent(hostile)}`);
  await phone.locator("#record .badge", { hasText: "done" }).waitFor();
  await requireNoSideways(phone, "the page");
  await requireAccessible(phone, "the page on a phone");
  await shot(phone, "phone");
  await phone.locator("#tabs a", { hasText: "Parked" }).focus();
  await phone.keyboard.press("Enter");
  await phone.locator("#tabs a[aria-current]", { hasText: "Parked" }).waitFor();
  assert.equal(await phone.evaluate(() => document.activeElement.textContent.startsWith("Parked")), true);

  assert.deepEqual(complaints, []);
} finally {
  if (complaints.length > 0) console.log(complaints);
  await browser.close();
}
