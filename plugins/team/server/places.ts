/** Places for what takes memory or time: so many at once on a node, and so many for one person. People who wait are called in turns. */

export interface Places {
  /** Resolves with the function that frees the place. Rejects with the signal's reason when it is aborted before. */
  enter(person: string, signal?: AbortSignal): Promise<() => void>;
  /** Requests that wait. */
  readonly waiting: number;
}

interface Line {
  inside: number;
  waiting: (() => void)[];
}

/** `all`: at once on this node. `each`: of them for one person. */
export function createPlaces(all: number, each: number): Places {
  /** The person who was called last is at the end. */
  const lines = new Map<string, Line>();
  let free = all;

  function call(): void {
    for (let found = true; found && free > 0; ) {
      found = false;
      for (const [person, line] of lines) {
        if (line.inside >= each || line.waiting.length === 0) continue;
        lines.delete(person);
        lines.set(person, line);
        line.inside++;
        free--;
        line.waiting.shift()?.();
        found = true;
        break;
      }
    }
  }

  return {
    get waiting() {
      let sum = 0;
      for (const { waiting } of lines.values()) sum += waiting.length;
      return sum;
    },

    async enter(person, signal) {
      signal?.throwIfAborted();
      const line = lines.get(person) ?? { inside: 0, waiting: [] };
      lines.set(person, line);
      await new Promise<void>((resolve, reject) => {
        const enter = () => {
          signal?.removeEventListener("abort", give);
          resolve();
        };
        const give = () => {
          line.waiting.splice(line.waiting.indexOf(enter), 1);
          if (line.inside === 0 && line.waiting.length === 0) lines.delete(person);
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", give, { once: true });
        line.waiting.push(enter);
        call();
      });
      let isInside = true;
      return () => {
        if (!isInside) return;
        isInside = false;
        line.inside--;
        free++;
        if (line.inside === 0 && line.waiting.length === 0) lines.delete(person);
        call();
      };
    },
  };
}
