/** Outputs over 50 KB: OpenCode stores them for seven days in `tool-output` of its data folder, and the message has a part. */
import { dirname, join } from "node:path";
import { type JsonRecord, toList, toRecord, toText } from "sessarc";
import { type NewEvent, storedOutput } from "sessarc/adapter";

/** A result's text. `state`: of the call, which names the file since 1.1. */
export type Outputs = (shown: string, state: JsonRecord) => Pick<NewEvent, "text" | "truncated">;

const FOLDER = "tool-output";
/** Where a text says that it is a part, in the wording of version 1 and of version 2. */
const NAMED = [
  /^(?:\.\.\.|The tool call succeeded)[^\n]{0,200}? ?(?:Full output saved to: )([^\n]{1,4096})$/m,
  /^Full output saved to: ([^\n]{1,4096})$/m,
  /^\.\.\. output truncated; full content saved to ([^\n]{1,4096}) \.\.\.$/m,
];

/** `stores`: databases or folders of JSON files; the outputs are beside them. */
export function createOutputs(stores: readonly string[]): Outputs {
  const folders = [...new Set(stores.map((store) => join(dirname(store), FOLDER)))];
  return (shown, state) => {
    const named = findFile(shown, state);
    return named === undefined ? { text: shown } : storedOutput(shown, named, folders);
  };
}

function findFile(shown: string, state: JsonRecord): string | undefined {
  const { truncated, outputPath } = toRecord(state.metadata);
  if (truncated === false) return undefined;
  const said = toText(outputPath) ?? toText(toList(state.outputPaths)[0]);
  const named = said ?? (shown.includes(FOLDER) ? NAMED.map((one) => one.exec(shown)?.[1]).find(Boolean) : undefined);
  return named !== undefined && /[\\/]tool-output[\\/][^\\/]+$/.test(named.trim()) ? named.trim() : undefined;
}
