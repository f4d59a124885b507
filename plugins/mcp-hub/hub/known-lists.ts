/**
 * The lists that services last answered, on disk: after a restart clients get them at once, while the services still start. Each is bound
 * to the address it came from; a service that was led elsewhere has none.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createQueue, isRecord, type JsonRecord, parseRecord, type Storage, toList, toRecord, toText } from "sessarc";
import type { ServiceEntry } from "../entry.ts";
import type { Vault } from "../vault/seal.ts";
import { KINDS, type Kind } from "./definitions.ts";

/** As the service answered, unchecked. */
export interface RawLists {
  items: Record<Kind, readonly unknown[]>;
  capabilities: JsonRecord;
  instructions: string | undefined;
}

export interface KnownLists {
  /** By the kind of client they were listed for; empty where nothing is stored. */
  of(entry: ServiceEntry): Promise<ReadonlyMap<string, RawLists>>;
  /** Stores in the background; `close` waits for it. */
  set(entry: ServiceEntry, client: string, lists: RawLists): void;
  /** The service was removed. */
  remove(service: string): void;
  close(): Promise<void>;
}

/** Kinds of clients a service's lists are stored for: those that listed it last. */
const MOST_CLIENTS = 6;

export function createKnownLists(
  storage: Pick<Storage, "derived" | "readOnly">,
  vault: Pick<Vault, "fingerprint">,
  failed: (error: unknown) => void,
): KnownLists {
  const derived = storage.derived("mcp-hub");
  const memory = new Map<string, { mark: string; lists: Promise<Map<string, RawLists>> }>();
  /** Writes run sequentially, so that the last state is the one on disk. */
  const writing = createQueue();

  const readMark = ({ transport, command, args, cwd, url }: ServiceEntry) =>
    vault.fingerprint(JSON.stringify({ transport, command, args, cwd, url }));

  async function load(service: string, mark: string): Promise<Map<string, RawLists>> {
    const stored = parseRecord((await derived.get(toFile(service)))?.toString("utf8") ?? "");
    if (stored?.mark !== mark) return new Map();
    return new Map(Object.entries(toRecord(stored.lists)).map(([client, lists]) => [client, toLists(lists)]));
  }

  async function ofService(entry: ServiceEntry) {
    const mark = await readMark(entry);
    const known = memory.get(entry.id);
    if (known?.mark === mark) return known;
    const fresh = { mark, lists: load(entry.id, mark) };
    memory.set(entry.id, fresh);
    return fresh;
  }

  async function write(entry: ServiceEntry, client: string, lists: RawLists): Promise<void> {
    const { mark, lists: loading } = await ofService(entry);
    const all = await loading;
    const same = JSON.stringify(all.get(client)) === JSON.stringify(lists);
    // Set again even so: the oldest is removed first.
    all.delete(client);
    all.set(client, lists);
    for (const oldest of [...all.keys()].slice(0, -MOST_CLIENTS)) all.delete(oldest);
    if (same || storage.readOnly) return;
    await derived.set(toFile(entry.id), JSON.stringify({ mark, lists: Object.fromEntries(all) }));
  }

  const inOrder = (work: () => Promise<void>) => {
    void writing(() => work().catch(failed));
  };

  return {
    async of(entry) {
      return (await ofService(entry)).lists;
    },
    set: (entry, client, lists) => inOrder(() => write(entry, client, lists)),
    remove(service) {
      memory.delete(service);
      if (!storage.readOnly) inOrder(() => rm(join(derived.folder, toFile(service)), { force: true }));
    },
    close: () => writing.idle(),
  };
}

const toFile = (service: string) => `lists-${service}.json`;

function toLists(value: unknown): RawLists {
  const { items, capabilities, instructions } = toRecord(value);
  const lists = isRecord(items) ? items : {};
  const all = Object.fromEntries(KINDS.map((kind) => [kind, toList(lists[kind])])) as Record<Kind, readonly unknown[]>;
  return { items: all, capabilities: toRecord(capabilities), instructions: toText(instructions) };
}
