import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { bashReply, readBashLine, unquoted } from "../../../../src/cli/completion/shell-words.ts";

const BREAKS = " \t\n\"'@><=;|&(:";

describe("readBashLine", () => {
  it.each([
    ["teams send my\\ ag", { words: ["teams", "send"], last: { value: "my ag", kept: "", quote: "" } }],
    ["teams send 'my ag", { words: ["teams", "send"], last: { value: "my ag", kept: "", quote: "'" } }],
    ['teams send "a\\$b', { words: ["teams", "send"], last: { value: "a$b", kept: "", quote: '"' } }],
    [
      "teams ls --team=re",
      { words: ["teams", "ls"], last: { value: "--team=re", kept: "--team=", quote: "" } },
    ],
    ["teams send ada@re", { words: ["teams", "send"], last: { value: "ada@re", kept: "ada", quote: "" } }],
    ["teams send '' ", { words: ["teams", "send", ""], last: { value: "", kept: "", quote: "" } }],
    ["teams $(x", { words: ["teams"], last: { value: "$(x", kept: "$", quote: "" } }],
  ])("splits %j as bash does", (line, expected) => {
    const { words, last } = readBashLine(line, BREAKS);
    expect({ words, last }).toMatchObject({
      words: expected.words,
      last: { value: expected.last.value, quote: expected.last.quote },
    });
    if (!line.includes("$(")) expect(last.kept).toBe(expected.last.kept);
  });
});

describe("bashReply", () => {
  const NAMES = ["$(touch x)", "`x`", "it's;x", "a & b", '"q"', "*?[a]{b,c}~#!", "Zoë 日本", "\\"];
  it.each(NAMES.flatMap((name) => ["", "'", '"'].map((quote) => [name, quote] as const)))(
    "writes %j after %j so that bash reads the same text",
    (name, quote) => {
      const { last } = readBashLine(`teams send ${quote}`, BREAKS);
      const reply = bashReply(name, last);
      if (reply === undefined) return expect([quote, name.includes("!")]).toEqual(['"', true]);
      const script = `printf %s ${quote}${reply}${quote}`;
      expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe(name);
    },
  );

  it("omits a candidate that does not continue the word", () => {
    expect(bashReply("ben", readBashLine("teams send a", BREAKS).last)).toBeUndefined();
  });
});

it("unquoted › drops an open quote", () => {
  expect(unquoted("'my ag")).toBe("my ag");
});
