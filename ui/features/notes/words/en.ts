/** Words of notes. */
export const en = {
  notes: "Notes",
  "notes.none": "No notes yet. The menu of a session or a message writes one.",
  "notes.noneFound": "No notes match.",
  "notes.edit": "Bookmark, tag or note…",
  "notes.of": "Notes on the session",
  "notes.ofMessage": "Notes on message {n}",
  "notes.bookmark": "Bookmark",
  "notes.bookmarked": "Bookmarked",
  "notes.tags": "Tags",
  "notes.tagsHint": "With spaces between them",
  "notes.note": "Note",
  "notes.save": "Save",
  "notes.filter": "Filter notes",
  "notes.onlyBookmarks": "Bookmarks only",
  "notes.message": "Message {n}",
  "notes.gone": "The message is no longer in the log",
  "notes.notArchived": "The session is not in the archive",
  "notes.here": "Notes on this session",
  "notes.saved": "Saved",
};

export type NotesWords = Record<keyof typeof en, string>;
