/** A bounded look at a chat for the list of what can be imported. */

import { stat } from "node:fs/promises";
import { type SessionRef, type SessionSummary, toIso, toRecord } from "sessarc";
import { parseDocument, rowsIn, toTitle } from "sessarc/adapter";
import { openRegular } from "sessarc/files";
import { findWorkspace, userText } from "./content.ts";
import { createFold } from "./fold.ts";
import { toVirtualProject } from "./projects.ts";

const BOUND = 256 * 1024;

/** Reads at most 256 KB: title, folder and start as far as the first records tell. */
export async function peekChat(
  ref: SessionRef,
): Promise<Pick<SessionSummary, "title" | "cwd" | "startedAt" | "virtualProject">> {
  const { size } = await stat(ref.path);
  const bytes = Buffer.alloc(Math.min(size, BOUND));
  const file = await openRegular(ref.path);
  try {
    await file.read(bytes, 0, bytes.length, 0);
  } finally {
    await file.close();
  }
  const text = bytes.toString("utf8");
  const fold = createFold();
  if (ref.path.endsWith(".json")) fold.row({ $set: toRecord(parseDocument(text).value) });
  else {
    const lines = text.split("\n");
    if (size > BOUND) lines.pop();
    for (const line of lines) for (const row of rowsIn(line)) fold.row(row);
  }
  const { meta, messages, first, context } = fold.result();
  let prompt: string | undefined;
  for (const row of messages.values()) {
    if (row.type === "user") prompt = userText(row).typed || undefined;
    if (prompt !== undefined) break;
  }
  const cwd = ref.cwd ?? findWorkspace(context);
  return {
    title: toTitle(meta.summary) ?? toTitle(prompt),
    cwd,
    virtualProject: cwd === undefined ? toVirtualProject(ref.path, meta.projectHash) : undefined,
    startedAt: toIso(meta.startTime) ?? first,
  };
}
