/** `sessarc statusline` as an assistant runs it: JSON in, one line out. */
import { createStyle, type QuickIo } from "sessarc/terminal";
import { findFigures } from "./ask.ts";
import { type OtherNames, readInput, readNames } from "./input.ts";
import { DEFAULT_TEMPLATE, toLine, unknownFields } from "./line.ts";

const MOST_BYTES = 1 << 20;
export const NO_INPUT = "stdin is not the JSON that an assistant gives its status line";

/** Undefined for other forms of the command, and where nothing is piped in: the command itself explains. */
export async function run(io: QuickIo): Promise<number | undefined> {
  const options = readOptions(io.args);
  if (!options || !io.stdin) return undefined;
  const { tool, fields, template = DEFAULT_TEMPLATE } = options;
  if (unknownFields(template).length > 0) return undefined;
  const text = await readAll(io.stdin());
  const input = text === undefined ? undefined : readInput(text, tool, fields);
  if (!input) {
    io.err(`sessarc statusline: ${NO_INPUT}`);
    return 1;
  }
  const figures = await findFigures(io.path, input);
  io.out(toLine(input, figures, { template, style: createStyle(io.colour), now: Date.now() }));
  return 0;
}

interface QuickOptions {
  tool?: string;
  template?: string;
  fields?: OtherNames;
}

/** Undefined when there are other words than these options. */
function readOptions(args: readonly string[]): QuickOptions | undefined {
  const options: QuickOptions = {};
  for (let i = 0; i < args.length; i += 2) {
    const [name, value] = [args[i], args[i + 1]];
    if (value === undefined) return undefined;
    if (name === "--tool") options.tool = value;
    else if (name === "--template") options.template = value;
    else if (name === "--fields") {
      const fields = readNames(value);
      if (!fields) return undefined;
      options.fields = fields;
    } else if (name !== "--data-dir") return undefined;
  }
  return options;
}

/** Undefined when it is longer than an assistant writes. */
export async function readAll(input: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
