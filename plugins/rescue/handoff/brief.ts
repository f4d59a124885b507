/** A brief of a session for another assistant. Made of what the session says: no model is asked, so the same session gives the same text. */
import { isRecord, type Kernel, type SessionEvent, toList, toText } from "sessarc";
import { toCommand } from "sessarc/adapter";
import { createCollector, DECISION } from "./collect.ts";
import { stateOfFiles } from "./files.ts";
import { clipTokens, fitSections, type Section, tokensIn } from "./fit.ts";
import { wordsFor } from "./words.ts";

export interface Brief {
  session: string;
  text: string;
  /** About. */
  tokens: number;
  /** The command that starts another assistant with it, as words; null where none was asked for, or it has none. */
  start: readonly string[] | null;
  cwd: string | null;
}

export const DEFAULT_TOKENS = 4_000;
/** Characters of a text that are read: more than any budget holds. */
const LONGEST = 60_000;

/** `to`: the adapter of the assistant it is for. Throws SESSION_NOT_FOUND. */
export async function readBrief(kernel: Kernel, id: string, budget: number, to: string | undefined): Promise<Brief> {
  const archive = kernel.inject("archive");
  const redactor = kernel.inject("redactor");
  const row = await archive.get(id);
  const collector = createCollector(kernel.registry.adapters.get(row.tool)?.tools ?? {});
  for await (const events of archive.events(row)) {
    for (const event of events) collector.add(event);
  }
  const found = collector.finish();
  /** Masked as a whole, before anything is cut. */
  const clean = async (event: SessionEvent | undefined): Promise<string> => {
    if (!event) return "";
    const [masked] = await redactor.messages([event]);
    return (masked?.text ?? "").trim().slice(0, LONGEST);
  };
  const hide = (text: string) => redactor.hideSecrets(text);

  const goal = await clean(found.first);
  const latest = found.last && found.last.seq !== found.first?.seq ? await clean(found.last) : "";
  const words = wordsFor(`${goal}\n${latest}`);
  const { files: touched } = await toArchive(kernel).facts(row.id);
  const edits = new Map(
    Object.entries(touched).flatMap(([path, [, edited]]) => (edited > 0 ? [[path, edited] as const] : [])),
  );
  const state = await stateOfFiles(kernel, row.cwd, edits);
  const shown = (path: string) =>
    row.cwd !== null && path.startsWith(`${row.cwd}/`) ? path.slice(row.cwd.length + 1) : path;

  const decisions: string[] = [];
  for (const event of found.decided.reverse())
    for (const line of (await clean(event)).split("\n"))
      if (DECISION.test(line) && line.trim() !== "")
        decisions.push(clipTokens(line.trim().replace(/^[-*#>\s]+/, ""), 80));

  const files: string[] = [];
  for (const one of state.files) files.push(await hide(`${shown(one.path)} (${words.states[one.state]})`));
  const reads: string[] = [];
  for (const [path, causes] of await readReads(kernel, row)) {
    if (reads.length < MOST_READS) reads.push(await hide(`${shown(path)} ← ${causes.map(shown).join(", ")}`));
  }
  const todos: string[] = [];
  for (const todo of found.todos) todos.push(await hide(todo));

  const failing = found.failed
    ? `\`\`\`\n$ ${await hide(toCommand(found.failed.command.tool_input))}\n${clipTokens(await clean(found.failed.result), budget >> 3)}\n\`\`\``
    : "";
  const sections: Section[] = [
    { title: words.goal, content: goal, share: 0.18 },
    { title: words.latest, content: latest, share: 0.2 },
    { title: words.files, content: files, share: 0.16 },
    { title: words.failing, content: failing, share: 0.14 },
    { title: words.todos, content: todos, share: 0.1 },
    { title: words.stopped, content: await clean(found.reply), share: 0.1 },
    { title: words.decisions, content: decisions, share: 0.06 },
    { title: words.reads, content: reads, share: 0.06 },
  ];
  const facts = [row.tool, row.cwd, state.branch && `${words.branch} ${state.branch}`, toTime(row.endedAt)].filter(
    Boolean,
  );
  const head = await hide(`# ${words.title}\n${words.task}\n${facts.join(" · ")}`);
  let text = await hide(fitSections(head, sections, budget));
  // A mask may be longer than what it hides.
  if (tokensIn(text) > budget) text = clipTokens(text, budget);
  const start = to === undefined ? undefined : kernel.registry.adapters.get(to)?.rescue?.start?.(text);
  return { session: id, text, tokens: tokensIn(text), start: start ?? null, cwd: row.cwd };
}

/** `2026-11-20 15:04 UTC`: the same on every machine. */
const toTime = (iso: string | null) => iso && `${iso.slice(0, 16).replace("T", " ")} UTC`;

const MOST_READS = 12;
const MOST_CAUSES = 3;

type Row = Awaited<ReturnType<ReturnType<typeof toArchive>["get"]>>;
const toArchive = (kernel: Kernel) => kernel.inject("archive");

/** Files that were read before a change of another, by the changed file. */
async function readReads(kernel: Kernel, row: Row): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const bytes = await kernel.find("causality")?.get(row);
  const answer: unknown = bytes ? JSON.parse(Buffer.from(bytes).toString("utf8")) : {};
  for (const change of toList(isRecord(answer) ? answer.changes : [])) {
    if (!isRecord(change)) continue;
    const path = toText(change.path) ?? "";
    const causes = found.get(path) ?? [];
    for (const cause of toList(change.causes)) {
      const from = isRecord(cause) ? toText(cause.path) : undefined;
      if (from !== undefined && from !== path && !causes.includes(from) && causes.length < MOST_CAUSES)
        causes.push(from);
    }
    if (causes.length > 0) found.set(path, causes);
  }
  return found;
}
