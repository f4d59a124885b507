/** What one session says of mistakes: claims of its user, commands of its assistant. */
import type { Kernel, Services } from "sessarc";
import { type Claim, readClaims } from "./claims.ts";
import { createSlipReader, type Run, type Slip } from "./slips.ts";

type Session = Awaited<ReturnType<Services["archive"]["get"]>>;

export interface SessionReading {
  id: string;
  startedAt: string | null;
  /** Prompts that hold claims. */
  said: { seq: number; at: string | null; isFirst: boolean; claims: Claim[] }[];
  /** The first prompt, where it is long: one that begins several sessions is a form. */
  form: string | null;
  slips: Slip[];
  runs: Run[];
}

const FORM = 80;

/** Reads a session once. What a fork copied is its origin's; the prompts of a sub-agent are no user's. */
export async function readSession(kernel: Kernel, session: Session): Promise<SessionReading> {
  const archive = kernel.inject("archive");
  const slips = createSlipReader(archive.adapter(session.tool)?.tools ?? {}, session.cwd);
  const said: SessionReading["said"] = [];
  let form: string | null = null;
  let isFirst = session.copiedMessages === 0;
  for await (const events of archive.events(session, session.copiedMessages))
    for (const event of events) {
      slips.event(event);
      if (event.kind !== "user" || session.parentId !== null) continue;
      if (isFirst && event.text.length >= FORM) form = event.text.trim();
      const claims = readClaims(event.text, isFirst);
      if (claims.length > 0) said.push({ seq: event.seq, at: event.at ?? null, isFirst, claims });
      isFirst = false;
    }
  return { id: session.id, startedAt: session.startedAt, said, form, slips: slips.slips, runs: slips.runs };
}
