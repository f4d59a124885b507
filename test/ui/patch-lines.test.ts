/** What the lines of a diff are, without a browser. */
import { expect, it } from "vitest";
import { patchLines } from "../../ui/components/base/patch-lines.ts";

const kinds = (text: string) => patchLines(text).map((line) => `${line.kind} ${line.text}`);

it("the head of a second file is no removed and added line, and a removed line of dashes is no head", () => {
  const files = ["--- a/one", "+++ b/one", "@@ -1,2 +1,1 @@", " same", "--- sql comment", "+++ c", " end"];
  const more = ["--- a/two", "+++ /dev/null", "@@ -1 +0,0 @@", "-gone", "Binary files a/x and b/x differ"];
  expect(kinds([...files, ...more].join("\n"))).toEqual([
    ...["head --- a/one", "head +++ b/one", "head @@ -1,2 +1,1 @@", "same  same"],
    ...["del --- sql comment", "add +++ c", "same  end"],
    ...[
      "head --- a/two",
      "head +++ /dev/null",
      "head @@ -1 +0,0 @@",
      "del -gone",
      "head Binary files a/x and b/x differ",
    ],
  ]);
});
