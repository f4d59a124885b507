/** Adapters over pushed sessions: the archive imports them as it imports logs. */

import type { Plugin, SessionEvent, SessionSummary, Statement } from "sessarc";
import { type Adapter, defineAdapter, type NewEvent } from "sessarc/adapter";
import { type LoadChunk, readText } from "../../portable/read.ts";
import type { Facts } from "../kernel-parts.ts";
import { limit } from "./limits.ts";
import type { PushedManifest } from "./manifest-schema.ts";

/** A session that is being imported: one of its texts. */
export interface Pushed {
  machine: string;
  manifest: PushedManifest;
  digest: string;
  /** Number of the text that is read. */
  text: number;
  /** Version of the adapter that made its messages. */
  reader: string;
  /** Stored together with it. */
  write?: readonly Statement[];
  /** Aborted when the machine that pushes is gone. */
  signal?: AbortSignal | undefined;
  /** Called when all of it was read. */
  whole?: () => Promise<void>;
  /** Why it could not be read. */
  problem?: unknown;
}

/** Key of a machine's session on the server. Copies on two machines are two sessions. */
const keyHere = (machine: string, key: string): string => `${machine}~${key}`;
export const idHere = (machine: string, id: string): string => {
  const at = id.indexOf(":");
  return `${id.slice(0, at)}:${keyHere(machine, id.slice(at + 1))}`;
};

/** `pushed` finds a session by its id on the server; without it the adapter only names its assistant. Nothing on the server's disk is listed. */
export function pushedAdapter(
  facts: Facts,
  pushed?: { find(id: string): Pushed | undefined; load(sha256: string): Promise<Uint8Array> },
): Plugin & { adapter: Adapter } {
  return defineAdapter(() => ({
    ...facts,
    roots: () => [],
    async *scan() {},
    open: () => ({
      version: ({ tool, key }) => pushed?.find(`${tool}:${key}`)?.digest,
      async *read({ tool, key }): AsyncGenerator<NewEvent, SessionSummary | undefined> {
        const session = pushed?.find(`${tool}:${key}`);
        if (!pushed || !session) return undefined;
        try {
          return yield* readPushed(session, pushed.load);
        } catch (error) {
          session.problem = error;
          throw error;
        }
      },
    }),
  }))();
}

async function* readPushed(session: Pushed, load: LoadChunk): AsyncGenerator<NewEvent, SessionSummary> {
  const { manifest, machine, text, signal } = session;
  const events = readText(
    manifest,
    text,
    async (sha256) => {
      signal?.throwIfAborted();
      return load(sha256);
    },
    { key: (other) => keyHere(machine, other) },
  );
  // Each of them is a row, or a part of one, in tables of the database.
  const tools = new Set<string>();
  const models = new Set<string>();
  const quarters = new Set<number>();
  for (;;) {
    const step = await events.next();
    if (step.done) {
      await session.whole?.();
      const { project } = manifest;
      return { ...step.value, virtualProject: { key: project.key, name: project.name, shared: true } };
    }
    for (const event of step.value) {
      const { at, tool_name, model } = event;
      if (tool_name !== undefined) tools.add(tool_name);
      if (model !== undefined) models.add(model);
      if (at !== undefined) quarters.add(Math.floor(Date.parse(at) / QUARTER_MS));
      yield withShortNames(event);
    }
    limit(manifest.id, "names of tools", tools.size);
    limit(manifest.id, "models", models.size);
    limit(manifest.id, "quarter-hours", quarters.size);
  }
}

const QUARTER_MS = 900_000;

/** A row of an index holds 2,700 bytes, and plugins index tools and models by name. */
const LONGEST_NAME = 300;

function withShortNames({ seq: _, ...event }: SessionEvent): NewEvent {
  for (const name of ["tool_name", "model"] as const) {
    const value = event[name];
    if (value !== undefined && value.length > LONGEST_NAME) event[name] = value.slice(0, LONGEST_NAME);
  }
  return event;
}
