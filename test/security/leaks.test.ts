import { readdir, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import MarkdownIt from "markdown-it";
import { describe, expect, it } from "vitest";
import { toForms } from "../../plugins/security/secrets/redact/forms.ts";
import { type Row, SESSION, startWith } from "./_kernel.ts";
import { letters } from "./_samples.ts";

const PEM = ["-----BEGIN RSA PRIVATE", "KEY-----"].join(" ");
const PEM_END = ["-----END RSA PRIVATE", "KEY-----"].join(" ");
const SECRETS = {
  github: `ghp_${letters(36, 91)}`,
  gitlab: `glpat-${letters(20, 92)}`,
  stripe: `sk_live_${letters(24, 93)}`,
  anthropic: `sk-ant-api03-${letters(93, 94)}AA`,
  aws: `AKIA${"QZ7XWV2PLM5RT4NB"}`,
  password: `${letters(12, 95)}#7&<x>`,
  user: "zaphodbb",
  mail: "zaphod.b@corp-internal.io",
};
const ROWS: Row[] = [
  { role: "user", text: `deploy with ${SECRETS.github} and mail ${SECRETS.mail}` },
  {
    role: "assistant",
    text: `I use \`${SECRETS.gitlab}\`.\n\n\`\`\`sh\nexport DB_PASSWORD="${SECRETS.password}"\n\`\`\``,
  },
  {
    role: "call",
    input: {
      command: `curl -H "Authorization: Bearer ${SECRETS.anthropic}" https://x`,
      [SECRETS.stripe]: { deep: [SECRETS.stripe] },
    },
  },
  {
    role: "result",
    id: "t2",
    text: JSON.stringify({ stdout: JSON.stringify({ key: SECRETS.aws, pw: SECRETS.password }) }),
  },
  { role: "call", name: "Read", input: { file_path: `/home/${SECRETS.user}/${SECRETS.gitlab}.txt` } },
  {
    role: "result",
    id: "t4",
    text: `\u001b[31m${SECRETS.github.slice(0, 12)}\u001b[0m${SECRETS.github.slice(12)} ghp_\u200b${SECRETS.github.slice(4)} b64 ${Buffer.from(`x${SECRETS.github}`).toString("base64")} ${encodeURIComponent(SECRETS.password)}`,
    failed: true,
  },
  { role: "assistant", text: `${PEM}\n${letters(64, 96)}\n${letters(64, 97)}\n${PEM_END}` },
];
const OPTIONS = {
  cwd: `/home/${SECRETS.user}/${SECRETS.stripe}`,
  branch: `feature/${SECRETS.github}`,
  env: { USER: SECRETS.user },
};

/** Every secret that can be read in a text, in whatever form. */
function leaksIn(text: string): string[] {
  return Object.entries({ ...SECRETS, pem1: letters(64, 96), pem2: letters(64, 97) }).flatMap(([name, value]) =>
    toForms(value)
      .filter((form) => text.includes(form.text))
      .map((form) => `${name} ${form.name}`),
  );
}

describe("security: nothing gets out", () => {
  it("S6: no secret, and no encoding of one, in exports, shares, checks, records, errors, headers and file names", async () => {
    const t = await startWith(ROWS, OPTIONS);
    const answers: string[] = [];
    const look = async (method: string, path: string, body?: unknown) => {
      const response = await t.fetch(path, body === undefined ? { method } : { method, body: JSON.stringify(body) });
      const text = await response.text();
      const headers = JSON.stringify(Object.fromEntries(response.headers.entries()));
      expect(leaksIn(text + headers), `${method} ${path}`).toEqual([]);
      answers.push(text);
      return text;
    };
    for (const format of ["md", "html", "json"]) {
      const text = await look("GET", `/api/sessions/${SESSION}/export-redacted?format=${format}`);
      expect(text).toContain("[REDACTED:");
      expect(text).not.toContain(hostname().length > 5 ? hostname() : "\0");
    }
    await look("GET", `/api/sessions/${SESSION}/security-check`);
    await look("GET", `/api/sessions/${SESSION}/security-check?personal=1`);
    const { token } = JSON.parse(await look("POST", `/api/sessions/${SESSION}/share`, {})) as { token: string };
    await look("GET", "/api/shares");
    await look("GET", `/share/${token}`);
    await look("GET", `/share/${token}?download=1`);
    await look("POST", "/api/security/rules/dry-run", {});
    for (const value of Object.values(SECRETS)) {
      await look("POST", "/api/security/pretooluse", {
        tool_name: value,
        session_id: value,
        cwd: `/${value}`,
        tool_input: { file_path: `/${value}/${value}`, [value]: value },
      });
      await look("GET", `/share/${encodeURIComponent(value)}`);
    }
    await look("GET", "/api/security/hook");
    await look("GET", "/api/security/rules");
    // Its own words: the guard looks for secrets, not for names and addresses.
    const { interceptions } = JSON.parse(await (await t.fetch("/api/security/interceptions")).text());
    expect(leaksIn(JSON.stringify(interceptions)).filter((leak) => !/^(user|mail|password) /.test(leak))).toEqual([]);
    await t.send("POST", "/api/feedback", { message: `it broke with ${SECRETS.github} and ${SECRETS.stripe}` });
    const files = join(t.home, "data/files");
    for (const name of await readdir(files, { recursive: true })) {
      expect(leaksIn(name)).toEqual([]);
      expect(leaksIn(await readFile(join(files, name), "utf8").catch(() => "")), name).toEqual([]);
    }
  });

  it("equal values show as equal within one document, and not across documents", async () => {
    const t = await startWith(ROWS, OPTIONS);
    const marks = async () => {
      const text = await (await t.fetch(`/api/sessions/${SESSION}/export-redacted`)).text();
      return new Set(text.match(/\[REDACTED:github-pat#[0-9a-f]{4}\]/g));
    };
    const [first, second] = [await marks(), await marks()];
    expect([first.size, second.size]).toEqual([1, 1]);
    expect([...first]).not.toEqual([...second]);
  });

  it("exports a session that has nothing to hide, for a user whose name is a word of the page", async () => {
    const t = await startWith([{ role: "user", text: "hello" }], { env: { USER: "assistant" } });
    for (const format of ["md", "html", "json"])
      expect((await t.fetch(`/api/sessions/${SESSION}/export-redacted?format=${format}`)).status).toBe(200);
  });

  it("a hostile transcript stays where it stands", async () => {
    const attacks = [
      "<script>alert(1)</script><img src=x onerror=alert(1)>",
      "</article></main></body><script>alert(1)</script>",
      "```\n</details><script>alert(1)</script>\n````\n# big\n~~~\n",
      "``` <script>alert(1)</script>",
      "`\n- ` <b>x</b> `\n` <i>y</i> `",
      "- `\n- `\n` <script>1</script> `",
      "  ```\n```\n<script>alert(1)</script>",
      "text\n     ```\n     a ``` <script>1</script>\n     ```",
      "> ```\n<script>alert(1)</script>",
      "[x]: https://evil.example\n[REDACTED:github-pat#0000]: https://evil.example",
      '![x](https://evil.example/track.png) [y](javascript:alert(1)) [z](https://ok.example/"onmouseover=alert(1))',
      "</details>\n\n</details>\n\n# Owned",
      "\u202egnp.exe and \u0000\u001b]0;owned\u0007",
      "<!-- \n\n--> <style>*{display:none}</style>",
      "==\nTitle\n===\n# Heading 1",
    ];
    const rows = attacks.flatMap((text, index): Row[] => [
      { role: "user", text },
      { role: "assistant", text },
      { role: "call", name: text.slice(0, 60), input: { command: text, [text]: text }, id: `c${index}` },
      { role: "result", id: `c${index}`, text },
    ]);
    const t = await startWith(rows, { branch: "</title><script>1</script>", cwd: '/w/"><script>1</script>' });
    const page = await (await t.fetch(`/api/sessions/${SESSION}/export-redacted?format=html`)).text();
    const tags = new Set([...page.matchAll(/<\/?([a-z0-9!-]+)/gi)].map((match) => match[1]?.toLowerCase()));
    const known =
      "!doctype html head meta title style body header h1 h2 h3 dl div dt dd p main article details summary b code pre span footer time strong a ul ol li blockquote br ins del".split(
        " ",
      );
    expect([...tags].filter((tag) => !known.includes(tag ?? ""))).toEqual([]);
    expect(page).not.toMatch(/<script/i);
    expect(page.match(/<article /g)?.length).toBe(page.match(/<\/article>/g)?.length);
    for (const tag of page.match(/<(?!meta|style|!)[a-z][^>]*>/gi) ?? []) {
      expect(tag).not.toMatch(/\son\w+=|javascript:|src=/i);
    }
    expect(page).toContain("⟨U+202E⟩");
    const markdown = await (await t.fetch(`/api/sessions/${SESSION}/export-redacted`)).text();
    const html = new MarkdownIt({ html: true }).render(markdown);
    const raw = html.replace(/<pre>[\s\S]*?<\/pre>|<code>[\s\S]*?<\/code>/g, "");
    expect(raw.match(/<(?:script|style|img|b|i)\b/gi)).toBeNull();
    expect(raw).not.toContain('evil.example/track.png"');
    expect(raw.match(/<h1>/g)).toHaveLength(1);
    expect(raw.match(/<details>/g)?.length).toBe(raw.match(/<\/details>/g)?.length);
    expect(raw.match(/<h2>(You|Assistant)/g)).toHaveLength(attacks.length * 2);
  });
});
