import archive from "sessarc/plugins/archive";
import { createTestKernel } from "sessarc/test";
import { describe, expect, it } from "vitest";
import plugin from "../src/index.ts";

describe("starter", () => {
  it("answers its route", async () => {
    const { json } = await createTestKernel({ plugins: [archive(), plugin()] });
    expect(await json("/api/starter/busiest")).toEqual([]);
  });

  it("serves its part of the dashboard", async () => {
    const { fetch } = await createTestKernel({ plugins: [archive(), plugin()] });
    const response = await fetch("/plugins/starter/ui.js");
    expect(response.headers.get("content-type")).toContain("text/javascript");
    const text = await response.text();
    expect(text).toContain("/starter");
    expect(text).not.toMatch(/^import /m); // the browser gets no modules but this one
  });
});
