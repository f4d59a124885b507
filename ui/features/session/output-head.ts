/** What Codex writes over the output of a command: its id, its exit code and how long it took. */

export interface OutputHead {
  /** As written, with its last line end: the output begins after it. */
  text: string;
  code?: number;
  seconds: number;
  /** The command had not ended. */
  isRunning: boolean;
}

/** Its lines in their order; anything else is output. */
const HEAD =
  /^(?:Chunk ID: \w{1,40}\n)?(?:Exit code: (-?\d{1,10})\n)?Wall time: (\d{1,9}(?:\.\d{1,9})?) seconds?\n(?:Process (?:exited with code (-?\d{1,10})|(running with session ID \d{1,10}))\n)?(?:Original token count: \d{1,12}\n)?(?:Total output lines: \d{1,12}\n)?Output:(?:\n|$)/;

/** Undefined where the text has no such head. */
export function outputHead(text: string): OutputHead | undefined {
  const found = HEAD.exec(text);
  if (!found) return undefined;
  const [whole, exit, seconds, exited, running] = found;
  const code = exit ?? exited;
  if (code === undefined && running === undefined) return undefined;
  return {
    text: whole,
    ...(code !== undefined && { code: Number(code) }),
    seconds: Number(seconds),
    isRunning: running !== undefined,
  };
}
