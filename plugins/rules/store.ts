/** SQL of accepted and dismissed lines and of proofs, one function per question. */
import type { Database } from "sessarc";
import type { Proof } from "./proof.ts";

/** A line that was accepted. */
export interface AcceptedRow {
  id: string;
  project_id: string;
  kind: "correction" | "command";
  line: string;
  /** The file it was written into. */
  path: string;
  seeds: string;
  times: number;
  sessions: number;
  tokens: number;
  accepted_at: number;
}

/** A line that was dismissed. */
export interface DismissedRow extends Pick<AcceptedRow, "id" | "project_id" | "kind" | "line" | "seeds"> {
  dismissed_at: number;
}

export function createRuleStore(db: Database) {
  return {
    /** Of a project or of all, the oldest first. */
    accepted: (project?: string) =>
      db.all<AcceptedRow>(
        `select id, project_id, kind, line, path, seeds, times, sessions, tokens, accepted_at from rule_accepted
         ${project === undefined ? "" : "where project_id = ?"} order by accepted_at, id`,
        project === undefined ? [] : [project],
      ),
    async accept(row: AcceptedRow): Promise<void> {
      await db.run(
        `insert into rule_accepted (id, project_id, kind, line, path, seeds, times, sessions, tokens, accepted_at)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do update set project_id = excluded.project_id,
           kind = excluded.kind, line = excluded.line, path = excluded.path, seeds = excluded.seeds, times = excluded.times,
           sessions = excluded.sessions, tokens = excluded.tokens, accepted_at = excluded.accepted_at`,
        [
          row.id,
          row.project_id,
          row.kind,
          row.line,
          row.path,
          row.seeds,
          row.times,
          row.sessions,
          row.tokens,
          row.accepted_at,
        ],
      );
    },
    async forget(id: string): Promise<void> {
      await db.run("delete from rule_accepted where id = ?", [id]);
    },
    /** Of a project or of all, the newest first. */
    dismissed: (project?: string) =>
      db.all<DismissedRow>(
        `select id, project_id, kind, line, seeds, dismissed_at from rule_dismissed
         ${project === undefined ? "" : "where project_id = ?"} order by dismissed_at desc, id`,
        project === undefined ? [] : [project],
      ),
    async dismiss({ id, project_id, kind, line, seeds, dismissed_at }: DismissedRow): Promise<void> {
      await db.run(
        `insert into rule_dismissed (id, project_id, kind, line, seeds, dismissed_at) values (?, ?, ?, ?, ?, ?)
         on conflict (id) do update set project_id = excluded.project_id, kind = excluded.kind, line = excluded.line,
           seeds = excluded.seeds, dismissed_at = excluded.dismissed_at`,
        [id, project_id, kind, line, seeds, dismissed_at],
      );
    },
    async proposeAgain(id: string): Promise<void> {
      await db.run("delete from rule_dismissed where id = ?", [id]);
    },
    /** The proof of a proposal, if its line was this one. */
    async proof(id: string, line: string): Promise<Proof | null> {
      const [row] = await db.all<{ proof: string }>("select proof from rule_proof where id = ? and line = ?", [
        id,
        line,
      ]);
      return row ? (JSON.parse(row.proof) as Proof) : null;
    },
    async prove(id: string, project: string, line: string, proof: Proof): Promise<void> {
      await db.run(
        `insert into rule_proof (id, project_id, line, proof, proved_at) values (?, ?, ?, ?, ?)
         on conflict (id) do update set project_id = excluded.project_id, line = excluded.line, proof = excluded.proof,
           proved_at = excluded.proved_at`,
        [id, project, line, JSON.stringify(proof), Date.now()],
      );
    },
  };
}

export type RuleStore = ReturnType<typeof createRuleStore>;
