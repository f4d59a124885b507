/** What waits to be imported: the jobs of one person in their order, people in turns. */

interface Waiting {
  /** Whose job it is; empty: the server's own. */
  person: string;
}

export type Queue<J extends Waiting> = ReturnType<typeof createQueue<J>>;

export function createQueue<J extends Waiting>() {
  /** The person whose job was taken last is at the end. */
  const lines = new Map<string, J[]>();
  /** People whose next job waits until the one under way has ended. */
  const held = new Set<string>();

  return {
    add(job: J): void {
      const line = lines.get(job.person);
      if (line) line.push(job);
      else lines.set(job.person, [job]);
    },

    /** The next job of the person whose turn it is. Jobs that do not fit stay where they are. */
    take(fits: (job: J) => boolean = () => true): J | undefined {
      for (const [person, line] of lines) {
        const [job] = line;
        if (!job || held.has(person) || !fits(job)) continue;
        line.shift();
        lines.delete(person);
        if (line.length > 0) lines.set(person, line);
        return job;
      }
      return undefined;
    },

    /** Takes out a job that was given up. False: it was taken already. */
    drop(job: J): boolean {
      const line = lines.get(job.person) ?? [];
      const at = line.indexOf(job);
      if (at < 0) return false;
      line.splice(at, 1);
      if (line.length === 0) lines.delete(job.person);
      return true;
    },

    hold: (person: string) => void held.add(person),
    free: (person: string) => void held.delete(person),

    get size(): number {
      let sum = 0;
      for (const line of lines.values()) sum += line.length;
      return sum;
    },
  };
}
