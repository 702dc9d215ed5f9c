import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { teamRef } from "../../../src/team/ref.ts";
import { openRequest } from "../../../src/team/requests/requests.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { type Person, type PersonOptions, personInside } from "../../support/tmux/terminal-user.ts";

const bash = (command: string) => ({ name: "Bash", input: { command } });
const UTF8 = { LC_ALL: "C.UTF-8" };

/** Creates a team led by hand; `view` opens the view of its requests. */
async function team() {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  await teams(["create", "crew"]);
  const ref = teamRef({ root: t.root, runtime: join(t.runtime, "teams") }, "crew");
  let at = 1_718_000_000_000;
  return {
    t,
    teams,
    view: (options: PersonOptions = {}): Person =>
      personInside(t, ["approvals", "-i"], { size: { width: 60, height: 20 }, env: UTF8, ...options }),
    /** Opens a request of the lead; its answer is written to a file. */
    ask: (id: string, kind: "plan" | "permission" | "question", summary: string, payload: object = {}) => {
      at += 1;
      openRequest(ref, { id, kind, from: "team-lead", summary, payload: { ...payload }, at });
    },
    open: async () =>
      (await teams(["approvals", "--json"])).json<{ approvals: { id: string }[] }>().approvals,
    isAnswered: (id: string) => existsSync(ref.paths.request(id).answer),
  };
}

/** Presses a key until it has an effect: a key pressed just after a request appears does not answer it. */
async function answers(person: Person, key: string, isDone: () => boolean | Promise<boolean>): Promise<void> {
  person.type(key);
  await eventually(`an answer by ${key}`, async () => {
    if (await isDone()) return true;
    if (person.screen().includes("just appeared")) person.type(key);
    return false;
  });
}

/** The rows on the screen of a full-screen program. */
function rowsOf(person: Person, t: ReturnType<typeof privateTmux>): string[] {
  return t.tmux("capture-pane", "-p", "-t", person.pane).split("\n");
}

