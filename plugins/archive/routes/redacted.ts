/** Sessions and matches without their secrets: for assistants, and for requests with `redacted=1`. */
import type { Kernel } from "sessarc";
import * as v from "valibot";
import type { LinkedFact, Session } from "../catalogue/types.ts";
import { compile, type FoundMatch, type Match, rangesIn } from "../search/match.ts";
import type { Query } from "../search/query.ts";

/** `redacted=1`: secrets are masked, in the whole text before it is cut. */
export const redactedQuery = v.optional(v.picklist(["0", "1"]));

/** Where titles and first prompts are cut when they are stored. */
const TITLE_CHARS = 200;
const PROMPT_CHARS = 400;

export async function redactSession(kernel: Kernel, session: Session): Promise<Session> {
  const redactor = kernel.inject("redactor");
  const title = (text: string | null, most: number) => (text === null ? null : redactor.title(text, most));
  return {
    ...session,
    name: await title(session.name, Number.POSITIVE_INFINITY),
    title: await title(session.title, TITLE_CHARS),
    firstPrompt: await title(session.firstPrompt, PROMPT_CHARS),
    links: await Promise.all(session.links.map(redactLink)),
    logTags: await Promise.all(session.logTags.map((tag) => redactor.title(tag, TITLE_CHARS))),
  };

  async function redactLink(link: LinkedFact): Promise<LinkedFact> {
    if (link.kind !== "pull-request") return link;
    return { ...link, url: await redactor.title(link.url, Number.POSITIVE_INFINITY) };
  }
}

/** Matches as they are shown. */
export const plainMatches = (matches: readonly FoundMatch[]): Match[] =>
  matches.map(({ body, start, end, ...match }) => match);

export async function redactMatches(kernel: Kernel, matches: readonly FoundMatch[], query: Query): Promise<Match[]> {
  const redactor = kernel.inject("redactor");
  const compiled = compile(query);
  const shown: Match[] = [];
  for (const { body, start, end, ...match } of matches) {
    const snippet = await redactor.excerpt(body, start, end);
    const { argument } = match;
    shown.push({
      ...match,
      snippet,
      ranges: rangesIn(snippet, compiled),
      ...(argument !== undefined && { argument: await redactor.title(argument, ARGUMENT_CHARS) }),
    });
  }
  return shown;
}

/** Where the argument of a call is cut (`search/match.ts`). */
const ARGUMENT_CHARS = 160;
