/** The encoded forms of a value in a document. */
export interface Form {
  name: "plain" | "json" | "url" | "html" | "base64" | "hex" | "markdown";
  text: string;
}

/** Shorter values are too common in encoded text to say anything. */
const ENCODED_FROM = 8;

/** Every form once; those equal to the plain one are left out. */
export function toForms(value: string): Form[] {
  const json = JSON.stringify(value).slice(1, -1);
  const forms: Form[] = [
    { name: "plain", text: value },
    { name: "json", text: json },
    { name: "json", text: JSON.stringify(json).slice(1, -1) },
    { name: "json", text: json.replaceAll("/", "\\/") },
    { name: "json", text: json.replace(/[&<>=']/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`) },
    { name: "html", text: toHtml(value, "&#39;") },
    { name: "html", text: toHtml(value, "&#x27;") },
    { name: "html", text: toHtml(value, "&apos;") },
    { name: "markdown", text: value.replace(/[\\`*_{}[\]()#+\-.!<>|~]/g, "\\$&") },
    { name: "markdown", text: value.replace(/[\\`*_[\]]/g, "\\$&") },
  ];
  // Lone surrogates have no percent form.
  const url = value.isWellFormed() ? encodeURIComponent(value) : value;
  const strict = url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  for (const text of [url, strict]) {
    const lower = text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
    forms.push({ name: "url", text }, { name: "url", text: lower }, { name: "url", text: text.replaceAll("%20", "+") });
  }
  if (value.length >= ENCODED_FROM) {
    const bytes = Buffer.from(value, "utf8");
    const hex = bytes.toString("hex");
    forms.push({ name: "hex", text: hex }, { name: "hex", text: hex.toUpperCase() });
    for (const text of base64Cores(bytes)) {
      forms.push({ name: "base64", text }, { name: "base64", text: text.replaceAll("+", "-").replaceAll("/", "_") });
    }
  }
  const seen = new Set<string>();
  return forms.filter(({ text }) => !seen.has(text) && seen.add(text));
}

function toHtml(value: string, apostrophe: string): string {
  return value
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", apostrophe);
}

/** The characters that do not depend on the bytes before and after, for each of the three alignments. */
export function base64Cores(bytes: Buffer): string[] {
  return [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const whole = Math.floor(((offset + bytes.length) * 8) / 6);
    return text.slice(Math.ceil((offset * 8) / 6), whole);
  });
}
