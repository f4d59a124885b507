/** What templates keep to that neither the formatter nor the type checker sees. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const UI = fileURLToPath(new URL("../../ui", import.meta.url));
const TEMPLATES = readdirSync(UI, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".vue"))
  .map((name) => ({ name, text: readFileSync(join(UI, name), "utf8") }));

// They are read and reviewed line by line; `npm run format` breaks all but a long attribute.
it("no line of a component is over 200 characters", () => {
  const long = TEMPLATES.flatMap(({ name, text }) =>
    text.split("\n").flatMap((line, i) => (line.length > 200 ? [`${name}:${i + 1}`] : [])),
  );
  expect(long).toEqual([]);
});

it("every virtual list takes clicks while it scrolls", () => {
  const lists = TEMPLATES.flatMap(({ name, text }) =>
    [...text.matchAll(/<(?:VList|Virtualizer|WindowVirtualizer)\b[^>]*>|<component :is="[^"]*Virtualizer[^>]*>/g)].map(
      ([tag]) => ({ name, takes: /\bclass="takes-clicks\b/.test(tag) }),
    ),
  );
  expect(lists.length).toBeGreaterThanOrEqual(7);
  expect(lists.filter(({ takes }) => !takes)).toEqual([]);
});
