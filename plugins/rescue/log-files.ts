/** The raw log of a session as files: for an export. */
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import type { Kernel } from "sessarc";
import { ifThere, openRegular } from "sessarc/files";
import type { Keeper } from "./keep/keeper.ts";

export interface LogFile {
  /** Where it is, or was; empty for rows of a database. */
  path: string;
  /** Bytes. */
  size: number;
  /** Its bytes; undefined when it is gone or damaged by now. A large log is not read into memory at once. */
  read(): Promise<ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | undefined>;
}

/**
 * As they are at the assistant, where one file is one session; else as they are stored, which of a log that is gone is all that is left. A database that
 * holds many sessions is not one's log.
 */
export async function listLogFiles(kernel: Kernel, keeper: Keeper, id: string): Promise<LogFile[]> {
  const session = await kernel.inject("archive").get(id);
  const { path, companions = [] } = kernel.inject("archive").ref(session);
  const { exclusive } = session.source;
  const files: LogFile[] = [];
  for (const one of exclusive ? [path, ...companions] : []) {
    const info = await ifThere(stat(one));
    if (info?.isFile()) files.push({ path: one, size: info.size, read: () => streamFile(one) });
  }
  if (files.some((file) => file.path === path)) return files;
  const stored = (await keeper.files(id)) ?? [];
  return stored.map((file) => ({
    path: file.path,
    size: file.size,
    read: async () => toBytes(await keeper.read(file)),
  }));
}

async function streamFile(path: string): Promise<ReadableStream<Uint8Array> | undefined> {
  const file = await ifThere(openRegular(path));
  return file && (Readable.toWeb(file.createReadStream()) as ReadableStream<Uint8Array>);
}

const toBytes = (bytes: Buffer | undefined) => bytes && new Uint8Array(bytes);
