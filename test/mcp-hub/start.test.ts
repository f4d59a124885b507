import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

it("mcp-hub: nothing of the protocol's packages is loaded with the plugin", () => {
  const root = fileURLToPath(new URL("../../plugins/mcp-hub/", import.meta.url));
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  expect(files.length).toBeGreaterThan(20);
  const statics = files.flatMap((name) =>
    [...readFileSync(root + name, "utf8").matchAll(/^import (?!type )[^;]*from "(@modelcontextprotocol[^"]*)"/gm)].map(
      (match) => `${name}: ${match[1]}`,
    ),
  );
  expect(statics).toEqual([]);
});
