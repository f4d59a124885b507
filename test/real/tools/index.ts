/** The tools the bench knows. */
import { claudeCode } from "./claude-code.ts";
import { codex, codexCodeMode } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { geminiCli } from "./gemini-cli.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import type { Driver } from "./types.ts";

export const DRIVERS: readonly Driver[] = [claudeCode, codex, codexCodeMode, geminiCli, opencode, copilot, pi];
