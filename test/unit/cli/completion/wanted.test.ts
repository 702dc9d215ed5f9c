import { beforeAll, describe, expect, it } from "vitest";
import { type CompletionTable, completionTable } from "../../../../src/cli/completion/table.ts";
import { wantedAt } from "../../../../src/cli/completion/wanted.ts";
import { COMMANDS } from "../../../../src/cli/program.ts";

let table: CompletionTable;
beforeAll(async () => {
  table = completionTable(
    await Promise.all(Object.values(COMMANDS).map(async (load) => (await load()).command)),
  );
});

/** Returns the completions at the end of a line: the cursor is in the last word. */
function at(line: string): ReturnType<typeof wantedAt> {
  const words = line.split(" ");
  return wantedAt(table, words.slice(0, -1), words.at(-1) ?? "");
}
const wordsAt = (line: string): readonly string[] => at(line).words.map(({ word }) => word);

describe("wantedAt", () => {
  it("returns commands and families when no command is complete", () => {
    expect(wordsAt("")).toEqual(expect.arrayContaining(["send", "task"]));
    expect(wordsAt("")).not.toContain("task add");
    expect(wordsAt("task ")).toEqual(expect.arrayContaining(["add", "claim"]));
  });

  it.each([
    ["send ", { live: "agents" }],
    ["send ada ", { words: expect.arrayContaining([expect.objectContaining({ word: "--summary" })]) }],
    ["task dep 1 ", { live: "tasks" }],
    ["task add x --owner ", { live: "agents" }],
    ["task add x --owner=a", { live: "agents", prefix: "--owner=" }],
    ["approve ", { live: "requests" }],
    ["kill ", { live: "places" }],
    ["delete ", { live: "teams" }],
    ["wait ada ben ", { live: "agents" }],
    ["import ", { path: "file" }],
    ["replay ", { live: "recordings", path: "file" }],
    ["create --rec=", { path: "directory", prefix: "--rec=" }],
    ["spawn a --rec -", { words: expect.arrayContaining([expect.objectContaining({ word: "--window" })]) }],
    ["spawn a --cwd ", { path: "directory" }],
    ["send --team review ", { live: "agents", team: "review" }],
    ["send --team=review ", { live: "agents", team: "review" }],
    ["send -- -", { live: "agents", isAfterDashes: true }],
    ["create --constructor=x", { words: [] }],
  ])("reads the completions after %j from the declarations", (line, expected) => {
    expect(at(line)).toMatchObject(expected);
  });

  it("omits an option that was given, unless it may be repeated", () => {
    expect(wordsAt("approve --note x -")).not.toContain("--note");
    expect(wordsAt("approve --rule x -")).toContain("--rule");
  });

  it("returns the choices of an option", () => {
    expect(wordsAt("spawn a --teammate-mode ")).toContain("tmux");
    expect(wordsAt("spawn a --cli ")).toContain("codex");
  });
});
