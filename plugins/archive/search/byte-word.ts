/** Looks for a word of ASCII in the bytes of a text: no string is made of them. */

/** ASCII letters folded; all other bytes as they are. */
const FOLD = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));
/** Two characters outside of ASCII fold to letters of it: the long s and the Kelvin sign. */
const FOREIGN = { s: Buffer.from("ſ"), k: Buffer.from("\u212a") };
const SOURCES = { s: "(?:[sS]|\\xc5\\xbf)", k: "(?:[kK]|\\xe2\\x84\\xaa)" };
type Folded = keyof typeof FOREIGN;
const isFolded = (letter: string): letter is Folded => letter === "s" || letter === "k";

/** A text in UTF-8 that words are looked for in. */
export class ByteText {
  readonly bytes: Buffer;
  readonly #holds = new Map<Folded, boolean>();
  #latin1: string | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Whether some character outside of ASCII folds to this letter. */
  holds(letter: Folded): boolean {
    const holds = this.#holds.get(letter) ?? this.bytes.includes(FOREIGN[letter]);
    this.#holds.set(letter, holds);
    return holds;
  }

  /** A character for each byte. */
  get latin1(): string {
    this.#latin1 ??= this.bytes.toString("latin1");
    return this.#latin1;
  }
}

/** Where a word was found in one text. */
export interface Finder {
  /** Where it begins the next time, from `from` on; −1: nowhere. */
  next(from: number): number;
  /** Where what `next` found ends. */
  end: number;
}

/** As the flags `i` and `u` of an expression fold it. About 0.4 ns a byte for three letters, less for longer words. */
export class ByteWord {
  readonly #letters: Uint8Array;
  /** By the byte below the word's last letter: how far it may go on. */
  readonly #skips = new Uint32Array(256);
  readonly #folded: readonly Folded[];
  readonly #text: string;

  constructor(text: string) {
    this.#text = text.toLowerCase();
    this.#letters = Buffer.from(this.#text);
    const last = this.#letters.length - 1;
    this.#skips.fill(last + 1);
    for (let i = 0; i < last; i++) this.#skips[this.#letters[i] as number] = last - i;
    this.#folded = [...new Set(this.#text)].filter(isFolded);
  }

  in(text: ByteText): Finder {
    const isPlain = !this.#folded.some((letter) => text.holds(letter));
    return isPlain ? this.#byLetters(text.bytes) : this.#byExpression(text.latin1);
  }

  #byLetters(text: Buffer): Finder {
    const letters = this.#letters;
    const skips = this.#skips;
    const last = letters.length - 1;
    const tail = letters[last];
    const finder: Finder = {
      end: 0,
      next(from) {
        for (let at = from + last; at < text.length; ) {
          const byte = FOLD[text[at] as number] as number;
          if (byte === tail) {
            let i = last - 1;
            while (i >= 0 && FOLD[text[at - last + i] as number] === letters[i]) i--;
            if (i < 0) {
              finder.end = at + 1;
              return at - last;
            }
          }
          at += skips[byte] as number;
        }
        return -1;
      },
    };
    return finder;
  }

  /** Letters of it may be two or three bytes long here. */
  #byExpression(text: string): Finder {
    const source = this.#text.replace(/./g, (letter) => {
      if (isFolded(letter)) return SOURCES[letter];
      const upper = letter.toUpperCase();
      return upper === letter ? letter.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&") : `[${letter}${upper}]`;
    });
    const expression = new RegExp(source, "g");
    const finder: Finder = {
      end: 0,
      next(from) {
        expression.lastIndex = from;
        const hit = expression.exec(text);
        finder.end = expression.lastIndex;
        return hit ? hit.index : -1;
      },
    };
    return finder;
  }
}
