/** From what an author writes to an adapter. */
import type { Adapter, AdapterDefinition, AdapterEnv, EventBatches, LogLine } from "../contract/adapter.ts";
import type { AdapterPlugin, PluginFactory } from "../contract/plugin.ts";
import { arePossible, latestTime, withPossibleFigures } from "../session/figures.ts";
import type { SessionRef, SessionSummary } from "../session/session.ts";
import { createOpenReader } from "./open-log.ts";
import { readGiven, readLog } from "./read-log.ts";
import { tailLog } from "./tail-log.ts";

/**
 * Makes an adapter plugin. `def` gets the options the user gave; the plugin is named `adapter:<name>`.
 *
 * Cost: none at import time; nothing runs before the kernel asks.
 */
export function defineAdapter<O = void>(def: (options: O) => AdapterDefinition): PluginFactory<O, AdapterPlugin> {
  return ((options: O): AdapterPlugin => {
    const { version, compatibility, ...own } = def(options);
    // Options are an object or nothing: an adapter without options gets an object that it ignores.
    const at = (dir: string): Adapter => toAdapter(def({ ...options, dir }), at);
    return {
      name: `adapter:${own.name}`,
      adapter: toAdapter(own, at),
      ...(version && { version }),
      ...(compatibility && { compatibility }),
    };
  }) as PluginFactory<O, AdapterPlugin>;
}

function toAdapter(def: AdapterDefinition, at: Adapter["at"]): Adapter {
  const { name, parse, open, token, scan, usage, appends = () => parse !== undefined, ...facts } = def;
  // A plugin in JavaScript has no compiler to report this.
  if (typeof (parse ?? open) !== "function")
    throw new TypeError(`the adapter "${name}" has neither \`parse\` nor \`open\``);
  const opened = open && createOpenReader({ open, token });
  const isLines = (ref: { path: string }) => parse !== undefined && (open === undefined || appends(ref));
  async function* read(ref: SessionRef, env: AdapterEnv): EventBatches<SessionSummary> {
    if (parse && isLines(ref)) return checked(ref, yield* readLog(ref, await parse(ref, env)));
    return checked(ref, yield* need(opened, name).read(ref, env));
  }
  return {
    ...facts,
    name,
    at,
    read,
    appends: isLines,
    ...(parse && {
      async *parseLines(ref: SessionRef, lines: AsyncIterable<readonly LogLine[]>, env: AdapterEnv) {
        return checked(ref, yield* readGiven(ref, await parse(ref, env), lines));
      },
    }),
    async *scan(root, env) {
      for await (const ref of scan(root, env)) yield { ...ref, tool: name };
    },
    async *readMany(refs, env) {
      const [first] = refs;
      if (first && !isLines(first)) {
        for await (const [ref, batches] of need(opened, name).readMany(refs, env))
          yield [ref, checkedEnd(ref, batches)];
      } else for (const ref of refs) yield [ref, read(ref, env)];
    },
    async *tail(ref, cursor, env) {
      const end =
        parse && isLines(ref)
          ? yield* tailLog(ref, cursor, (own) => parse(own, env))
          : yield* need(opened, name).tail(ref, cursor, env);
      const { cursor: at, restarted, bytesRead } = end;
      return {
        cursor: at,
        restarted,
        bytesRead,
        // Adds up all replies of the session: followers need none of it.
        get summary() {
          return checked(ref, end.summary);
        },
      };
    },
    ...(usage && {
      async usage(ref, env) {
        const found = await usage(ref, env);
        // The log is read then, which reports what is impossible.
        return found && arePossible(found, latestTime(ref)) ? found : undefined;
      },
    }),
  };
}

const checked = (ref: SessionRef, summary: SessionSummary) => withPossibleFigures(summary, latestTime(ref));

async function* checkedEnd(ref: SessionRef, batches: EventBatches<SessionSummary>): EventBatches<SessionSummary> {
  return checked(ref, yield* batches);
}

function need<T>(opened: T | undefined, name: string): T {
  if (opened === undefined)
    throw new TypeError(`the adapter "${name}" says that a log does not grow, and has no \`open\` to read it`);
  return opened;
}
