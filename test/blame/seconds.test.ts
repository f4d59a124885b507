/** Who wrote each line where commits and calls share git's whole second, against an oracle. `SESSARC_BLAME_SECONDS=150` makes more of them. */
import { expect, it } from "vitest";
import { describeGit, repoAt, tempFolder } from "../git/_repo.ts";
import { makeSecond } from "./_second.ts";
import { archived, KEYS } from "./_session.ts";

const WORLDS = Number(process.env.SESSARC_BLAME_SECONDS ?? 12);
const FIRST = Number(process.env.SESSARC_BLAME_FIRST ?? 1);

describeGit("who wrote a line within a second", () => {
  it(
    `is never another in ${WORLDS} made-up projects`,
    async () => {
      const total = { right: 0, unnamed: 0, wrong: 0 };
      const misses: string[] = [];
      for (let seed = FIRST; seed < FIRST + WORLDS; seed++) {
        const repo = repoAt(tempFolder());
        const { files, sessions, commits: made, story } = makeSecond(seed, repo);
        const subjects = made.map(({ subject }) => subject);
        const { t, blame } = await archived(repo, sessions);
        for (const [path, lines] of files) {
          if (lines.length === 0) continue;
          const { lines: rows, writers, commits } = await blame(path);
          expect(rows?.map(({ text }) => text)).toEqual(lines.map(({ text }) => text));
          const births = (rows ?? []).map((row) => subjects.indexOf(commits[row.commit]?.subject ?? ""));
          for (const [i, line] of lines.entries()) {
            // Where times decide is tested in worlds.test.ts.
            if (!made[births[i] ?? -1]?.open.has(path)) continue;
            const id = writers[rows?.[i]?.writer ?? -1]?.sessionId;
            const who = id === undefined ? undefined : KEYS.indexOf(id.slice(id.indexOf(":") + 1));
            // Of equal lines git may take any for the new one.
            const twins = (made[births[i] ?? -1]?.files.get(path) ?? []).filter(
              (one) => one.text === line.text && one.born === births[i],
            );
            const all = births[i] === line.born ? [line] : [line, ...twins];
            const isRight = all.some((one) => one.who === who || one.also.includes(who ?? -1));
            if (who === undefined) {
              if (line.who >= 0) total.unnamed++;
            } else if (isRight) total.right++;
            else {
              total.wrong++;
              const events = process.env.SESSARC_BLAME_SHOW === "2" ? `\n${story.join("\n")}\n` : "";
              misses.push(
                `${seed} ${path}:${i + 1} ${rows?.[i]?.evidence} of ${line.who}, not ${who}: ${line.text} (${subjects[births[i] ?? -1]}, born ${subjects[line.born ?? -1]})${events}`,
              );
            }
          }
        }
        await t.close();
      }
      if (process.env.SESSARC_BLAME_SHOW) console.log(total, misses.join("\n"));
      expect(misses).toEqual([]);
      expect(total.right).toBeGreaterThan(WORLDS * 5);
      expect(total.right / (total.right + total.unnamed)).toBeGreaterThan(0.8);
    },
    WORLDS * 20_000,
  );
});
