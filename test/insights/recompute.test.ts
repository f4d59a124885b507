import { existsSync } from "node:fs";
import { cp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Kernel, SessionEvent, SessionUsage, UsageEntry } from "sessarc";
import { addUsage } from "sessarc/adapter";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { describe, expect, it } from "vitest";
import type { Message } from "../../plugins/archive/index.ts";
import { writeDemo } from "../../plugins/demo/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import type { ProjectAnalytics, UsageReport } from "../../plugins/insights/index.ts";

const fixtures = fileURLToPath(new URL("../fixtures", import.meta.url));
const plugins = () => defaultPlugins().filter((entry) => !/dashboard|demo/.test(entry.specifier));

/** What the figures must be, the slow way: every log read again, every message checked, days by the calendar's own words. */
async function recompute(kernel: Kernel, zone: string) {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  const toDay = (at: string) => format.format(Date.parse(at));
  const archive = kernel.inject("archive/open");
  const replies = new Map<string, UsageEntry & { tool: string }>();
  let unkeyed = 0;
  const messages: Record<string, number> = {};
  let count = 0;
  let undated = 0;
  const texts = new Map<string, SessionEvent[]>();
  const origins = new Map<string, string>();
  for (const { id, tool, forkedFrom } of await archive.store.list({})) {
    texts.set(id, []);
    if (forkedFrom !== null) origins.set(id, forkedFrom);
    const read = archive.adapter(tool)?.read(archive.ref(await archive.get(id)), kernel.env);
    if (!read) throw new Error(`no adapter for ${id}`);
    for (;;) {
      const step = await read.next();
      if (step.done) {
        for (const reply of step.value.replies ?? []) {
          if (reply.inherited) continue;
          const key = reply.key === undefined ? `#${unkeyed++}` : `${tool}\0${reply.key}`;
          const other = replies.get(key);
          if (!other || reply.usage.output > other.usage.output) replies.set(key, { ...reply, tool });
        }
        break;
      }
      texts.get(id)?.push(...step.value);
    }
  }
  const saying = ({ kind, text, tool_input }: SessionEvent) => `${kind}\n${JSON.stringify(tool_input)}\n${text}`;
  for (const [id, events] of texts) {
    // What a fork begins with and its origin says, too, is the origin's.
    const origin = new Set(texts.get(origins.get(id) ?? "")?.map(saying));
    const own = events.findIndex((event) => event.kind !== "note" && !origin.has(saying(event)));
    const start = own < 0 ? events.length : own;
    const copied = events.slice(0, start).findLastIndex((event) => event.kind !== "note" && origin.has(saying(event)));
    for (const event of events.slice(copied + 1)) {
      count++;
      if (event.at === undefined) undated++;
      else messages[toDay(event.at)] = (messages[toDay(event.at)] ?? 0) + 1;
    }
  }
  const total: SessionUsage = {};
  const perDay: Record<string, SessionUsage> = {};
  for (const { at, model, usage } of replies.values()) {
    addUsage(total, model, usage);
    if (at === undefined) continue;
    perDay[toDay(at)] ??= {};
    addUsage(perDay[toDay(at)] as SessionUsage, model, usage);
  }
  return {
    total,
    perDay,
    messages,
    count,
    undated,
    untimedReplies: [...replies.values()].some((one) => one.at === undefined),
  };
}

const nonEmpty = (usage: SessionUsage) =>
  Object.fromEntries(Object.entries(usage).filter(([, tokens]) => Object.values(tokens).some((n) => n > 0)));

