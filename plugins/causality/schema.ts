/** What is stored of each analysed session, so that a sum over many sessions reads no transcript twice. */
export const migrations: readonly string[] = [
  // `stamp`: the session's content that was analysed. `seq`: the wasted read with the most tokens; null without one.
  `create table causality_waste (
     session text primary key,
     stamp text not null,
     reads integer not null,
     tokens integer not null,
     seq integer
   ) without rowid;`,
];
