/** Other words for a screen, by its path: the palette finds it by them too. Words of two letters or more, between commas. */
export const en = {
  "/": "start, overview, dashboard, today, last week",
  "/projects": "repository, repositories, folder",
  "/sessions": "chats, conversations, list, calendar, history",
  "/notes": "bookmark, tag, favourite",
  "/usage": "cost, spend, spending, money, price, billing, budget, limit, quota, tokens, model, window",
  "/search": "find, query, grep",
  "/tools/secrets": "leak, secret, token, password, credential, api key, guard, rules, redact, mask",
  "/rescue": "backup, restore, delete, retention, recover, clean up",
  "/shares": "link, publish, revoke, export",
  "/tools/skills": "agent skill, skill.md, prompt library",
  "/tools/servers": "mcp, server, tool server, service, take over",
  "/replay": "rerun, run again, sandbox, step",
  "/import": "add, load, logs, scan",
  "/help": "docs, documentation, guide, manual",
  "/help/feedback": "bug, report, contact",
  "/settings": "options, preferences, language, theme, prices, plugins, sources, about, version",
  "/compare": "compare, diff, versus, side by side",
  "/files": "undelete, deleted file, destroyed, lost, earlier versions, recover, restore, put back",
  "/calls": "failed calls, errors, failures, tools, slow",
  why: "why, blame, origin, reason, who wrote, line, annotate",
};

export type SynonymWords = Record<keyof typeof en, string>;
