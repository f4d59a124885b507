/** An archive over the fixtures of many assistants: what known-item questions are asked of. */
import { cpSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "sessarc";
import cline from "sessarc/plugins/cline";
import continueDev from "sessarc/plugins/continue";
import droid from "sessarc/plugins/droid";
import gemini from "sessarc/plugins/gemini-cli";
import goose from "sessarc/plugins/goose";
import grok from "sessarc/plugins/grok";
import kimi from "sessarc/plugins/kimi";
import opencode from "sessarc/plugins/opencode";
import pi from "sessarc/plugins/pi";
import qwen from "sessarc/plugins/qwen";
import vibe from "sessarc/plugins/vibe";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

const FOLDER = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));
export const hasFixtures = existsSync(join(FOLDER, "second-ring"));

/** Close it at the end. */
export async function importFixtures(more: readonly Plugin[] = []): Promise<TestKernel> {
  const ring = (path: string) => join(FOLDER, "second-ring", path);
  const t = await createTestKernel({
    config: { sync: false },
    plugins: [
      ...[archive(), claude(), codex(), gemini({ dir: join(FOLDER, "gemini/agentsview") })],
      ...[pi({ dir: ring("pi/peer") }), qwen({ variant: "iflow", dir: ring("iflow/agentsview") })],
      ...[qwen({ dir: ring("qwen/generated-qwen-0.24.4") }), grok({ dir: ring("grok/generated-grok-1.0.41") })],
      ...[kimi({ dir: ring("kimi/generated-kimi-code-2.1.0") }), droid({ dir: ring("droid/generated-droid-0.215.0") })],
      ...[vibe({ dir: ring("vibe/agentsview") }), continueDev({ dir: ring("continue/generated-continue-cli-1.5.47") })],
      ...[cline({ dir: ring("cline/generated-cline-3.0.65") }), goose({ dir: ring("goose/self-made-1") })],
      opencode({ dir: ring("kilo/generated-kilo-7.7.7"), variant: "kilo" }),
      ...more,
    ],
  });
  for (const source of readdirSync(join(FOLDER, "claude"))) {
    const from = join(FOLDER, "claude", source);
    const projects = join(from, "projects");
    const to = join(t.home, ".claude/projects");
    mkdirSync(to, { recursive: true });
    cpSync(existsSync(projects) ? projects : from, existsSync(projects) ? to : join(to, source), { recursive: true });
  }
  for (const source of readdirSync(join(FOLDER, "codex"))) {
    const sessions = join(FOLDER, "codex", source, "sessions");
    if (existsSync(sessions)) cpSync(sessions, join(t.home, ".codex/sessions"), { recursive: true });
  }
  await t.send("POST", "/api/import", { all: true });
  return t;
}
