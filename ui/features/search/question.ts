/** Whether what was typed is asked in words, not searched for by them. */

/** Words that a question without its mark has at least. */
const WORDS = 4;

/** Words that say nothing of what is looked for. */
const EMPTY_WORDS = new Set(
  "a an the and or of in on at to for from with by as it its is are was were be been do does did done have has had can could should would will how what when where which who why whose that this these those there here we i you he she they them our my your me us not no".split(
    " ",
  ),
);
/** Of a question, what it asks for. */
const ASKING_WORDS = new Set("fix fixed solve solved resolve resolved decide decided choose chose chosen".split(" "));

/** `retry`, `timeout` of `how did we fix the retry timeout?`; phrases in quotes and filters are words. */
export function contentWords(text: string): string[] {
  const typed = text.match(/-?(?:[a-z]+:)?(?:"[^"]*"?|\S+)/g) ?? [];
  const isAsked = isQuestion(text);
  return typed
    .map((word) => (isAsked ? word.replace(/[?？.,!]+$/, "") : word))
    .filter((word) => {
      const plain = word.toLowerCase().replace(/[?.,!]+$/, "");
      return word !== "" && !EMPTY_WORDS.has(plain) && !(isAsked && ASKING_WORDS.has(plain));
    });
}

/** `how was the cache fixed`, `why sqlite?`; not `"exact words" tool:codex` or `-without`. `least`: words without a mark. */
export function isQuestion(text: string, least = WORDS): boolean {
  const asked = text.trim();
  if (/(?:^|\s)-?\w+:\S|"|(?:^|\s)-\w/.test(asked)) return false;
  const words = asked.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  return words.length >= least || (words.length > 0 && /[?？]$/.test(asked));
}
