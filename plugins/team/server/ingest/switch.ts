/** A database whose connection changes: the kernel that imports lives on, the connection that holds the tenant's lock does not. */
import type { Database } from "sessarc";

interface Switch {
  readonly db: Database;
  /** Undefined: a query now has no lock, and is refused. */
  use(db: Database | undefined): void;
}

export function createSwitch(): Switch {
  let now: Database | undefined;
  const held = (): Database => {
    if (!now) throw new Error("The team's database is written under its lock alone");
    return now;
  };
  return {
    db: {
      ready: Promise.resolve(),
      all: async (sql, params) => held().all(sql, params),
      get: async (sql, params) => held().get(sql, params),
      run: async (sql, params) => held().run(sql, params),
      batch: async (statements) => held().batch(statements),
      get generation() {
        return now?.generation ?? 0;
      },
      hold: async () => held().hold(),
      compact: async () => held().compact(),
      check: async (signal) => held().check(signal),
      close: async () => {},
      get stats() {
        return now?.stats ?? { fileBytes: 0, logBytes: 0 };
      },
    },
    use(db) {
      now = db;
    },
  };
}

/** The same database, in which a write is refused. */
export const reading = (db: Database): Database => ({
  ...db,
  get generation() {
    return db.generation;
  },
  run: refuse,
  batch: refuse,
});

const refuse = async (): Promise<never> => {
  throw new Error("The team's database is written under its lock alone");
};