describe("approvals -i", () => {
  it("shows the requests of all teams if none is selected, including new ones, and answers each in its team", async () => {
    const { t, teams, view, ask, isAnswered } = await team();
    await teams(["create", "second"]);
    const second = teamRef({ root: t.root, runtime: join(t.runtime, "teams") }, "second");
    ask("ask-crew", "permission", "from the first");
    const person = view();
    await person.sees(/permission of team-lead +crew/);
    const later = { kind: "permission", from: "team-lead", summary: "from the second", payload: {} } as const;
    openRequest(second, { ...later, id: "ask-second", at: 1_718_000_000_500 });
    await person.sees("1/2");
    await answers(person, "y", () => isAnswered("ask-crew"));
    await person.sees(/permission of team-lead +second/);
    await answers(person, "n", () => existsSync(second.paths.request("ask-second").answer));
    await person.sees("Nothing is waiting for you.");
    await person.sees("crew, second");
    person.type("q");
    expect(await person.code()).toBe(0);
  });

  it("answers the shown request if another team has a newer one with the same id, even after that team's end", async () => {
    const { t, teams, view, ask, isAnswered } = await team();
    await teams(["create", "second"]);
    const second = teamRef({ root: t.root, runtime: join(t.runtime, "teams") }, "second");
    ask("same", "permission", "from the first");
    const person = view();
    await person.sees(/permission of team-lead +crew[\s\S]*from the first/);
    const later = { kind: "permission", from: "team-lead", summary: "from the second", payload: {} } as const;
    openRequest(second, { ...later, id: "same", at: 1_718_000_000_500 });
    await person.sees("1/2");
    expect(person.screen()).toMatch(/team-lead +crew[\s\S]*from the first/);
    await answers(person, "y", () => isAnswered("same"));
    expect(existsSync(second.paths.request("same").answer)).toBe(false);
    await person.sees(/permission of team-lead +second[\s\S]*from the second/);
    expect((await teams(["delete", "second", "--force"])).code).toBe(0);
    await person.sees("Already answered, or withdrawn.");
    ask("next", "permission", "a further one");
    // Before the view lists the request, Tab selects nothing.
    await person.sees("Tab next");
    person.type("Tab");
    await person.sees("a further one");
    person.type("q");
    expect(await person.code()).toBe(0);
  });

  it("answers one request after the other by a key, with a note", async () => {
    const { t, teams, view } = await team();
    const turns = [{ tools: [bash("touch first")] }, { tools: [bash("touch second")] }, { say: "Done." }];
    writeFileSync(join(t.home, "ask.json"), JSON.stringify({ version: 1, agents: { dev: turns } }));
    const spawn = ["spawn", "dev", "--prompt", "go", "--model", "scripted:ask.json"];
    expect((await teams([...spawn, "--teammate-mode", "process"])).code).toBe(0);
    const person = view();
    await person.sees(/permission of dev[\s\S]*Bash\(touch first\)/);
    await answers(person, "y", () => existsSync(join(t.home, "first")));
    await person.sees(/Bash\(touch second\)/);
    person.type("m");
    await person.sees("note ›");
    person.type("-l", "use the first one");
    person.type("Enter");
    await person.sees("note: use the first one");
    await answers(person, "n", () => person.screen().includes("Nothing is waiting for you."));
    const inbox = await teams(["inbox", "dev", "--all", "--json"]);
    expect(inbox.out).toContain("use the first one");
    expect(existsSync(join(t.home, "second"))).toBe(false);
    person.type("q");
    expect(await person.code()).toBe(0);
    await teams(["kill", "crew", "--force", "--team", "crew"]);
  });

  it("does not approve a request until all of it was on the screen, at 40×10 without UTF-8 or colours", async () => {
    const { t, view, ask, isAnswered } = await team();
    const planContent = Array.from({ length: 40 }, (_, i) => `Step ${i + 1} – é`).join("\n");
    ask("plan-1-abc", "plan", "A plan", { planContent, planFilePath: "/plans/a.md" });
    const person = view({
      size: { width: 40, height: 10 },
      env: { LC_ALL: "C", NO_COLOR: "1" },
    });
    await person.sees(/y show \d+ more rows/);
    const first = rowsOf(person, t);
    expect(first).toHaveLength(10);
    expect(first.join("\n")).toMatch(/^[\x20-\x7e\n]*$/);
    expect(first.every((row) => row.length <= 40)).toBe(true);
    expect(t.tmux("capture-pane", "-p", "-e", "-t", person.pane)).not.toMatch(/\x1b\[3[0-9]/);
    expect(first.join("\n")).not.toContain("Step 40");
    await answers(person, "y", () => person.screen().includes("Part of the request is not shown yet."));
    expect(isAnswered("plan-1-abc")).toBe(false);
    person.type("G");
    person.type("g");
    await person.sees("A plan");
    expect(rowsOf(person, t).join("\n")).toMatch(/y show \d+ more/);
    await eventually("the last row", () => {
      person.type("Space");
      return rowsOf(person, t).join("\n").includes("y yes");
    });
    await person.sees(/Step 40 \\u2013 \\u00e9/);
    await answers(person, "y", () => isAnswered("plan-1-abc"));
  });

  it("keeps a request that another process answers on the screen, and selects others by Tab", async () => {
    const { teams, view, ask, open } = await team();
    ask("question-1-abc", "question", "Which port?", { question: "Which port?", choices: ["80", "8080"] });
    ask("question-2-abc", "question", "Which host?", { question: "Which host?" });
    const person = view();
    await person.sees(/1\/2 {2}question of team-lead[\s\S]*Which port\?[\s\S]*2 {2}8080/);
    person.type("Tab");
    await person.sees(/2\/2[\s\S]*Which host\?/);
    await teams(["approve", "question-2-abc", "--note", "here"]);
    await person.sees("Already");
    expect(person.screen()).toContain("Which host?");
    person.type("y");
    person.type("Tab");
    await person.sees(/1\/1[\s\S]*Which port\?/);
    await answers(person, "2", async () => (await open()).length === 0);
    const inbox = await teams(["inbox", "team-lead", "--all", "--json"]);
    expect(inbox.out).toContain("Answer to your question question-1-abc: 8080");
    expect(inbox.out).toContain("Answer to your question question-2-abc: here");
    ask("question-3-abc", "question", "Which user?", { question: "Which user?" });
    await person.sees("Which user?");
    person.type("m");
    await person.sees("answer ›");
    person.type("-l", "nobody");
    await answers(person, "Enter", async () => (await open()).length === 0);
    expect((await teams(["inbox", "team-lead", "--all", "--json"])).out).toContain("question-3-abc: nobody");
  });

  it("shows a diff, adds the rule on the key a, and ignores pasted keys", async () => {
    const { t, teams, view } = await team();
    writeFileSync(join(t.home, "clock.ts"), "const a = 1;\nconst b = 2;\n");
    const edit = (old_string: string, new_string: string) => ({
      name: "Edit",
      input: { file_path: join(t.home, "clock.ts"), old_string, new_string },
    });
    const turns = [
      { tools: [{ name: "Read", input: { file_path: join(t.home, "clock.ts") } }] },
      { tools: [edit("a = 1", "a = 3")] },
      { tools: [edit("b = 2", "b = 4")] },
      { say: "Done." },
    ];
    writeFileSync(join(t.home, "ask.json"), JSON.stringify({ version: 1, agents: { dev: turns } }));
    const spawn = ["spawn", "dev", "--prompt", "go", "--model", "scripted:ask.json"];
    expect((await teams([...spawn, "--teammate-mode", "process"])).code).toBe(0);
    const person = view();
    await person.sees(/- const a = 1;\s+\d? ?\+ const a = 3;/);
    t.tmux("set-buffer", "q");
    t.tmux("paste-buffer", "-p", "-t", person.pane);
    person.type("m");
    await person.sees("note ›");
    person.type("Escape");
    await person.sees("y yes");
    await answers(person, "a", () => person.screen().includes("Nothing is waiting for you."));
    await eventually("both edits", async () => (await teams(["peek", "dev"])).out.includes("Done."));
    await teams(["kill", "crew", "--force", "--team", "crew"]);
  });

  it("works in a tmux popup", async () => {
    const { t, ask, isAnswered } = await team();
    const [program, script] = [process.execPath, join(import.meta.dirname, "../../../dist/teams.cjs")];
    ask("question-1-abc", "question", "Go on?", { question: "Go on?" });
    t.session();
    const terminal = await t.attach("work", { width: 80, height: 24 });
    const argv = ["display-popup", "-E", "-w", "44", "-h", "12", `${program} ${script} approvals -i`];
    t.tmux(
      "run-shell",
      "-b",
      `tmux -L ${t.env.TEAMS_TMUX_SOCKET} ${argv.map((word) => `'${word}'`).join(" ")}`,
    );
    await eventually("the popup", () => terminal.screen().includes("Go on?"));
    await eventually("the answer", () => {
      terminal.type("y");
      return isAnswered("question-1-abc");
    });
    await eventually("the empty view", () => terminal.screen().includes("Nothing is waiting for you."));
    terminal.type("q");
    await eventually("the popup's end", () => !terminal.screen().includes("Nothing is waiting for you."));
  });

  it("refuses to start without a terminal", async () => {
    const { teams } = await team();
    const refused = await teams(["approvals", "-i"]);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("needs a terminal")]);
  });
});
