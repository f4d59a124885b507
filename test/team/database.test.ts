/** The contract of `Database` over PGlite and PostgreSQL, as the importer of a server writes. */
import { onTestFinished } from "vitest";
import { openTeamDatabase } from "../../plugins/team/database/index.ts";
import { TABLE, testQueries } from "../database.ts";
import { engines } from "./postgres.ts";

for (const engine of engines())
  testQueries(engine.name, {
    unique: /duplicate key value violates unique constraint.*23505/,
    async fresh() {
      const { database, stop } = await engine.open();
      const team = await openTeamDatabase({ database });
      onTestFinished(async () => {
        await team.close();
        await stop();
      });
      await team.migrate("contract", [TABLE.join("; ")]);
      return (await team.write(1, 5_000)).db;
    },
  });
