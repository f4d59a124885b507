/** Rows for passwords in sentences, made from the words of `sentences.json`: `das Passwort ist X`, `密码为 X`, `X がパスワードです`. */
import * as v from "valibot";
import type { Row } from "../match/row.ts";
import table from "./sentences.json" with { type: "json" };

const LanguageSchema = v.strictObject({
  language: v.string(),
  /** What a password is called, in lower case. */
  words: v.array(v.string()),
  /** Not inside a longer word, and no name of a variable. */
  whole: v.optional(v.literal(true)),
  /** What may be between the word and its value. */
  is: v.array(v.string()),
  /** What may follow a value that stands first. */
  after: v.optional(v.array(v.string())),
});

const SIGN = "( )?(:|：|=|＝|→|-\\>|=\\>|–|—|-|\\|)";
const QUOTE = "(\"|'|`|“|”|„|«|‹|「|『|《|【|‘|\\*\\*)";
const OPEN = `(\\*\\*)?{ \\t\u00a0:0-3}${QUOTE}?${QUOTE}?{ \u00a0:0-1}`;
const CLOSE = `(\\*\\*|"|'|\`|」|』|”|\\])?`;
const CHARS = "A-Za-z0-9!#$%&*+/=?@^_~";
/** The last character is no mark that ends a sentence. */
const VALUE = `<{A-Za-z0-9!#%&*+@^_~?:1}{${CHARS}.:-:3-126}{${CHARS}-:1}>`;
/** With a digit, so that the words of the sentence are none. */
const WITH_DIGIT = `<{A-Za-z!#%&*+@^_~?:0-60?}{0-9:1}({${CHARS}.:-:0-100}{${CHARS}-:1})?>`;
const WORD = "{^ \\t\\n\\r:：=,;.!?\"'`|(){\\}0-9\\<\\>→—:1-24}";
/** Up to five words between: `password for the database`, `пароль от базы`. */
const WORDS = `( ${WORD}( ${WORD}( ${WORD}( ${WORD}( ${WORD})?)?)?)?)`;
/** The same where words have no blanks between them. */
const RUN = "{^ \\t\\n\\r:：=,;.!?\"'`|(){\\}A-Za-z0-9\\<\\>→—。、，；！？:1-8?}";
/** Scripts without blanks between words, or with endings right after one. */
const DENSE = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]/;
/** Spellings of one row: more would not fit the search for keywords. */
const MOST = 20;

/** Throws when the table is not well formed. */
export function sentenceRows(): Row[] {
  return v.parse(v.array(LanguageSchema), table).flatMap(({ words, is, after = [], whole }) => {
    const dense = words.some((word) => DENSE.test(word));
    const links = is.flatMap(written).join("|");
    const link = dense ? `( )?(${links})(:|：)?( )?` : ` (${links})(:|：)? `;
    // `password X`; of a short word only with a sign or a verb.
    const direct = whole ? [] : [dense ? "" : "{ \\t:1-3}"];
    const names = whole ? [] : words.map(plain).filter((word) => /^[a-z' -]{5,}$/.test(word));
    const all = words.flatMap(written);
    const latin = all.filter(isAscii);
    const marked = all.filter((one) => !isAscii(one));
    const spoken = [...chunks(latin), ...chunks(marked)].flatMap((spellings) => {
      const word = `(${spellings.join("|")})`;
      // Right after a sign stands the value of an assignment, which has a rule for names in ASCII.
      const sign = `${SIGN}(\\*\\*)?${spellings.every(isAscii) ? " " : "( )?"}`;
      const row = (shape: string, check: Row["check"]) => token(word + shape, check, !whole);
      return [
        row(`${CLOSE}(${[sign, link, ...direct].join("|")})${OPEN}${VALUE}`, "password"),
        row(`${dense ? RUN : WORDS}${CLOSE}(${sign}|${link})${OPEN}${WITH_DIGIT}`, "stated"),
        row(`${dense ? RUN : WORDS}${dense ? "( )?" : " "}${OPEN}${WITH_DIGIT}`, "scrambled"),
      ];
    });
    const before = [...chunks(after.flatMap(written))].map((phrases) => behind(phrases));
    return [...spoken, ...before, ...(names.length > 0 ? assignments(names) : [])];
  });
}

const token = (shape: string, check: Row["check"], inside: boolean): Row => ({
  ...RULE,
  kind: "token",
  shape,
  insensitive: true,
  check,
  ...(inside ? { inside } : {}),
});

const RULE = { id: "password-prompt", name: "Password after a prompt", confidence: "possible" } as const;

/** `X is the password` */
const behind = (phrases: readonly string[]): Row => ({
  ...RULE,
  kind: "near",
  near: { words: [...new Set(phrases.map((phrase) => phrase.toLowerCase()))], before: 140, after: 0 },
  shape: `${WITH_DIGIT}${QUOTE}?(」|』|》|】|’)?( )?(${phrases.join("|")})`,
  insensitive: true,
  check: "stated",
  inside: true,
});

/** `senha_banco: X`, `"heslo": "X"`, `HASLO_DB=X` */
function assignments(words: readonly string[]): Row[] {
  const names = [...new Set(words.map((word) => word.replace(/[' -]+/g, "_")))];
  return [8, 5].map((shortest) => ({
    id: "password-assignment",
    name: "Password",
    kind: "assignment",
    names,
    shape: `{^ \\t\\n\\r"'\`,;)\\]\\}\\\\\\<&:${shortest}-128}`,
    entropy: shortest === 8 ? 2.5 : 1.8,
    confidence: "possible",
    whole: "quotes",
    check: "password",
  }));
}

/** Every way to write a word: composed or not, without marks, with a capital, in capitals. ASCII letters match in both cases anyway. */
function written(word: string): string[] {
  const marked = /[^\0-\x7f]/.test(word);
  const forms = marked ? [word, word.normalize("NFD"), plain(word)] : [word];
  const cased = forms.flatMap((form) => [form, form.charAt(0).toUpperCase() + form.slice(1), form.toUpperCase()]);
  return [...new Map(cased.map((form) => [asciiLower(form), asciiLower(form)])).values()].map(escaped);
}

const isAscii = (text: string): boolean => /^[ -~]+$/.test(text);
const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
/** `contrasena` for `contraseña`, `haslo` for `hasło`; only of Latin letters, where a mark is left out. */
const plain = (word: string): string =>
  word
    .normalize("NFD")
    .replace(/(?<=[a-z])\p{M}+/gu, "")
    .normalize("NFC")
    .replace(/ł/g, "l")
    .replace(/ı/g, "i")
    .replace(/đ/g, "d");
const escaped = (text: string): string => text.replace(/[|(){}<>\\]/g, "\\$&");

function* chunks(list: readonly string[]): Generator<string[]> {
  for (let at = 0; at < list.length; at += MOST) yield list.slice(at, at + MOST);
}
