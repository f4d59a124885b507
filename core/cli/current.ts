/** Before a command reads the archive without a service: what the logs have new is imported first, for a second at most. */
import { isSessarcError } from "../errors/error.ts";
import type { Client } from "../serve/client.ts";
import { formatCount, formatMoment } from "../terminal/format.ts";
import { printable } from "../terminal/style.ts";
import type { CliIo } from "./io.ts";

/** How current an answer of the archive is. */
export interface Freshness {
  /** When the archive was last in sync with the logs, ISO; null: not known. */
  asOf: string | null;
  /** Logs that are newer than the archive; null: some are, they were not counted. */
  behind: number | null;
}

const WITHIN_MS = 1_000;

/** As far as sizes and times of the logs show it, which costs some 5 µs a log. */
export const readFreshness = (client: Pick<Client, "get">): Promise<Freshness> => client.get<Freshness>("/sync");

/**
 * Imports what is new, newest first, and reports on stderr what is left over, or why nothing can be imported (a full disk, an archive that is read
 * only): the command then answers from what the archive has.
 */
export async function catchUp(
  client: Pick<Client, "fetch">,
  before: Freshness,
  { autoImport, io }: { autoImport: boolean; io: CliIo },
): Promise<Freshness> {
  const say = (text: string) => void io.stderr.write(`${text}\n`);
  const isTerminal = io.stderr.isTTY === true;
  const raw = io.raw?.stderr ?? io.stderr;
  if (isTerminal) raw.write("Importing what is new…");
  try {
    const query = new URLSearchParams({ within: String(WITHIN_MS), ...(autoImport && { older: "1" }) });
    const response = await client.fetch(`/sync?${query}`, { method: "POST", signal: io.signal });
    if (isTerminal) raw.write("\r\x1b[K");
    const answer = (await response.json()) as Freshness & { message?: string; fix?: string };
    if (!response.ok) {
      say(
        `${printable(answer.message ?? "")} The answer is ${ofThen(before)}. ${printable(answer.fix ?? "")}`.trimEnd(),
      );
      return before;
    }
    if (answer.behind) say(`${capital(ofThen(answer))}; ${newer(answer.behind)}: sessarc import`);
    return { asOf: answer.asOf, behind: answer.behind };
  } catch (error) {
    if (isTerminal) raw.write("\r\x1b[K");
    if (!isSessarcError(error) || error.code === "ARCHIVE_LOCKED") throw error;
    say(`${printable(error.message)} The answer is ${ofThen(before)}.`);
    return before;
  }
}

const newer = (count: number) => `${formatCount(count)} ${count === 1 ? "log is" : "logs are"} newer`;
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** `as of 09:14`, of another day with its date. */
function ofThen({ asOf }: Freshness): string {
  if (asOf === null) return "as of the last import";
  return `as of ${formatMoment(new Date(asOf))}`;
}
