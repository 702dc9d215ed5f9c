import { expect, test } from "vitest";
import { pathsMatch } from "../../../../src/agent/permissions/path-rules.ts";

test("pathsMatch › matches for deny rules, but not for allow rules, if a pattern is too long for the matcher", () => {
  const subject = { realPaths: ["/w/a"], cwd: "/w", home: undefined };
  for (const pattern of ["é".repeat(40_000), "a".repeat(70_000)]) {
    expect(pathsMatch(pattern, ["/w/a"], subject, "any")).toBe(true);
    expect(pathsMatch(pattern, ["/w/a"], subject, "every")).toBe(false);
  }
});
