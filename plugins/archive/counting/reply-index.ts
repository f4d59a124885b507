/**
 * Where each reply of the archive is booked, so that a run reads the books of those it meets and no others. Kept in files (`reply-file.ts`)
 * that the catalogue names, with the row up to which they know all books: what came later is read from the catalogue. A file that is missing,
 * damaged or of another catalogue is as good as none, and they are made again.
 */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "sessarc";
import { Slices, storageFailed } from "#internal";
import { heldBy, type StoredBook } from "./book.ts";
import { ReplyFile, ReplyList, writeReplies } from "./reply-file.ts";

const NAME = /^[0-9a-f]{16}\.replies$/;
/** Books that are read at the start of a first run rather than put into a file. */
const BEHIND = 1_000;
/** Replies put into a file at once, and held in memory between runs: 12 MB. */
const MOST = 1_000_000;
const PAGE = 200;
/** Its row in the table `derived`. */
const ROW = "replies";

export interface ReplyIndexOptions {
  folder: string;
  readOnly: boolean;
  /** What it is at is given up. */
  closing: AbortSignal;
}

export class ReplyIndex {
  readonly #db: Database;
  readonly #options: ReplyIndexOptions;
  #behind = BEHIND;
  #most = MOST;
  #files: ReplyFile[] = [];
  #upto = 0;
  #opened = false;

  constructor(db: Database, options: ReplyIndexOptions) {
    this.#db = db;
    this.#options = options;
  }

  /** Replies put into a file at once, and held in memory between runs. */
  get most(): number {
    return this.#most;
  }
  /** For tests: how many books may stand in no file, and `most`. */
  keepFrom(behind: number, most: number): void {
    this.#behind = behind;
    this.#most = most;
  }

  /** Rows from this one on are in no file. */
  get upto(): number {
    return this.#upto;
  }

  /**
   * Opens the files, and adds what they lack where that is much. While a run may write no other is under way: what is read here was
   * committed.
   */
  async update(): Promise<void> {
    if (!this.#opened) await this.#open();
    if (this.#options.readOnly) return;
    // A row that is replaced goes to the end. Only the last one may come back under its own number: it is never in a file.
    const last =
      (await this.#db.get<{ last: number | null }>("select max(rowid) as last from session_replies"))?.last ?? 0;
    while (last - this.#upto > this.#behind && !this.#options.closing.aborted) await this.#add(last);
  }

  /** Rows that hold any of the replies. Throws when a file is damaged: then `drop` it all. */
  rowsOf(hashes: Iterable<number>): Set<number> {
    const rows = new Set<number>();
    for (const hash of hashes) for (const file of this.#files) file.rowsOf(hash, (row) => rows.add(row));
    return rows;
  }

  /** Nothing of it is believed any more. */
  async drop(): Promise<void> {
    const old = this.#files.map(({ path }) => path);
    this.close();
    this.#upto = 0;
    this.#opened = true;
    if (this.#options.readOnly) return;
    await this.#db.run("delete from derived where name = ?", [ROW]);
    for (const path of old) await rm(path, { force: true });
  }

  close(): void {
    for (const file of this.#files) file.close();
    this.#files = [];
    this.#opened = false;
  }

  async #open(): Promise<void> {
    const { folder, readOnly } = this.#options;
    this.#opened = true;
    const row = await this.#db.get<{ token: string; upto: number }>("select token, upto from derived where name = ?", [
      ROW,
    ]);
    const names: string[] = row ? JSON.parse(row.token) : [];
    try {
      for (const name of names) this.#files.push(new ReplyFile(join(folder, name)));
      this.#upto = row?.upto ?? 0;
    } catch {
      await this.drop();
    }
    if (readOnly) return;
    const kept = new Set(this.#files.map(({ path }) => path));
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name);
      if (NAME.test(name) && !kept.has(path)) await rm(path, { force: true });
    }
  }

  /** Takes in books of rows before `last`; the files that follow each other grow by powers of two, so they stay few. */
  async #add(last: number): Promise<void> {
    const { folder, closing } = this.#options;
    const list = new ReplyList();
    const slices = new Slices();
    let upto = this.#upto;
    for (let more = true; more && list.length < this.#most; ) {
      const rows = await this.#db.all<StoredBook & { rowid: number }>(
        `select rowid, format, hashes from session_replies where rowid >= ? and rowid < ? order by rowid limit ${PAGE}`,
        [upto, last],
      );
      if (closing.aborted) return;
      for (const row of rows) {
        for (const { hash } of heldBy(row)) list.add(hash, row.rowid);
        upto = row.rowid + 1;
        if (slices.due) await slices.turn();
      }
      more = rows.length === PAGE;
      if (!more) upto = last;
    }
    const old: ReplyFile[] = [];
    const kept = [...this.#files];
    for (let before = kept.at(-1); before && before.length < list.length * 2; before = kept.at(-1)) {
      try {
        await before.readInto(list);
      } catch {
        return this.drop();
      }
      old.push(before);
      kept.pop();
    }
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch(storageFailed(folder));
    const path = join(folder, `${randomBytes(8).toString("hex")}.replies`);
    await writeReplies(path, list).catch(storageFailed(path));
    const file = new ReplyFile(path);
    const files = [...kept, file];
    const names = files.map((one) => one.path.slice(folder.length + 1));
    // Only now it counts: a crash before leaves a file nobody names.
    await this.#db.run("insert or replace into derived (name, token, upto) values (?, ?, ?)", [
      ROW,
      JSON.stringify(names),
      upto,
    ]);
    this.#files = files;
    this.#upto = upto;
    for (const one of old) {
      one.close();
      await rm(one.path, { force: true });
    }
  }
}
