import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { type Person, personInside } from "../../support/tmux/terminal-user.ts";

const ask = { name: "AskUserQuestion", input: { question: "What next?" } };
const PLACE = "All of it is in the directory from which this run was started, as you asked.";
const PLAYBOOK = {
  version: 1,
  agents: {
    "team-lead": [
      {
        say: "# Plan\n\nI **look** at `clock.ts`:\n\n- one\n- two\n",
        tools: [{ name: "Bash", input: { command: "seq 40; touch made" } }],
      },
      { say: `It is made. ${PLACE}`, tools: [ask] },
      {
        on: { contains: "write it" },
        tools: [{ name: "Write", input: { file_path: "a.md", content: "one" } }],
      },
      { on: { contains: "refused" }, say: "All is done." },
    ],
  },
};

interface Pane {
  readonly person: Person;
  readonly home: string;
  readonly root: string;
  /** Returns the visible text, without the history. */
  visible(): string;
  resize(width: number): void;
}

function personIn(width: number, height: number): Pane {
  const t = privateTmux();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const mode = ["--permission-mode", "default"];
  const words = ["run", "--once", "--playbook", "play.json", ...mode, "--no-sidebar", "look"];
  const person = personInside(t, words, { size: { width, height } });
  return {
    person,
    home: t.home,
    root: String(t.env.TEAMS_HOME),
    visible: () => t.tmux("capture-pane", "-p", "-t", person.pane),
    resize: (columns) => void t.tmux("resize-window", "-t", "=work:", "-x", `${columns}`),
  };
}

/** Returns the last rows, without trailing empty rows. */
function lastRows(person: Person, count: number): readonly string[] {
  return person.screen().trimEnd().split("\n").slice(-count);
}

it.each([
  [120, 40],
  [40, 10],
])("an agent's pane of %i×%i › shows Markdown, and one key allows a command", async (width, height) => {
  const { person, home } = personIn(width, height);
  await person.sees("• one");
  expect(person.screen()).not.toMatch(/\*\*|^- one|^# Plan/m);
  await person.sees("y yes · n no");
  expect(lastRows(person, 1)).toEqual(["›"]);
  person.type("e");
  await person.sees("From another pane: teams approve");
  expect(existsSync(join(home, "made"))).toBe(false);
  person.type("y");
  await person.sees("It is made.");
  expect(existsSync(join(home, "made"))).toBe(true);
  expect(person.screen()).toMatch(/… 34 more lines · ctrl\+o/);
  person.type("C-o");
  await person.sees(/^ {4}20$/m);
  person.type("/exit", "Enter");
  expect(await person.code()).toBe(0);
});

it("the input line › edits, recalls, completes, and keeps its place when the pane is resized", async () => {
  const { person, home, root, visible, resize } = personIn(100, 30);
  await person.sees("y yes · n no");
  person.type("y");
  await person.sees(`It is made. ${PLACE}`);
  person.type("!echo from-the-shell; touch shell", "Enter");
  await person.sees("⎿ from-the-shell");
  expect(existsSync(join(home, "shell"))).toBe(true);
  person.type("/sta");
  await person.sees("› /status      show the members");
  person.type("Tab", "Enter");
  await person.sees("no tasks");
  // Edited in the middle, with a second line, and found in the history.
  person.type("rite it", "C-a", "w", "C-e", "M-Enter", "now");
  await person.sees("› write it\n  now");
  resize(60);
  await person.sees("› write it\n  now");
  expect(person.screen().match(/› write it/g)).toHaveLength(1);
  person.type("C-c");
  await person.sees(/^›$/m);
  person.type("Up");
  await person.sees(/^› \/status\s*$/m);
  person.type("C-u");
  person.type("/nonsense", "Enter");
  await person.sees("there is no /nonsense");
  // C-l redraws the pane from the conversation: without lines of the pane alone, and with rows of the new width.
  person.type("C-l");
  const drawnAgain =
    /^It is made\. All of it is in the directory from which this\nrun was started, as you asked\.$/m;
  await eventually("the redrawn pane", () => drawnAgain.test(visible()) && !visible().includes("/nonsense"));
  person.type("write it", "Enter");
  await person.sees(/Allow this write\? a\.md[\s\S]*y yes · n no/);
  person.type("n");
  await person.sees("Write refused");
  expect(existsSync(join(home, "a.md"))).toBe(false);
  expect(await person.code()).toBe(0);
  const history = readFileSync(join(root, "teams-history.jsonl"), "utf8");
  expect(
    history
      .trim()
      .split("\n")
      .map((json) => JSON.parse(json)),
  ).toContain("write it");
});

it("a resumed run › shows the end of its conversation again", async () => {
  const t = privateTmux();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const first = personInside(t, ["run", "--playbook", "play.json", "--team", "crew", "--no-sidebar", "look"]);
  await first.sees("y yes · n no");
  first.type("y");
  await first.sees("It is made.");
  first.type("/exit", "Enter");
  expect(await first.code()).toBe(0);
  const again = personInside(t, ["run", "--resume", "--team", "crew", "--no-sidebar"], { session: "later" });
  await again.sees(/• two[\s\S]*● Bash\(seq 40; touch made\)[\s\S]*It is made\./);
  again.type("/exit", "Enter");
  expect(await again.code()).toBe(0);
});
