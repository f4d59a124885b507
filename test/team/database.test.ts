/** The contract of `Database` over PGlite and PostgreSQL, as the importer of a server writes. */
import { onTestFinished } from "vitest";
import { TABLE, testQueries } from "../database.ts";
import { openTeam } from "./_world.ts";
import { engines } from "./postgres.ts";

for (const engine of engines())
  testQueries(engine.name, {
    unique: /duplicate key value violates unique constraint.*23505/,
    async fresh() {
      const { team, stop } = await openTeam(engine);
      onTestFinished(async () => {
        await team.close();
        await stop();
      });
      await team.migrate("contract", [TABLE.join("; ")]);
      return (await team.write(1, 5_000)).db;
    },
  });
