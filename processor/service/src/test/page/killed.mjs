// The page of zone b while zone a is killed and started again. PageIT says when, a line on the input
// for each screenshot; the page stays open all the while.
import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const { URL: url, TOKEN: token, SHOTS: shots } = process.env;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
const complaints = [];

try {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light" })).newPage();
  page.setDefaultTimeout(300_000); // as a machine may be busy
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(url);
  await page.fill("#token", token);
  await page.keyboard.press("Enter");
  const a = page.locator("#zones .zone", { hasText: "Zone a" }).locator(".badge");
  const seen = {
    before: () => a.filter({ hasText: "at work" }).waitFor(),
    during: async () => {
      await a.filter({ hasText: "gone" }).waitFor();
      await page.locator("#headline", { hasText: "Zone a is gone" }).waitFor();
    },
    after: async () => {
      await a.filter({ hasText: "at work" }).waitFor();
      await page.locator("#headline", { hasText: "Each record once." }).waitFor();
    },
  };
  for await (const name of createInterface({ input: process.stdin })) {
    await seen[name]();
    await page.screenshot({ path: `${shots}/killed-${name}.png`, fullPage: true });
    console.log(`- ${name}`);
  }
  assert.deepEqual(complaints, []);
} finally {
  await browser.close();
}
