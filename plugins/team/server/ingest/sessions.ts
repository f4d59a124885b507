/** Pushed sessions and their rows in `team_session`. */
import { type Database, marks, type Statement } from "sessarc";
import type { Facts } from "../kernel-parts.ts";
import { idHere } from "./adapters.ts";
import type { PushedManifest } from "./manifest-schema.ts";

export interface Push {
  person: string;
  machine: string;
  space: number;
  manifest: PushedManifest;
  digest: string;
}

export interface StoredSession {
  session: string;
  space: number;
  person: string;
  machine: string;
  digest: string;
  manifest: string;
  reader: string;
}

/** Answers those of `ids` that have a row, by id. */
export type ReadStored = (ids: readonly string[]) => Promise<Map<string, StoredSession>>;

export const storedReader =
  (owner: Database, tenant: number): ReadStored =>
  async (ids) => {
    const rows = await owner.all<StoredSession>(
      `select session, space, person, machine, digest, manifest, reader from team_session where tenant = ? and session in (${marks(ids)})`,
      [tenant, ...ids],
    );
    return new Map(rows.map((row) => [row.session, row]));
  };

/** Statements after which the sessions claim no reply. */
export const unclaim = (ids: readonly string[]): Statement[] => [
  [`delete from reply where book in (select n from session_replies where session_id in (${marks(ids)}))`, [...ids]],
  [`delete from session_replies where session_id in (${marks(ids)})`, [...ids]],
];

export const toFacts = ({ push: { manifest } }: { push: Push }): Facts => ({
  name: manifest.tool,
  label: manifest.toolLabel,
});

/** Id on the server. */
export const toId = ({ machine, manifest }: Push): string => idHere(machine, manifest.id);
