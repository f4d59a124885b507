/** VS Code's object log: an initial value and operations on it, one per line. */
import { isRecord } from "sessarc";

interface ObjectLog {
  /** Applies one row; false when it cannot be: not an operation, or its path leads nowhere. Never throws. */
  apply(row: unknown): boolean;
  value(): unknown;
}

type Node = Record<string, unknown> | unknown[];

const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);

/** 0 initial `v`; 1 set `k` to `v`; 2 cut the array at `k` to `i` if given, then append `v`; 3 delete `k`. */
export function createObjectLog(): ObjectLog {
  let state: unknown;
  return {
    value: () => state,
    apply(row) {
      if (!isRecord(row)) return false;
      if (row.kind === 0) {
        state = row.v;
        return true;
      }
      const path = row.k;
      if (!Array.isArray(path) || path.length === 0) return false;
      const parent = walk(state, path.slice(0, -1));
      const last: unknown = path.at(-1);
      if (parent === undefined || !isKey(parent, last, row.kind === 1)) return false;
      if (row.kind === 1) return set(parent, last, row.v);
      if (row.kind === 3) return set(parent, last, undefined);
      return row.kind === 2 && push(parent, last, row.v, row.i);
    },
  };
}

function walk(from: unknown, path: readonly unknown[]): Node | undefined {
  let node = from;
  for (const key of path) {
    if (!isNode(node) || !isKey(node, key, false)) return undefined;
    node = get(node, key);
  }
  return isNode(node) ? node : undefined;
}

function set(parent: Node, key: string | number, value: unknown): boolean {
  if (Array.isArray(parent)) parent[Number(key)] = value;
  else if (value === undefined) delete parent[key];
  else parent[key] = value;
  return true;
}

function push(parent: Node, key: string | number, values: unknown, cut: unknown): boolean {
  if (get(parent, key) === undefined) set(parent, key, []);
  const list = get(parent, key);
  if (!Array.isArray(list) || (values !== undefined && !Array.isArray(values))) return false;
  if (typeof cut === "number") {
    if (!Number.isInteger(cut) || cut < 0) return false;
    if (cut < list.length) list.length = cut;
  }
  for (const value of values ?? []) list.push(value);
  return true;
}

function get(node: Node, key: string | number): unknown {
  if (Array.isArray(node)) return node[Number(key)];
  return Object.hasOwn(node, key) ? node[key] : undefined;
}

/** Names that would reach a prototype and indexes that would leave holes lead nowhere. `grow` admits the place behind the end. */
function isKey(node: Node, key: unknown, grow: boolean): key is string | number {
  if (!Array.isArray(node)) return (typeof key === "string" && !FORBIDDEN.has(key)) || typeof key === "number";
  return typeof key === "number" && Number.isInteger(key) && key >= 0 && key < node.length + (grow ? 1 : 0);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null;
}
