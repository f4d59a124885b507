/** Words without a meaning in a correction, and verbs that mean the same in one. */

const set = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Not compared. */
export const STOP = set(`
  a an the this that these those it its i i'm me my we us our you your he she they them their there here
  is are was were be been being am has have had having do does did done will would can could should must may might shall
  and or but so also too as at by for from in into of off on onto out over under to up down with within without about than then if when while
  not no don't doesn't never always please just only again before already once more now all any each every some other another
  said say told tell remember sure wrong still instead rather like want need ok okay thanks thank hey stop avoid prefer forget make
  und oder aber der die das den dem ein eine einen einem im in am zum zur mit bitte immer nie niemals kein keine keinen nicht nein statt sondern wir du sie ich habe schon gesagt wieder noch mal auch nur hier
  le la les un une des du de et ou mais ne pas jamais toujours plutôt que nous vous je dans s'il
  el los las unos y o pero nunca siempre que nosotros por favor en
  请 用 的 了 我 你 说 过 不 要 不要 不用 别 始终 总是 必须 应该 请用 记住 一定 而 是 就 也 在
  で て を に は が の と だ です ます ください 下さい 必ず いつも ない ではなく じゃなく 言っ 言った た でしょう でしょ う って
`);

/** Compared, and worth less than a name: they fit many corrections. */
export const COMMON = set(`
  file files code repo repository project thing things anything something everything everywhere hand directly new old existing old
  line lines place word words name text way part stuff plain real existing
  datei dateien projekt
`);

const CLASSES: Readonly<Record<string, string>> = {
  make: "add adding adds write writing writes written put putting puts insert inserting create creating generate generating include including leave leaving schreib schreibe schreiben füge einfügen",
  use: "use using uses used run running runs call calling calls import importing take taking nimm nehmen nutze nutzen benutze benutzen verwende verwenden utilise usa uses",
  change:
    "change changing changes edit editing edits modify modifying modifies touch touching touches alter altering update updating rewrite rewriting ändere ändern bearbeite",
  remove: "delete deleting deletes remove removing removes drop dropping erase erasing lösche löschen",
};
const CLASS_OF = new Map(
  Object.entries(CLASSES).flatMap(([name, words]) => words.split(" ").map((word) => [word, name])),
);

/** The class of a verb; undefined for any other word. */
export const classOf = (word: string): string | undefined => CLASS_OF.get(word);

/** One form of a word: `comments` and `comment`, `mocking` and `mock`. */
export function toStem(word: string): string {
  const plain = word.replace(/^[./]+|[/.]+$/g, "").replace(/\.md$/, "");
  if (!/^[a-z]+$/.test(plain)) return plain;
  if (plain.length > 6 && plain.endsWith("ing")) return plain.slice(0, -3);
  if (plain.length > 4 && plain.endsWith("ies")) return `${plain.slice(0, -3)}y`;
  if (plain.length > 4 && /(?:ss|x|ch|sh)es$/.test(plain)) return plain.slice(0, -2);
  return plain.length > 3 && /[^su]s$/.test(plain) ? plain.slice(0, -1) : plain;
}

const segmenter = new Intl.Segmenter("zh", { granularity: "word" });

/** Words in order, in lower case; Chinese and Japanese by dictionary. */
export function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}_@][\p{L}\p{N}_@'’./:-]*|--?[a-z][\w-]*/gu) ?? []).flatMap((word) => {
    if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word))
      return [...segmenter.segment(word)]
        .map(({ segment }) => segment)
        .filter((one) => !/^\p{Script=Hiragana}{1,3}$/u.test(one));
    return [word.replaceAll("’", "'").replace(/[.:'-]+$/, "")];
  });
}
