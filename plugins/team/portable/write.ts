/** From an archived session to what leaves the machine: the manifest, and the pieces that it names. */
import type { SessionEvent, SessionLink, SessionSummary, UsageEntry } from "sessarc";
import { createPieces, type Piece } from "sessarc/files";
import type { Manifest, PortableSummary } from "../types.ts";
import { eventLine } from "./events.ts";
import { replyLines } from "./replies.ts";

/** What of a manifest does not come from pieces. */
type ManifestHead = Pick<Manifest, "id" | "tool" | "toolLabel" | "project" | "name" | "born" | "summary">;

/** Links that mean something on another machine. */
export type Leaving = Extract<SessionLink, { kind: "continued-in" | "derived-from" | "pull-request" }>;
const isLeaving = (link: SessionLink): link is Leaving => link.kind !== "relocated" && link.kind !== "worktree";
export const leavingLinks = (links: readonly SessionLink[] | undefined): Leaving[] => (links ?? []).filter(isLeaving);

/** What of a summary leaves the machine beside replies. */
export function toPortable(summary: SessionSummary): PortableSummary {
  const {
    replies: _replies,
    cwd: _cwd,
    gitRemote: _gitRemote,
    virtualProject: _virtualProject,
    limits: _limits,
    remembered: _remembered,
    links,
    ...portable
  } = summary;
  const leaving = leavingLinks(links);
  return leaving.length > 0 ? { ...portable, links: leaving } : portable;
}

/**
 * A manifest without redaction: what leaves a machine is redacted first (`client/`). `texts`: messages of each text, oldest first, the session's own
 * last. `keep` is called with each piece as soon as it is whole; memory is a piece and a batch of messages.
 */
export async function writeSession(
  head: ManifestHead,
  replies: readonly UsageEntry[],
  texts: readonly AsyncIterable<readonly SessionEvent[]>[],
  keep: (piece: Piece) => void,
): Promise<Manifest> {
  const written: string[][] = [];
  for (const text of texts) {
    const pieces = keeping(keep);
    for await (const events of text) for (const event of events) pieces.add(eventLine(event));
    written.push(pieces.end());
  }
  const events = written.pop() ?? [];
  return { version: 1, ...head, replies: writeReplies(replies, keep), events, earlier: written, raw: [], log: null };
}

/** Names of the pieces that hold the replies. */
export function writeReplies(replies: readonly UsageEntry[], keep: (piece: Piece) => void): string[] {
  const pieces = keeping(keep);
  for (const line of replyLines(replies)) pieces.add(line);
  return pieces.end();
}

/** Passes pieces on and remembers their names. */
function keeping(keep: (piece: Piece) => void) {
  const cutter = createPieces();
  const names: string[] = [];
  const take = (pieces: readonly Piece[]) => {
    for (const piece of pieces) {
      keep(piece);
      names.push(piece.sha256);
    }
  };
  return {
    add: (line: string) => take(cutter.add(line)),
    end() {
      take(cutter.end());
      return names;
    },
  };
}
