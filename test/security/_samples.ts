/** Made-up credentials, drawn from the shapes of the rules: no complete token is in a source file. */
import { type Part, parseShape } from "../../plugins/security/secrets/match/shape.ts";

/** A small generator with a seed, so that a failing sample comes back. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A text of the shape. Runs are at most 40 longer than they must be. */
export function toSample(shape: string, random: (below: number) => number): string {
  return parseShape(shape)
    .map((part) => partSample(part, random))
    .join("");
}

/** Random letters and digits. */
export function letters(length: number, seed: number): string {
  return toSample(`{A-Za-z0-9:${length}}`, createRandom(seed));
}

function partSample(part: Part, random: (below: number) => number): string {
  if (part.type === "text") return part.text;
  if (part.type === "secret") return part.parts.map((one) => partSample(one, random)).join("");
  if (part.type === "choice") {
    const option = part.options[random(part.options.length)] ?? [];
    return option.map((one) => partSample(one, random)).join("");
  }
  const chars = part.negated ? members("A-Za-z0-9") : members(part.chars);
  const length = part.min + random(Math.min(part.max - part.min, 40) + 1);
  return Array.from({ length }, () => chars[random(chars.length)]).join("");
}

function members(source: string): string[] {
  const out: string[] = [];
  for (let i = 0; i < source.length; i++) {
    const [from, dash, to] = [source.charAt(i), source[i + 1], source.charAt(i + 2)];
    if (dash === "-" && /[A-Za-z0-9]/.test(from) && /[A-Za-z0-9]/.test(to)) {
      for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code++) out.push(String.fromCharCode(code));
      i += 2;
    } else out.push(from);
  }
  return out;
}
