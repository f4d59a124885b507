/** What the author of an adapter writes to know that it is right: this file is all of it. */
import { fileURLToPath } from "node:url";
import { testAdapter } from "sessarc/test";
import { describe } from "vitest";
import echo from "../../playground/plugins/echo.ts";

describe("adapters: echo", () =>
  testAdapter({
    plugin: (dir) => echo({ dir }),
    fixtures: fileURLToPath(new URL("../fixtures/echo", import.meta.url)),
    expect: {
      sessions: 1,
      kinds: ["user", "assistant", "tool_use", "tool_result"],
      usage: { "echo-1": { input: 12, output: 5, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 } },
    },
  }));
