/** What has to be written so that an assistant has a session again. Nothing is written here. */
import { createHash } from "node:crypto";
import { basename, dirname, extname, join } from "node:path";
import { isRecord, type Kernel, SessarcError, toMessage } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import { exists } from "sessarc/files";
import type { IndexEntry, RescueContract, RescuedSession, SessionCopy } from "../contract.ts";
import type { KeptFile } from "../keep/files.ts";
import type { Keeper } from "../keep/keeper.ts";
import { checkPlace } from "./place.ts";
import { hasValue, type Value } from "./write.ts";

/** One step of a plan as the API answers it. `there`: nothing is done, since it is there already. */
export type RescueStep =
  | { kind: "write"; path: string; bytes: number; there: boolean }
  | { kind: "move"; path: string; to: string }
  | { kind: "value"; path: string; name: string; value: string; there: boolean }
  | { kind: "run"; command: string; there: boolean };

/** What would be done for one session. */
export interface RescuePlan {
  session: string;
  tool: string;
  label: string;
  title: string | null;
  /** Why it cannot be put back; null where it can. */
  reason: string | null;
  steps: RescueStep[];
  /** What does not come back, as sentences. */
  lost: string[];
  /** The id under which the copy for another folder will be archived; null for the session itself. */
  copy: string | null;
}

/** The same with what is to be written. */
export interface OpenPlan extends RescuePlan {
  files: { path: string; bytes: Buffer; mode: number; there: boolean }[];
  moves: { path: string; to: string }[];
  values: (Value & { there: boolean })[];
  load: { tool: string; key: string; cwd: string | null; bytes: Buffer } | undefined;
  /** Logs that the archive reads afterwards. */
  logs: string[];
  folders: readonly string[];
  /** Whether the assistant finds what was written. */
  check(): Promise<boolean>;
}

interface Row {
  id: string;
  tool: string;
  key: string;
  source_path: string;
  cwd: string | null;
  title: string | null;
  missing: number;
}

const COLUMNS = "id, tool, key, source_path, cwd, coalesce(name, title, first_prompt) as title, missing";

/** `cwd`: the folder a copy is made for. Throws SESSION_NOT_FOUND; what else prevents it is the plan's `reason`. */
export async function planRescue(kernel: Kernel, keeper: Keeper, id: string, cwd?: string): Promise<OpenPlan> {
  const { db } = kernel.storage;
  const row = await db.get<Row>(`select ${COLUMNS} from session where id = ?`, [id]);
  if (!row) throw new SessarcError("SESSION_NOT_FOUND", { id });
  const adapter = kernel.registry.adapters.get(row.tool);
  const label = adapter?.label ?? row.tool;
  const plan: OpenPlan = {
    session: id,
    tool: row.tool,
    label,
    title: row.title,
    reason: null,
    steps: [],
    lost: [],
    copy: null,
    files: [],
    moves: [],
    values: [],
    load: undefined,
    logs: [],
    folders: [],
    check: async () => true,
  };
  try {
    const contract = adapter?.rescue;
    if (!adapter || !contract) throw new Impossible(`sessarc does not know how ${label} finds its sessions`);
    plan.folders = contract.folders(kernel.env);
    if (contract.lost) plan.lost.push(contract.lost);
    if (cwd !== undefined) await planCopy(kernel, keeper, plan, adapter, contract, row, cwd);
    else {
      await planOne(kernel, keeper, plan, contract, row);
      const below = await db.all<Row>(`select ${COLUMNS} from session where parent_id = ? order by id`, [id]);
      // Sub-agents come back with their session, as far as they are files.
      for (const one of below) if (!plan.load) await planOne(kernel, keeper, plan, contract, one).catch(partly(plan));
    }
  } catch (error) {
    if (error instanceof Impossible) plan.reason = error.message;
    else if (error instanceof SessarcError) plan.reason = error.message;
    else throw error;
    plan.steps = [];
  }
  return plan;
}

/** Why a session cannot be put back. */
class Impossible extends Error {}

/** A sub-agent that cannot come back does not hold up its session. */
const partly = (plan: OpenPlan) => (error: unknown) => {
  if (!(error instanceof Impossible || error instanceof SessarcError)) throw error;
  plan.lost.push(`A sub-agent: ${error.message}.`);
};

async function planOne(
  kernel: Kernel,
  keeper: Keeper,
  plan: OpenPlan,
  contract: RescueContract,
  row: Row,
): Promise<void> {
  const session: RescuedSession = { key: row.key, path: row.source_path, cwd: row.cwd };
  const files = await stored(keeper, row);
  if (files.some(({ path }) => path === "")) return planRows(keeper, plan, contract, row, files);
  for (const file of files) {
    await checkPlace(file.path, plan.folders);
    const there = await exists(file.path);
    addFile(plan, file.path, there ? Buffer.alloc(0) : await readBytes(keeper, file), file.mode, there, file.size);
  }
  plan.logs.push(row.source_path);
  for (const path of (await contract.inTheWay?.(session, kernel.env)) ?? []) {
    await checkPlace(path, plan.folders);
    const to = toAside(path);
    plan.moves.push({ path, to });
    plan.steps.unshift({ kind: "move", path, to });
  }
  await addIndex(plan, (await contract.index?.(session, kernel.env)) ?? []);
}

