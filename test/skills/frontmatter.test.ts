import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadFrontmatter } from "../../plugins/skills/content/frontmatter.ts";
import { rounds } from "../rounds.ts";

const read = await loadFrontmatter();
const head = (yaml: string) => `---\n${yaml}\n---\nBody\n`;
const valid = (text: string, folder?: string) => {
  const found = read(text, folder);
  if ("fault" in found) throw new Error(JSON.stringify(found.fault));
  return found;
};
const fault = (text: string) => {
  const found = read(text);
  return "fault" in found ? found.fault : undefined;
};

describe("frontmatter", () => {
  it("is read with CRLF, BOM, blanks after the hyphens and any end of lines", () => {
    for (const text of [
      "---\nname: a\ndescription: b\n---\n",
      "\uFEFF---\r\nname: a\r\ndescription: b\r\n---\r\n",
      "--- \nname: a\ndescription: b\n---  \nx",
      "---\rname: a\rdescription: b\r---\r",
      "---\nname: a\ndescription: b\n...\n",
    ])
      expect(valid(text)).toMatchObject({ name: "a", description: "b", warnings: [] });
  });

  it("takes what the tools take, with a warning", () => {
    const warned: [yaml: string, warning: RegExp, folder?: string][] = [
      ["description: b", /no name/],
      ["name: Big Name\ndescription: b", /lower-case/],
      ["name: a--b\ndescription: b", /lower-case/],
      [`name: ${"a".repeat(65)}\ndescription: b`, /longer than 64/],
      [`name: a\ndescription: ${"b".repeat(1025)}`, /1024/],
      ["name: a\ndescription: b", /differs/, "c"],
    ];
    for (const [yaml, warning, folder] of warned) expect(valid(head(yaml), folder).warnings.join()).toMatch(warning);
    expect(valid(head("name: 2048\ndescription: true"))).toMatchObject({ name: "2048", description: "true" });
  });

  it("reads leniently what is not YAML and other tools read, and names it", () => {
    const read: [yaml: string, description: string, fields?: object][] = [
      [
        "name: a\ndescription: Use when: the build fails, e.g. error: E123",
        "Use when: the build fails, e.g. error: E123",
      ],
      [
        'name: a\ndescription: fine\nargument-hint: [action] — e.g. "list"',
        "fine",
        { "argument-hint": '[action] — e.g. "list"' },
      ],
      ["name: a\ndescription: [beta] does x", "[beta] does x"],
      ["name: a\ndescription: {draft} y", "{draft} y"],
      ["name: a\ndescription: @agent: does `this`", "@agent: does `this`"],
      ["name: a\ndescription: `cmd` runs", "`cmd` runs"],
      ["name: a\ndescription: %d of 100", "%d of 100"],
      ["name: a\ndescription: *bold* text", "*bold* text"],
      ['name: a\ndescription: "quoted" and more', '"quoted" and more'],
      ["name: a\ndescription: 'it's here'", "it's here"],
      [
        "name: a\ndescription: Use when: x\n  and then: y\n\n  end: z\nlicense: MIT",
        "Use when: x and then: y end: z",
        { license: "MIT" },
      ],
      [
        "name: a\ndescription: b\nmetadata:\n  note: one: two\n  more: fine",
        "b",
        { metadata: { note: "one: two", more: "fine" } },
      ],
      ["name: a\ndescription: b\nwhen:\n  - one: two: three\n  - [x] y", "b"],
      ["name: a\ntext: |\n  a: b: c\n  [\ndescription: c: d", "c: d", { text: "a: b: c\n[\n" }],
      ["name: a\ndescription: C:\\\\dir: x", "C:\\\\dir: x"],
    ];
    for (const [yaml, description, fields = {}] of read) {
      const found = valid(head(yaml));
      expect([yaml, found.description]).toEqual([yaml, description]);
      expect(found).toMatchObject({ name: "a", fields });
      expect(found.warnings.join()).toMatch(
        /^The frontmatter is not valid YAML \(line \d+: .+\)\. It was read leniently/,
      );
    }
    expect(valid(head("name: a\ndescription: plain: no"), "a").warnings).toHaveLength(1);
  });

  it("reads nothing leniently that is refused: tags, aliases, a key that is there twice", () => {
    for (const yaml of [
      "description: b: c\nx: !!js/function y",
      "description: b: c\nx: &a 1\ny: *a",
      "description: b: c\nx: 1\nx: 2",
    ])
      expect(fault(head(yaml)), yaml).toBeDefined();
  });

  it("reads allowed-tools as a text or a list, with brackets", () => {
    const tools = (yaml: string) => valid(head(`name: a\ndescription: b\n${yaml}`)).allowedTools;
    expect(tools("license: MIT")).toBe(null);
    expect(tools("allowed-tools: Read, Bash(git log:*) Write")).toEqual(["Read", "Bash(git log:*)", "Write"]);
    expect(tools("allowed-tools: [Read, 'Bash(a, b)']")).toEqual(["Read", "Bash(a, b)"]);
  });

  it("is refused with the line of the file that is wrong", () => {
    const wrong: [text: string, line: number, message: RegExp][] = [
      ["", 1, /does not begin/],
      ["# Title\n---\nname: a\n---\n", 1, /does not begin/],
      ["---\nname: a\ndescription: b\n", 1, /no end/],
      [head("name: a"), 1, /no description/],
      [head("name: a\ndescription:\n"), 3, /empty/],
      [head("name: a\ndescription: '  '"), 3, /empty/],
      [head("name: a\nlicense: x\ndescription: [b]"), 4, /not a text/],
      [head("name: a\ndescription: b\nname: c"), 4, /duplicate/],
      [head("name: a\n\tdescription: b"), 3, /tab/i],
      [head("name: a\ndescription: 'b"), 3, /quote/i],
      [head("- a\n- b"), 2, /not a list/],
      [head("just words"), 2, /not a list/],
      [head("name: a\nx: &x [1]\ny: *x\ndescription: b"), 4, /[Aa]lias/],
      [head("name: a\ndescription: !!js/function 'function () {}'"), 3, /tag/],
      [head("name: !danger a\ndescription: b"), 2, /tag/],
      [head(`name: a\ndescription: b\nbig: ${"x".repeat(40_000)}`), 4, /over 16 KiB/],
      [head(`name: a\ndescription: b\n${"k".repeat(40_000)}: x`), 4, /over 16 KiB/],
      [head(`name: a\ndescription: b\nd: ${"[".repeat(1_000)}`), 4, /nested deeper/],
      [head(`name: a\ndescription: b\n${"- ".repeat(1_000)}x`), 4, /nested deeper/],
      [head(`d: ${"[".repeat(5_000)}`), 2, /1500 entries/],
      [head(`d: {${"a,".repeat(5_000)}}`), 2, /1500 entries/],
      [head("]\n".repeat(5_000)), 502, /500 lines/],
    ];
    for (const [text, line, message] of wrong) {
      const found = fault(text);
      expect([text.slice(0, 60), found?.line, found?.message]).toEqual([
        text.slice(0, 60),
        line,
        expect.stringMatching(message),
      ]);
    }
  });

  it("never expands: aliases a billion times, and keys of prototypes stay plain data", () => {
    const bomb = [
      "a: &a [x, x, x]",
      ...[..."bcdefghij"].map((key, i) => `${key}: &${key} [*${"abcdefghij"[i]}, *${"abcdefghij"[i]}]`),
    ];
    expect(fault(head(`${bomb.join("\n")}\ndescription: b`))).toMatchObject({ line: 3 });
    const { fields } = valid(head("name: a\ndescription: b\n__proto__: {polluted: 1}\nconstructor: c\n<<: {x: 1}"));
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
    expect("polluted" in {}).toBe(false);
    expect(fields).not.toHaveProperty("x");
  });

  it("answers a value or a fault with a line for any text", () => {
    const piece = fc.constantFrom(
      ...[
        "---",
        "\n",
        "\r\n",
        "\t",
        "name: ",
        "description: ",
        "a",
        "&x ",
        "*x",
        "!!js ",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        "|",
        ">",
        "- ",
        "? ",
        ": ",
        "#",
        "\uFEFF",
        "%YAML 1.1",
        "<<: ",
        "é",
        "\u0000",
      ],
    );
    const text = fc.array(piece, { maxLength: 40 }).map((pieces) => `---\n${pieces.join("")}\n---\n`);
    fc.assert(
      fc.property(fc.oneof(text, fc.string()), (value) => {
        const found = read(value, "folder");
        if (!("fault" in found)) return typeof found.description === "string" && found.description !== "";
        return (
          found.fault.message !== "" && found.fault.line >= 1 && found.fault.line <= value.split(/\r\n|\n|\r/).length
        );
      }),
      { numRuns: rounds(20_000) },
    );
  });
});
