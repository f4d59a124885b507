import { spawn } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { builtPackage, CLI } from "../built.ts";
import { gone, readLines, rough, toPids } from "./_rough.ts";

describe("mcp-hub: a service that is killed", () => {
  beforeAll(builtPackage, 300_000);

  it.skipIf(process.platform === "win32")("leaves no process behind after SIGKILL", async () => {
    const home = await makeTempDir();
    const file = join(home, "notes");
    const env = { PATH: process.env.PATH, HOME: home, SESSARC_DATA_DIR: join(home, "data"), SESSARC_NO_OPEN: "1" };
    const child = spawn(process.execPath, [CLI, "serve", "--port", "0"], { env, stdio: ["ignore", "pipe", "ignore"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let said = "";
    for await (const chunk of child.stdout) {
      said += chunk;
      if (said.includes("ready at")) break;
    }
    const url = /http:\S+/.exec(said)?.[0] ?? "";
    const send = (path: string, body: object) =>
      fetch(new URL(path, url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    await send("/api/mcp/services", { id: "deaf", ...rough("deaf", file) });
    expect((await send("/api/mcp/call", { name: "deaf__echo" })).status).toBe(200);
    const pids = toPids(await readLines(file, (lines) => toPids(lines).length === 2));
    child.kill("SIGKILL");
    await Promise.all(pids.map(gone));
  });
});
