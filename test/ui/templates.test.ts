/** Templates are read and reviewed line by line, so their lines are short. `npm run format` breaks all but a long attribute. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const UI = fileURLToPath(new URL("../../ui", import.meta.url));

it("no line of a component is over 200 characters", () => {
  const long = readdirSync(UI, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".vue"))
    .flatMap((name) =>
      readFileSync(join(UI, name), "utf8")
        .split("\n")
        .flatMap((line, i) => (line.length > 200 ? [`${name}:${i + 1}`] : [])),
    );
  expect(long).toEqual([]);
});
