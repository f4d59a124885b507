/** The tools the bench knows. */
import { auggie } from "./auggie.ts";
import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { codebuddy } from "./codebuddy.ts";
import { codex, codexCodeMode } from "./codex.ts";
import { commandCode } from "./command-code.ts";
import { continueCli } from "./continue.ts";
import { copilot } from "./copilot.ts";
import { droid } from "./droid.ts";
import { geminiCli } from "./gemini-cli.ts";
import { grok } from "./grok.ts";
import { kilo } from "./kilo.ts";
import { kimi } from "./kimi.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { qwen } from "./qwen.ts";
import type { Driver } from "./types.ts";

/** In tables. */
export const nameOf = ({ label, name }: Driver): string => label ?? name;

export const DRIVERS: readonly Driver[] = [
  claudeCode,
  codex,
  codexCodeMode,
  geminiCli,
  opencode,
  copilot,
  pi,
  qwen,
  kimi,
  droid,
  grok,
  cline,
  kilo,
  continueCli,
  codebuddy,
  auggie,
  commandCode,
];
