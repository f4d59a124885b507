/** What a pushed manifest may hold. It comes from another machine: each field is checked, and what is not known is left out. */
import * as v from "valibot";
import { HEAD } from "../../portable/log.ts";

/** A hundred thousand messages are some hundred chunks. */
export const MOST_CHUNKS = 4_096;
const MOST_TEXTS = 100;

const isPlain = (text: string) => !/[\p{Cc}]/u.test(text);
const text = (most: number) => v.pipe(v.string(), v.maxLength(most));
/** Without control characters. */
const plain = (most: number) => v.pipe(text(most), v.nonEmpty(), v.check(isPlain, "has control characters"));
export const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "is not a SHA-256 in hex"));
const hashes = v.pipe(v.array(sha256), v.maxLength(MOST_CHUNKS));
const key = plain(400);
export const sessionId = v.pipe(
  v.string(),
  v.maxLength(464),
  v.regex(/^[a-z0-9][a-z0-9-]{0,63}:[^\p{Cc}]+$/u, "is not a session id"),
);
const time = v.pipe(v.string(), v.maxLength(40), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d/, "is not an ISO time"));
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const tokens = v.object({ input: count, output: count, cacheWrite5m: count, cacheWrite1h: count, cacheRead: count });
const usage = v.record(text(300), tokens);
const optional = <S extends v.GenericSchema>(schema: S) => v.optional(schema);

const link = v.variant("kind", [
  v.object({ kind: v.picklist(["continued-in", "derived-from"]), key }),
  v.object({
    kind: v.literal("pull-request"),
    url: v.pipe(text(2_000), v.url(), v.regex(/^https?:\/\//)),
    number: optional(count),
    repository: optional(text(300)),
  }),
]);

const summary = v.object({
  title: optional(text(2_000)),
  gitBranch: optional(text(500)),
  parent: optional(key),
  forkedFrom: optional(key),
  startedAt: optional(time),
  endedAt: optional(time),
  usage,
  inheritedUsage: optional(usage),
  unlogged: optional(tokens),
  costUSD: optional(v.pipe(v.number(), v.finite(), v.minValue(0))),
  slots: optional(v.record(v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/)), usage)),
  classes: optional(v.record(text(20), usage)),
  evidence: optional(v.object({ records: count, requests: count, duplicatesFolded: count, inheritedExcluded: count })),
  // Links of a kind that only makes sense on the machine (folders, worktrees) do not leave it.
  links: optional(v.pipe(v.array(link), v.maxLength(200))),
  tags: optional(v.pipe(v.array(text(200)), v.maxLength(200))),
  skipped: optional(v.object({ lines: count, pending: optional(count), unknown: v.record(text(200), count) })),
});

/** A name is joined to a folder. */
const log = v.object({
  name: v.pipe(v.string(), v.regex(/^(?!\.+$)[\w.:~-]{1,200}$/, "is not the name of a log")),
  version: text(100),
  outside: v.pipe(v.array(v.picklist(HEAD)), v.maxLength(HEAD.length)),
});

export const manifestSchema = v.pipe(
  v.object({
    version: v.literal(1),
    id: sessionId,
    tool: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "is not the name of an assistant")),
    toolLabel: plain(100),
    project: v.object({
      kind: v.picklist(["repository", "folder", "virtual"]),
      name: plain(300),
      key: plain(500),
      root: optional(plain(4_000)),
      cwd: optional(plain(4_000)),
    }),
    name: v.nullish(text(500), null),
    summary,
    replies: hashes,
    events: hashes,
    earlier: v.optional(v.pipe(v.array(hashes), v.maxLength(MOST_TEXTS)), []),
    raw: hashes,
    log: v.nullish(log, null),
    born: v.pipe(v.number(), v.finite(), v.minValue(0)),
  }),
  v.check(({ id, tool }) => id.startsWith(`${tool}:`), "id and tool do not fit"),
);

export type PushedManifest = v.InferOutput<typeof manifestSchema>;

export const toChunks = ({ replies, events, earlier, raw }: PushedManifest): string[] => [
  ...new Set([...replies, ...events, ...earlier.flat(), ...raw]),
];