/** Rows of a database: the assistant's own import reads them. */
async function planRows(
  keeper: Keeper,
  plan: OpenPlan,
  contract: RescueContract,
  row: Row,
  [file]: readonly KeptFile[],
): Promise<void> {
  if (!contract.commands || !file) throw new Impossible(`${plan.label} has no command that imports a session`);
  // A key becomes an argument of the assistant's command.
  if (!/^\w[\w.-]{0,199}$/.test(row.key)) throw new Impossible("its id is no plain word");
  const there = row.missing === 0;
  plan.load = there ? undefined : { tool: row.tool, key: row.key, cwd: row.cwd, bytes: await readBytes(keeper, file) };
  plan.logs.push(row.source_path);
  plan.steps.push({ kind: "run", command: contract.commands.load(`${row.key}.json`).join(" "), there });
}

async function planCopy(
  kernel: Kernel,
  keeper: Keeper,
  plan: OpenPlan,
  adapter: Adapter,
  contract: RescueContract,
  row: Row,
  cwd: string,
): Promise<void> {
  if (!contract.copy) throw new Impossible(`a session of ${plan.label} cannot be moved into another folder`);
  const key = copyKey(row.id, cwd);
  const session: RescuedSession = { key: row.key, path: row.source_path, cwd: row.cwd };
  // A service stores a log when it rests; the copy is of the session as it is now.
  if (row.missing === 0) await keeper.run([row.id]);
  const [log, ...others] = await stored(keeper, row);
  if (!log || log.path === "") throw new Impossible(`a session of ${plan.label} cannot be moved into another folder`);
  const copy = await contract.copy(session, { key, cwd }, kernel.env);
  plan.copy = `${adapter.name}:${key}`;
  const add = async (path: string, bytes: Buffer) => {
    await checkPlace(path, plan.folders);
    addFile(plan, path, bytes, log.mode, await exists(path), bytes.length);
  };
  await add(copy.path, rewrite(await readBytes(keeper, log), copy));
  for (const file of others) {
    const made =
      copy.file && file.size < SMALL ? copy.file(file.path, (await readBytes(keeper, file)).toString()) : undefined;
    if (made) await add(made.path, Buffer.from(made.text));
  }
  plan.logs.push(copy.path);
  await addIndex(plan, copy.index);
  plan.check = async () => contract.finds?.({ key, path: copy.path, cwd }, kernel.env) ?? true;
}
const SMALL = 1 << 20;

/** Rows that are no JSON objects are copied as they are; a last one that was cut while it was written is left out. */
function rewrite(bytes: Buffer, copy: SessionCopy): Buffer {
  const lines = bytes.toString("utf8").split("\n");
  const last = lines.pop() ?? "";
  const rows = lines.flatMap((line) => rewriteLine(line, copy) ?? [line]);
  return Buffer.from([...rows, ...(rewriteLine(last, copy) ?? [])].map((line) => `${line}\n`).join(""));
}

/** None for a row that is left out; undefined for an invalid row. */
function rewriteLine(line: string, copy: SessionCopy): string[] | undefined {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(row)) return undefined;
  const made = copy.row(row);
  return made ? [JSON.stringify(made)] : [];
}

/** The same id each time, so that a second rescue finds the first. In the shape of a UUID, version 8. */
function copyKey(id: string, cwd: string): string {
  const hex = createHash("sha256").update(`${id}\n${cwd}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

async function stored(keeper: Keeper, row: Row): Promise<KeptFile[]> {
  const files = await keeper.files(row.id);
  if (!files || files.length === 0) throw new Impossible("its log was not stored");
  return files;
}

async function readBytes(keeper: Keeper, file: KeptFile): Promise<Buffer> {
  const bytes = await keeper.read(file);
  if (!bytes) throw new Impossible("its stored log is damaged");
  return bytes;
}

function addFile(plan: OpenPlan, path: string, bytes: Buffer, mode: number, there: boolean, size: number): void {
  plan.files.push({ path, bytes, mode, there });
  plan.steps.push({ kind: "write", path, bytes: size, there });
}

async function addIndex(plan: OpenPlan, entries: readonly IndexEntry[]): Promise<void> {
  for (const entry of entries) {
    await checkPlace(entry.path, plan.folders);
    if (entry.kind === "file") {
      const bytes = Buffer.from(entry.text);
      addFile(plan, entry.path, bytes, 0o600, await exists(entry.path), bytes.length);
      continue;
    }
    const { path, keys, key, value } = entry;
    const there = await hasValue(entry).catch((error: unknown) => {
      throw new Impossible(toMessage(error));
    });
    plan.values.push({ path, keys, key, value, there });
    plan.steps.push({ kind: "value", path, name: [...keys, key].join(" › "), value, there });
  }
}

/** A name that no assistant takes for a log. */
const toAside = (path: string) => join(dirname(path), `.${basename(path, extname(path))}.aside`);
