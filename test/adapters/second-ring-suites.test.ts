/** Every adapter of the second ring passes the contract, over small logs of its own. */
import { fileURLToPath } from "node:url";
import type { SessionUsage } from "sessarc";
import aider from "sessarc/plugins/aider";
import droid from "sessarc/plugins/droid";
import dsh from "sessarc/plugins/dsh";
import gptme from "sessarc/plugins/gptme";
import grok from "sessarc/plugins/grok";
import junie from "sessarc/plugins/junie";
import kimi from "sessarc/plugins/kimi";
import pi from "sessarc/plugins/pi";
import qwen from "sessarc/plugins/qwen";
import vibe from "sessarc/plugins/vibe";
import { describe } from "vitest";
import { type AdapterSuite, testAdapter } from "../adapter.ts";

const ALL = ["user", "assistant", "thinking", "tool_use", "tool_result"] as const;

const tokens = (input: number, output: number, cacheRead: number, cacheWrite5m: number) => ({
  input,
  output,
  cacheWrite5m,
  cacheWrite1h: 0,
  cacheRead,
});

/** `name` is the folder of fixtures; `usage` is what all of its sessions cost together. */
function suite(
  name: string,
  plugin: AdapterSuite["plugin"],
  sessions: number,
  usage: SessionUsage,
  kinds: (typeof ALL)[number][] = [...ALL],
) {
  const fixtures = fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
  describe(`adapters: ${name}`, () => testAdapter({ plugin, fixtures, expect: { sessions, kinds, usage } }));
}

suite("pi", (dir) => pi({ dir }), 2, { "acme-large": tokens(200, 33, 360, 10) });
suite("grok", (dir) => grok({ dir }), 3, { "acme-large": tokens(210, 45, 150, 0) });
suite("qwen", (dir) => qwen({ dir }), 3, { "acme-large": tokens(310, 55, 120, 0) });
suite("iflow", (dir) => qwen({ variant: "iflow", dir }), 1, {}, ["user", "assistant", "tool_use", "tool_result"]);
suite("kimi", (dir) => kimi({ dir }), 3, {
  "acme-large": tokens(130, 30, 60, 5),
  unknown: tokens(20, 5, 10, 0),
});
suite("dsh", (dir) => dsh({ dir }), 2, { "acme-large": tokens(190, 45, 160, 5) });
suite("droid", (dir) => droid({ dir }), 1, { "custom:acme-large-0": tokens(150, 35, 100, 5) });
suite("junie", (dir) => junie({ dir }), 1, { "acme-large": tokens(130, 35, 90, 5), "acme-small": tokens(20, 2, 0, 0) });
suite("vibe", (dir) => vibe({ dir }), 1, { "acme-large": tokens(250, 35, 0, 0) });
suite("aider", (dir) => aider({ dir }), 2, { "acme-large": tokens(2500, 340, 9000, 500) }, ["user", "assistant"]);
suite("gptme", (dir) => gptme({ dir }), 1, { "acme/acme-large": tokens(150, 35, 100, 5) }, ["user", "assistant"]);
