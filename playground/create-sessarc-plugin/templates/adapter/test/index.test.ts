import { fileURLToPath } from "node:url";
import { createTestKernel, testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import adapter from "../src/index.ts";

const fixtures = fileURLToPath(new URL("fixtures", import.meta.url)); // laid out as the tool's own folder

// The suite that the built-in adapters pass: half-written lines, logs that grow, damage, and so on.
describe("starter", () => testAdapter({ plugin: (dir) => adapter({ dir }), fixtures, expect: { sessions: 1 } }));

describe("what it reads", () => {
  it("is the conversation with its tokens", async () => {
    const { kernel } = await createTestKernel({ plugins: [adapter({ dir: fixtures })] });
    const found = kernel.registry.adapters.get("starter");
    expect(found?.label).toBe("Starter");
    const texts: string[] = [];
    for await (const ref of found?.scan(fixtures, kernel.env) ?? [])
      for await (const batch of found?.read(ref, kernel.env) ?? []) texts.push(...batch.map(({ text }) => text));
    expect(texts).toEqual(["Which birds stay for the winter?", "Wrens and robins."]);
  });
});
