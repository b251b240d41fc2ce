// The page in a real browser; PageIT starts what it looks at, and this.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { URL: url, TOKEN: token, READER: reader, HOSTILE: hostile, LETTERS: letters, SHOTS: shots } = process.env;
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
const complaints = [];

async function open(options) {
  const page = await (await browser.newContext(options)).newPage();
  page.setDefaultTimeout(300_000); // as a machine may be busy
  page.on("console", (message) => {
    // Chromium tells each refusal: the page begins with one, to learn whether a token is needed, and
    // asks again what a busy machine is too slow for.
    const isExpected = /a status of (401|503)/.test(message.text());
    if (message.type() === "error" && !isExpected) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => complaints.push(`a dialog: ${dialog.message()}`));
  return page;
}

async function enter(page, path = "", as = token) {
  await page.goto(url + path);
  await page.fill("#token", as);
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

/** Does what is asked about in the dialog, with a reason. */
async function confirm(page, reason = "of a test") {
  await page.fill("#reason", reason);
  await page.click("#act-dialog [type=submit]");
  await page.locator("#act-dialog").waitFor({ state: "hidden" });
}

async function find(page, id) {
  await page.fill("#wanted", id);
  await page.keyboard.press("Enter");
  await page.locator("#record-id", { hasText: id }).waitFor();
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
  await page.getByText(/waits for your selection, ([4-9]|\d{2,}) s old/).waitFor();
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

  step("what is held is released, and done by whoever takes it next");
  await find(page, "slow");
  await page.locator("#record .badge", { hasText: "held" }).waitFor();
  await page.locator("#record [data-acts] button", { hasText: "Release" }).click();
  await confirm(page);
  await page.locator("#record .badge", { hasText: "done" }).waitFor();
  await page.getByRole("button", { name: "Close" }).click();

  step("a list has pages");
  const first = await page.locator("#rows .row a").first().textContent();
  await page.locator("#pages a", { hasText: "Next page" }).click();
  await page.locator("#pages a", { hasText: "First page" }).waitFor();
  assert.notEqual(await page.locator("#rows .row a").first().textContent(), first);
  await page.locator("#pages a", { hasText: "First page" }).click();
  await page.locator("#pages a", { hasText: "Next page" }).waitFor();
  assert.equal(await page.locator("#rows .row a").first().textContent(), first);

  step("a search has what it is for in the address");
  await page.locator("#tabs a", { hasText: "Search" }).click();
  await page.fill("#filter-prefix", "order-1");
  await page.selectOption("#filter-outcome", "DEAD");
  await page.click("#filters [type=submit]");
  await page.locator("#rows .row a", { hasText: "order-1" }).first().waitFor();
  assert.ok(page.url().includes("prefix=order-1"), page.url());
  await requireAccessible(page, "a search");
  await page.locator("#tabs a", { hasText: "Dead" }).click();
  await page.locator("#pages a", { hasText: "Next page" }).waitFor();

  step("what needs no redrive is dismissed, leaves the list, and stays known");
  await page.getByRole("button", { name: `Dismiss … ${first}`, exact: true }).click();
  await requireAccessible(page, "the question of a dismissal");
  await confirm(page, "sent by mistake");
  await page.locator("#rows .row a", { hasText: new RegExp(`^${first}$`) }).waitFor({ state: "detached" });
  await page.locator("#tabs a", { hasText: "Dismissed" }).click();
  await page.locator("#rows .row .what", { hasText: "sent by mistake" }).waitFor();
  await page.locator("#rows .row a", { hasText: first }).click();
  await page.locator("#record .badge", { hasText: "dead, dismissed" }).waitFor();
  await page.locator("#record .timeline li", { hasText: "Dismissed" }).waitFor();
  assert.equal(await page.locator("#record [data-acts] button").count(), 1, "it can be redriven, and not dismissed again");
  await requireAccessible(page, "a dismissed record");
  await shot(page, "dismissed", false);
  await page.getByRole("button", { name: "Close" }).click();
  await page.locator("#tabs a", { hasText: "Dead" }).click();

  step("a slow redrive of many is paused, resumed and cancelled");
  const job = page.locator("#rows .job").first();
  const redriveMany = async (rate) => {
    await page.click("#bulk");
    await page.fill("#bulk-cause", "422");
    await page.fill("#bulk-rate", rate);
    await page.click("#bulk-try");
    await page.locator(".found-count").waitFor();
    assert.match(await page.locator(".causes").textContent(), /422/);
    await page.fill("#bulk-reason", "mended");
  };
  await redriveMany("1");
  await requireAccessible(page, "a dry run");
  await shot(page, "dry-run", false);
  await page.click("#bulk-dialog [type=submit]");
  await job.locator(".badge", { hasText: "running" }).waitFor();
  for (const [button, state] of [["Pause", "paused"], ["Resume", "running"], ["Cancel", "cancelled"]]) {
    await job.locator("button", { hasText: button }).click();
    await confirm(page);
    await job.locator(".badge", { hasText: state }).waitFor();
  }
  assert.equal(await job.locator("button").count(), 0, "it is over");
  const cancelled = await job.locator(".counts").textContent();
  assert.ok(Number(cancelled.match(/(\d+) moved/)[1]) < letters, cancelled);

  step("the rest is redriven, but for what was dismissed");
  await redriveMany("1000");
  await page.click("#bulk-dialog [type=submit]");
  await job.locator(".badge", { hasText: "done" }).waitFor();
  const [, moved, completed] = (await job.locator(".counts").textContent()).match(/(\d+) moved · (\d+) completed/);
  assert.equal(moved, completed);
  assert.match(await job.locator(".counts").textContent(), /1 passed over \(dismissed\)/);
  await requireAccessible(page, "the redrives");
  await shot(page, "redrives");

  step("the instance is paused and resumed");
  const instance = page.locator(".instance").first();
  for (const [button, state] of [["Pause", "paused"], ["Resume", "running"]]) {
    await instance.locator("button", { hasText: button }).click();
    await confirm(page);
    await instance.locator(".badge", { hasText: state }).waitFor();
  }

  step("a reader sees all of it and is offered no act");
  const looking = await open({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  await enter(looking, `#list=dismissed&record=${encodeURIComponent(first)}`, reader);
  await looking.locator("#record .badge", { hasText: "dead, dismissed" }).waitFor();
  await looking.locator("#rows .row").first().waitFor();
  for (const acts of ["#record [data-acts] button", "#rows button", ".instance button", "#bulk:visible", "#bulk-dismiss:visible"]) {
    assert.equal(await looking.locator(acts).count(), 0, acts);
  }
  await looking.locator("#tabs a", { hasText: "Redrives" }).click();
  await looking.locator("#rows .job").first().waitFor();
  assert.equal(await looking.locator("#rows button").count(), 0, "of redrives");

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
