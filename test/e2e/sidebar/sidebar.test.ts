import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { processTable } from "../../../src/os/process/process-table.ts";
import { readExit, readPlace, readStatus } from "../../../src/team/records/read-records.ts";
import { claimTask } from "../../../src/team/tasks/claim-task.ts";
import { createTask, getTask } from "../../../src/team/tasks/tasks.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { ledTeam } from "../../support/team/led-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

const NO_SLOW_CHECK = fileURLToPath(new URL("../../fixtures/preload/no-slow-check.cjs", import.meta.url));

/** Two teammates, one with a task, and a lead that waits in a command until the test ends it. */
const PLAYBOOK = {
  version: 1,
  agents: {
    "team-lead": [
      {
        tools: [
          { name: "TaskCreate", input: { subject: "Paint the wall", description: "red" } },
          { name: "Agent", input: { name: "ada", prompt: "paint" } },
          { name: "Agent", input: { name: "bob", prompt: "watch" } },
          { name: "Bash", input: { command: "while [ ! -e go ]; do sleep 0.1; done" } },
        ],
      },
      { say: "The wall is red." },
    ],
    ada: [
      { tools: [{ name: "TaskUpdate", input: { taskId: "1", owner: "ada", status: "in_progress" } }] },
      { say: "painting" },
    ],
    bob: [{ say: "watching" }],
  },
};

function panes(t: PrivateTmux, format = "#{pane_id} #{pane_width} #{pane_current_command}"): string[] {
  return t.tmux("list-panes", "-t", "=work:mine", "-F", format).split("\n");
}

it("sidebar › opens beside the lead, its keys go to panes, hide and close, and run removes it", async () => {
  const t = privateTmux();
  writeFileSync(join(t.home, "wall.json"), JSON.stringify(PLAYBOOK));
  const words = [
    "run",
    "--team",
    "crew",
    "--playbook",
    "wall.json",
    "--permission-mode",
    "bypassPermissions",
    "--rm",
    "--once",
  ];
  const person = personInside(t, words);
  const terminal = await t.attach("=work:", { width: 160, height: 50 });
  const beside = await eventually("the sidebar", () => panes(t, "#{pane_id} #{pane_width} #{pane_right}")[1]);
  const [sidebar = ""] = beside.split(" ");
  expect(beside).toBe(`${sidebar} 34 159`);
  expect(t.tmux("display-message", "-p", "-t", "=work:mine", "#{pane_id}")).toBe(person.pane);
  const shown = () => t.tmux("capture-pane", "-p", "-t", sidebar);
  await eventually("both teammates and the task", () => {
    const screen = shown();
    return screen.includes("ada") && screen.includes("bob") && screen.includes("Paint the wall");
  });
  expect(terminal.screen()).toContain("Paint the wall");

  const client = () => t.tmux("list-clients", "-F", "#{window_name} #{pane_id}");
  const teams = teamsIn(t.env, t.home);
  // A member is shown before its pane is known.
  const status = await eventually("both panes", async () => {
    const now = (await teams(["status", "--json"])).json<{
      members: { name: string; paneId: string | null }[];
    }>();
    return now.members.filter(({ paneId }) => paneId !== null).length === 3 ? now : undefined;
  });
  const paneOf = (name: string) => status.members.find((member) => member.name === name)?.paneId;
  // Either teammate may join first: the lead spawns both at once.
  const toAda = [
    "g",
    ...status.members
      .slice(
        0,
        status.members.findIndex(({ name }) => name === "ada"),
      )
      .map(() => "j"),
  ];
  // The sidebar may find a pane later than status.
  const enters = (keys: readonly string[], there: string): Promise<unknown> =>
    eventually(there, () => {
      if (client() === there) return true;
      t.tmux("send-keys", "-t", sidebar, ...keys, "Enter");
      return false;
    });
  await enters(toAda, `crew ${paneOf("ada")}`);
  await enters(["g"], `mine ${person.pane}`);
  const windowOf = (name: string) =>
    t.tmux("display-message", "-p", "-t", paneOf(name) ?? "", "#{window_name} #{window_panes}");
  t.tmux("send-keys", "-t", sidebar, ...toAda, "h");
  await eventually("ada to be hidden", () => shown().includes("ada is hidden; h shows it"));
  expect([windowOf("ada"), windowOf("bob")]).toEqual(["ada 1", "crew 1"]);
  t.tmux("send-keys", "-t", sidebar, "h");
  await eventually("ada to be shown", () => shown().includes("ada is shown again"));
  expect([windowOf("ada"), client()]).toEqual(["crew 2", `mine ${person.pane}`]);
  t.tmux("send-keys", "-t", sidebar, "g", "h");
  await eventually("the refusal for the lead", () => shown().includes("has no pane now"));
  t.tmux("send-keys", "-t", sidebar, "q");
  await eventually("the sidebar's end", () => panes(t).length === 1);
  expect(panes(t, "#{pane_width}")).toEqual(["160"]);

  const { pane } = person;
  const split = await teams(["sidebar", "--split", "--json"], { env: t.inside(pane) });
  expect(split.json()).toMatchObject({ team: "crew", open: true });
  expect(panes(t)).toHaveLength(2);
  // tmux scales a window's panes in proportion: the sidebar resets its width.
  const sidebarIs = (width: number, window: number) =>
    eventually(`a sidebar of ${width} columns in ${window}`, () => {
      const [lead, own] = panes(t, "#{pane_width} #{window_width}");
      return own === `${width} ${window}` && lead === `${window - width - 1} ${window}`;
    });
  await eventually("the first frame", () =>
    t.tmux("capture-pane", "-p", "-t", panes(t)[1]?.split(" ")[0] ?? "").includes("q close"),
  );
  terminal.resize({ width: 220, height: 50 });
  await sidebarIs(34, 220);
  terminal.resize({ width: 50, height: 12 });
  await eventually("a small window", () => panes(t, "#{window_width}")[0] === "50");
  terminal.resize({ width: 160, height: 50 });
  await sidebarIs(34, 160);
  writeFileSync(join(t.home, "go"), "");
  expect(await person.code()).toBe(0);
  await person.sees("The wall is red.");
  expect(panes(t, "#{pane_width}")).toEqual(["160"]);
  await leaves(t, nothing(["work:cat"]));
});

