/** A model's name in words: `claude-sonnet-4-5-20250929` is "Claude Sonnet 4.5". An unknown id is returned unchanged. */

/** Who makes it, by the first word of the id; what stands between that and the version. */
const BRANDS = new Map<string, readonly [name: string, joint: string]>(
  Object.entries({
    claude: ["Claude", " "],
    gpt: ["GPT", "-"],
    gemini: ["Gemini", " "],
    gemma: ["Gemma", " "],
    grok: ["Grok", " "],
    deepseek: ["DeepSeek", " "],
    qwen: ["Qwen", " "],
    qwen3: ["Qwen3", " "],
    kimi: ["Kimi", " "],
    glm: ["GLM", "-"],
    mistral: ["Mistral", " "],
    devstral: ["Devstral", " "],
    codestral: ["Codestral", " "],
    composer: ["Composer", " "],
    o1: ["o1", "-"],
    o3: ["o3", "-"],
    o4: ["o4", "-"],
  }),
);
/** Words of a name; all others are none. */
const WORDS = new Map(
  (
    "Opus Sonnet Haiku Instant Fable Pro Flash Lite Ultra Nano=nano Mini=mini Codex Max Turbo Fast Code Coder Chat Reasoner " +
    "Large Medium Small Plus Air Thinking Preview Exp Experimental High Low Spark Deep Research Instruct"
  )
    .split(" ")
    .map((one) => {
      const [word = "", shown = word] = one.split("=");
      return [word.toLowerCase(), shown] as const;
    }),
);
/** Parts of an id that are no part of the name: a host, a region, a date, a release. */
const HOST = /^.*\/|^(?:[a-z]{2,6}(?:-gov)?\.)?anthropic\./;
const TAIL = /(?:\[1m\]|-latest|-v\d(?::\d)?|@default|[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2}))$/;

export function modelWords(id: string): string {
  let name = id.trim().toLowerCase().replace(HOST, "");
  for (let before = ""; before !== name; ) {
    before = name;
    name = name.replace(TAIL, "");
  }
  const [first = "", ...rest] = name.replace(/(?<=-\d{1,2})-(?=\d{1,2}(?:-|$))/g, ".").split("-");
  const brand = BRANDS.get(first);
  if (!brand) return id;
  const words = rest.map((word) => (/^v?\d{1,3}(?:\.\d{1,2})*[a-z]?$/.test(word) ? word : WORDS.get(word)));
  if (words.includes(undefined)) return id;
  const [lead, joint] = brand;
  return words.length === 0 ? lead : lead + joint + words.join(" ");
}
