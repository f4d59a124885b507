/** Highlighting, loaded when first needed; each language is a file of its own. Two themes at once, as custom properties. */
import type { GrammarState, HighlighterCore, LanguageInput } from "shiki/core";
import { readable } from "./contrast.ts";

const LANGUAGES: Record<string, () => Promise<{ default: LanguageInput }>> = {
  typescript: () => import("@shikijs/langs/typescript"),
  tsx: () => import("@shikijs/langs/tsx"),
  javascript: () => import("@shikijs/langs/javascript"),
  json: () => import("@shikijs/langs/json"),
  bash: () => import("@shikijs/langs/bash"),
  python: () => import("@shikijs/langs/python"),
  go: () => import("@shikijs/langs/go"),
  rust: () => import("@shikijs/langs/rust"),
  vue: () => import("@shikijs/langs/vue"),
  html: () => import("@shikijs/langs/html"),
  css: () => import("@shikijs/langs/css"),
  markdown: () => import("@shikijs/langs/markdown"),
  yaml: () => import("@shikijs/langs/yaml"),
  sql: () => import("@shikijs/langs/sql"),
  diff: () => import("@shikijs/langs/diff"),
  docker: () => import("@shikijs/langs/docker"),
  ini: () => import("@shikijs/langs/ini"),
  java: () => import("@shikijs/langs/java"),
  kotlin: () => import("@shikijs/langs/kotlin"),
  make: () => import("@shikijs/langs/make"),
  toml: () => import("@shikijs/langs/toml"),
};
const ALIASES: Record<string, string> = {
  ts: "typescript",
  mts: "typescript",
  cts: "typescript",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "tsx",
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  py: "python",
  rs: "rust",
  htm: "html",
  svg: "html",
  xml: "html",
  scss: "css",
  md: "markdown",
  yml: "yaml",
  jsonc: "json",
  jsonl: "json",
  patch: "diff",
  dockerfile: "docker",
  env: "ini",
  conf: "ini",
  kt: "kotlin",
  kts: "kotlin",
  makefile: "make",
  mk: "make",
};
const THEMES = { light: "github-light-high-contrast", dark: "github-dark-high-contrast" };
/** Longer code stays plain. */
const MAX_CODE = 400_000;
/** Longer lines stay plain. */
const MAX_LINE = 2_000;
/** Output of a terminal is coloured at once. */
const MAX_ANSI = 20_000;
/** Characters that are coloured without a pause: more would hold up the page. */
const BATCH = 8_000;

let core: Promise<HighlighterCore> | undefined;
const loaded = new Map<string, Promise<void>>();

const findLanguage = (name: string): string | undefined => {
  const short = name.toLowerCase().replace(/^.*\./, "").replace(/^.*\//, "");
  const known = ALIASES[short] ?? short;
  return known in LANGUAGES ? known : undefined;
};

async function get(language: string): Promise<HighlighterCore> {
  core ??= (async () => {
    const [{ createHighlighterCore }, { createJavaScriptRegexEngine }, light, dark] = await Promise.all([
      import("shiki/core"),
      import("shiki/engine/javascript"),
      import("@shikijs/themes/github-light-high-contrast"),
      import("@shikijs/themes/github-dark-high-contrast"),
    ]);
    return createHighlighterCore({
      themes: [light.default, dark.default],
      langs: [],
      engine: createJavaScriptRegexEngine({ forgiving: true }),
    });
  })();
  // What did not come, because the service was away, is asked for again by the next who wants it.
  const highlighter = await core.catch((error: unknown) => {
    core = undefined;
    throw error;
  });
  const load = LANGUAGES[language];
  if (!loaded.has(language) && load)
    loaded.set(
      language,
      load().then((module) => highlighter.loadLanguage(module.default)),
    );
  await loaded.get(language)?.catch((error: unknown) => {
    loaded.delete(language);
    throw error;
  });
  return highlighter;
}

/** A stretch of one line in one colour. */
export interface Token {
  text: string;
  style: Record<string, string>;
}

/**
 * Lines of tokens; undefined when there is no grammar or the code is too long. Long code is coloured in batches of lines with a turn of the event
 * loop after each; it ends where `signal` aborts.
 */
export async function highlightLines(code: string, name: string, signal?: AbortSignal): Promise<Token[][] | undefined> {
  const language = findLanguage(name);
  if (!language || code.length > MAX_CODE) return;
  const highlighter = await get(language);
  const all: Token[][] = [];
  let state: GrammarState | undefined;
  for (const batch of batchesOf(code)) {
    if (all.length > 0) await yieldNow();
    if (signal?.aborted) return;
    const { tokens, grammarState } = highlighter.codeToTokens(batch, {
      ...{ lang: language, themes: THEMES, defaultColor: false, tokenizeMaxLineLength: MAX_LINE },
      // A line that meets a limit of time ends in a wrong state: on a slow machine a comment would go on over the next lines.
      tokenizeTimeLimit: 0,
      ...(state && { grammarState: state }),
    });
    state = grammarState;
    for (const line of tokens)
      all.push(
        line.map((token) => ({ text: token.content, style: (token.htmlStyle ?? {}) as Record<string, string> })),
      );
  }
  return all;
}

/** Whole lines, about `BATCH` characters each. */
function* batchesOf(code: string): Generator<string> {
  for (let from = 0; ; ) {
    const end = code.length - from <= BATCH ? -1 : code.indexOf("\n", from + BATCH);
    if (end === -1) return yield code.slice(from);
    yield code.slice(from, end);
    from = end + 1;
  }
}
const yieldNow = () => new Promise((done) => setTimeout(done));

/** Output of a terminal by its escape codes; undefined when it is too long. */
export async function colourAnsi(text: string): Promise<Token[][] | undefined> {
  if (text.length > MAX_ANSI) return;
  const highlighter = await get("ansi");
  const { tokens } = highlighter.codeToTokens(text, { lang: "ansi", themes: THEMES, defaultColor: false });
  return tokens.map((line) =>
    line.map((token) => ({ text: token.content, style: readable((token.htmlStyle ?? {}) as Record<string, string>) })),
  );
}

/** Colours the code blocks of rendered Markdown in place. */
export async function highlightBlocks(root: HTMLElement): Promise<void> {
  for (const code of root.querySelectorAll<HTMLElement>("pre > code[class*=language-]")) {
    if (code.dataset.done) continue;
    code.dataset.done = "1";
    const name = /language-(\S+)/.exec(code.className)?.[1] ?? "";
    const lines = await highlightLines(code.textContent.replace(/\n$/, ""), name);
    if (!lines || !code.isConnected) continue;
    const parts = lines.flatMap((line, i) => [...(i > 0 ? [document.createTextNode("\n")] : []), ...line.map(toSpan)]);
    code.classList.add("shiki");
    code.replaceChildren(...parts);
  }
}

function toSpan(token: Token): HTMLElement {
  const span = document.createElement("span");
  span.textContent = token.text;
  for (const [name, value] of Object.entries(token.style)) span.style.setProperty(name, value);
  return span;
}