it("stuck agents › sidebar and /status show how long a busy agent has reported nothing", async () => {
  const t = privateTmux();
  mkdirSync(t.root, { recursive: true });
  writeFileSync(join(t.root, "settings.json"), JSON.stringify({ teams: { stuckAfter: 0.1 } }));
  const waiting = { name: "Bash", input: { command: "while [ ! -e go ]; do sleep 0.1; done" } };
  const agents = {
    "team-lead": [
      { tools: [{ name: "Agent", input: { name: "ada", prompt: "wait" } }] },
      { say: "She waits." },
    ],
    ada: [{ tools: [waiting] }, { say: "It went on." }],
  };
  writeFileSync(join(t.home, "wait.json"), JSON.stringify({ version: 1, agents }));
  const run = ["run", "--once", "--playbook", "wait.json", "--permission-mode", "bypassPermissions"];
  const person = personInside(t, run);
  const sidebar = await eventually("the sidebar", () => panes(t, "#{pane_id}")[1]);
  const shown = () => t.tmux("capture-pane", "-p", "-t", sidebar);
  // The slow check shows the note at the latest: no other event occurs.
  await eventually("the note", () => /● ada.*\n +stuck\? nothing for/.test(shown()));
  person.type("/status", "Enter");
  await person.sees(/ada +running .*stuck\? nothing for \d+ (s|min): Bash/);
  writeFileSync(join(t.home, "go"), "");
  expect(await person.code()).toBe(0);
});

it("run --no-sidebar › does not split the window", async () => {
  const t = privateTmux();
  const playbook = { version: 1, agents: { "team-lead": [{ delayMs: 300, say: "That is all." }] } };
  writeFileSync(join(t.home, "short.json"), JSON.stringify(playbook));
  t.session("other");
  t.tmux("set-hook", "-g", "after-split-window", "set -g @split yes");
  const person = personInside(t, ["run", "--once", "--playbook", "short.json", "--no-sidebar"]);
  expect(await person.code()).toBe(0);
  expect(t.tmux("show-options", "-gqv", "@split")).toBe("");
  await leaves(t, nothing(["other:cat", "work:cat"]));
});

