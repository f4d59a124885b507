/** What a cell or a row of the matrix can do: one takeover of configuration files, and who sees the service afterwards. */
import type { Answer, BodyOf } from "../../client.ts";
import type { HubService } from "./hub.ts";
import type { HubWords } from "./words/en.ts";

export type Matrix = Answer<"GET /mcp/matrix">;
export type MatrixServer = Matrix["servers"][number];
export type MatrixCell = MatrixServer["cells"][number];
type Takeover = Pick<BodyOf<"POST /mcp/takeover">, "entries" | "connect" | "everywhere">;

interface MatrixAction {
  key: keyof HubWords & `do.${string}`;
  /** Assistants whose settings it takes; they name the choice. */
  from?: string[];
  /** Assistants whose own entries it replaces too: the hub can only share what is in it. */
  moves?: string[];
  /** The cell's own settings are dropped. */
  drops?: boolean;
  /** Undefined: no file is written. */
  takeover?: Takeover;
  /** Assistants that see the service afterwards, of those it has; undefined: the takeover decides. */
  clients?: (now: HubService["scope"]["clients"]) => HubService["scope"]["clients"];
}

const BUILT_IN = "sessarc";
const importable = (cells: readonly MatrixCell[]) =>
  [...new Map(cells.flatMap(({ entries }) => entries).map((one) => [one.key, one])).values()].filter(
    (one) => one.importable,
  );
const moved = (cells: readonly MatrixCell[]) =>
  importable(cells).flatMap(({ key, resolution }) => (resolution === null ? [] : [{ key, resolution }]));
const plus = (tool: string) => (now: HubService["scope"]["clients"]) =>
  now === "*" || now.includes(tool) ? now : [...now, tool];

/** The first is the one that is meant; none where the assistant has to be set up by hand. */
export function cellActions(matrix: Matrix, server: MatrixServer, cell: MatrixCell): MatrixAction[] {
  const { tool, state, entries } = cell;
  const { service, reference } = server;
  const who = matrix.assistants.find((one) => one.tool === tool);
  if (state === "hub") {
    const others = matrix.assistants.filter((one) => one.connected && one.tool !== tool).map((one) => one.tool);
    const without = (now: HubService["scope"]["clients"]) =>
      now === "*" ? others : now.filter((client) => client !== tool);
    return service === BUILT_IN ? [] : [{ key: "do.hide", clients: without }];
  }
  if (state === "absent") {
    if (!who?.connected && !who?.connectable) return [];
    const connect = who.connected ? [] : [tool];
    if (service === BUILT_IN) return [{ key: "do.connect", takeover: { entries: [], connect } }];
    if (service !== null && connect.length === 0) return [{ key: "do.add", clients: plus(tool) }];
    const taken = service === null ? moved(server.cells).filter(({ key }) => key === reference?.key) : [];
    if (service === null && taken.length === 0) return [];
    const moves = server.cells.filter((one) => moved([one]).some(({ key }) => taken.some((own) => own.key === key)));
    return [
      {
        key: moves.length > 0 ? "do.share" : "do.add",
        ...(moves.length > 0 && { moves: moves.map((one) => one.tool) }),
        ...{ takeover: { entries: taken, connect }, clients: plus(tool) },
      },
    ];
  }
  const own = importable([cell]);
  if (own.length === 0) return [];
  if (state === "file") return [{ key: "do.move", takeover: { entries: moved([cell]) } }];
  const take = own.map(({ key }) => ({ key, resolution: "takeSource" }));
  if (service !== null)
    return [
      { key: "do.keepHub", drops: true, takeover: { entries: moved([cell]) } },
      { key: "do.use", from: [tool], takeover: { entries: take } },
    ];
  const first = moved(server.cells).filter(({ key }) => key === reference?.key);
  const isOwn = entries.some(({ key }) => key === reference?.key);
  const others = holders(server, reference?.key);
  const other: MatrixAction = {
    key: "do.use",
    from: others,
    moves: others,
    drops: true,
    takeover: { entries: [...first, ...moved([cell])] },
  };
  return [...(first.length > 0 && !isOwn ? [other] : []), { key: "do.use", from: [tool], takeover: { entries: take } }];
}

/** Assistants that read an entry. */
export const holders = (server: MatrixServer, key: string | undefined): string[] =>
  server.cells.filter(({ entries }) => entries.some((one) => one.key === key)).map(({ tool }) => tool);

/** One of them for all: its entries move to the hub, and every assistant that can be connected is. */
export function rowAction(matrix: Matrix, server: MatrixServer): MatrixAction | undefined {
  if (server.cells.every(({ state }) => state === "hub")) return undefined;
  const entries = moved(server.cells);
  if (server.service === null && entries.length === 0) return undefined;
  const moving = server.cells.filter((cell) => moved([cell]).length > 0).map(({ tool }) => tool);
  const connect = matrix.assistants
    .filter((one) => !one.connected && one.connectable && !moving.includes(one.tool))
    .map((one) => one.tool);
  const takeover = { entries, connect, everywhere: true };
  return {
    key: moving.length > 0 ? "do.share" : "do.all",
    ...(moving.length > 0 && { moves: moving }),
    ...(entries.length + connect.length > 0 && { takeover }),
    ...(server.service !== null && server.service !== BUILT_IN && { clients: () => "*" as const }),
  };
}

/** Assistants that the action leads to the hub: each gets every server there that is for it. */
export function joining(matrix: Matrix, server: MatrixServer, { takeover }: Pick<MatrixAction, "takeover">): string[] {
  const taken = new Set(takeover?.entries?.map(({ key }) => key));
  const moving = server.cells.filter(({ entries }) => entries.some(({ key }) => taken.has(key)));
  const led = new Set([...(takeover?.connect ?? []), ...moving.map(({ tool }) => tool)]);
  return matrix.assistants.filter((one) => !one.connected && led.has(one.tool)).map(({ tool }) => tool);
}

/** Assistants that no action reaches: their files name no server beside which the hub's entry could be written. */
export const unreached = (matrix: Matrix): string[] =>
  matrix.assistants.filter((one) => !one.connected && !one.connectable).map((one) => one.tool);
