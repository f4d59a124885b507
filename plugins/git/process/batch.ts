/** One long-lived `git cat-file` per repository: objects in about 0.1 ms instead of a process each. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { SessarcError } from "sessarc";
import { endProcess } from "sessarc/files";
import { at, type GitExec, type GitPlace, toSpawnError } from "./exec.ts";

interface ObjectInfo {
  hash: string;
  type: string;
  size: number;
}

/** Reads objects of one repository. Names are hashes (`<hash>`, `<hash>^{commit}`) or `HEAD^{commit}`, never foreign text. */
export interface Objects {
  /** Undefined for an unknown or ambiguous name. */
  info(name: string): Promise<ObjectInfo | undefined>;
  /** `data` is undefined when the object is larger than `limit` bytes. */
  contents(name: string, limit: number): Promise<(ObjectInfo & { data: Buffer | undefined }) | undefined>;
}

/** The process is gone for no fault of this request: ask a new one. */
export class ProcessLost extends Error {}

interface Request {
  name: string;
  body: boolean;
  limit: number;
  resolve(answer: (ObjectInfo & { data: Buffer | undefined }) | undefined): void;
  reject(error: unknown): void;
}

/** Answers come in the order of the requests: a header line and, for contents, that many bytes and a newline. */
export class Batch implements Objects {
  alive = true;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #command: boolean;
  readonly #timeoutMs: number;
  readonly #queue: Request[] = [];
  #timer: NodeJS.Timeout | undefined;
  #head: Buffer = Buffer.alloc(0);
  #body: { info: ObjectInfo; data: Buffer | undefined; left: number } | undefined;
  #stderr = "";

  constructor(exec: GitExec, repo: GitPlace, command: boolean, timeoutMs: number) {
    this.#command = command;
    this.#timeoutMs = timeoutMs;
    this.#child = exec.start([...at(repo), "cat-file", command ? "--batch-command" : "--batch"]);
    this.#child.once("error", (error) => this.#fail(toSpawnError(error, "cat-file")));
    this.#child.once("close", () => this.#died());
    this.#child.stderr.on("data", (chunk: Buffer) => {
      if (this.#stderr.length < 4096) this.#stderr += chunk.toString();
    });
    this.#child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
  }

  info(name: string): Promise<ObjectInfo | undefined> {
    return this.#ask(name, false, 0);
  }

  contents(name: string, limit: number) {
    return this.#ask(name, true, limit);
  }

  end(): void {
    this.#fail(new ProcessLost("ended"));
  }

  #ask(name: string, body: boolean, limit: number): Promise<(ObjectInfo & { data: Buffer | undefined }) | undefined> {
    return new Promise((resolve, reject) => {
      if (!this.alive) return reject(new ProcessLost("gone"));
      this.#queue.push({ name, body: body || !this.#command, limit, resolve, reject });
      if (this.#queue.length === 1) this.#watch();
      const verb = this.#command ? (body ? "contents " : "info ") : "";
      this.#child.stdin.write(`${verb}${name}\n`);
    });
  }

  #read(chunk: Buffer) {
    let rest = chunk;
    while (this.alive && rest.length > 0) {
      const body = this.#body;
      if (body) {
        const taken = rest.subarray(0, body.left);
        // `left` counts the newline behind the object, which `copy` drops.
        if (body.data) taken.copy(body.data, body.info.size + 1 - body.left);
        body.left -= taken.length;
        rest = rest.subarray(taken.length);
        if (body.left > 0) return;
        this.#body = undefined;
        this.#answer({ ...body.info, data: body.data });
        continue;
      }
      const newline = rest.indexOf(10);
      if (newline < 0) {
        this.#head = Buffer.concat([this.#head, rest]);
        return;
      }
      const line = Buffer.concat([this.#head, rest.subarray(0, newline)]).toString("latin1");
      this.#head = Buffer.alloc(0);
      rest = rest.subarray(newline + 1);
      this.#begin(line);
    }
  }

  #begin(line: string) {
    const request = this.#queue[0];
    const [, hash = "", type = "", size = ""] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(line) ?? [];
    if (!request || size === "") return this.#answer(undefined);
    const info = { hash, type, size: Number(size) };
    if (!request.body) return this.#answer({ ...info, data: undefined });
    const data = info.size <= request.limit ? Buffer.allocUnsafe(info.size) : undefined;
    this.#body = { info, data, left: info.size + 1 };
  }

  #answer(answer: (ObjectInfo & { data: Buffer | undefined }) | undefined) {
    this.#queue.shift()?.resolve(answer);
    this.#watch();
  }

  /** One clock for the request in front. */
  #watch() {
    clearTimeout(this.#timer);
    if (this.#queue.length === 0) return;
    const ms = this.#timeoutMs;
    this.#timer = setTimeout(() => {
      this.#queue.shift()?.reject(new SessarcError("GIT_TIMEOUT", { command: "cat-file", ms }));
      this.#fail(new ProcessLost("late"));
    }, ms);
  }

  /** The request in front is to blame, the others are tried again. */
  #died() {
    const cause = new Error(this.#stderr);
    const front = this.#queue[0];
    if (front && this.#stderr !== "") {
      this.#queue.shift();
      const hash = front.name;
      const partial = /promisor remote/.test(this.#stderr);
      if (partial) front.reject(new SessarcError("OBJECT_MISSING", { hash }, { cause }));
      else front.reject(new SessarcError("GIT_FAILED", { command: "cat-file" }, { cause }));
    }
    this.#fail(new ProcessLost(this.#stderr));
  }

  #fail(error: unknown) {
    if (!this.alive) return;
    this.alive = false;
    clearTimeout(this.#timer);
    endProcess(this.#child);
    for (const request of this.#queue.splice(0)) request.reject(error);
  }
}
