/**
 * Stories that generated sessions tell, and questions about them as a user would ask weeks later: other words and inflections, parts of errors,
 * of paths and of names. Written before the ranking that answers them. `{thing}` is a name as prose has it ("invoice exporter"), `{Camel}` and
 * `{camel}` as code has it, `{file}` a path, `{n}` a number, `{word}` a name of a package.
 *
 * A line: `u` the user, `a` the assistant, `$` a command that works, `!` one that fails (command, then its output after `=>`), `e` an edit.
 */
export interface Story {
  id: string;
  lines: readonly string[];
  /** Each asks for this story. */
  questions: readonly string[];
}

/** The ranking was tuned with these. */
export const TUNED: readonly Story[] = [
  {
    id: "cors",
    lines: [
      "u The page on port 5173 gets no data from the {thing}, the console is red",
      "a The browser blocks the request: the response of the {thing} has no Access-Control-Allow-Origin header. I'll add the middleware in {file} and allow only our own origin.",
      "e {file}",
      "! curl -i -H 'Origin: http://localhost:5173' localhost:3000/{camel} => curl: (7) Failed to connect to localhost port 3000: Connection refused",
      "$ npm run dev -- --port 3000",
      "a The header is sent now. I decided to list the origins by name instead of a star, because cookies are sent with the request.",
    ],
    questions: [
      "why was the browser blocking requests to the {thing}",
      "{thing} allow-origin header missing",
      "how did we let the frontend origin call the {thing}",
    ],
  },
  {
    id: "pool",
    lines: [
      "u Under load the {thing} hangs after a minute",
      "! npx vitest run test/load/{camel}.test.ts => Error: timeout exceeded when trying to connect\n    at PoolImpl.acquire (node_modules/{word}/pool.js:45:11)",
      "a A transaction that throws never gives its connection back to the pool. {Camel} must release it in a finally block.",
      "e {file}",
      "$ npx vitest run test/load/{camel}.test.ts",
      "a All {n} requests pass. The pool stays at 10 connections.",
    ],
    questions: [
      "{thing} hanging under heavy load, connections not released",
      "timeout exceeded when trying to connect {Camel}",
      "what leaked the pooled connections in the {thing}",
    ],
  },
  {
    id: "encoding",
    lines: [
      "u Customers say umlauts are broken in the file that the {thing} writes",
      "a Excel reads the CSV as Windows-1252 unless it begins with a byte order mark. I'll write the BOM first in {file}.",
      "e {file}",
      "$ node scripts/check-{camel}.mjs",
      "a Names such as Müller are right in Excel now.",
    ],
    questions: [
      "umlauts garbled in the csv of the {thing}",
      "did {Camel} need a BOM for excel",
      "special characters broken in {thing} file for customers",
    ],
  },
  {
    id: "pnpm",
    lines: [
      "u Add {word} to the {thing}",
      '! npm install {word} => npm ERR! code EUNSUPPORTEDPROTOCOL\nnpm ERR! Unsupported URL Type "workspace:": workspace:*',
      "u No, use pnpm here, not npm. The workspace is pnpm's.",
      "$ pnpm add {word} --filter {camel}",
      "a {word} is added to the {thing} with pnpm.",
    ],
    questions: [
      "which package manager should I use for the {thing} workspace",
      'Unsupported URL Type "workspace:" when installing {word}',
      "how was {word} installed",
    ],
  },
  {
    id: "sqlite",
    lines: [
      "u Where should the {thing} keep its state?",
      "a Two processes write at once. I'll use SQLite in WAL mode rather than a JSON file because concurrent writers would overwrite each other.",
      "e {file}",
      "$ npm test -- {camel}",
      "a The state of the {thing} is in one table now, {n} rows in the test.",
    ],
    questions: [
      "why does the {thing} store its state in sqlite and not json",
      "{Camel} persistence decision",
      "reason for WAL mode in {thing}",
    ],
  },
  {
    id: "flaky",
    lines: [
      "u The test of the {thing} fails on CI now and then, never here",
      "! npx vitest run test/{camel}.test.ts --retry 0 => AssertionError: expected [ 'b', 'a' ] to deeply equal [ 'a', 'b' ]",
      "a readdir gives the names in the order of the file system. {Camel} must sort them before it compares.",
      "e {file}",
      "$ npx vitest run test/{camel}.test.ts --retry 0",
      "a It passed fifty times in a row.",
    ],
    questions: [
      "intermittent {thing} test on the build server",
      "flaky test {camel}.test.ts order of entries",
      "expected [ 'b', 'a' ] to deeply equal {camel}",
    ],
  },
  {
    id: "esm",
    lines: [
      "u Start the {thing} with the new version of {word}",
      "! node dist/{camel}.js => Error [ERR_REQUIRE_ESM]: require() of ES Module /app/node_modules/{word}/index.js from /app/dist/{camel}.js not supported.",
      "a {word} is published as an ES module only since its last major. Our build still makes CommonJS.",
      "e tsconfig.json",
      "e package.json",
      "$ npm run build",
      "$ node dist/{camel}.js",
      "a The {thing} starts. We now build ES modules everywhere.",
    ],
    questions: [
      "ERR_REQUIRE_ESM {word}",
      "{thing} would not start after upgrading {word}",
      "what did we change for commonjs vs es modules with {word}",
    ],
  },
  {
    id: "dates",
    lines: [
      "u In the {thing} the last day of a month is in the next one for people in Sydney",
      "a The dates are cut out of the ISO text, so they are days of UTC. {Camel} should use the time zone of the account.",
      "e {file}",
      "! npx vitest run test/{camel}-zones.test.ts => AssertionError: expected '2026-05-01' to be '2026-04-30'",
      "e {file}",
      "$ npx vitest run test/{camel}-zones.test.ts",
      "a I chose Temporal's polyfill over moment because it knows zones without a table of our own.",
    ],
    questions: [
      "timezone bug at month end in {thing}",
      "Sydney users see wrong month {Camel}",
      "why not moment in the {thing}",
    ],
  },
  {
    id: "migration",
    lines: [
      "u Add the column for discounts that the {thing} reads",
      "! npx prisma migrate dev --name {camel} => Error: P3014 Prisma Migrate could not create the shadow database. Permission denied to create database",
      "a The role of the app may not create databases. The shadow database must exist before.",
      "$ createdb {camel}_shadow",
      "$ npx prisma migrate dev --name {camel}",
      "a The migration ran; the {thing} reads the discount.",
    ],
    questions: [
      "P3014 shadow database",
      "how did the prisma migration for {thing} get unstuck",
      "permission denied creating database while migrating {camel}",
    ],
  },
  {
    id: "comments",
    lines: [
      "u Tidy up the {thing}",
      "e {file}",
      "a I split the function and wrote a comment over each step.",
      "u Don't add comments that repeat the code. Names should say it.",
      "e {file}",
      "a The comments are gone from {file}.",
    ],
    questions: ["what did I say about comments in the {thing}", "commenting style feedback {Camel}"],
  },
  {
    id: "docker",
    lines: [
      "u Make the image of the {thing} smaller",
      '! docker build -t {camel} . => failed to solve: process "/bin/sh -c npm ci --omit=dev" did not complete successfully: exit code: 127',
      "a node:slim has no python, and {word} compiles on install. I'll build in one stage and copy the result to the other.",
      "e Dockerfile",
      "$ docker build -t {camel} .",
      "a The image has {n} MB instead of 1.2 GB.",
    ],
    questions: [
      "reducing docker image size of the {thing}",
      "failed to solve npm ci --omit=dev exit code 127 {camel}",
      "multi-stage build for the {thing} image",
    ],
  },
  {
    id: "memory",
    lines: [
      "u The {thing} is killed after some hours in production",
      "a Its heap grows with each request: listeners are added to the emitter and never removed. {n} of them after an hour.",
      "! node --max-old-space-size=256 scripts/soak-{camel}.mjs => FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
      "e {file}",
      "$ node --max-old-space-size=256 scripts/soak-{camel}.mjs",
      "a Memory of the {thing} is flat over an hour now.",
    ],
    questions: [
      "memory leak in {thing} from event listeners",
      "{Camel} heap out of memory",
      "why was the {thing} OOM killed in prod",
    ],
  },
  {
    id: "regex",
    lines: [
      "u A long address line makes the {thing} stall for a minute",
      "a The pattern backtracks: (\\s*\\w+)* is exponential. I'll replace it by a split on whitespace, so that it is linear.",
      "e {file}",
      "$ npx vitest run test/{camel}-hostile.test.ts",
      "a A line of a megabyte takes {n} ms.",
    ],
    questions: [
      "catastrophic backtracking in {thing}",
      "slow regular expression on long addresses {Camel}",
      "what replaced the pattern that stalled the {thing}",
    ],
  },
  {
    id: "keys",
    lines: [
      "u Cache what the {thing} answers",
      "a Keys hold the user's language, else a German page is served to everyone. I'll put them into {file}.",
      "e {file}",
      "u I said no caching for signed-in users. Only for visitors.",
      "e {file}",
      "a Signed-in users always get a fresh answer from the {thing}.",
    ],
    questions: [
      "should {thing} cache responses for logged in users",
      "{Camel} cache key language",
      "caching rule for the {thing}",
    ],
  },
  {
    id: "rename",
    lines: [
      "u Rename the function in the {thing} as we said",
      "! npx tsc --noEmit => {file}(12,7): error TS2304: Cannot find name 'load{Camel}'.",
      "e {file}",
      "$ npx tsc --noEmit",
      "a load{Camel} is called read{Camel} everywhere now.",
    ],
    questions: ["Cannot find name 'load{Camel}'", "what is load{Camel} called now", "TS2304 {file}"],
  },
  {
    id: "retry",
    lines: [
      "u The {thing} loses events when the other side is down",
      "a I'll use exponential backoff with jitter instead of a fixed delay so that clients do not come back all at once.",
      "e {file}",
      "$ npx vitest run test/{camel}-retry.test.ts",
      "a After {n} attempts an event goes to the dead letter table.",
    ],
    questions: [
      "how does {thing} retry when the remote is unavailable",
      "backoff strategy of {Camel} and why",
      "dead letters {thing}",
    ],
  },
  {
    id: "login",
    lines: [
      "u Signing in to the {thing} loops back to the form",
      "a The session cookie has SameSite=Strict, so it is not sent after the provider redirects. Lax is enough here.",
      "e {file}",
      "! npx playwright test e2e/{camel}.spec.ts => Error: page.waitForURL: Test timeout of 30000ms exceeded.",
      "$ npx playwright install chromium",
      "$ npx playwright test e2e/{camel}.spec.ts",
      "a The login of the {thing} works in all three browsers.",
    ],
    questions: [
      "login redirect loop {thing}",
      "SameSite cookie problem in {Camel}",
      "page.waitForURL timeout e2e/{camel}.spec.ts",
    ],
  },
  {
    id: "batch",
    lines: [
      "u Importing {n}000 rows into the {thing} takes ten minutes",
      "a Each row is a transaction of its own. One insert of 500 rows is two hundred times quicker.",
      "e {file}",
      "$ node scripts/bench-{camel}.mjs",
      "a I'll keep 500 a batch because SQLite allows 32766 parameters. It takes three seconds now.",
    ],
    questions: [
      "speeding up bulk import in the {thing}",
      "batch size chosen for {Camel} inserts",
      "why 500 rows per insert",
    ],
  },
];

