import { describe, expect, test } from "vitest";
import { readAssignments } from "../../../../src/agent/hooks/assignments.ts";
import { exportLines } from "../../../../src/agent/hooks/session-variables.ts";

const read = (text: string): string => {
  const { assignments, others } = readAssignments(text);
  expect(others).toEqual([]);
  return exportLines(assignments);
};

describe("readAssignments", () => {
  test.each([
    ["export NODE_ENV=production", "export NODE_ENV='production'"],
    ["NODE_ENV=production", "export NODE_ENV='production'"],
    [`export A=1 B='x y'`, "export A='1'\nexport B='x y'"],
    [`export C="$OLD-\${A}"'z'`, `export C="\${OLD-}"'-'"\${A-}"'z'`],
    ['declare -x A="a b"\ndeclare -x OLDPWD', "export A='a b'"],
    ["typeset -gx A=1", "export A='1'"],
    ["export A=$'a\\nb'", "export A='a\nb'"],
    ["export A='a\nexport B=1'", "export A='a\nexport B=1'"],
    ["export A=a\\ b\\$c", "export A='a b$c'"],
    [`export A="it's \\"$B\\" \\\\"`, `export A='it'\\''s "'"\${B-}"'" \\'`],
    ["export PATH=~/bin:~/x:$PATH", `export PATH="\${HOME-}"'/bin:'"\${HOME-}"'/x:'"\${PATH-}"`],
    ["export B='~/bin' C=~ D=a~b", `export B='~/bin'\nexport C="\${HOME-}"\nexport D='a~b'`],
    ["export A=*.ts", "export A='*.ts'"],
    ["export OLD+=-er", `export OLD="\${OLD-}"'-er'`],
    [`export A=\${B:-}\${C-}`, `export A="\${B-}""\${C-}"`],
    ["# a comment\n\nexport A=1; export A=2", "export A='1'\nexport A='2'"],
    ["export A=", "export A="],
    ["\ufeffexport A=1\r\nexport B='2\r\n3'\r\n", "export A='1'\nexport B='2\n3'"],
  ])("reads %j", (text, lines) => {
    expect(read(text)).toBe(`${lines}\n`);
    expect(read(`${lines}\n`)).toBe(`${lines}\n`);
  });

  test.each([
    "export A=$(touch ran)",
    "export A=`touch ran`",
    'export A="$(touch ran)"',
    `export A=\${B:-$(touch ran)}`,
    `export A=\${B:=x}`,
    `export A=\${!B}`,
    `export A=["$(touch ran)"]`,
    "export A=$((1 + 1))",
    "export A=$[B[$(touch ran)]]",
    "export A=<(touch ran)",
    "export A=(1 2)",
    "export A[0]=1",
    "export A={a,b}",
    "export A=~bob/x",
    'export A=~"/x"',
    "export A=$1",
    "export A=$$",
    "export A=1\0",
    "export A=1 && touch ran",
    "export A=1 | cat",
    "export A=1 &",
    "export A=1 > ran",
    "A=1 touch ran",
    "source ~/.profile",
    "export -f run",
    "export -n A=1",
    "declare -xi A=1+1",
    "declare -xa A=1",
    "declare A=1",
    "if true; then export A=1; fi",
    "run() { touch ran; }",
    "alias export=rm",
    "export $OLD",
  ])("runs nothing of %j", (text) => {
    const { assignments, others } = readAssignments(text);
    expect(assignments).toEqual([]);
    expect(others).toHaveLength(1);
  });

  test.each([
    ["an unfinished line", "export A=1\nexport B='x\nexport C=3"],
    // Each line alone would be an assignment.
    [
      "an unfinished line after a quoted text",
      "export A=1\nexport NOTE='\nexport PATH=/evil\n' B=\"x\nexport C=3\n",
    ],
    ["an unfinished line in the line of a complete one", "export A=1\nexport C=3; export B=$(x\n"],
    ["a stray fi", "export A=1\nfi\nexport C=3"],
    ["an unfinished command", `export A=1\nif true\n${"export B=1\n".repeat(99)}`],
  ])("ignores everything from %s onwards", (_, text) => {
    const { assignments, others } = readAssignments(text);
    expect(exportLines(assignments)).toBe("export A='1'\n");
    expect(others).toEqual([text.slice("export A=1\n".length).trim()]);
  });

  test.each(["$(", "(", '"$(', "`", "{ ", "'\n", "export A={", "<(", "if ", "A='\n", "((", "\0", "~:"])(
    "survives a text of %j",
    (unit) => {
      const text = unit.repeat(50_000);
      expect(() => readAssignments(`export A=${text}`)).not.toThrow();
      expect(() => readAssignments(`export B=1\n${text}`)).not.toThrow();
    },
  );
});
