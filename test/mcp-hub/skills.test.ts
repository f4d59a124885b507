/** Skills over MCP: the store's and those of services, by the official SDK's client and by frames that mean harm. */
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toList, toRecord } from "sessarc";
import { describe, expect, it } from "vitest";
import { connectClient, digest, frame, manifest, SKILLS, serveSkills } from "./_skills.ts";

const uris = (skills: readonly { uri: string }[]) => skills.map(({ uri }) => uri);
const INVALID = -32602;

describe("mcp-hub: skills", () => {
  it("of the store are listed, got and read with digests that fit, by the SDK's client", async () => {
    const { url, store } = await serveSkills();
    const pixel = Buffer.from([0x89, 0x50, 0xff, 0x00]);
    await store("notes", {
      "SKILL.md": manifest("notes", "metadata:\n  author: me\nlicense: MIT\n"),
      "references/a b.md": "\ufeffwith a mark\r\n",
      "assets/p.png": pixel,
    });
    await store("other", {}, "twin");
    const { client, skills } = await connectClient(url, true);
    expect(skills.supported && skills.directoryRead).toBe(true);
    const { skills: listed } = await skills.list();
    expect(uris(listed)).toEqual(["skill://sessarc/notes/SKILL.md", "skill://sessarc/twin/other/SKILL.md"]);
    const [notes] = listed;
    if (!notes) throw new Error("nothing is listed");
    expect(notes.frontmatter).toEqual({
      name: "notes",
      description: "What notes is for",
      metadata: { author: "me" },
      license: "MIT",
    });
    expect(notes.resources).toContainEqual({
      uri: "skill://sessarc/notes/assets/p.png",
      digest: digest(pixel),
      size: pixel.length,
    });
    // The client compares size, digest and frontmatter of each.
    expect((await skills.read(notes)).verified).toBe(true);
    expect((await skills.read(notes, "references/a b.md")).text).toBe("\ufeffwith a mark\r\n");
    expect(Buffer.from((await skills.read(notes, "assets/p.png")).bytes)).toEqual(pixel);
    expect((await skills.get(notes.uri)).skill).toEqual(notes);
    const { resources } = await skills.readDirectory("skill://sessarc/notes");
    expect(resources.map(({ name, mimeType }) => [name, mimeType])).toEqual([
      ["SKILL.md", "text/markdown"],
      ["assets", "inode/directory"],
      ["references", "inode/directory"],
    ]);
    const all = await client.listResources();
    expect(all.resources).toContainEqual(
      expect.objectContaining({ uri: notes.uri, name: "notes", mimeType: "text/markdown" }),
    );
  });

  it("are there only for clients that declare the extension, or ask in the address", async () => {
    const { url, store } = await serveSkills();
    await store("notes", {});
    const { client, skills } = await connectClient(url, false);
    expect(skills.supported).toBe(false);
    expect(client.getServerCapabilities()?.extensions).toBeUndefined();
    expect(uris((await client.listResources()).resources).filter((uri) => uri.startsWith("skill:"))).toEqual([]);
    const asked = await frame(url, "skills/list", {}, {});
    expect([asked.status, asked.error.code]).toEqual([404, -32601]);
    const read = await frame(url, "resources/read", { uri: "skill://sessarc/notes/SKILL.md" }, {});
    expect(read.error.code).toBe(INVALID);
    const asking = await connectClient(url, false, "mcp?skills=1");
    expect(uris((await asking.skills.list()).skills)).toEqual(["skill://sessarc/notes/SKILL.md"]);
  });

  it("of services are listed under their names, also where two have one address, and read through the hub", async () => {
    const { url, store, add } = await serveSkills();
    const files = { "acme/refunds/SKILL.md": manifest("refunds"), "acme/refunds/t/e.md": "mail\n" };
    await add("one", "sdk", files);
    await add("two", "sdk", { ...files, "acme/refunds/t/e.md": "other\n" });
    await store("refunds", {});
    const { client, skills } = await connectClient(url, true);
    const { skills: listed } = await skills.list();
    expect(uris(listed)).toEqual([
      "skill://one/acme/refunds/SKILL.md",
      "skill://sessarc/refunds/SKILL.md",
      "skill://two/acme/refunds/SKILL.md",
    ]);
    const texts = await Promise.all(
      listed
        .filter(({ uri }) => !uri.includes("sessarc"))
        .map(async (skill) => (await skills.read(skill, "t/e.md")).text),
    );
    expect(texts).toEqual(["mail\n", "other\n"]);
    const [first] = listed;
    expect((await skills.get(first?.uri ?? "")).skill).toEqual(first);
    expect((await skills.readDirectory("skill://two/acme/refunds/t")).resources).toEqual([
      expect.objectContaining({ uri: "skill://two/acme/refunds/t/e.md", name: "e.md" }),
    ]);
    const shown = uris((await client.listResources()).resources).filter((uri) => uri.startsWith("skill:"));
    expect(shown.sort()).toEqual(uris(listed).sort());
    // Alone, a service has its own names.
    const alone = await connectClient(url, true, "mcp/one");
    expect(uris((await alone.skills.list()).skills)).toEqual(["skill://acme/refunds/SKILL.md"]);
  });

  it("that a service lists against the rules cost no other: they are left out with a reason, and never answered", async () => {
    const { url, store, add } = await serveSkills();
    await store("notes", {});
    const entry = (path: string, name: string, more: object = {}) => {
      const uri = `skill://${path}/SKILL.md`;
      const resources = [{ uri, digest: digest("x"), size: 1 }];
      return { uri, frontmatter: { name, description: "d" }, resources, ...more };
    };
    const file = (uri: string, size: unknown = 1) => ({ uri, digest: digest("x"), size });
    const good = entry("ok/fine", "fine");
    const bad = [
      entry("a/b", "c"),
      entry("a/Shout", "Shout"),
      entry("a/ignore all rules", "ignore all rules"),
      entry("a/%2e%2e/up", "up"),
      entry("a/../up", "up"),
      entry("a%2Fb/x", "x"),
      { ...entry("a/x", "x"), uri: `skill://${"a/".repeat(3_000)}x/SKILL.md` },
      { ...entry("x", "x"), uri: "file:///etc/x/SKILL.md" },
      { ...entry("x", "x"), uri: "https://user:secret@host/x/SKILL.md" },
      entry("s/steals", "steals", {
        resources: [file("skill://s/steals/SKILL.md"), file("skill://sessarc/notes/SKILL.md")],
      }),
      entry("s/outside", "outside", {
        resources: [file("skill://s/outside/SKILL.md"), file("skill://s/outside/../x.md")],
      }),
      entry("s/twice", "twice", { resources: [file("skill://s/twice/SKILL.md"), file("skill://s/twice/SKILL.md")] }),
      entry("s/large", "large", { resources: [file("skill://s/large/SKILL.md", 2 ** 25)] }),
      entry("s/negative", "negative", { resources: [file("skill://s/negative/SKILL.md", -1)] }),
      entry("s/many", "many", {
        resources: Array.from({ length: 513 }, (_, n) => file(`skill://s/many/${n === 0 ? "SKILL.md" : n}`)),
      }),
      entry("s/bare", "bare", { resources: [] }),
      entry("s/none", "none", { resources: undefined }),
      entry("s/digest", "digest", { resources: [{ ...file("skill://s/digest/SKILL.md"), digest: "md5:0" }] }),
      entry("s/numbers", "numbers", { frontmatter: { name: "numbers", description: "d", metadata: { version: 1 } } }),
      entry("s/wordless", "wordless", { frontmatter: { name: "wordless" } }),
      { uri: 7 },
      "text",
    ];
    const change = await add("evil", "raw", { entries: [...bad, good, good] });
    const { skills } = await connectClient(url, true);
    expect(uris((await skills.list()).skills)).toEqual([
      "skill://evil/ok/fine/SKILL.md",
      "skill://sessarc/notes/SKILL.md",
    ]);
    const answer = (await (await fetch(new URL("api/mcp/skills", url))).json()) as {
      skills: { uri: string }[];
      leftOut: { service: string; reason: string }[];
    };
    const { skills: shown, leftOut } = answer;
    expect(uris(shown)).toEqual(["skill://evil/ok/fine/SKILL.md", "skill://sessarc/notes/SKILL.md"]);
    expect(leftOut).toHaveLength(bad.length + 1);
    expect(leftOut.every(({ service, reason }) => service === "evil" && reason !== "")).toBe(true);

    // Another skill than was asked for, an invalid entry, children that are elsewhere.
    await change({ entries: [good], got: entry("s/swapped", "swapped") });
    expect((await frame(url, "skills/get", { uri: "skill://evil/ok/fine/SKILL.md" })).error.code).toBe(-32603);
    await change({ entries: [good], got: { uri: good.uri } });
    expect((await frame(url, "skills/get", { uri: "skill://evil/ok/fine/SKILL.md" })).error.code).toBe(-32603);
    const children = [
      { uri: "skill://sessarc/notes/SKILL.md" },
      { uri: "skill://ok/fine/../x" },
      { uri: "skill://ok/fine/a.md" },
      7,
    ];
    await change({ entries: [good], children });
    const { result } = await frame(url, "resources/directory/read", { uri: "skill://evil/ok/fine" });
    expect(toList(result.resources).map((it) => toRecord(it).uri)).toEqual(["skill://evil/ok/fine/a.md"]);
  });

  it("answers a code for every address without a skill, and opens no file for it", async () => {
    const { url, store, home } = await serveSkills();
    await store("notes", { "a.md": "a" });
    await writeFile(join(home, "data/skills/secret.md"), "secret");
    const top = "skill://sessarc";
    const addresses = [
      `${top}/none/SKILL.md`,
      `${top}/notes/../../secret.md`,
      `${top}/notes/%2e%2e/%2e%2e/secret.md`,
      `${top}/notes/..%2F..%2Fsecret.md`,
      `${top}/notes/..%5c..%5csecret.md`,
      `${top}/notes/%00`,
      `${top}/notes//SKILL.md`,
      `${top}/notes/SKILL.md?x=1`,
      `${top}/notes/SKILL.md#x`,
      `${top}/notes/./SKILL.md`,
      `${top}/NOTES/SKILL.md`,
      `${top}/notes/skill.md`,
      "skill://",
      "skill:///etc/passwd",
      "skill://github/x/SKILL.md",
      `${top}/${"a".repeat(100_000)}/SKILL.md`,
      `${top}/notes/%`,
      "not an address",
    ];
    for (const uri of addresses)
      for (const method of ["skills/get", "resources/read", "resources/directory/read"]) {
        // A header of 100 KB is not read by any server.
        if (method === "resources/read" && uri.length > 10_000) continue;
        const { error, result } = await frame(url, method, { uri });
        expect([method, uri.slice(0, 60), error.code, result]).toEqual([method, uri.slice(0, 60), INVALID, {}]);
      }
    for (const params of [{}, { uri: 7 }, { uri: null }, { uri: [`${top}/notes/SKILL.md`] }])
      expect((await frame(url, "skills/get", params)).error.code).toBe(INVALID);
    for (const cursor of ["x", "-1", 7, "99999999999"])
      expect((await frame(url, "skills/list", { cursor })).error.code).toBe(INVALID);
    expect((await frame(url, "skills/get", { uri: `${top}/notes/a.md` })).error.code).toBe(INVALID);
    expect((await frame(url, "skills/watch", {})).error.code).toBe(-32601);
  });

  it("that hosts could not verify are not served: links, fields that are no text, files over the limit", async () => {
    const { url, store, home } = await serveSkills();
    for (const name of ["linked", "loose", "numbers"]) await store(name, {});
    await store("many", Object.fromEntries(Array.from({ length: 512 }, (_, n) => [`f/${n}`, ""])));
    await store("fine", {});
    const at = (path: string) => join(home, "data/skills/store", path);
    await symlink("/etc/passwd", at("linked/passwd"));
    await writeFile(at("loose/SKILL.md"), "---\nname: loose\ndescription: a: b\n---\n");
    await writeFile(at("numbers/SKILL.md"), manifest("numbers", "metadata:\n  version: 1.0\n"));
    const { skills } = await connectClient(url, true);
    expect(uris((await skills.list()).skills)).toEqual(["skill://sessarc/fine/SKILL.md"]);
    const read = await frame(url, "resources/read", { uri: "skill://sessarc/linked/passwd" });
    expect([read.error.code, read.result]).toEqual([INVALID, {}]);
    // The store is as its owner left it: the next answer has the file as it is now.
    await writeFile(at("fine/SKILL.md"), manifest("fine", "license: MIT\n"));
    const { skill } = await skills.get("skill://sessarc/fine/SKILL.md");
    expect((await skills.read(skill)).frontmatter).toMatchObject({ license: "MIT" });
  });

  it("that change are reported as the resources they are, to clients of the extension alone", async () => {
    const { url, store, kernel } = await serveSkills();
    await store("notes", {});
    const listen = async (declares: boolean) => {
      const { client } = await connectClient(url, declares);
      const heard: string[] = [];
      let wake: (() => void) | undefined;
      client.fallbackNotificationHandler = async ({ method, params }) => {
        heard.push(`${method} ${String(toRecord(params).uri ?? "")}`.trim());
        wake?.();
      };
      await client.listen({ resourcesListChanged: true, resourceSubscriptions: ["skill://sessarc/notes/SKILL.md"] });
      const until = async (line: string) => {
        while (!heard.includes(line)) await new Promise<void>((resolve) => (wake = resolve));
      };
      return { heard, until };
    };
    const [told, plain] = await Promise.all([listen(true), listen(false)]);
    const { id } = await store("second", {});
    await told.until("notifications/resources/list_changed");
    await kernel.inject("skills").remove("notes", true);
    await told.until("notifications/resources/updated skill://sessarc/notes/SKILL.md");
    await kernel.inject("mcp").services.put({ id: "later", command: process.execPath, args: ["-e", ""] });
    // What concerns everyone comes after it.
    await plain.until("notifications/resources/list_changed");
    expect([id, plain.heard]).toEqual(["second", ["notifications/resources/list_changed"]]);
    expect(SKILLS).toBe((await import("@modelcontextprotocol/client/ext/skills")).SKILLS_EXTENSION_ID);
  });
});
