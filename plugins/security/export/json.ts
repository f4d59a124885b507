/** A session as JSON: the same head and the event tree. */
import { DocumentWriter, type SessionDocument } from "./document.ts";

export function toJson({ head, events, redactions, madeAt }: SessionDocument): DocumentWriter {
  const out = new DocumentWriter().raw("{\n");
  for (const [key, value] of Object.entries(head)) out.raw(`  "${key}": `).text(JSON.stringify(value)).raw(",\n");
  out.raw(`  "redactions": ${JSON.stringify(redactions)},\n  "madeAt": "${madeAt}",\n  "events": [`);
  events.forEach((event, index) => {
    out.raw(index === 0 ? "\n    {" : ",\n    {");
    const fields = Object.entries(event).filter(([, value]) => value !== undefined);
    fields.forEach(([key, value], at) => {
      out.raw(`${at === 0 ? "" : ", "}"${key}": `);
      if (key === "kind" || key === "seq") out.raw(JSON.stringify(value));
      else out.text(JSON.stringify(value));
    });
    out.raw("}");
  });
  return out.raw("\n  ]\n}\n");
}
