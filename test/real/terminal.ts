/** A tool in a terminal: `script` of util-linux provides one, an emulator from npm says what is on its screen. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Driven } from "./drive.ts";
import { install } from "./tools/install.ts";
import type { Screen } from "./tools/types.ts";

const [COLUMNS, ROWS] = [160, 40];
const PATIENCE_MS = 120_000;
const AGAIN_MS = 5_000;

/** What is used of `@xterm/headless`. */
interface Emulator {
  write(data: Uint8Array): void;
  /** Answers to what the tool asks its terminal. */
  onData(listener: (data: string) => void): unknown;
  buffer: { active: { baseY: number; getLine(y: number): { translateToString(trim: boolean): string } | undefined } };
}

/** Starts the tool's command with `args` and without the settings that say that no person is there. */
export async function inTerminal(
  tool: Driven,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Screen> {
  const { bin } = await install("@xterm/headless");
  const emulators: { Terminal: new (options: object) => Emulator } = createRequire(join(bin, "any.js"))(
    "@xterm/headless",
  );
  const terminal = new emulators.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  const words = [join(tool.bin, tool.driver.command), ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const line = `stty rows ${ROWS} cols ${COLUMNS}; exec ${words.join(" ")}`;
  const child = spawn("script", ["--quiet", "--flush", "--return", "--command", line, "/dev/null"], {
    cwd: tool.cwd,
    env: { ...tool.env, CI: "0", TERM: "xterm-256color", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve());
  });
  child.stdin.on("error", () => {}); // it has ended
  child.stdout.on("data", (chunk: Buffer) => terminal.write(chunk));
  terminal.onData((answer) => child.stdin.write(answer));
  const text = () => {
    const { active } = terminal.buffer;
    return Array.from({ length: ROWS }, (_, y) => active.getLine(active.baseY + y)?.translateToString(true)).join("\n");
  };
  return {
    ended,
    type: (keys) => void child.stdin.write(keys),
    async until(wanted, keys = "") {
      const started = Date.now();
      for (let typed = 0; !wanted(text()); await delay(100)) {
        const waited = Date.now() - started;
        if (waited > PATIENCE_MS) throw new Error(`The screen shows\n${text()}`);
        if (keys === "" || waited < typed * AGAIN_MS) continue;
        child.stdin.write(keys);
        typed++;
      }
      return text();
    },
    close() {
      child.kill("SIGKILL"); // the tool gets a hangup
      return ended;
    },
  };
}
