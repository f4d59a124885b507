/** A copy of the catalogue as one file: `catalog.db` with the pages of its log. */
import { read } from "node:fs";
import { promisify } from "node:util";
import { PAGE } from "./catalog-file.ts";
import { findCatalogue } from "./find-catalogue.ts";

const readAsync = promisify(read);
/** Pages read at once. */
const AT_ONCE = 64;

export interface CatalogueCopy {
  /** Bytes. */
  size: number;
  /** Throws when an owner has changed its files since the opening. */
  read(): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

/** The catalogue in `dir` as of its last commit; undefined: there is none. Owners hold `catalog.db` meanwhile (`Database.hold`). */
export async function copyCatalogue(dir: string): Promise<CatalogueCopy | undefined> {
  const found = await findCatalogue(dir);
  const { main, log, pageCount } = found;
  const close = async () => {
    found.close();
    await log?.handle.close();
  };
  if (main === undefined) {
    await close();
    return undefined;
  }
  return {
    size: pageCount * PAGE,
    async *read() {
      for (let first = 0; first < pageCount; first += AT_ONCE) {
        const bytes = new Uint8Array(Math.min(AT_ONCE, pageCount - first) * PAGE);
        await readAsync(main, bytes, 0, bytes.length, first * PAGE);
        for (let at = 0; at < bytes.length; at += PAGE) {
          const place = log?.pages.get(first + at / PAGE + 1);
          if (place !== undefined) await log?.handle.read(bytes, at, PAGE, place);
        }
        if (!found.isCurrent()) throw new Error("The catalogue changed while it was copied");
        yield bytes;
      }
    },
    close,
  };
}
