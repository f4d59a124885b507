import { describe, expect, it } from "vitest";
import { commonFlags, numberFlag, parseFlags, splitCommand } from "../../core/cli/args.ts";
import { allCommands, serveCommand } from "../../core/cli/commands.ts";
import { commandHelp, generalHelp } from "../../core/cli/help.ts";
import { UsageError } from "../../core/terminal/errors.ts";
import { defaultPlugins } from "../../plugins/index.ts";

const split = (line: string) => splitCommand(line.split(" ").filter(Boolean), serveCommand.options);
const parse = (line: string) => parseFlags(serveCommand, line.split(" ").filter(Boolean));

describe("which word is the command", () => {
  it("is the first that is neither a flag nor a flag's value", () => {
    expect(split("usage weekly --json")).toEqual({ name: "usage", rest: ["weekly", "--json"] });
    expect(split("--data-dir x usage")).toEqual({ name: "usage", rest: ["--data-dir", "x"] });
    expect(split("--data-dir=x usage")).toEqual({ name: "usage", rest: ["--data-dir=x"] });
  });

  it("is none when there are only flags", () => {
    expect(split("--port 0 --no-open")).toEqual({ name: undefined, rest: ["--port", "0", "--no-open"] });
    expect(split("-p 0")).toEqual({ name: undefined, rest: ["-p", "0"] });
    expect(split("")).toEqual({ name: undefined, rest: [] });
  });

  it("finds common flags before the command is known", () => {
    expect(commonFlags(["x", "--plugin", "a", "--plugin=b", "--other"])).toMatchObject({ plugin: ["a", "b"] });
  });
});

describe("flags", () => {
  it("reads values, negations and repeats", () => {
    expect(parse("--port 0 --no-open --plugin a --plugin b").flags).toEqual({
      port: "0",
      open: false,
      plugin: ["a", "b"],
    });
  });

  it("takes a name that begins with a dash for a name, wherever it is, and not for flags", () => {
    const show = { name: "show", options: { project: { type: "string" } } } as const;
    const read = (line: string) => parseFlags(show, line.split(" "));
    expect(read("-home-de").args).toEqual(["-home-de"]);
    expect(read("-home-de --json")).toEqual({ flags: { json: true }, args: ["-home-de"] });
    expect(read("--project -home-de x").flags).toEqual({ project: "-home-de" });
    expect(read("-a:b -- -c")).toEqual({ flags: {}, args: ["-a:b", "-c"] });
    expect(() => read("-xyz")).toThrow("Unknown flag -x");
    expect(parse("-p4173").flags).toEqual({ port: "4173" });
  });

  it("names the nearest known flag for an unknown one", () => {
    expect(() => parse("--prot 1")).toThrow("Unknown flag --prot for `sessarc serve`; did you mean --port?");
    expect(() => parse("--no-opne")).toThrow("did you mean --open?");
    expect(() => parse("--zzzzzzzzz")).toThrow(/^Unknown flag --zzzzzzzzz for `sessarc serve`$/);
  });

  it("suggests for one letter only what begins with it", () => {
    expect(() => parse("-o")).toThrow("did you mean --open?");
    expect(() => parse("-x")).toThrow(/^Unknown flag -x for `sessarc serve`$/);
  });

  it("means a number by -n where a command reads, and never where it writes", async () => {
    for (const command of await allCommands(defaultPlugins())) {
      const writes = ["dry-run", "yes", "remove", "undo"].some((name) => name in command.options);
      const short = Object.keys(command.options).filter((name) => command.options[name]?.short === "n");
      expect([command.name, short]).toEqual([command.name, writes || short.length === 0 ? [] : ["limit"]]);
      if (!writes) continue;
      const read = () => parseFlags({ ...command, operands: "folder" }, ["-n", "5"]);
      if ("dry-run" in command.options && !("limit" in command.options))
        expect(read()).toMatchObject({ flags: { "dry-run": true }, args: ["5"] });
      else expect(read, command.name).toThrow("Unknown flag -n");
    }
    const both = { name: "both", options: { limit: { type: "string" }, "dry-run": { type: "boolean" } } } as const;
    expect(() => parseFlags(both, ["-n"])).toThrow("Unknown flag -n for `sessarc both`; did you mean --limit?");
  });

  it("refuses a missing value, a value too many and an invalid port", () => {
    expect(() => parse("--port")).toThrow("--port needs a value");
    expect(() => parse("--host --auth")).toThrow("--host needs a value");
    expect(() => parse("--auth=yes")).toThrow("--auth takes no value");
    for (const port of ["70000", "x", "1.5"]) {
      expect(() => numberFlag(parse(`--port=${port}`).flags, "port", 0, 65535)).toThrow(UsageError);
    }
  });
});

describe("help", () => {
  it("fits a terminal of 80 columns for every command, and explains every flag", async () => {
    for (const command of await allCommands(defaultPlugins())) {
      const lines = commandHelp(command).split("\n");
      expect(lines.length, command.name).toBeLessThanOrEqual(50);
      for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
      for (const name of Object.keys(command.options))
        expect(command.help[name], `${command.name} --${name}`).toBeTruthy();
    }
  });

  it("has long flags in one column, with a short one before it or not", () => {
    const columns = commandHelp(serveCommand)
      .split("\n")
      .flatMap((line) => (/^ {2}(-\w, | {4})--/.test(line) ? line.indexOf("--") : []));
    expect(columns).toEqual(Object.keys(serveCommand.options).map(() => 6));
  });

  it("lists the commands of five groups with an example each, and with --all every command", async () => {
    const commands = await allCommands(defaultPlugins());
    const text = generalHelp("1.2.3", commands);
    const heads = [...text.matchAll(/^(\w+) +\$ sessarc (\S+) .+$/gm)].map(([, title = "", name = ""]) => [
      title,
      name,
    ]);
    expect(heads.map(([title]) => title)).toEqual(["Look", "Cost", "Code", "Keep", "Tools"]);
    const grouped = commands.filter(({ group }) => group !== undefined).map(({ name }) => name);
    const listed = (help: string) => [...help.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, name]) => name);
    expect(listed(text).sort()).toEqual([...grouped].sort());
    for (const [title = "", name = ""] of heads)
      expect(commands.find((one) => one.name === name)?.group, title).toBe(title.toLowerCase());
    const all = generalHelp("1.2.3", commands, true);
    const visible = commands.filter(({ hidden }) => hidden !== true);
    expect(listed(all).sort()).toEqual(visible.map(({ name }) => name).sort());
    expect(visible.length).toBeGreaterThan(grouped.length);
    expect(visible.length).toBeLessThan(commands.length);
    for (const line of `${text}\n${all}`.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  it("lists a command of a user's plugin in the group that it names", () => {
    const own = { ...serveCommand, name: "hello", summary: "Greets", example: "you" };
    expect(generalHelp("1", [{ ...own, group: "code" }])).toMatch(/^Code +\$ sessarc hello you\n {2}hello {2}Greets$/m);
    const { group: _, ...without } = own;
    expect(generalHelp("1", [{ ...serveCommand }, without])).not.toContain("Greets");
    expect(generalHelp("1", [without], true)).toMatch(/^More .*\n {2}hello {2}Greets$/m);
  });

  it("finds commands where plugins/index.ts says they are", async () => {
    for (const entry of defaultPlugins()) {
      const factory = (await entry.load?.())?.default;
      const names = (factory?.().commands ?? []).map((command) => command.name);
      expect([...names].sort(), entry.specifier).toEqual([...(entry.commands ?? [])].sort());
    }
  });
});
