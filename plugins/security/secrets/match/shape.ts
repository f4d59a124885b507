/**
 * The notation in which a rule row writes the form of a credential. It can only say things that match in linear time:
 * every run is bounded, nothing nests inside a repetition.
 *
 *   ghp_{A-Za-z0-9:36}          a literal, then 36 characters of a class
 *   {a-f0-9:8-16}  {^"\n:3-200} 8 to 16 of a class; 3 to 200 of anything but
 *   (live|test)    (-{0-9:1})?  one of; optional
 *   key="<{A-Z:9}>"             `<…>` marks the part that is the secret (default: the whole)
 *   \{ \< \n                    a literal `{`, a literal `<`, a newline
 *
 * Classes hold ranges among letters and digits; any other character stands for itself, `-` comes last.
 */
export type Part =
  | { type: "text"; text: string }
  | { type: "run"; chars: string; negated: boolean; min: number; max: number; lazy: boolean }
  | { type: "choice"; options: Part[][]; optional: boolean }
  | { type: "secret"; parts: Part[] };

const MAX_RUN = 65_536;
const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t" };

/** Throws a RangeError that names the place when the shape is not well formed. */
export function parseShape(shape: string): Part[] {
  let at = 0;

  function fail(why: string): never {
    throw new RangeError(`Shape ${JSON.stringify(shape)}, character ${at}: ${why}`);
  }

  function sequence(closing: string): Part[] {
    const parts: Part[] = [];
    while (at < shape.length && !closing.includes(shape.charAt(at))) {
      const char = shape.charAt(at++);
      if (char === "{") parts.push(run());
      else if (char === "(") parts.push(choice());
      else if (char === "<") {
        parts.push({ type: "secret", parts: sequence(">") });
        if (shape[at++] !== ">") fail("`<` is not closed");
      } else {
        const text = char === "\\" ? afterBackslash() : char;
        const last = parts.at(-1);
        if (last?.type === "text") last.text += text;
        else parts.push({ type: "text", text });
      }
    }
    return parts;
  }

  function afterBackslash(): string {
    const char = shape.charAt(at++);
    if (!char) fail("nothing after the backslash");
    return ESCAPES[char] ?? char;
  }

  function choice(): Part {
    const options: Part[][] = [];
    do {
      options.push(sequence("|)"));
    } while (shape[at++] === "|");
    if (shape[at - 1] !== ")") fail("`(` is not closed");
    const optional = shape[at] === "?";
    if (optional) at++;
    return { type: "choice", options, optional };
  }

  function run(): Part {
    const negated = shape[at] === "^";
    if (negated) at++;
    let body = "";
    while (at < shape.length && shape[at] !== "}") {
      const char = shape.charAt(at++);
      body += char === "\\" ? afterBackslash() : char;
    }
    if (shape[at++] !== "}") fail("`{` is not closed");
    const counts = /:(\d+)(?:-(\d+))?(\?)?$/.exec(body);
    if (!counts) fail("a run needs its length");
    const min = Number(counts[1]);
    const max = counts[2] === undefined ? min : Number(counts[2]);
    if (max < min || max > MAX_RUN) fail("a run needs 0 <= min <= max <= 65536");
    return { type: "run", chars: body.slice(0, counts.index), negated, min, max, lazy: counts[3] === "?" };
  }

  const parts = sequence("");
  if (at < shape.length) fail("unexpected end of a group");
  return parts;
}
