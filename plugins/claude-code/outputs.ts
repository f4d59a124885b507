/** Outputs over some 50,000 characters: Claude Code stores them in the folder `tool-results` of their session, the log has the first 2 KB. */
import { dirname, join } from "node:path";
import { storedOutput } from "sessarc/adapter";

const FOLDER = "tool-results";
/** The two sentences that name the file. */
const NAMED = [
  /^<persisted-output>\s[^\n]{0,200}? saved to: ([^\n]{1,4096})\n/,
  /^Error: result \([^\n]{0,80}\) exceeds [^\n]{0,80}\. Output has been saved to ([^\n]{1,4096}?)\.?\n/,
];

/** Replaces the text of such a result. `path`: of the log. */
export function createOutputs(path: string) {
  const own = path.replace(/\.jsonl$/, "");
  // A sub-agent's outputs are in the folder of its session; CodeBuddy's have a folder of their own.
  const [above] = /^.*?(?=[\\/]subagents[\\/])/s.exec(path) ?? [];
  return (shown: string): ReturnType<typeof storedOutput> => {
    const named = shown.startsWith("<p") || shown.startsWith("E") ? fileIn(shown) : undefined;
    if (named === undefined) return { text: shown };
    // A fork repeats its parent's results, a copy in another folder those of its original: the name has project and session.
    const [, project, session] = /([^\\/]+)[\\/]([^\\/]+)[\\/]tool-results[\\/][^\\/]+$/.exec(named) ?? [];
    const projects = dirname(dirname(above ?? path));
    const other = isName(project) && isName(session) ? [join(projects, project, session, FOLDER)] : [];
    const sibling = isName(session) ? [join(dirname(above ?? path), session, FOLDER)] : [];
    return storedOutput(shown, named, [
      join(own, FOLDER),
      ...(above ? [join(above, FOLDER)] : []),
      ...sibling,
      ...other,
    ]);
  };
}

function fileIn(shown: string): string | undefined {
  const named = NAMED.map((pattern) => pattern.exec(shown)?.[1]).find((one) => one !== undefined);
  return named !== undefined && /[\\/]tool-results[\\/]/.test(named) ? named.trim() : undefined;
}

const isName = (name: string | undefined): name is string => name !== undefined && name !== "." && name !== "..";
