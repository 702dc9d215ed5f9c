import { expect, test } from "vitest";
import type { FileDiff } from "../../../src/git/diff.ts";
import { diffText } from "../../../src/terminal/diff-text.ts";
import { safeStyler } from "../../../src/terminal/output.ts";

const WIDE = { stat: false, colors: false, columns: 80 };

/** Returns the changes of each file, as a terminal shows them. */
function shown(files: readonly FileDiff[], patch: readonly string[]): readonly string[] {
  const diff = { agent: "ada", sharedWith: [], directory: "/srv/ada", base: "0123456789abcdef", files };
  const text = diffText({ ...diff, patch: `${patch.join("\n")}\n` }, { styleText: safeStyler(false) }, WIDE);
  return text.split("\n\n").slice(1);
}

const NEXT = ["diff --git a/z b/z", "--- a/z", "+++ b/z", "@@ -1 +1,2 @@", " two", "+three"];
const Z: FileDiff = { path: "z", added: 1, removed: 0, status: "modified" };

test("diffText › shows each change below the name of its file if a file became a link", () => {
  const removed = ["deleted file mode 100644", "--- a/a", "+++ /dev/null", "@@ -1 +0,0 @@", "-one"];
  const added = ["new file mode 120000", "--- /dev/null", "+++ b/a", "@@ -0,0 +1 @@", "+z"];
  const first = "diff --git a/a b/a";
  const link: FileDiff = { path: "a", added: 1, removed: 1, status: "retyped" };
  expect(shown([link, Z], [first, ...removed, first, ...added, ...NEXT])).toEqual([
    "T a\nnew file mode 120000\n1 - one\n⋮\n1 + z",
    "M z\n1   two\n2 + three",
  ]);
});

test("diffText › shows no part of a changed line as the first line of a file", () => {
  const evil = "+one\rdiff --git a/safe b/safe";
  const patch = ["diff --git a/a b/a", "--- a/a", "+++ b/a", "@@ -0,0 +1 @@", evil, ...NEXT];
  expect(shown([{ path: "a", added: 1, removed: 0, status: "modified" }, Z], patch)).toEqual([
    "M a\n1 + one\\u000ddiff --git a/safe b/safe",
    "M z\n1   two\n2 + three",
  ]);
});
