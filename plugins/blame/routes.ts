/** GET /git/blame, /git/writers, /git/line and /git/find. */
import { dirname } from "node:path";
import { defineRoute, type Kernel, rawParam, SessarcError } from "sessarc";
import * as v from "valibot";
import { type FoundPlace, findPlaces } from "./find.ts";
import { type Origins, readOrigins } from "./origins.ts";
import { named, readPlace } from "./place.ts";
import { type LineOrigins, lineOrigins } from "./reasons.ts";
import { type LineWhy, whyAt, whyShown } from "./why.ts";

const project = v.pipe(v.string(), v.minLength(1), v.maxLength(4096));
const path = v.pipe(v.string(), v.minLength(1), v.maxLength(4096));
const numbered = v.pipe(v.string(), v.regex(/^[1-9]\d{0,7}$/, "must be a line number, from 1"), v.transform(Number));
const line = v.optional(numbered);

const blameAt = defineRoute({
  method: "GET",
  path: "/git/blame",
  meta: { team: "repositories" },
  summary: "A file line by line: which commit brought it, and which call of which session wrote it",
  query: v.object({
    project,
    /** 7 to 64 hex digits; default HEAD. */
    commit: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-fA-F]{7,64}$/, "7 to 64 hex digits"))),
    path,
  }),
  handler: async ({ kernel, query, event }): Promise<Origins> => {
    const file = rawParam(event.url.search, "path") ?? query.path;
    const root = await kernel.inject("archive").projectPath(query.project);
    if (root === null) throw new SessarcError("NO_REPOSITORY", { project: query.project });
    const blamed = await kernel
      .inject("git")
      .blameAt(root, query.commit, file)
      .catch((error: unknown) => {
        throw named(error, query.project);
      });
    return readOrigins(kernel, query.project, root, blamed);
  },
});

const writers = defineRoute({
  method: "GET",
  path: "/git/writers",
  meta: { team: "repositories" },
  summary: "Who wrote lines of a file: session, prompt, call, the reads before it, model and price",
  query: v.object({
    /** Id, name or path; without it the repository around `path`. */
    project: v.optional(project),
    /** In the repository; an absolute path where no project is named. */
    path,
    /** Branch, tag or commit; default HEAD. */
    at: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
    from: line,
    /** Last line; default `from`, or the end of the file. */
    to: line,
    /** With `1`: the header lines of `git blame --porcelain` too. */
    headers: v.optional(v.picklist(["0", "1"])),
    /** With `1`: secrets in prompts are masked. */
    redacted: v.optional(v.picklist(["0", "1"])),
  }),
  handler: async ({ kernel, query }): Promise<LineOrigins> => {
    const { at, from, to = from, headers } = query;
    if (from !== undefined && to !== undefined && to < from)
      throw new SessarcError("INVALID_INPUT", { reason: "The last line is before the first" });
    const place = await readPlace(kernel, query.project, query.path);
    const git = kernel.inject("git");
    try {
      const commit = at === undefined ? undefined : await git.resolve(place.tree, at);
      const blamed = await git.blameAt(place.tree, commit, place.file);
      const found = await lineOrigins(
        kernel,
        place.project,
        place.root,
        place.tree,
        blamed,
        { from, to },
        headers === "1",
      );
      return query.redacted === "1" ? await withoutSecrets(kernel, found) : found;
    } catch (error) {
      throw named(error, query.project ?? dirname(query.path));
    }
  },
});

/** Where the archive cuts a title. */
const TITLE = 200;

/** Prompts are masked as a whole, before anybody cuts them. */
async function withoutSecrets(kernel: Kernel, found: LineOrigins): Promise<LineOrigins> {
  const redactor = kernel.inject("redactor");
  const writers = [];
  for (const writer of found.writers) {
    const { title, name, prompt, reads } = writer;
    writers.push({
      ...writer,
      title: title === null ? null : await redactor.title(title, TITLE),
      name: await redactor.hideSecrets(name),
      prompt: prompt && {
        ...prompt,
        text: await redactor.hideSecrets(prompt.text),
        answers: prompt.answers && {
          ...prompt.answers,
          text: await redactor.hideSecrets(prompt.answers.text),
        },
      },
      reads: await Promise.all(
        reads.map(async (read) => ({ ...read, reason: await redactor.hideSecrets(read.reason) })),
      ),
    });
  }
  return { ...found, writers };
}

const lineWhy = defineRoute({
  method: "GET",
  path: "/git/line",
  meta: { team: "repositories" },
  summary: "Why one line exists: of a file at a commit, or as a call of a session shows it",
  query: v.object({
    /** In the repository; with `session` as the call writes it. */
    path,
    /** With `line`: a line of a file at a commit. */
    project: v.optional(project),
    line,
    /** Branch, tag or commit; default HEAD. */
    at: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
    /** With `seq` and `text`: a line that a call shows. */
    session: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(500))),
    seq: v.optional(v.pipe(v.string(), v.regex(/^\d{1,9}$/, "is not a message number"), v.transform(Number))),
    text: v.optional(v.pipe(v.string(), v.maxLength(4096))),
    /** With `1`: the line was in the file before the call. */
    before: v.optional(v.picklist(["0", "1"])),
  }),
  handler: async ({ kernel, query }): Promise<LineWhy> => {
    const { path, project, line, at, session, seq, text } = query;
    if (session !== undefined && seq !== undefined && text !== undefined)
      return whyShown(kernel, { session, seq, path, text, before: query.before === "1" });
    if (project === undefined || line === undefined)
      throw new SessarcError("INVALID_INPUT", { reason: "Send `project` and `line`, or `session`, `seq` and `text`" });
    const place = await readPlace(kernel, project, path);
    return whyAt(kernel, place, at, line).catch((error: unknown) => {
      throw named(error, project);
    });
  },
});

const find = defineRoute({
  method: "GET",
  path: "/git/find",
  summary: "Files that sessions wrote, by a part of the path, `file:line` or a pasted line of code",
  query: v.object({
    q: v.pipe(v.string(), v.minLength(1), v.maxLength(1000)),
    /** Default 8. */
    limit: v.optional(v.pipe(v.string(), v.regex(/^([1-9]|[1-4]\d|50)$/, "must be 1 to 50"), v.transform(Number)), "8"),
  }),
  handler: async ({ kernel, query }): Promise<{ places: FoundPlace[] }> => ({
    places: await findPlaces(kernel, query.q, query.limit),
  }),
});

export const routes = [blameAt, writers, lineWhy, find] as const;