/** Not seen while the ranking was tuned. */
export const HELD_OUT: readonly Story[] = [
  {
    id: "websocket",
    lines: [
      "u The live view of the {thing} stops after a minute behind the proxy",
      "a nginx closes an idle upgrade after 60 seconds. I'll send a ping every 25 seconds from {file}.",
      "e {file}",
      "$ npx vitest run test/{camel}-live.test.ts",
      "a The socket of the {thing} stays open over night.",
    ],
    questions: [
      "websocket disconnects behind nginx {thing}",
      "keepalive pings for {Camel}",
      "why does the {thing} live view go stale",
    ],
  },
  {
    id: "decimal",
    lines: [
      "u Totals of the {thing} are off by a cent",
      "a Prices are added as floats. I decided to count in integer cents because 0.1 + 0.2 is not 0.3 in binary.",
      "e {file}",
      "! npx vitest run test/{camel}-sums.test.ts => AssertionError: expected 30.000000000000004 to be 30",
      "e {file}",
      "$ npx vitest run test/{camel}-sums.test.ts",
    ],
    questions: [
      "rounding error in the totals of the {thing}",
      "30.000000000000004 {Camel}",
      "floats or cents for money in {thing}",
    ],
  },
  {
    id: "lockfile",
    lines: [
      "u CI is red since the {thing} was updated",
      "! npm ci => npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync. Missing: {word}@3.1.0 from lock file",
      "a The lock file was made by another version of npm. I'll make it again with npm 10.",
      "$ npx npm@10 install --package-lock-only",
      "$ npm ci",
      "a The pipeline of the {thing} is green.",
    ],
    questions: [
      "lockfile out of sync {word}",
      "npm ci can only install packages when",
      "pipeline broken after bumping the {thing}, what fixed it",
    ],
  },
  {
    id: "dark",
    lines: [
      "u In dark mode the labels of the {thing} cannot be read",
      "a The colour is fixed in the component. I'll use the token --text-muted so that both themes set it.",
      "e {file}",
      "u That's wrong, the contrast is still below 4.5. Use --text instead.",
      "e {file}",
      "a The labels of the {thing} have a contrast of 7 now.",
    ],
    questions: [
      "unreadable labels in the dark theme of the {thing}",
      "contrast correction {Camel}",
      "which css variable for label colour in {thing}",
    ],
  },
  {
    id: "port",
    lines: [
      "u Run the tests of the {thing} in parallel",
      "! npx jest {camel} --maxWorkers 4 => Error: listen EADDRINUSE: address already in use :::4100",
      "a All workers start the server on one port. I'll use port 0 and read which one was given.",
      "e {file}",
      "$ npx jest {camel} --maxWorkers 4",
      "a {n} tests of the {thing} run on four workers.",
    ],
    questions: [
      "EADDRINUSE 4100",
      "address in use when {thing} tests run in parallel",
      "how do parallel {Camel} tests pick a port",
    ],
  },
  {
    id: "upload",
    lines: [
      "u Uploads above a megabyte fail in the {thing}",
      "a The body parser stops at 1 MB and answers 413. Large files should not be buffered: I'll stream them to the bucket.",
      "e {file}",
      "$ curl -F file=@big.bin localhost:3000/{camel}",
      "a A file of {n} MB takes 20 MB of memory.",
    ],
    questions: [
      "413 on big uploads to the {thing}",
      "streaming large files to the bucket in {Camel}",
      "upload size limit {thing}",
    ],
  },
  {
    id: "index",
    lines: [
      "u The list of the {thing} takes four seconds",
      "a The query reads the whole table: it filters by account and sorts by date, and there is no index for both.",
      "e {file}",
      "$ psql -c 'explain analyze select * from {camel}'",
      "a With an index on (account, created_at desc) it takes {n} ms. I dropped the old one because nothing used it.",
    ],
    questions: [
      "slow list query {thing} missing index",
      "which index was created for {Camel}",
      "explain analyze sequential scan {thing}",
    ],
  },
  {
    id: "secrets",
    lines: [
      "u The {thing} should read its password from the environment",
      "e {file}",
      "a It reads it from .env in the repository.",
      "u No, never commit .env. The value is in the vault.",
      "e {file}",
      "$ vault kv get secret/{camel}",
      "a The {thing} asks the vault at its start.",
    ],
    questions: [
      "where does the {thing} get its password",
      "committing .env files, what was the rule",
      "{Camel} vault secret",
    ],
  },
  {
    id: "hydration",
    lines: [
      "u The console warns about the {thing} after each load",
      "! npx playwright test e2e/{camel}.spec.ts => Error: Hydration failed because the initial UI does not match what was rendered on the server.",
      "a The component prints the time while it renders. It must be set after it is mounted.",
      "e {file}",
      "$ npx playwright test e2e/{camel}.spec.ts",
      "a No warning is left in the {thing}.",
    ],
    questions: [
      "Hydration failed {Camel}",
      "server rendered markup mismatch in the {thing}",
      "why shouldn't the {thing} print the time while rendering",
    ],
  },
  {
    id: "queue",
    lines: [
      "u Which queue should the {thing} use?",
      "a I'll go with Postgres and SKIP LOCKED instead of Redis because it is one service less to run and we have {n} jobs a minute.",
      "e {file}",
      "$ npm test -- {camel}",
      "a Jobs of the {thing} are taken by SKIP LOCKED.",
    ],
    questions: ["redis or postgres for the {thing} jobs", "why SKIP LOCKED", "job queue choice {Camel}"],
  },
  {
    id: "rebase",
    lines: [
      "u Bring the branch of the {thing} up to date",
      "! git rebase origin/main => CONFLICT (content): Merge conflict in {file}",
      "e {file}",
      "$ git rebase --continue",
      "u I asked for a merge, not a rebase. The branch is shared.",
      "a From now on I merge main into shared branches.",
    ],
    questions: [
      "merge or rebase for the shared {thing} branch",
      "conflict in {file}",
      "what did I complain about when updating the {thing} branch",
    ],
  },
  {
    id: "arm",
    lines: [
      "u The {thing} does not start on the new server",
      "! ./{camel} --version => bash: ./{camel}: cannot execute binary file: Exec format error",
      "a The server is arm64 and the binary amd64. I'll build both with buildx.",
      "e .github/workflows/{camel}.yml",
      "$ docker buildx build --platform linux/amd64,linux/arm64 .",
      "a Both architectures of the {thing} are published.",
    ],
    questions: ["Exec format error {camel}", "{thing} on arm servers", "multi architecture build of the {thing}"],
  },
];

/** Asked for, and in no session. Of `{thing}` other sessions tell other things. */
export const UNKNOWN: readonly string[] = [
  "how did we configure the kafka consumer group offsets",
  "why did we pick graphql federation over rest",
  "terraform state locking with dynamodb",
  "which kubernetes ingress annotations did we need",
  "swift package manager checksum mismatch",
  "how was the bluetooth pairing bug solved",
  "what did the lawyer say about the gdpr consent banner",
  "unity shader compile error on metal",
  "rust borrow checker error in the tokenizer",
  "setting up the raspberry pi camera driver",
  "oauth device flow for the tv app",
  "how does the genetic algorithm choose parents",
  "latex bibliography style for the thesis",
  "homebrew formula audit failure",
  "elixir genserver timeouts",
  "why did the {thing} need a captcha",
  "{Camel} grpc reflection",
  "printing labels from the {thing} on zebra printers",
  "who approved the marketing budget for the {thing}",
  "{thing} android push notifications silent",
  "barcode scanner focus in {Camel}",
  "spanish translation of the {thing} newsletter",
  "did {Camel} ever support fingerprint unlock",
  "wireguard tunnel to the {thing} datacenter",
  "accessibility audit of the {thing} video player subtitles",
];
