/** Counts how often a session reads each file. */
import type { IndexerModule } from "sessarc";
import { toolCall } from "sessarc/adapter";

export default {
  create() {
    const reads = new Map<string, number>();
    return {
      event({ kind, tool_name = "", tool_input }) {
        const { path } = toolCall(tool_input);
        if (kind === "tool_use" && /^read/i.test(tool_name) && path) reads.set(path, (reads.get(path) ?? 0) + 1);
      },
      finish: () => ({ reread_file: [...reads].map(([path, count]) => ({ path, reads: count })) }),
    };
  },
} satisfies IndexerModule;
