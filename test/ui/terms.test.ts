/** One word for one thing: wordings that were replaced do not come back, in any of the three languages. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";

const UI = fileURLToPath(new URL("../../ui", import.meta.url));
const LANGUAGES = ["en", "zh", "ja"] as const;
type Tag = (typeof LANGUAGES)[number];

/** Key and text of every message of a language. Keys that are addresses hold the words a user may search a screen by: any will do. */
async function messages(tag: Tag): Promise<[string, string][]> {
  const isWords = new RegExp(`[\\\\/]${tag}(-\\w+)?\\.ts$`);
  const files = readdirSync(UI, { recursive: true, encoding: "utf8" }).filter((name) => isWords.test(name));
  const found = new Map<string, [string, string]>();
  for (const file of files) {
    const module: Record<string, unknown> = await import(pathToFileURL(join(UI, file)).href);
    for (const list of Object.values(module))
      for (const [key, text] of Object.entries(list ?? {}))
        if (typeof text === "string" && !key.startsWith("/"))
          found.set(key + text, [key, text.replace(/\{\w+\}/g, "{}")]);
  }
  return [...found.values()];
}

/** Wordings that were replaced. A message may keep one where it means another thing: `except` names its key. */
const REPLACED: Record<Tag, { text: RegExp; except?: RegExp }[]> = {
  en: [
    { text: /\bdearest\b/i },
    { text: /over the archive/i },
    { text: /hold something/i },
    { text: /\bno \w+ fits\b|\bnothing fits\b|\bno such call\b/i },
    { text: /\bleave it\b|^do it$|^and the files$/i },
    { text: /\bleads? (here|to the hub)\b/i },
    { text: /not only those that had them/i },
    { text: /other name$/i },
    { text: /^go on$|^call it$|^leave out$/i },
    { text: /take the last step back/i },
    { text: /other than recorded|does not stand|\bsaid before\b|nothing runs yet/i },
    { text: /^as (read|written)$|no session used it|^twice$/i },
    { text: /give room back|\bbegun by you\b/i },
    { text: /stands (here|in the address)/i },
    { text: /periods that are over/i },
    { text: /^keys$|^commands?$/i, except: /settings\.commands|nav\.commands/ },
    { text: /^made$|^ends$/i },
    { text: /contains no token counts/i },
    { text: /lets no notifications through/i },
    { text: /copy the (resume command|command to resume)/i },
    { text: /personnal/i },
    { text: /\bdefinite\b|\bprobable\b|^maybe$/i },
    // A tool is what an assistant calls.
    { text: /\btools?[’'] log|logs of the tools|^all tools$|if it goes on so/i, except: /anyName/ },
  ],
  zh: [
    { text: /令牌/, except: /credential\.bearer/ },
    { text: /\btokens?\b/ },
    { text: /成本|花费|花销|开销/ },
    { text: /对话/ },
    { text: /归档/, except: /reason\.archived/ },
    { text: /机密|敏感信息|秘密/ },
    { text: /您/ },
    { text: /防护|中枢/ },
    { text: /工具的日志|工具的列表|^所有工具$/ },
  ],
  ja: [
    { text: /費用|経費/ },
    { text: /\btokens?\b/i },
    { text: /会話|対話/ },
    { text: /インポート/ },
    { text: /ツールのログ|ツールの一覧/ },
    { text: /シークレット/ },
  ],
};

describe("terms of the dashboard", () => {
  it.each(LANGUAGES)("%s: replaced wordings do not come back", async (tag) => {
    const all = await messages(tag);
    expect(all.length).toBeGreaterThan(1000);
    const wrong = REPLACED[tag].flatMap(({ text, except }) =>
      all
        .filter(([place, message]) => message.split("|").some((form) => text.test(form)) && !except?.test(place))
        .map(([place, message]) => `${place}: ${message}`),
    );
    expect(wrong).toEqual([]);
  });

  it.each(LANGUAGES)("%s: a finding's certainty has the same words on every screen", async (tag) => {
    const all = await messages(tag);
    for (const level of ["definite", "probable", "possible"]) {
      const said = all
        .filter(([place]) => new RegExp(`(sure|secrets)\\.${level}$`).test(place))
        .map(([, text]) => text);
      expect(said).toHaveLength(1);
    }
  });
});