async function compare(t: TestKernel, zone: string): Promise<void> {
  const slow = await recompute(t.kernel, zone);
  const report = await t.json<UsageReport>(`/api/usage?tz=${zone}`);
  expect(nonEmpty(report.totals.usage)).toEqual(nonEmpty(slow.total));
  expect(report.totals.messages).toBe(slow.count);
  if (!slow.untimedReplies) {
    const days = report.rows.flatMap((row) =>
      Object.keys(nonEmpty(row.usage)).length > 0 ? [[row.key, nonEmpty(row.usage)]] : [],
    );
    expect(Object.fromEntries(days)).toEqual(
      Object.fromEntries(
        Object.entries(slow.perDay).flatMap(([day, usage]) =>
          Object.keys(nonEmpty(usage)).length > 0 ? [[day, nonEmpty(usage)]] : [],
        ),
      ),
    );
  }
  if (slow.undated === 0) {
    const days = report.rows.flatMap((row) => (row.messages ? [[row.key, row.messages]] : []));
    expect(Object.fromEntries(days)).toEqual(slow.messages);
  }
}

describe("figures equal a slow recomputation from the logs", () => {
  it("over sample data of all tools", async () => {
    const t = await createTestKernel({ plugins: plugins() });
    await writeDemo({ home: t.home });
    await t.send("POST", "/api/import", { all: true });
    for (const zone of ["UTC", "Asia/Kathmandu", "America/St_Johns"]) await compare(t, zone);
    const projects = await t.json<{ id: string; messageCount: number }[]>("/api/projects");
    for (const { id, messageCount } of projects) {
      const { totals, perDay, kinds, tools, hours, sessions } = await t.json<ProjectAnalytics>(
        `/api/projects/${id}?tz=UTC`,
      );
      const messages: Message[] = [];
      for (const session of sessions) {
        const all = await t.json<{ messages: Message[] }>(`/api/sessions/${session.id}/messages`);
        messages.push(...all.messages.slice(session.copiedMessages));
      }
      expect(messages).toHaveLength(messageCount);
      expect(totals.messages).toBe(messageCount);
      expect(perDay.reduce((sum, day) => sum + day.messages, 0)).toBe(messageCount);
      expect(hours.flat().reduce((a, b) => a + b)).toBe(messageCount);
      const byKind: Record<string, number> = {};
      for (const { kind } of messages) byKind[kind] = (byKind[kind] ?? 0) + 1;
      expect(kinds).toEqual(byKind);
      const calls = messages.filter((message) => message.kind === "tool_use").length;
      expect(tools.reduce((sum, tool) => sum + tool.calls, 0)).toBe(calls);
      const failed = messages.filter((message) => message.kind === "tool_result" && message.is_error).length;
      expect(totals.errors).toBe(failed);
      expect(totals.usage).toEqual(addUp(sessions.map((session) => session.usage)));
    }
  });

  it("over the adapters' fixtures", async () => {
    const t = await createTestKernel({ plugins: plugins() });
    await cp(join(fixtures, "claude-code"), join(t.home, ".claude"), { recursive: true });
    await cp(join(fixtures, "codex"), join(t.home, ".codex"), { recursive: true });
    await t.send("POST", "/api/import", { all: true });
    await compare(t, "Europe/Berlin");
  });

  const shared = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));
  it.skipIf(!existsSync(shared))("over logs of the real tools (SESSARC_FIXTURES)", async () => {
    for (const [tool, place] of [
      ["claude", ".claude/projects"],
      ["codex", ".codex/sessions"],
    ] as const) {
      // Each capture alone: they come from different machines, and ids of the recorded replies repeat.
      for (const capture of await readdir(join(shared, tool))) {
        const t = await createTestKernel({ plugins: plugins() });
        await cp(join(shared, tool, capture), join(t.home, place, capture), { recursive: true });
        await t.send("POST", "/api/import", { all: true });
        await compare(t, "America/St_Johns");
        await t.close();
      }
    }
  });
});

function addUp(list: readonly SessionUsage[]): SessionUsage {
  const sum: SessionUsage = {};
  for (const usage of list) for (const [model, tokens] of Object.entries(usage)) addUsage(sum, model, tokens);
  return nonEmpty(sum);
}