it("sidebar › unassigns the tasks of an agent killed with its launch scripts, without a slow check (S56)", async () => {
  const { ref, spawn, place: t } = await ledTeam();
  const { pane } = t.session();
  t.tmux("set-environment", "-t", "=work", "NODE_OPTIONS", `--require ${NO_SLOW_CHECK}`);
  await spawn("dev");
  await createTask(ref, { subject: "Paint the wall" });
  await claimTask(ref, "dev", "1");
  const teams = teamsIn(t.env, t.home);
  const split = await teams(["sidebar", "crew", "--split", "--json"], { env: t.inside(pane) });
  const { paneId } = split.json<{ paneId: string }>();
  const shown = (): string => t.tmux("capture-pane", "-p", "-t", paneId);
  await eventually("the task", () => shown().includes("Paint the wall"));
  const agent = readStatus(ref, "dev")?.process.pid ?? 0;
  const scripts = ancestorsOf(agent, readPlace(ref, "dev")?.panePid ?? 0);
  for (const pid of [...scripts, agent]) process.kill(pid, "SIGKILL");
  await eventually("the pending task", () => getTask(ref, "1").status === "pending");
  expect(readExit(ref, "dev")).toBeUndefined();
  await eventually("the notification", () => shown().includes("crashed"));
  t.tmux("send-keys", "-t", paneId, "q");
});

/** Lists the ancestors of a process up to `top`, topmost first. */
function ancestorsOf(pid: number, top: number): number[] {
  const parents = new Map(processTable().map((row) => [row.pid, row.ppid]));
  const above: number[] = [];
  for (let at = parents.get(pid); at !== undefined && at > 1; at = parents.get(at)) {
    above.unshift(at);
    if (at === top) return above;
  }
  throw new Error(`Process ${pid} is not a descendant of ${top}.`);
}

it("run › opens the sidebar from 100 columns, and prints its header at the remaining width", async () => {
  const t = privateTmux();
  const playbook = { version: 1, agents: { "team-lead": [{ delayMs: 600_000, say: "That was all." }] } };
  writeFileSync(join(t.home, "all.json"), JSON.stringify(playbook));
  const run = async (team: string, width: number) => {
    const words = ["run", "--team", team, "--playbook", "all.json"];
    const size = { width, height: 30 };
    const person = personInside(t, words, { session: team, size });
    await person.sees("Play the playbook");
    const panes = t.tmux("list-panes", "-t", person.pane, "-F", "#{pane_width}").split("\n").map(Number);
    const capture = (...words: string[]) => t.tmux("capture-pane", "-p", ...words, "-t", person.pane);
    // The pane may print between the two captures. A wrapped line stays wrapped.
    await eventually("unwrapped rows", () => capture() === capture("-J").replace(/ +$/gm, ""));
    return { panes, text: person.screen() };
  };
  expect(await run("wide", 100)).toMatchObject({ panes: [65, 34] });
  const narrow = await run("narrow", 99);
  expect(narrow.panes).toEqual([99]);
  expect(narrow.text).toContain("no sidebar below 100 columns; in another window: teams sidebar");
});

it("sidebar › keeps the zoom and restores the layout of its window when its team is deleted", async () => {
  const t = privateTmux();
  const { pane } = t.session("work", { width: 160, height: 40 });
  t.tmux("split-window", "-d", "-h", "-l", "40", "-t", pane, "env", "cat");
  const window = (): string =>
    t.tmux("display-message", "-p", "-t", pane, "#{window_panes} #{window_layout}");
  const before = window();
  const teams = teamsIn(t.env, t.home);
  await teams(["create", "crew"]);
  const split = await teams(["sidebar", "--split", "--json"], { env: t.inside(pane) });
  const { paneId } = split.json<{ paneId: string }>();
  await eventually("the sidebar", () => t.tmux("capture-pane", "-p", "-t", paneId).includes("q close"));
  t.tmux("resize-pane", "-Z", "-t", pane);
  expect((await teams(["delete", "crew"])).code).toBe(0);
  await eventually("the restored layout", () => window() === before);
  expect(t.tmux("display-message", "-p", "-t", pane, "#{window_zoomed_flag}")).toBe("1");
});
