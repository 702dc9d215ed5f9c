import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { BUILTIN_AGENT_TYPES } from "../../src/agent/prompts/agent-types.ts";
import { type Finished, teamsIn } from "../support/processes/built-program.ts";
import { type PrivateTmux, privateTmux } from "../support/tmux/private-tmux.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The help of each command, by its name: the pages name a command five times on average, and its help never changes. */
const helps = new Map<string, Promise<Finished>>();

async function expectToExist(own: PrivateTmux, name: string, rest: string): Promise<void> {
  const help = helps.get(name) ?? teamsIn(own.env, own.home)([...name.split(" "), "--help"]);
  helps.set(name, help);
  const { code, out } = await help;
  expect({ name, code }).toEqual({ name, code: 0 });
  for (const [option] of rest.matchAll(/--[a-z-]+/g)) expect(out).toContain(option);
}

it.each([
  [0, "Done: there is nobody left."],
  [1, "Done as planned."],
])("docs/playbooks.md › example %j plays to its documented result", async (index, result) => {
  const own = privateTmux();
  const page = readFileSync(join(ROOT, "docs/playbooks.md"), "utf8");
  const [, example = ""] = [...page.matchAll(/```json\n([\s\S]*?)```/g)][index] ?? [];
  writeFileSync(join(own.home, "first.json"), example);
  const teams = teamsIn(own.env, own.home);
  const words = ["run", "--playbook", "first.json", "--permission-mode", "bypassPermissions", "--json"];
  const ended = await teams(words);
  expect(ended).toMatchObject({ code: 0, err: "" });
  expect(ended.json()).toMatchObject({ outcome: "completed", result });
  expect((await teams(["ls", "--json"])).json()).toEqual({ teams: [] });
});

it("docs/agents.md › the example type loads with the documented values", async () => {
  const own = privateTmux();
  const page = readFileSync(join(ROOT, "docs/agents.md"), "utf8");
  const example = /```markdown\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  mkdirSync(join(own.root, "agents"));
  writeFileSync(join(own.root, "agents", "scribe.md"), example);
  const teams = teamsIn(own.env, own.home);
  await teams(["create", "crew"]);
  const words = ["--agent-type", "scribe", "--model", "scripted", "--teammate-mode", "process", "--json"];
  const spawned = (await teams(["spawn", "kim", ...words])).json();
  expect(spawned).toMatchObject({ agentType: "scribe", mode: "acceptEdits", color: "pink" });
  const [, builtIn = ""] = /comes[\s\S]*?(`general-purpose`[\s\S]*?) are built in/.exec(page) ?? [];
  expect(builtIn.match(/(?<=`)[\w-]+(?=`)/g)).toEqual(BUILTIN_AGENT_TYPES.map(({ name }) => name));
});

it("README › every command and option of the tour exists", async () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const own = privateTmux();
  const called = [...readme.matchAll(/^teams ([a-z]+(?: (?:add|list|claim|done))?)([^#\n]*)/gm)];
  expect(called.length).toBeGreaterThan(10);
  for (const [, name = "", rest = ""] of called) await expectToExist(own, name, rest);
});

it("README › has at most 150 lines, and begins, like run --help, with what ends a run", async () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
  const own = privateTmux();
  const { out } = await teamsIn(own.env, own.home)(["run", "--help"]);
  for (const text of [readme, out]) {
    const start = text.split("\n").slice(0, 10).join(" ").replace(/\s+/g, " ");
    expect(start).toMatch(/On a terminal,? .*stays in conversation when the goal is reached.*-p\b.*ends/);
  }
});

it.each([
  ["docs/files.md", 6],
  ["docs/endings.md", 4],
  ["docs/permissions.md", 6],
  ["docs/agents.md", 6],
  ["docs/panes.md", 4],
  ["docs/settings.md", 3],
  ["docs/mixed-company.md", 15],
  ["docs/acp.md", 8],
  ["docs/team-files.md", 5],
  ["docs/leading-by-hand.md", 6],
  ["docs/tmux.md", 5],
  ["docs/troubleshooting.md", 8],
])("%s › every command and option that it names exists", async (file, least) => {
  const page = readFileSync(join(ROOT, file), "utf8");
  const own = privateTmux();
  const named = [...page.matchAll(/`teams ([a-z]+)([^`]*)`/g)];
  expect(named.length).toBeGreaterThanOrEqual(least);
  for (const [, name = "", rest = ""] of named) await expectToExist(own, name, rest);
});

it.each(["README.md", "CHANGELOG.md", ...pagesIn("docs")])(
  "%s › every link to a file or heading of the project has a target",
  (file) => {
    const text = (path: string): string => readFileSync(path, "utf8").replaceAll(/```[\s\S]*?```/g, "");
    for (const [, path = "", heading] of text(join(ROOT, file)).matchAll(
      /\]\((?!\w+:)([^)#\s]*)(?:#([^)]+))?\)/g,
    )) {
      const target = path === "" ? join(ROOT, file) : join(ROOT, dirname(file), path);
      expect({ path, exists: existsSync(target) }).toEqual({ path, exists: true });
      if (heading !== undefined) expect(headingsOf(text(target))).toContain(heading);
    }
  },
);

function pagesIn(directory: string): string[] {
  const names = readdirSync(join(ROOT, directory));
  return names.filter((name) => name.endsWith(".md")).map((name) => `${directory}/${name}`);
}

/** Returns the anchors of the headings of a page. */
function headingsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\d\-_ ]/gu, "")
      .replaceAll(" ", "-"),
  );
}
