/** The sessions a search goes through, with directories and signatures of their texts as far as they were read. */
import type { Database, PartIndex, TranscriptPart, Transcripts } from "sessarc";
import { isDamage } from "../catalogue/damage.ts";
import { type EarlierRow, partsOf } from "../catalogue/types.ts";

export interface Entry {
  id: string;
  projectId: string;
  tool: string;
  sortAt: number;
  startMs: number | null;
  endMs: number | null;
  errors: number;
  texts: Text[];
  /** Changes with `texts`. */
  packed: string;
  index: TextPart[] | undefined;
  /** Some of it could not be read. */
  damaged: boolean;
}

/** The session's own text, or an earlier one, of which only the messages count that no later one has. */
export interface Text {
  parts: TranscriptPart[];
  earlier?: { version: number; own: readonly [from: number, to: number][] };
}

export type TextPart = PartIndex & Pick<Text, "earlier">;

interface Row {
  id: string;
  project_id: string;
  tool: string;
  sort_at: number;
  started_at: string | null;
  ended_at: string | null;
  error_count: number;
  parts: string;
}

const ROWS =
  "select id, project_id, tool, sort_at, started_at, ended_at, error_count, parts from session order by sort_at desc, id";

export class Entries {
  readonly #db: Database;
  readonly #transcripts: Transcripts;
  #list: Entry[] = [];
  #changes = 0;
  #readAt = -1;
  #reading: Promise<void> | undefined;

  constructor(db: Database, transcripts: Transcripts) {
    this.#db = db;
    this.#transcripts = transcripts;
  }

  /** Sessions were replaced, moved or removed: the list is read again when it is next asked for. */
  invalidate(): void {
    this.#changes++;
  }

  /** All of them as they are now, newest first. One read for those who ask at once. */
  async list(): Promise<readonly Entry[]> {
    while (this.#readAt !== this.#changes) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#list;
  }

  /** Reads directories and signatures of those that lack them, all at once. Parts that cannot be read are left out. */
  async load(entries: readonly Entry[]): Promise<void> {
    await Promise.all(
      entries.map(async (entry) => {
        const parts = entry.texts.flatMap(({ parts, earlier }) => parts.map((part) => ({ part, earlier })));
        const read = await Promise.all(
          parts.map(async ({ part, earlier }): Promise<TextPart[]> => {
            try {
              return [{ ...(await this.#transcripts.index(entry.id, part)), ...(earlier && { earlier }) }];
            } catch (error) {
              if (!isDamage(error)) throw error;
              entry.damaged = true;
              return [];
            }
          }),
        );
        entry.index = read.flat();
      }),
    );
  }

  async #read(): Promise<void> {
    const changes = this.#changes;
    const [rows, kept] = await Promise.all([
      this.#db.all<Row>(ROWS),
      this.#db.all<EarlierRow>("select * from earlier order by version desc"),
    ]);
    const earlier = new Map<string, EarlierRow[]>();
    for (const row of kept) earlier.set(row.session_id, [...(earlier.get(row.session_id) ?? []), row]);
    const known = new Map(this.#list.map((entry) => [entry.id, entry]));
    this.#list = rows.map((row) => toEntry(row, earlier.get(row.id) ?? [], known.get(row.id)));
    this.#readAt = changes;
  }
}

function toEntry(row: Row, earlier: readonly EarlierRow[], old: Entry | undefined): Entry {
  const packed = [row.parts, ...earlier.map((text) => `${text.version} ${text.parts} ${text.own}`)].join("\n");
  const same = old?.packed === packed ? old : undefined;
  return {
    id: row.id,
    projectId: row.project_id,
    tool: row.tool,
    sortAt: row.sort_at,
    startMs: row.started_at === null ? null : Date.parse(row.started_at),
    endMs: row.ended_at === null ? null : Date.parse(row.ended_at),
    errors: row.error_count,
    packed,
    texts: same?.texts ?? [
      { parts: partsOf(row) },
      ...earlier.map((text) => ({
        parts: partsOf(text),
        earlier: { version: text.version, own: JSON.parse(text.own) as [number, number][] },
      })),
    ],
    index: same?.index,
    damaged: same?.damaged ?? false,
  };
}
