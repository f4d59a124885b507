/** What a provider reported about a window of its plan: one row a quarter-hour. Times in ms; `used` is a percentage. */
export const migrations: readonly string[] = [
  `create table usage_limit (
     tool text not null,
     minutes integer not null,
     quarter integer not null,
     at integer not null,
     resets integer not null,
     used real not null,
     primary key (tool, minutes, quarter)
   ) without rowid`,
];
