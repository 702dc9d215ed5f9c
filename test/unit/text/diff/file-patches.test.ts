import { expect, test } from "vitest";
import { filePatches } from "../../../../src/text/diff/file-patches.ts";

const FIRST = ["diff --git a/z b/z", "index 1..2 100644", "--- a/z", "+++ b/z"];
const HEADER = FIRST.slice(1);

test("filePatches › splits a patch into its files", () => {
  const hunks = ["@@ -1 +1,2 @@ one", " two", "+three"];
  const moved = ["similarity index 100%", "rename from a", "rename to b"];
  expect(filePatches([...FIRST, ...hunks, "diff --git a/a b/b", ...moved])).toEqual([
    { header: HEADER, hunks },
    { header: moved, hunks: [] },
  ]);
  expect(filePatches([""])).toEqual([]);
});

test("filePatches › returns both parts of a file that became a link as one file", () => {
  const removed = ["deleted file mode 100644", "--- a/a", "+++ /dev/null"];
  const added = ["new file mode 120000", "--- /dev/null", "+++ b/a"];
  const first = ["diff --git a/a b/a", ...removed, "@@ -1 +0,0 @@", "-one"];
  const second = ["diff --git a/a b/a", ...added, "@@ -0,0 +1 @@", "+z", "\\ No newline at end of file"];
  const [file, next, ...others] = filePatches([...first, ...second, ...FIRST, "@@ -0,0 +1 @@", "+x"]);
  expect(file?.header).toEqual([...removed, ...added]);
  expect(file?.hunks.filter((line) => !line.startsWith("@@"))).toEqual([
    "-one",
    "+z",
    "\\ No newline at end of file",
  ]);
  expect([next?.hunks, others]).toEqual([["@@ -0,0 +1 @@", "+x"], []]);
});

test("filePatches › takes no part of a changed line for the first line of a file", () => {
  const hunks = ["@@ -0,0 +1,2 @@", "+one\rdiff --git a/safe b/safe", "+diff --git a/safe b/safe"];
  expect(filePatches([...FIRST, ...hunks])).toEqual([{ header: HEADER, hunks }]);
});

test.each([
  ["leaves out", ["-a\r", "+b\r", " c\r"], ["-a", "+b", " c"]],
  [
    "leaves out",
    ["-a\r", "+b", "\\ No newline at end of file"],
    ["-a", "+b", "\\ No newline at end of file"],
  ],
  ["keeps", ["-a", "+a\r"], ["-a", "+a\r"]],
])("filePatches › %s the carriage returns of %j", (_, changed, shown) => {
  expect(filePatches([...FIRST, "@@ -1 +1 @@", ...changed])[0]?.hunks.slice(1)).toEqual(shown);
});
