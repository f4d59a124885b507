/** The edits of JSON text, loaded by whoever makes one: their parser takes a few milliseconds. */
export const loadJsonEdits = () => import("./json-edit.ts");
