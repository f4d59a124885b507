/** Another price table comes into force. */
import { type Kernel, SessarcError } from "sessarc";
import { type PriceTable, writeTable } from "./table.ts";

/** Stores the table and applies it to every later figure; undefined: the table in the package. Throws STORAGE_READ_ONLY. */
export async function replaceTable(kernel: Kernel, table: PriceTable | undefined): Promise<void> {
  const { storage } = kernel;
  if (storage.readOnly) throw new SessarcError("STORAGE_READ_ONLY", { path: storage.dataDir });
  const { pricing, answers } = kernel.inject("insights");
  await writeTable(storage.files, table);
  pricing.setTable(table);
  answers.clear();
  await kernel.notify("prices:changed");
}
