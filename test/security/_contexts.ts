/** Where a secret may stand, and what can be read of it afterwards. */

/** Eight characters of the value that can still be read. */
export function left(value: string, document: string): string | undefined {
  const text = document.replace(/\[REDACTED:[^\]]*\]/g, "");
  for (let at = 0; at + 8 <= value.length; at++) {
    const piece = value.slice(at, at + 8);
    if (text.includes(piece)) return piece;
  }
  return undefined;
}

/** Where a value stands: `name` says what it is. */
export const CONTEXTS: Record<string, (name: string, value: string) => string> = {
  shell: (name, value) => `export ${name.toUpperCase()}=${value}`,
  "shell, quoted": (name, value) => `export ${name.toUpperCase()}="${value}"`,
  "shell, single quotes": (name, value) => `${name}='${value}'; run`,
  "env file": (name, value) => `A=1\n${name.toUpperCase()}=${value}\nB=2`,
  json: (name, value) => JSON.stringify({ [name]: value }),
  "json, pretty": (name, value) => JSON.stringify({ a: 1, [name]: value, b: 2 }, null, 2),
  "json in json": (name, value) => JSON.stringify({ body: JSON.stringify({ [name]: value }) }),
  yaml: (name, value) => `a: 1\n${name}: ${value}\n`,
  "yaml, quoted": (name, value) => `${name}: "${value}"`,
  toml: (name, value) => `${name} = "${value}"`,
  ini: (name, value) => `[a]\n${name}=${value}\n`,
  properties: (name, value) => `app.${name}=${value}`,
  javascript: (name, value) => `const ${name} = "${value}";`,
  "javascript, template": (name, value) => `const ${name} = \`${value}\`;`,
  typescript: (name, value) => `const ${name}: string = "${value}";`,
  python: (name, value) => `${name} = '${value}'  # here`,
  "python, bytes": (name, value) => `${name} = b"${value}"`,
  "python, argument": (name, value) => `connect(${name}="${value}", x=1)`,
  ruby: (name, value) => `"${name}" => "${value}"`,
  php: (name, value) => `define("${name}", "${value}");`,
  go: (name, value) => `${name} := "${value}"`,
  java: (name, value) => `String ${name} = "${value}";`,
  "c sharp": (name, value) => `var ${name} = @"${value}";`,
  terraform: (name, value) => `resource "x" "y" {\n  ${name} = "${value}"\n}`,
  "diff, added": (name, value) => `+${name} = "${value}"`,
  "diff, removed": (name, value) => `-${name} = "${value}"`,
  numbered: (name, value) => `    12\t${name} = "${value}"`,
  "url query": (name, value) => `see ${name}: ${value} and go on`,
  markdown: (name, value) => `\`\`\`\n${name} = "${value}"\n\`\`\``,
  coloured: (name, value) => `\x1b[32m${name}\x1b[0m = "${value}"`,
  log: (name, value) => `2026-11-01 INFO ${name}="${value}" done`,
};
