/** The figures of the running service, else those it wrote last. Loads nothing but Node's own modules: the whole process has 60 ms. */
import { readFile } from "node:fs/promises";
import type { QuickIo } from "sessarc/terminal";
import { type Figures, STATE_KEY, toFigures } from "./figures.ts";
import type { StatusInput } from "./input.ts";

/** A service that takes longer is busy; the state file is nearly as good. */
const PATIENCE_MS = 300;
const MOST_BYTES = 1 << 20;

/** Undefined where there is neither a service nor a state file. */
export async function findFigures(path: QuickIo["path"], input: StatusInput): Promise<Figures | undefined> {
  const service = await findService(path);
  const answer = service && (await ask(service, input).catch(() => undefined));
  return toFigures(answer) ?? toFigures(await readJson(path("files", ...STATE_KEY.split(":"))));
}

interface Service {
  url: string;
  token: string | undefined;
}

async function findService(path: QuickIo["path"]): Promise<Service | undefined> {
  const [lock, access] = await Promise.all(["lock.json", "access.json"].map((name) => readJson(path(name))));
  const url = textIn(lock, "url");
  return url === undefined
    ? undefined
    : { url, token: textIn(access, "url") === url ? textIn(access, "token") : undefined };
}

async function ask({ url, token }: Service, { tool, session, limits }: StatusInput): Promise<unknown> {
  const { request } = await import("node:http");
  const body = JSON.stringify({ tool, session, limits });
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(token && { authorization: `Bearer ${token}` }),
  };
  return new Promise((resolve, reject) => {
    const call = request(new URL("/api/statusline", url), { method: "POST", headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > MOST_BYTES) call.destroy(new Error("The answer is too long"));
      });
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(`The service answered ${response.statusCode}`));
      });
    });
    call.setTimeout(PATIENCE_MS, () => call.destroy(new Error("The service did not answer in time")));
    call.on("error", reject);
    call.end(body);
  });
}

/** Undefined where there is no such file, or no JSON in it. */
async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}

function textIn(value: unknown, key: string): string | undefined {
  const field: unknown = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return typeof field === "string" ? field : undefined;
}
