/** Search on a server: PostgreSQL's index of trigrams names the sessions that may contain a question, and the archive reads those. */
import { defineIndexer, definePlugin } from "sessarc";
import { findPatterns } from "./words.ts";

export const teamSearch = definePlugin({
  name: "team-search",
  dependsOn: ["archive"],
  // `whole`: 0 for a session with too many words, which every search reads.
  migrations: [
    `create table search_words (session text primary key, words text not null, whole integer not null) without rowid;
     create index search_words_part on search_words (session) where whole = 0;`,
  ],
  indexers: [
    defineIndexer({
      name: "team-words",
      version: 1,
      module: "sessarc/plugins/team/database/words-indexer",
      tables: ["search_words"],
    }),
  ],
  setup(kernel) {
    const { db, readOnly } = kernel.storage;
    // The function answers for the spaces of a member; a kernel that imports has none.
    if (!readOnly) return;
    kernel.provide("candidates", async (texts) => {
      const patterns = findPatterns(texts);
      if (!patterns) return undefined;
      const rows = await db.all<{ session: string }>(
        `select session from team_candidates(?)
         union select session from search_words where whole = 0
         union select session from indexed where indexer = 'team-words' and error is not null
         union select session_id from earlier`,
        [JSON.stringify(patterns)],
      );
      return new Set(rows.map(({ session }) => session));
    });
  },
});
