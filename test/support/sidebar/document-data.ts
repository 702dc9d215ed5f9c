import type { MemberDiff } from "../../../src/sidebar/documents.ts";

/** Changes of two files: a changed and an added line in one, a removed file. */
export const DIFF: MemberDiff = {
  sharedWith: [],
  directory: "/srv/ada",
  base: "0123456789abcdef",
  files: [
    { path: "src/clock.ts", added: 2, removed: 1, status: "modified" },
    { path: "old.txt", added: 0, removed: 1, status: "deleted" },
  ],
  patch: [
    "diff --git a/src/clock.ts b/src/clock.ts",
    "index 1..2 100644",
    "--- a/src/clock.ts",
    "+++ b/src/clock.ts",
    "@@ -10,3 +10,4 @@ export",
    " function now() {",
    "-  return Date.now();",
    "+  return clock.now();",
    "+  // \x1b[2Jdiff --git a/evil b/evil",
    " }",
    "diff --git a/old.txt b/old.txt",
    "deleted file mode 100644",
    "--- a/old.txt",
    "+++ /dev/null",
    "@@ -1 +0,0 @@",
    "-gone",
    "",
  ].join("\n"),
};
