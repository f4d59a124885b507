/**
 * What a team's server answers, by route. The server's routes answer these types; a machine checks every value before it is used, stored or shown: the
 * server may be hostile, or not one of a team at all.
 */
import { oneLine, printable } from "sessarc/terminal";
import * as v from "valibot";

/** Characters of a name, of a reason, and of a remedy that are shown. */
const NAME_CHARS = 200;
const REASON_CHARS = 500;

/** Text for people: on one line, without what a terminal obeys or a reader is misled by, and cut. */
const shown = (most: number) =>
  v.pipe(
    v.string(),
    v.transform((text) => [...oneLine(printable(text.slice(0, 4 * most)))].slice(0, most).join("")),
  );
const name = shown(NAME_CHARS);
const id = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/));
const secret = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{16,200}$/));
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
/** Of a session, as its machine calls it. */
const sessionId = v.pipe(
  v.string(),
  v.maxLength(464),
  v.regex(/^[a-z0-9][a-z0-9-]{0,63}:[^\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+$/u),
);
const time = v.pipe(
  v.string(),
  v.regex(/^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  v.check((text) => Number.isFinite(Date.parse(text))),
);
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const spaceId = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const kind = v.picklist(["private", "team", "project"]);
const scopes = v.pipe(v.array(v.picklist(["push", "read", "own"])), v.maxLength(3));
const list = <S extends v.GenericSchema>(schema: S, most: number) => v.pipe(v.array(schema), v.maxLength(most));
const code = v.pipe(v.string(), v.regex(/^[A-Z][A-Z0-9_]{1,59}$/));
/** Checked further where it is used: it must lead to the server that was asked. */
const link = v.pipe(v.string(), v.maxLength(2_000));

const space = v.object({ id: spaceId, name, kind, mine: v.boolean() });
const person = v.object({ id, name });
const ownSpaces = list(space, 10_000);

export const joined = v.object({ person, device: id, machine: id, spaces: ownSpaces });
export const token = v.object({ token: secret, expires: time });
export const me = v.object({ person, device: id, machine: id, scopes, spaces: ownSpaces });
export const have = v.object({
  missing: list(v.string(), 1_000),
  withdrawn: v.optional(list(v.string(), 1_000), []),
});
export const missing = v.object({ missing: list(sha256, 1_000) });
export const blobStored = v.object({ stored: v.literal(true) });
export const stored = v.object({
  id: v.string(),
  digest: sha256,
  outcome: v.picklist(["imported", "unchanged"]),
});
export const removed = list(v.object({ id: sessionId, digest: v.union([sha256, v.literal("")]), at: time }), 100_000);
export const withdrawn = v.object({
  removed,
  receipt: v.string(),
  signature: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{86}$/)),
  publicKey: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/)),
});
export const invitation = v.object({ id, link, expiresAt: time });
export const people = v.object({
  people: list(v.object({ id, name, createdAt: time, spaces: list(spaceId, 10_000) }), 10_000),
  /** Who was removed: the access log names them. */
  former: v.optional(list(person, 10_000), []),
});
export const devices = v.object({
  devices: list(
    v.object({
      id,
      person: id,
      machine: id,
      name,
      scopes,
      createdAt: time,
      seenAt: v.nullable(time),
      revokedAt: v.nullable(time),
    }),
    50_000,
  ),
});
export const spaces = v.object({
  spaces: list(v.object({ id: spaceId, name, kind, people: list(id, 10_000) }), 10_000),
});
export const access = v.object({
  entries: list(
    v.object({
      at: time,
      person: v.nullable(id),
      device: v.nullable(id),
      remote: name,
      method: v.pipe(v.string(), v.regex(/^[A-Z-]{1,20}$/)),
      path: shown(REASON_CHARS),
      status: v.pipe(count, v.minValue(100), v.maxValue(599)),
      code: v.nullable(code),
    }),
    1_000,
  ),
});
/** Logs whose messages an older adapter made, by what became of them. */
export const logs = v.object({
  waiting: count,
  failed: count,
  without: count,
  problems: v.optional(
    list(v.object({ session: v.string(), person: id, version: name, problem: shown(REASON_CHARS) }), 1_000),
    [],
  ),
});
export const numbered = v.object({ id: spaceId });
export const added = v.object({ added: v.literal(true) });
export const revoked = v.object({ revoked: v.literal(true) });
const endedMachines = list(v.object({ id, name }), 10_000);
/** What ended with a machine, and who else joined by its invitations. */
export const endedMachine = v.object({
  revoked: v.literal(true),
  machines: endedMachines,
  invitations: count,
  tokens: count,
  invited: list(v.object({ id, name, personName: name }), 10_000),
});
export const endedPerson = v.object({
  removed: v.literal(true),
  machines: endedMachines,
  invitations: count,
  tokens: count,
  /** Of the private space, that were deleted. */
  sessions: count,
});
export const opened = v.object({ url: link, expires: time });
export const madeToken = v.object({ id, token: secret, expires: time });
export const readTokens = v.object({
  tokens: list(v.object({ id, name, person, createdAt: time, expiresAt: time, usedAt: v.nullable(time) }), 10_000),
});
export const invites = v.object({
  invites: list(
    v.object({
      id,
      scopes,
      spaces: list(spaceId, 10_000),
      person: v.nullable(id),
      madeBy: v.nullable(id),
      createdAt: time,
      expiresAt: time,
      usedAt: v.nullable(time),
      revokedAt: v.nullable(time),
    }),
    10_000,
  ),
});
export const key = v.object({ publicKey: v.string() });
const removal = v.object({ removed: v.literal(true) });

/** By route below `/team/api`. */
export const ANSWERS = {
  "POST /join": joined,
  "POST /token": token,
  "GET /key": key,
  "GET /me": me,
  "POST /open": opened,
  "GET /people": people,
  "DELETE /people/:id": endedPerson,
  "GET /devices": devices,
  "DELETE /devices/:id": endedMachine,
  "POST /tokens": madeToken,
  "GET /tokens": readTokens,
  "DELETE /tokens/:id": revoked,
  "GET /invites": invites,
  "POST /invites": invitation,
  "DELETE /invites/:id": revoked,
  "GET /spaces": spaces,
  "POST /spaces": numbered,
  "POST /spaces/:id/people": added,
  "DELETE /spaces/:id/people": removal,
  "GET /access": access,
  "POST /have": have,
  "POST /blobs/have": missing,
  "PUT /blobs/:sha256": blobStored,
  "POST /sessions": stored,
  "GET /logs": logs,
  "POST /withdraw": withdrawn,
};

export const refusal = v.object({
  code,
  message: shown(REASON_CHARS),
  fix: v.optional(shown(REASON_CHARS), ""),
});

export type Space = v.InferOutput<typeof space>;
export type Joined = v.InferOutput<typeof joined>;
export type ParsedLogs = Omit<v.InferOutput<typeof logs>, "problems">;
export type Person = v.InferOutput<typeof people>["people"][number];
export type Device = v.InferOutput<typeof devices>["devices"][number];
export type SharedSpace = v.InferOutput<typeof spaces>["spaces"][number];
export type ReadToken = v.InferOutput<typeof readTokens>["tokens"][number];
export type Invitation = v.InferOutput<typeof invitation>;
export type EndedMachine = v.InferOutput<typeof endedMachine>;
export type EndedPerson = v.InferOutput<typeof endedPerson>;
export type AccessEntry = v.InferOutput<typeof access>["entries"][number];
export type Withdrawn = v.InferOutput<typeof withdrawn>;
