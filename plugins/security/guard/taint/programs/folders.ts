/** Folders as arguments: of which files below them `grep -r`, `find`, `fd`, `tar` and `rsync` show or send the content. */

import { type Below, readProgram, toWord, type Word } from "../words.ts";
import { readSearch, SEARCHERS, toSearchPart } from "./search.ts";

/** Most folders and most names of one `find`. */
const FOUND_LIMIT = 20;
const LEFT_OUT = /^(?:-x|--(?:exclude|rexclude|include|filter)(?:-from)?)(?:=|$)/;

/** The words of a command that sends whole folders. A command that names files to leave out is trusted. */
export function withFolders(all: readonly Word[], words: Word[]): Word[] {
  const whole = all.some(({ text }) =>
    /^(?:sync|rsync|mirror|copy|copyto|move|-\w*[arR]\w*|--(?:recursive|archive))$/.test(text),
  );
  return whole ? toFolders(all, words) : words;
}

export const toFolders = (all: readonly Word[], words: Word[], below: Below = { names: [] }): Word[] =>
  all.some(({ text }) => LEFT_OUT.test(text)) ? words : words.map((word) => ({ ...word, below: word.below ?? below }));

/** Files that another program lists, with what a search among `words` shows of them: `find … | xargs grep x`. */
export function selectListed(words: readonly Word[], files: readonly Word[]): Word[] {
  const at = words.findIndex(({ text }) => SEARCHERS.has(readProgram(text)));
  if (at < 0) return [...files];
  const search = readSearch(readProgram(words[at]?.text ?? ""), words.slice(at + 1));
  if (search.pattern === undefined) return [...files];
  const part = toSearchPart(search.pattern, search);
  return files.map((file) => (file.below ? { ...file, part } : file));
}

/** The folders that `find` searches. */
export const findPlaces = (words: Word[]): Word[] =>
  words.slice(
    0,
    words.findIndex(({ text }) => /^[-(!]/.test(text)),
  );

/** The files of `find -name x` directly in its folders, and the folders themselves with the names that it asks for. */
export function findByName(words: Word[]): Word[] {
  const isNot = (n: number) => /^(?:-not|!)$/.test(words[n - 2]?.text ?? "");
  const named = words.map((_, n) => /^-i?name$/.test(words[n - 1]?.text ?? ""));
  const names = words
    .filter((_, n) => named[n] && !isNot(n))
    .map((word) => ({ ...word, pattern: /[*?[]/.test(word.text) }));
  const from = findPlaces(words).slice(0, FOUND_LIMIT);
  const direct = names
    .slice(0, FOUND_LIMIT)
    .flatMap((name) =>
      from.length === 0 ? [name] : from.map(({ text }) => ({ ...name, text: `${text}/${name.text}` })),
    );
  // Which files another test leaves is unknown.
  if (words.some(({ text }) => OTHER_TESTS.test(text))) return direct;
  const not = words.filter((_, n) => named[n] && isNot(n)).map(({ text }) => text);
  const below: Below = { names: names.map(({ text }) => text), not };
  const all = (from.length === 0 ? [toWord(".")] : from).map((place) => ({ ...place, below }));
  return [...direct, ...all];
}

/** Tests of `find` by other things than the name. */
const OTHER_TESTS =
  /^-(?:[ac]?newer\w*|[amc](?:time|min)|size|perm|user|group|i?regex|i?path|i?wholename|empty|links|inum|samefile)$/;

export const findExec = (words: readonly Word[]): number =>
  words.findIndex(({ text }) => /^(?:-[xX]|--exec(?:-batch)?)$/.test(text));

/** The folders of `fd` with the names that it asks for. */
export function findByFd(words: readonly Word[]): Word[] {
  const at = findExec(words);
  const before = at < 0 ? words : words.slice(0, at);
  const isValue = (n: number) => FD_VALUED.test(before[n - 1]?.text ?? "");
  const [pattern, ...from] = before.filter(({ text }, n) => !text.startsWith("-") && !isValue(n));
  const has = (option: RegExp) => before.some(({ text }) => option.test(text));
  const endings = before.filter((_, n) => /^(?:-\w*e|--extension)$/.test(before[n - 1]?.text ?? ""));
  const globs = has(/^(?:-\w*g|--glob)$/);
  const below: Below = {
    names: [...endings.map(({ text }) => `*.${text}`), ...(globs && pattern ? [pattern.text] : [])],
    ...(!globs && pattern && pattern.text !== "." ? { expression: pattern.text } : {}),
    plain: !has(/^(?:-\w*[Hu]\w*|--(?:hidden|unrestricted))$/),
    ignores: !has(/^(?:-\w*[Iu]\w*|--(?:no-ignore\S*|unrestricted))$/),
  };
  return (from.length > 0 ? from : [toWord(".")]).map((place) => ({ ...place, below }));
}

const FD_VALUED =
  /^(?:-\w*[edEtSjco]|--(?:extension|max-depth|exclude|type|size|threads|color|changed-\w+|base-directory))$/;
