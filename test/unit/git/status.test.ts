import { describe, expect, test } from "vitest";
import { parseStatus } from "../../../src/git/status.ts";

describe("parseStatus", () => {
  test("counts the changed and untracked files in git's porcelain output", () => {
    const text = [
      "# branch.oid 1234",
      "# branch.head teams/review/ada",
      "1 .M N... 100644 100644 100644 1 1 src/a file.ts",
      "2 R. N... 100644 100644 100644 1 1 R100 new.ts",
      "? an old name that looks like an untracked file.ts",
      "u UU N... 100644 100644 100644 100644 1 2 3 conflict.ts",
      "? note\nwith a line.txt",
      "",
    ].join("\0");
    expect(parseStatus(text)).toEqual({ branch: "teams/review/ada", changed: 3, untracked: 1 });
  });

  test("returns no branch for a detached HEAD", () => {
    expect(parseStatus("# branch.oid 1234\0# branch.head (detached)\0")).toEqual({
      branch: undefined,
      changed: 0,
      untracked: 0,
    });
  });
});
