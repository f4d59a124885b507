import { describe, expect, it } from "vitest";
import { formatBytes, formatDuration, formatMoney, formatShort } from "../../core/terminal/format.ts";
import { createProgress, progressLine } from "../../core/terminal/progress.ts";
import { createStyle, fitColumns, printable, wantsColour, widthOf } from "../../core/terminal/style.ts";
import { formatTable } from "../../core/terminal/table.ts";

describe("colour", () => {
  it("is for terminals, unless NO_COLOR or FORCE_COLOR says otherwise", () => {
    expect(wantsColour({}, true)).toBe(true);
    expect(wantsColour({}, false)).toBe(false);
    expect(wantsColour({ NO_COLOR: "1" }, true)).toBe(false);
    expect(wantsColour({ NO_COLOR: "1", FORCE_COLOR: "1" }, true)).toBe(false);
    expect(wantsColour({ NO_COLOR: "" }, true)).toBe(true);
    expect(wantsColour({ FORCE_COLOR: "1" }, false)).toBe(true);
    expect(wantsColour({ TERM: "dumb" }, true)).toBe(false);
  });

  it("adds nothing when it is off", () => {
    expect(createStyle(false).red("x")).toBe("x");
    expect(createStyle(true).red("x")).toBe("\u001b[31mx\u001b[39m");
  });
});

describe("text of a log on a terminal", () => {
  it("loses every control sequence and keeps lines and tabs", () => {
    expect(printable("a\u001b[2Jb\u001b]0;title\u0007c\rd\te\nf\u009b1mg")).toBe("abcd\te\nfg");
    expect(printable("invoice\u202egpj.exe\u2066\u200f")).toBe("invoicegpj.exe");
  });

  it("has the width it takes", () => {
    expect(widthOf("abc")).toBe(3);
    expect(widthOf("日本")).toBe(4);
    expect(widthOf("e\u0301")).toBe(1);
    expect(widthOf("\u001b[31mred\u001b[39m")).toBe(3);
    expect(fitColumns("日本語", 4)).toBe("日…");
    expect(fitColumns("abc", 3)).toBe("abc");
  });
});

describe("tables", () => {
  const columns = [
    { title: "name", value: (row: { name: string; n: number }) => row.name, shrink: true },
    { title: "n", align: "right" as const, value: (row: { name: string; n: number }) => String(row.n) },
  ];

  it("aligns columns and rules off the sum", () => {
    const rows = [
      { name: "one", n: 1 },
      { name: "twelve", n: 12 },
    ];
    expect(formatTable(columns, rows, { foot: [{ name: "all", n: 13 }] })).toBe(
      ["name     n", "one      1", "twelve  12", "──────  ──", "all     13"].join("\n"),
    );
  });

  it("cuts only what may be cut, to the width of the terminal", () => {
    const text = formatTable(columns, [{ name: "a very long name that does not fit", n: 123456 }], { width: 24 });
    expect(text.split("\n").map(widthOf)).toEqual([24, 24]);
    expect(text).toContain("…  123456");
  });
});

describe("progress", () => {
  it("shows share, count, rate and time left", () => {
    const line = progressLine({
      done: 3,
      total: 10,
      bytes: 5e6,
      bytesTotal: 1e7,
      rate: 1048576,
      etaMs: 4200,
      current: "codex:x",
    });
    expect(line).toBe("━━━━━━━━━━━━────────────  50 %  3/10  1.0 MiB/s  5 s left  codex:x");
  });

  it("rewrites one line on a terminal, and writes nothing elsewhere", () => {
    const written: string[] = [];
    let time = 0;
    const progress = createProgress({ tty: true, columns: 40, write: (text) => written.push(text), now: () => time });
    progress.update({ done: 1, total: 3 });
    progress.update({ done: 2, total: 3 });
    time = 100;
    progress.update({ done: 3, total: 3 });
    progress.clear();
    progress.clear();
    expect(written).toHaveLength(3);
    expect(written[0]?.startsWith("\r\u001b[2K━")).toBe(true);
    expect(written[2]).toBe("\r\u001b[2K");

    // A terminal that does not know its width says 0.
    const unknown: string[] = [];
    createProgress({ tty: true, columns: 0, write: (text) => unknown.push(text) }).update({ done: 1, total: 3 });
    expect(unknown[0]).toContain("1/3");

    const silent: string[] = [];
    createProgress({ tty: false, write: (text) => silent.push(text) }).update({ done: 1, total: 3 });
    expect(silent).toEqual([]);
  });
});

it("numbers are as people read them", () => {
  expect([999, 1234, 2_400_000, 3e9].map(formatShort)).toEqual(["999", "1.2K", "2.4M", "3.0B"]);
  expect([512, 1536, 20 * 2 ** 20].map(formatBytes)).toEqual(["512 B", "1.5 KiB", "20 MiB"]);
  expect([12, 4200, 61_000, 7_260_000].map(formatDuration)).toEqual(["12 ms", "4 s", "1 min 1 s", "2 h 1 min"]);
  expect(formatMoney(2_410_000)).toBe("$2.41");
});
