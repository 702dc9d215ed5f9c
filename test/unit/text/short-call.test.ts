import { expect, test } from "vitest";
import { shortCall, shortRule, shortSummary } from "../../../src/text/short-call.ts";

const CWD = "/home/me/project";

test.each([
  ["Edit(/home/me/project/src/a.ts)", 80, "Edit(src/a.ts)"],
  ["asks: Write(/home/me/project/src/a.ts)", 80, "asks: Write(src/a.ts)"],
  ["stuck? nothing for 3 min: Edit(/home/me/project/a.ts)", 80, "stuck? nothing for 3 min: Edit(a.ts)"],
  ["Edit(/home/me/project/src/one/two/three/name.ts)", 24, "Edit(…/three/name.ts)"],
  ["Edit(/etc/hosts)", 80, "Edit(/etc/hosts)"],
  ["Bash(cat /home/me/project/a)", 80, "Bash(cat /home/me/project/a)"],
  ["reads: a message", 80, "reads: a message"],
])("shortCall › shows %j in %i columns as %j", (text, width, shown) => {
  expect(shortCall(text, CWD, width).text).toBe(shown);
});

test.each([
  [`Edit(/${CWD}/src/a.ts)`, "Edit(src/a.ts)"],
  [`Edit(/${CWD}/a.ts)`, "Edit(./a.ts)"],
  [`Edit(/${CWD}/~/a)`, "Edit(./~/a)"],
  ["Edit(//etc/hosts)", "Edit(//etc/hosts)"],
  [`Bash(cat ${CWD}/a)`, `Bash(cat ${CWD}/a)`],
])("shortRule › shows %j as %j", (rule, shown) => {
  expect(shortRule(rule, CWD)).toBe(shown);
  expect([shortRule(rule, undefined), shortRule(rule, "/")]).toEqual([rule, rule]);
});

test("shortSummary › shortens the path, keeps the rest, and leaves other summaries alone", () => {
  const path = "/home/me/project/src/one/two/a.ts";
  expect(shortSummary({ summary: `${path} from line 9`, path }, CWD, 80)).toBe(
    "src/one/two/a.ts from line 9",
  );
  expect(shortSummary({ summary: path, path }, CWD, 10)).toBe("…/two/a.ts");
  expect(shortSummary({ summary: `offset in ${path}`, path }, CWD, 80)).toBe("offset in src/one/two/a.ts");
  expect(shortSummary({ summary: `offset in ${CWD}`, path: CWD }, CWD, 80)).toBe("offset in .");
  expect(shortSummary({ summary: `a long pattern in ${path}`, path }, CWD, 24)).toBe(
    "a long pattern in a.ts",
  );
  expect(shortSummary({ summary: `a long pattern in ${path}`, path }, CWD, 16)).toBe("a long pat… a.ts");
  expect(shortSummary({ summary: "a\u001b[2J\nb in a", path: "a" }, CWD, 80)).toBe("a b in a");
  expect(shortSummary({ summary: "ls", path }, CWD, 80)).toBeUndefined();
  expect(shortSummary({ summary: "ls" }, CWD, 80)).toBeUndefined();
});
