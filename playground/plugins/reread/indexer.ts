/** Counts how often a session reads each file. */
import { type IndexerModule, isRecord } from "sessarc";
import { toolCall } from "sessarc/adapter";

export default {
  create(_session, state) {
    const reads = new Map<string, number>(
      Object.entries(isRecord(state) ? state : {}).map(([path, count]) => [path, Number(count)]),
    );
    return {
      event({ kind, tool_name = "", tool_input }) {
        const { path } = toolCall(tool_input);
        if (kind === "tool_use" && /^read/i.test(tool_name) && path) reads.set(path, (reads.get(path) ?? 0) + 1);
      },
      snapshot: () => Object.fromEntries(reads),
      finish: () => ({ reread_file: [...reads].map(([path, count]) => ({ path, reads: count })) }),
    };
  },
} satisfies IndexerModule;
