/** The tables of what hooks offer, and a line that was offered. */

export const migrations: readonly string[] = [
  // `folders`: JSON. `answer`: JSON of 40 KB at most. `built`: ms.
  `create table recall_answer (project text primary key, folders text not null, answer text not null, built integer not null);
   -- \`at\`: ms. \`names\`: JSON. \`used\`: 1, 0, or null while it is not known.
   create table recall_offered (
     session text not null,
     line text not null,
     at integer not null,
     moment text not null,
     project text not null,
     source text not null,
     seq integer,
     names text not null,
     used integer,
     primary key (session, line)
   );
   create index recall_offered_at on recall_offered (at);`,
];

export type Moment = "start" | "command" | "file";

/** A line that was offered. */
export interface Offered {
  /** ISO 8601 UTC. */
  at: string;
  /** The session it was offered to; the archive may not have it yet. */
  session: string;
  moment: Moment;
  projectId: string;
  line: string;
  /** The message it comes from. */
  source: { session: string; seq: number | null };
  /** One of the next calls touched what the line names; null while the archive has no later call, and for a line that names nothing. */
  used: boolean | null;
}
