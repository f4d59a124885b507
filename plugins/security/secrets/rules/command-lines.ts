/** Rows for secrets on command lines, made from the table of programs in `command-lines.json`. */
import * as v from "valibot";
import type { Row } from "../match/row.ts";
import table from "./command-lines.json" with { type: "json" };

const CHECK = v.picklist(["password", "opaque", "pair", "opaquePair"]);
/** Parts of a line in the notation of shape.ts; a flag may end with the operands before the secret. */
const LineSchema = v.union([
  /** `aws ssm put-parameter --value X` */
  v.strictObject({ programs: v.array(v.string()), flags: v.array(v.string()), check: CHECK }),
  /** `fly secrets set NAME=X` */
  v.strictObject({ programs: v.array(v.string()), pairs: v.literal(true), check: CHECK }),
  /** `echo X | gh secret set NAME`, `gh secret set NAME <<< X` */
  v.strictObject({ reads: v.array(v.string()), check: CHECK }),
]);

const QUOTED = `"<{^"\\n:5-256}>"|'<{^'\\n:5-256}>'`;
const VALUE = `(${QUOTED}|<{^ \\t\\n\\r"'$;|&\`\\\\\\<-:1}{^ \\t\\n\\r"'$;|&\`\\\\\\<:4-255}>)`;
/** Blanks, and the break of a line that goes on. */
const GAP = "{ \\t\\n\\r\\\\:1-8}";
/** Characters of one command in which its secret is looked for, and the lines it may have. */
const REACH = { after: 400, lines: 4 };

/** Throws when the table is not well formed. */
export function commandLineRows(): Row[] {
  return v.parse(v.array(LineSchema), table).flatMap((line) => {
    if ("reads" in line) return [...piped(line.reads, line.check), hereString(line.reads, line.check)];
    if ("pairs" in line) return [row(line.programs, `{ \\t\\n\\r,"'{=:1}{A-Za-z0-9_./-:1-64}=${VALUE}`, line.check)];
    return line.flags.map((flag) => row(line.programs, afterFlag(line.programs, flag), line.check));
  });
}

/** A flag that ends with a colon has its value right after. Operands count from the program's name on. */
function afterFlag(programs: readonly string[], flag: string): string {
  const operand = !/^[-/]/.test(flag);
  const before = operand ? `(${programs.join("|")})` : "";
  if (flag === "") return `${before}${GAP}${VALUE}`;
  const gap = flag.endsWith(":") ? "" : "(\"|')?(=|{ \\t:1-8})";
  return `${before}${GAP}("|')?${flag}${gap}${VALUE}`;
}

function row(words: string[], shape: string, check: Row["check"]): Row {
  return {
    id: "password-flag",
    name: "Secret on a command line",
    kind: "near",
    near: { words: words.map((word) => word.toLowerCase()), before: 0, ...REACH },
    shape,
    insensitive: true,
    confidence: "probable",
    check,
    inside: true,
  };
}

/** The command stands after the secret: the search begins at its words and goes back. */
function piped(reads: readonly string[], check: Row["check"]): Row[] {
  const value = `("<{^"\\n:5-256}>"|'<{^'\\n:5-256}>'|<{^ \\t\\n\\r"'$;|&\`\\\\\\<-:1}{^ \\t\\n\\r"'$;|&\`\\<:4-255}>)`;
  const echo = `(echo|printf|print|Write-Output|Write-Host)( -{a-zA-Z:1-3}| --)?( ("|')?%{a-z:1}(\\\\n)?("|')?)? `;
  // What starts the program: `sudo`, `npx`, variables in front of it.
  const before = `{ \\t\\n\\r\\\\:0-8}|{ \\t\\n\\r\\\\:0-8}({A-Za-z0-9_@=./-:1-40} )?({A-Za-z0-9_@=./-:1-40} )?`;
  return [...chunks(reads, 24)].map((words) => ({
    ...row(words, `${echo}${value}${before}(${words.join("|")})`, check),
    near: { words: words.map((word) => word.toLowerCase()), before: 400, after: 0 },
  }));
}

const hereString = (reads: string[], check: Row["check"]): Row => row(reads, `\\<\\<\\<{ \\t:0-4}${VALUE}`, check);

function* chunks<T>(list: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size);
}
