/** The long-lived processes of all repositories: few alive, the idle ones ended. */
import { SessarcError } from "sessarc";
import { Batch, type Objects, ProcessLost } from "./batch.ts";
import type { GitExec, GitPlace } from "./exec.ts";

interface BatchPool {
  /** Runs `task` with the repository's process, started when there is none. Do not nest. */
  use<T>(repo: GitPlace, task: (objects: Objects) => Promise<T>): Promise<T>;
  /** Ends all processes; `GitExec.close` waits until they are gone. */
  close(): void;
}

interface BatchOptions {
  /** Processes alive at most; a further repository takes the place of the one idle longest. */
  max?: number;
  idleMs?: number;
  timeoutMs?: number;
  /** `--batch-command` (git 2.36 and later); false: `--batch`. */
  command: () => Promise<boolean>;
}

/** Tries of one task, when its process is lost under it. */
const ATTEMPTS = 3;

interface Lease {
  batch: Batch;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

export function createBatchPool(exec: GitExec, options: BatchOptions): BatchPool {
  const { max = 8, idleMs = 60_000, timeoutMs = 10_000 } = options;
  const leases = new Map<string, Lease>(); // the one idle longest first
  const waiting: (() => void)[] = [];
  let closed = false;

  function end(key: string, lease: Lease) {
    clearTimeout(lease.idle);
    if (leases.get(key) === lease) leases.delete(key);
    lease.batch.end();
  }

  function hold(lease: Lease): Lease {
    clearTimeout(lease.idle);
    lease.users++;
    return lease;
  }

  async function take(repo: GitPlace, command: boolean): Promise<Lease> {
    for (;;) {
      if (closed) throw new SessarcError("GIT_FAILED", { command: "cat-file" });
      const lease = leases.get(repo.gitDir);
      if (lease?.batch.alive) {
        leases.delete(repo.gitDir);
        leases.set(repo.gitDir, lease);
        return hold(lease);
      }
      if (lease) end(repo.gitDir, lease);
      if (leases.size >= max) {
        const spare = [...leases].find(([, other]) => other.users === 0);
        if (!spare) {
          await new Promise<void>((resolve) => waiting.push(resolve));
          continue;
        }
        end(...spare);
      }
      const made: Lease = { batch: new Batch(exec, repo, command, timeoutMs), users: 0, idle: undefined };
      leases.set(repo.gitDir, made);
      return hold(made);
    }
  }

  return {
    async use(repo, task) {
      for (let attempt = 1; ; attempt++) {
        const lease = await take(repo, await options.command());
        try {
          return await task(lease.batch);
        } catch (error) {
          // Another request ended the process, or it was ended from outside: reading again is harmless.
          if (!(error instanceof ProcessLost)) throw error;
          if (attempt === ATTEMPTS) throw new SessarcError("GIT_FAILED", { command: "cat-file" }, { cause: error });
        } finally {
          lease.users--;
          if (lease.users === 0) {
            lease.idle = setTimeout(() => end(repo.gitDir, lease), idleMs).unref();
            waiting.shift()?.();
          }
        }
      }
    },
    close() {
      closed = true;
      for (const [key, lease] of leases) end(key, lease);
      for (const wake of waiting.splice(0)) wake();
    },
  };
}
