/** The tools' configuration files: what they name, taking it over, and putting it back. */
import { defineRoute } from "sessarc";
import * as v from "valibot";
import { createMatrix } from "../configs/matrix.ts";
import { hideDeep, toWireBackup, toWireEntry, toWireManaged, type WireMatrix, type WireScan } from "./config-wire.ts";

const key = v.pipe(v.string(), v.minLength(1), v.maxLength(8_192));

const scan = defineRoute({
  method: "GET",
  path: "/mcp/scan",
  summary: "Servers that the tools' configuration files name, and what each is to the hub; starts nothing",
  query: v.object({ tool: v.optional(v.string()) }),
  handler: async ({ kernel, query }): Promise<WireScan> => {
    const { configs, services } = kernel.inject("mcp");
    const [{ entries, managed, problems }, known] = [await (await configs()).scan(), await services.list()];
    const isAsked = (tools: readonly string[]) => query.tool === undefined || tools.includes(query.tool);
    const asked = entries.filter(({ source }) => isAsked(source.place.tools));
    return {
      entries: await Promise.all(asked.map((entry) => toWireEntry(kernel, entry, known))),
      managed: managed.filter(({ source }) => isAsked(source.place.tools)).map(toWireManaged),
      problems: problems.filter(({ tool }) => isAsked([tool])),
    };
  },
});

const takeover = defineRoute({
  method: "POST",
  path: "/mcp/takeover",
  summary: "Imports scanned servers, and leads their tools to the hub instead; files are backed up first",
  body: v.pipe(
    v.strictObject({
      entries: v.optional(
        v.pipe(
          v.array(
            v.strictObject({
              key,
              resolution: v.optional(
                v.pipe(
                  v.string(),
                  v.regex(/^(import|keepHub|takeSource|rename:.{1,200}|join:.{1,8192})$/s, "is no resolution"),
                ),
                "import",
              ),
            }),
          ),
          v.maxLength(1_000),
        ),
        [],
      ),
      fileHashes: v.record(v.string(), v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "is no SHA-256"))),
      mode: v.optional(v.picklist(["import", "disable", "replace"]), "import"),
      everywhere: v.optional(v.boolean(), false),
      connect: v.optional(v.pipe(v.array(v.string()), v.maxLength(100)), []),
      dryRun: v.optional(v.boolean(), false),
    }),
    v.check(({ entries, connect }) => entries.length + connect.length > 0, "entries and connect are empty"),
    v.check(
      ({ connect, mode }) => connect.length === 0 || mode !== "import",
      "connect writes files: set mode to replace",
    ),
  ),
  handler: async ({ kernel, body: { dryRun, ...request } }) => {
    const configs = await kernel.inject("mcp").configs();
    const { plan, diffs, run } = await configs.takeover(request, dryRun);
    return {
      dryRun,
      imported: plan.steps.map(({ key, id, action }) => ({ key, service: id, action })),
      backups: (run?.files ?? []).map(({ id, path, before }) => ({ id, file: path, sha256: before })),
      diffs,
    };
  },
});

const matrix = defineRoute({
  method: "GET",
  path: "/mcp/matrix",
  summary: "Servers by assistants: in each one's own file, through the hub, different from the others, or absent",
  handler: async ({ kernel }): Promise<WireMatrix> => {
    const scan = await (await kernel.inject("mcp").configs()).scan();
    return { ...(await hideDeep(kernel, createMatrix(scan))), problems: scan.problems };
  },
});

const backups = defineRoute({
  method: "GET",
  path: "/mcp/backups",
  summary: "Configuration files as they were before takeovers, newest first",
  handler: async ({ kernel }) => {
    const configs = await kernel.inject("mcp").configs();
    return { backups: (await configs.backups()).map(toWireBackup) };
  },
});

const restore = defineRoute({
  method: "POST",
  path: "/mcp/restore",
  summary: "Puts configuration files back as they were: of backups, or of a whole takeover",
  body: v.strictObject({
    ids: v.pipe(v.array(key), v.minLength(1, "is empty"), v.maxLength(1_000)),
    merge: v.optional(v.boolean(), false),
    dryRun: v.optional(v.boolean(), false),
  }),
  handler: async ({ kernel, body: { ids, merge, dryRun } }) => {
    const configs = await kernel.inject("mcp").configs();
    const done = await configs.restore(ids, { merge, dryRun });
    return {
      dryRun,
      restored: done.map(({ id, file }) => ({ id, file })),
      diffs: done.map(({ file, diff }) => ({ file, diff })),
    };
  },
});

const forget = defineRoute({
  method: "DELETE",
  path: "/mcp/backups/:takeover",
  summary: "Deletes the originals of a takeover: its files are unchanged, and cannot be restored any more",
  handler: async ({ kernel, params }) => {
    await (await kernel.inject("mcp").configs()).forget([params.takeover]);
    return { removed: true as const };
  },
});

export const configRoutes = [scan, matrix, takeover, backups, restore, forget] as const;
