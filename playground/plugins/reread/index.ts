/** Which files are read again and again, over all sessions: an indexer with a table and a route. Try it: `sessarc --plugin ./playground/plugins/reread/index.ts --demo`. */
import { defineIndexer, definePlugin, defineRoute } from "sessarc";

const reread = defineRoute({
  method: "GET",
  path: "/reread",
  summary: "The files that sessions read most often",
  handler: async ({ kernel }) => ({
    files: await kernel.storage.db.all<{ path: string; reads: number; sessions: number }>(
      `select path, sum(reads) as reads, count(*) as sessions from reread_file
       group by path having sum(reads) > 1 order by sum(reads) desc, path limit 100`,
    ),
  }),
});

export default definePlugin({
  name: "reread",
  dependsOn: ["archive"],
  routes: [reread],
  migrations: ["create table reread_file (session text, path text, reads integer, primary key (session, path))"],
  indexers: [
    defineIndexer({
      name: "reread",
      version: 1,
      module: new URL("./indexer.ts", import.meta.url).href,
      tables: ["reread_file"],
    }),
  ],
});
