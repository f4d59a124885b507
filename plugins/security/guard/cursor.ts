/** A place in a shell line that moves on, and what moving costs. */

/** Words, blanks and signs looked at, all nested commands together; what is quoted and a here-document are one. What follows is not looked at. */
export const STEPS = 150_000;
/** Steps that a command, and a line inside of a line, cost beside their words; `long`: characters that a variable adds, or a bracket is looked for, for one. */
export const COST = { command: 4, nested: 10, long: 64 };
/** What a step takes at once: outside of quotes, in them, and in a here-document. */
export const PLAIN = { word: /[^\s'"$`\\<>;&|(){}!#*?[]+/y, quoted: /[^"$`\\]+/y, text: /[^$`\\]+/y };
export const BLANKS = /[^\S\n]+/y;
/** Steps between two places where the work may be interrupted. */
const PAUSE_STEPS = 200;

export class Cursor {
  protected at = 0;
  protected readonly text: string;
  protected readonly left: { steps: number };
  #pause: number;

  constructor(text: string, left: { steps: number }) {
    this.text = text;
    this.left = left;
    this.#pause = left.steps - PAUSE_STEPS;
  }

  /** Whether the work may be interrupted. */
  protected pauses(): boolean {
    if (this.left.steps > this.#pause) return false;
    this.#pause = this.left.steps - PAUSE_STEPS;
    return true;
  }

  /** What an expression that sticks to the place takes. */
  protected run(expression: RegExp): string {
    expression.lastIndex = this.at;
    const [taken = ""] = expression.exec(this.text) ?? [];
    this.at += taken.length;
    return taken;
  }
}
