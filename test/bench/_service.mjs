/** Starts the built service on a home and measures it from outside: what a user's machine would see. */
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const CLI = fileURLToPath(new URL("../../dist/cli.mjs", import.meta.url));
const TICK_MS = 10; // USER_HZ is 100 on Linux

export function scratch(name) {
  const dir = join(tmpdir(), `sessarc-bench-${process.pid}`, name);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  return dir;
}

export function environment(home, dataDir) {
  const { PATH, LANG } = process.env;
  return { PATH, LANG, HOME: home, SESSARC_DATA_DIR: dataDir, SESSARC_NO_OPEN: "1", NO_COLOR: "1" };
}

/** Resolves when the service says it is ready. `probed`: `held()` answers what its process holds. `v8`: flags of its Node. */
export async function start(home, dataDir, flags = [], { probed = false, v8 = [] } = {}) {
  const started = performance.now();
  const node = probed ? ["--expose-gc", "--import", new URL("_probe.mjs", import.meta.url).href] : [];
  const child = spawn(process.execPath, [...v8, ...node, CLI, "serve", "--port", "0", "--no-open", ...flags], {
    env: environment(home, dataDir),
    stdio: ["ignore", "pipe", "pipe", probed ? "ipc" : "ignore"],
  });
  let log = "";
  child.stderr.on("data", (chunk) => {
    log += chunk;
  });
  const url = await new Promise((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      const ready = /ready at (\S+)/.exec(String(chunk));
      if (ready) resolve(ready[1]);
    });
    child.on("exit", (code) => reject(new Error(`the service ended with ${code}: ${log}`)));
  });
  return {
    url: url.replace(/\/$/, ""),
    pid: child.pid,
    readyMs: performance.now() - started,
    started,
    /** Bytes after a collection (heapUsed, external, arrayBuffers, rss) and handles by kind; `snapshot`: a file for the heap. */
    held(snapshot) {
      const answer = new Promise((resolve) => child.once("message", resolve));
      child.send(snapshot ? { ask: "snapshot", path: snapshot } : { ask: "memory" });
      return answer;
    },
    /** ms of the longest turn of its event loop since this was asked last. `probed` only. */
    longestTurn() {
      const answer = new Promise((resolve) => child.once("message", resolve));
      child.send({ ask: "turn" });
      return answer;
    },
    async stop() {
      child.removeAllListeners("exit");
      const gone = new Promise((resolve) => child.on("exit", resolve));
      child.kill("SIGTERM");
      await gone;
    },
  };
}

/** CPU seconds of the process with all its threads, and of its children that have ended, and memory in MiB (Linux). */
export function usageOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kb = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
  return {
    cpu: ((Number(fields[11]) + Number(fields[12])) * TICK_MS) / 1000,
    children: ((Number(fields[13]) + Number(fields[14])) * TICK_MS) / 1000,
    peak: kb("VmHWM") / 1024,
    rss: kb("VmRSS") / 1024,
  };
}

/** What its descriptors are, by kind (Linux): `13 pipe, 4 index, 6 socket`. Sockets are those of who asks as well. */
export function descriptorsOf(pid) {
  const kinds = {};
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    let to;
    try {
      to = readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      continue; // closed meanwhile
    }
    const kind = /^\w+(?=:)/.exec(to)?.[0] ?? to.split("/").at(-1).replace(/^.*\./, "*.");
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  return Object.keys(kinds)
    .sort()
    .map((kind) => `${kinds[kind]} ${kind}`)
    .join(", ");
}

export function diskOf(dir) {
  let bytes = 0;
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    bytes += entry.isDirectory() ? diskOf(path) : statSync(path).size;
  }
  return bytes;
}

export const percentile = (values, p) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil((p / 100) * sorted.length) - 1)] ?? 0;
};

const rows = [];
/** Adds a row to the table; `ok` is measured against `limit` when one is given. */
export function report(what, value, unit, limit) {
  const shown = typeof value === "number" ? value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0) : value;
  const verdict = limit === undefined ? "" : value <= limit ? "ok" : "OVER";
  rows.push({ what, measured: `${shown} ${unit}`, limit: limit === undefined ? "" : `${limit} ${unit}`, verdict });
}

export function printTable() {
  const widths = ["what", "measured", "limit", "verdict"].map((key) =>
    Math.max(key.length, ...rows.map((row) => row[key].length)),
  );
  const line = (row) =>
    Object.values(row)
      .map((cell, i) => (i === 1 || i === 2 ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
      .join("  ");
  process.stdout.write(`${line({ what: "what", measured: "measured", limit: "limit", verdict: "verdict" })}\n`);
  for (const row of rows) process.stdout.write(`${line(row)}\n`);
  process.stdout.write(
    `\nload of the machine: ${loadavg()
      .map((n) => n.toFixed(2))
      .join(" ")} (1, 5, 15 min)\n`,
  );
}

/** Milliseconds of each of `n` runs, one after another. */
export const timed = async (n, work) => {
  const ms = [];
  for (let i = 0; i < n; i++) {
    const begun = performance.now();
    await work(i);
    ms.push(performance.now() - begun);
  }
  return ms;
};

/** A command as an assistant runs its hook. */
export const shell = (command, input) =>
  new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", command], { env: { PATH: process.env.PATH } });
    let out = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.on("error", reject);
    child.stdin.on("error", reject);
    child.on("close", (code) => resolve({ code, out }));
    child.stdin.end(input);
  });
