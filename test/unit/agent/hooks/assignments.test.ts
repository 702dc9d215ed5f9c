import { describe, expect, test } from "vitest";
import { readAssignments } from "../../../../src/agent/hooks/assignments.ts";
import { commandVariables } from "../../../../src/agent/hooks/session-variables.ts";

const ENV = { HOME: "/home/ada", PATH: "/bin", OLD: "old" };
const valuesIn = (text: string): Record<string, string | undefined> => {
  const all = readAssignments(text).statements.flatMap(({ assignments }) => assignments);
  const { env } = commandVariables(ENV, all);
  return Object.fromEntries(all.map(({ name }) => [name, env[name]]));
};

describe("readAssignments", () => {
  test.each([
    ["export NODE_ENV=production", { NODE_ENV: "production" }],
    ["NODE_ENV=production", { NODE_ENV: "production" }],
    [`export A=1 B='x y' C="$OLD-\${A}"`, { A: "1", B: "x y", C: "old-1" }],
    ['declare -x A="a b"\ndeclare -x OLDPWD', { A: "a b" }],
    ["typeset -gx A=1", { A: "1" }],
    ["export A=$'a\\nb'", { A: "a\nb" }],
    ["export A='a\nb'", { A: "a\nb" }],
    ['export PATH="$PATH:./node_modules/.bin"', { PATH: "/bin:./node_modules/.bin" }],
    ["export A=~/bin B='~/bin' C=~", { A: "/home/ada/bin", B: "~/bin", C: "/home/ada" }],
    ["export A=*.ts", { A: "*.ts" }],
    ["export OLD+=-er", { OLD: "old-er" }],
    ["# a comment\n\nexport A=1; export A=2", { A: "2" }],
    ["export A=", { A: "" }],
    ["export A=$NONE", { A: "" }],
  ])("reads %j", (text, values) => {
    expect(readAssignments(text).others).toEqual([]);
    expect(valuesIn(text)).toEqual(values);
  });

  test.each([
    "export A=$(touch ran)",
    "export A=`touch ran`",
    'export A="$(touch ran)"',
    `export A=\${B:-$(touch ran)}`,
    "export A=$((1 + 1))",
    "export A=<(touch ran)",
    "export A=(1 2)",
    "export A[0]=1",
    "export A={a,b}",
    "export A=1 && touch ran",
    "export A=1 | cat",
    "export A=1 &",
    "export A=1 > ran",
    "A=1 touch ran",
    "source ~/.profile",
    "export -f run",
    "export 'A'=1; (touch ran)",
    "declare A=1",
    "if true; then export A=1; fi",
    "run() { touch ran; }",
    "export $OLD",
  ])("runs nothing of %j", (text) => {
    const { statements, others } = readAssignments(text);
    expect(statements.flatMap(({ assignments }) => assignments)).toEqual([]);
    expect(others.length).toBeGreaterThan(0);
  });

  test("leaves out only the line with a syntax error", () => {
    const { statements, others } = readAssignments("export A=1\nexport B='x\nexport C=3");
    expect(statements.map(({ text }) => text)).toEqual(["export A=1", "export C=3"]);
    expect(others).toEqual(["export B='x"]);
  });

  test("survives a text that is nested too deeply", () => {
    expect(readAssignments(`export A=${"$(".repeat(50_000)}`).statements).toEqual([]);
  });
});

test("commandVariables › sets PATH again after a snapshot, without a command in it", () => {
  const text = `export X="a'b"\nexport PATH="$X:$PATH:/o'x"`;
  const all = readAssignments(text).statements.flatMap(({ assignments }) => assignments);
  expect(commandVariables(ENV, all)).toEqual({
    env: { ...ENV, X: "a'b", PATH: "a'b:/bin:/o'x" },
    afterSnapshot: `PATH='a'\\''b'':'"$PATH"':/o'\\''x'; `,
  });
});
