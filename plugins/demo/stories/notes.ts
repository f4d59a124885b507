/** A folder of texts, for the sessions that are not about code. */
import { ask, does, edit, file, read, run, type SampleProject, say, search, write } from "../script.ts";

export const notes: SampleProject = {
  name: "field-notes",
  folder: "field-notes",
  repository: false,
  files: {
    "2026-spring.md": file(
      "# Spring",
      "",
      "- 12 March: first chiffchaff, south hedge",
      "- 19 March: brimstone, sunny side",
      "- 2 April: swallows over the pond",
    ),
  },
  stories: [
    {
      name: "notes-index",
      tool: "opencode",
      project: "field-notes",
      model: "gpt-5.2",
      title: "An index of species",
      daysAgo: 11,
      minute: 1210,
      steps: [
        ask("Make an index.md with every species and the date it was first seen."),
        does("One file so far.", read("2026-spring.md")),
        does(
          "",
          write(
            "index.md",
            "# First seen",
            "",
            "| species | date |",
            "|---|---|",
            "| brimstone | 19 March |",
            "| chiffchaff | 12 March |",
            "| swallow | 2 April |",
          ),
        ),
        say("`index.md` lists three species in alphabetical order."),
      ],
    },
    {
      name: "notes-words",
      tool: "cursor",
      project: "field-notes",
      model: "gpt-5.2",
      daysAgo: 6,
      minute: 1250,
      steps: [
        ask("how many entries are there, and fix the typo in the swallow line if there is one"),
        does(
          "Count lines that start with a dash.",
          search(
            "^- ",
            "2026-spring.md:3:- 12 March: first chiffchaff, south hedge\n2026-spring.md:4:- 19 March: brimstone, sunny side\n2026-spring.md:5:- 2 April: swallows over the pond",
          ),
        ),
        say("Three entries, and no typo in the swallow line."),
      ],
    },
    {
      name: "notes-export",
      tool: "gemini-cli",
      project: "field-notes",
      model: "gemini-2.5-pro",
      daysAgo: 1,
      minute: 1100,
      steps: [
        ask("Übersetze die Einträge ins Deutsche und hänge sie an. 🐦"),
        does("The bird names need care: chiffchaff is Zilpzalp, brimstone is Zitronenfalter.", read("2026-spring.md")),
        does(
          "",
          edit(
            "2026-spring.md",
            "- 2 April: swallows over the pond\n",
            "- 2 April: swallows over the pond\n\n## Frühling\n\n- 12. März: erster Zilpzalp, Südhecke\n- 19. März: Zitronenfalter, Sonnenseite\n- 2. April: Schwalben über dem Teich\n",
          ),
          run("wc -l 2026-spring.md", "11 2026-spring.md"),
        ),
        say("Die drei Einträge stehen jetzt auch auf Deutsch in der Datei."),
      ],
    },
  ],
};
