/** The probes find what they are for: a page with one of each fault, and one without. */

import type { Browser } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi } from "./browser.ts";
import { openBrowser } from "./chromium.ts";
import { looks, overlaps } from "./probes.ts";

const button = (n: number, style = "") => `<button style="${style}">Button ${n}</button>`;
const page = (body: string) =>
  `<style>button:focus-visible { outline: 2px solid red } .ring { overflow: hidden; width: 90px; height: 22px }</style>${body}`;

describeUi("dashboard: probes", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });

  async function faults(body: string): Promise<string[]> {
    const one = await browser.newPage({ viewport: { width: 600, height: 900 } });
    await one.setContent(page(body));
    const found = await looks(one);
    await one.close();
    return found.map((fault) => fault.replace(/ class=""/, ""));
  }

  it("says nothing of a page that is as it should be", async () => {
    const many = Array.from({ length: 60 }, (_, n) => button(n)).join(" ");
    expect(await faults(`<p>Twelve words that stand where anybody can read them to the end.</p>${many}`)).toEqual([]);
  });

  it("finds what sticks out, what is cut, and figures out of their column", async () => {
    const wide = '<div style="width: 700px">wide</div>';
    const cut =
      '<p style="width: 40px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis">cut off here</p>';
    expect(await faults(`${wide}${cut}<p>1,234</p>`)).toEqual([
      expect.stringMatching(/^sticks out by \d+ px$/),
      "cut, no title: <p> cut off here",
      "figure not tabular: <p> 1,234",
    ]);
  });

  it("finds texts that are printed over each other, and none that a frame cuts", async () => {
    const one = await browser.newPage();
    const box = (style: string) =>
      `<div style="height: 10px; ${style}"><p style="margin: 0">one<br>two</p></div><p>three</p>`;
    await one.setContent(box(""));
    expect(await overlaps(one, "body")).toEqual(["printed over each other: two | three"]);
    await one.setContent(box("overflow: hidden"));
    expect(await overlaps(one, "body")).toEqual([]);
    await one.close();
  });

  it("finds a focus that is not seen wherever it is in the order, and a ring that is cut off", async () => {
    for (const at of [0, 7, 10, 28]) {
      const many = Array.from({ length: 30 }, (_, n) => button(n, n === at ? "outline: none" : ""));
      expect(await faults(many.join(" "))).toEqual([`focus unseen: <button> Button ${at}`]);
    }
    const hidden = '<div class="ring"><button style="width: 90px; height: 22px">Ring</button></div>';
    expect(await faults(`${hidden}${button(1)}`)).toEqual(["ring is cut off: <button> Ring"]);
  });

  it("reads the first rows of a list with axe, and whichever is in another state", async () => {
    const row = (n: number, state = "", text = "Open") =>
      `<li class="row" ${state}><button id="b${n}">${text}</button></li>`;
    const one = await browser.newPage();
    const found = async (wrong: number, state = "") => {
      const rows = [1, 2, 3, 4, 5, 6].map((n) => (n === wrong ? row(n, state, "") : row(n)));
      await one.setContent(
        `<html lang="en"><title>Rows</title><style>button { width: 40px; height: 40px }</style><main><h1>Rows</h1><ul>${rows.join("")}</ul></main></html>`,
      );
      return (await violations({ page: one })).map((fault) => fault.split(":")[0]);
    };
    expect(await found(1)).toEqual(["button-name"]);
    expect(await found(5, 'aria-current="true"')).toEqual(["button-name"]);
    expect(await found(5)).toEqual(LONG ? ["button-name"] : []);
    await one.close();
  });
});
