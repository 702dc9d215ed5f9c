import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Task } from "../../../src/schema/task.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { openRequest } from "../../../src/team/requests/requests.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";

async function team(): Promise<Cli> {
  const teams = cliIn();
  await teams(["create", "review"]);
  const ref = teamRef({ root: teams.root, runtime: teams.directory }, "review");
  await addMembers(ref, [
    { name: "dev", cwd: teams.directory },
    { name: "writer", cwd: teams.directory },
  ]);
  return teams;
}

async function taskOf(teams: Cli, words: readonly string[]): Promise<Task> {
  const ended = await teams(["task", ...words, "--json"]);
  expect(ended).toMatchObject({ code: 0, err: "" });
  return ended.json<{ task: Task }>().task;
}

describe("teams task", () => {
  it("--help lists its commands, and no option that it does not take", async () => {
    const teams = await team();
    const { out } = await teams(["task", "--help"]);
    expect(out).toContain("task done <id>");
    expect(out).not.toContain("--version");
    expect((await teams(["--help"])).out).toContain("-V, --version");
  });

  it("list and graph suggest a command when there are no tasks", async () => {
    const teams = await team();
    expect((await teams(["task", "list"])).out).toContain("No tasks yet. Try: teams task add");
    expect((await teams(["task", "graph"])).out).toContain("No tasks yet.");
    expect((await teams(["task", "list", "--json"])).json()).toEqual({ tasks: [] });
  });

  it("add and update keep metadata; an empty value removes its key", async () => {
    const teams = await team();
    const facts = ["--metadata", "ticket=42", "--metadata", "url=a=b"];
    expect(await taskOf(teams, ["add", "Fix it", ...facts])).toMatchObject({
      metadata: { ticket: "42", url: "a=b" },
    });
    const changed = ["--metadata", "ticket=", "--metadata", "area=api"];
    expect((await taskOf(teams, ["update", "1", ...changed])).metadata).toEqual({ url: "a=b", area: "api" });
    const status = (await teams(["status", "--json"])).json<{ tasks: { list: readonly Task[] } }>();
    expect(status.tasks.list[0]?.metadata).toEqual({ url: "a=b", area: "api" });
    for (const wrong of ["novalue", "=x", "_lease=x"]) {
      const refused = await teams(["task", "add", "x", "--metadata", wrong, "--json"]);
      expect(refused.error()).toMatchObject({ code: "INVALID_INPUT" });
    }
    expect((await teams(["task", "list", "--json"])).json<{ tasks: unknown[] }>().tasks).toHaveLength(1);
  });

  it("update refuses an empty subject, as add does", async () => {
    const teams = await team();
    await taskOf(teams, ["add", "Fix it"]);
    for (const subject of ["", " "]) {
      const refused = await teams(["task", "update", "1", "--subject", subject, "--json"]);
      expect([refused.code, refused.error().code]).toEqual([2, "INVALID_INPUT"]);
    }
    expect(await taskOf(teams, ["show", "1"])).toMatchObject({ subject: "Fix it" });
  });

  it("add and update set what lists show while a task is in progress; an empty value removes it", async () => {
    const teams = await team();
    await taskOf(teams, ["add", "Write the report", "--active-form", "Writing the report"]);
    await taskOf(teams, ["update", "1", "--status", "in_progress", "--owner", "writer"]);
    expect((await teams(["status"])).out).toContain("Writing the report");
    expect(await taskOf(teams, ["update", "1", "--active-form", "Writing"])).toMatchObject({
      activeForm: "Writing",
    });
    expect(await taskOf(teams, ["update", "1", "--active-form", ""])).not.toHaveProperty("activeForm");
  });

  it("dep --remove removes a dependency from both files, and notifies the owner once the task is free", async () => {
    const teams = await team();
    for (const subject of ["one", "two"]) await taskOf(teams, ["add", subject]);
    await taskOf(teams, ["add", "three", "--blocked-by", "1,2", "--owner", "writer"]);
    const notices = async (): Promise<number> =>
      (await teams(["inbox", "writer", "--json"])).out.split("isFree").length - 1;
    expect(await taskOf(teams, ["dep", "3", "1", "--remove"])).toMatchObject({ blockedBy: ["2"] });
    expect(await taskOf(teams, ["show", "1"])).toMatchObject({ blocks: [] });
    expect(await notices()).toBe(0);
    expect((await teams(["task", "dep", "3", "2", "--remove"])).out).toContain(
      "Task #3 no longer waits for #2.",
    );
    expect(await notices()).toBe(1);
    const refused = await teams(["task", "dep", "3", "2", "--remove", "--json"]);
    expect(refused.error()).toMatchObject({
      code: "INVALID_INPUT",
      message: "Task #3 does not wait for #2; nothing was changed.",
    });
  });

  it("update --no-owner unassigns a task", async () => {
    const teams = await team();
    await taskOf(teams, ["add", "Fix it", "--owner", "dev"]);
    expect(await taskOf(teams, ["update", "1", "--no-owner"])).not.toHaveProperty("owner");
    const both = await teams(["task", "update", "1", "--owner", "dev", "--no-owner", "--json"]);
    expect(both.error().message).toContain("accepts --owner or --no-owner, not both");
  });

  it("add, show, update, done and rm take a task through its life", async () => {
    const teams = await team();
    expect(await taskOf(teams, ["add", "Find", "every", "TODO", "-d", "in src"])).toMatchObject({
      id: "1",
      subject: "Find every TODO",
      description: "in src",
      status: "pending",
    });
    expect(await taskOf(teams, ["update", "#1", "--owner", "dev", "--subject", "Find FIXMEs"])).toMatchObject(
      {
        owner: "dev",
        subject: "Find FIXMEs",
      },
    );
    expect((await teams(["task", "show", "1"])).out).toMatch(
      /#1 Find FIXMEs\nstate: +pending\nowner: +dev\n/,
    );
    expect(await taskOf(teams, ["done", "1", "--as", "dev"])).toMatchObject({ status: "completed" });
    const gone = await teams(["task", "rm", "1", "--json"]);
    expect(gone.json()).toEqual({ id: "1", deleted: true });
    expect((await teams(["task", "show", "1", "--json"])).error().code).toBe("TASK_NOT_FOUND");
  });

  it("dep blocks tasks, shows in list and graph, and refuses a cycle (S58)", async () => {
    const teams = await team();
    await taskOf(teams, ["add", "first"]);
    await taskOf(teams, ["add", "second", "--blocked-by", "1"]);
    await taskOf(teams, ["add", "third"]);
    expect(await taskOf(teams, ["dep", "3", "#2"])).toMatchObject({ blockedBy: ["2"] });
    const circle = await teams(["task", "dep", "1", "3", "--json"]);
    expect(circle.code).toBe(4);
    expect(circle.error().code).toBe("CYCLE");
    const list = (await teams(["task", "list"])).out;
    expect(list).toMatch(/#1 +pending +first\n/);
    expect(list).toMatch(/#2 +blocked +#1 +second\n/);
    expect((await teams(["task", "graph"])).out).toBe(
      "#1 first [pending]\n  #2 second [blocked]\n    #3 third [blocked]\n",
    );
    expect((await teams(["task", "show", "2"])).out).toMatch(/^state: +blocked$/m);
    expect((await teams(["task", "graph", "--dot"])).out).toContain('"2" [label="#2 second"];');
    expect((await teams(["task", "graph", "--json"])).json()).toMatchObject({
      edges: [
        { from: "1", to: "2" },
        { from: "2", to: "3" },
      ],
    });
  });

  it("graph --dot quotes ids and labels, and contains no terminal control characters", async () => {
    const teams = await team();
    await taskOf(teams, ["add", 'say \u001b[31m"red"\u009b2J end']);
    expect((await teams(["task", "graph", "--dot"])).out).toContain('"1" [label="#1 say \\"red\\" end"];');
    const other = { id: "2", subject: "x", status: "pending", blocks: [] };
    const blockedBy = ['1 -> 1; x [label="\u009b2J\u001b]0;t\u0007"]; "'];
    writeFileSync(join(teams.root, "tasks", "review", "2.json"), JSON.stringify({ ...other, blockedBy }));
    const { out } = await teams(["task", "graph", "--dot"]);
    expect(out).toMatch(/^ {2}"(?:[^"\\]|\\.)*" -> "2";$/m);
    expect(out).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it("graph prints a shared task's subtree once, and survives a cycle made by another program", async () => {
    const teams = await team();
    for (const [subject, after] of [
      ["top", ""],
      ["left", "1"],
      ["right", "1"],
      ["join", "2,3"],
      ["end", "4"],
    ] as const) {
      await taskOf(teams, ["add", subject, ...(after === "" ? [] : ["--blocked-by", after])]);
    }
    expect((await teams(["task", "graph"])).out.split("\n").map((row) => row.trim())).toEqual([
      ...["#1 top [pending]", "#2 left [blocked]", "#4 join [blocked]", "#5 end [blocked]"],
      ...["#3 right [blocked]", "#4 join [blocked] (above)", ""],
    ]);
    const circle = (id: string, blockedBy: string): string =>
      JSON.stringify({ id, subject: `c${id}`, status: "pending", blocks: [], blockedBy: [blockedBy] });
    writeFileSync(join(teams.root, "tasks", "review", "6.json"), circle("6", "7"));
    writeFileSync(join(teams.root, "tasks", "review", "7.json"), circle("7", "6"));
    expect((await teams(["task", "graph"])).out).toMatch(/#6 c6 [^\n]*\n +#7 c7/);
  });

  it("claim reports why it was refused, as a conflict (S54)", async () => {
    const teams = await team();
    await taskOf(teams, ["add", "first"]);
    await taskOf(teams, ["add", "second", "--blocked-by", "1"]);
    expect(await taskOf(teams, ["claim", "--as", "dev"])).toMatchObject({ id: "1", owner: "dev" });
    const reasonOf = async (...words: string[]): Promise<unknown> => {
      const ended = await teams(["task", "claim", ...words, "--json"]);
      expect(ended.code).toBe(4);
      return ended.error().code;
    };
    expect(await reasonOf("1", "--as", "writer")).toBe("TASK_CLAIMED");
    expect(await reasonOf("2", "--as", "writer")).toBe("TASK_BLOCKED");
    await taskOf(teams, ["done", "1", "--as", "dev"]);
    expect(await reasonOf("1", "--as", "writer")).toBe("TASK_RESOLVED");
  });

  it("list filters by state and owner", async () => {
    const teams = await team();
    await taskOf(teams, ["add", "first", "--owner", "dev"]);
    await taskOf(teams, ["add", "second"]);
    const idsOf = async (...words: string[]): Promise<readonly string[]> =>
      (await teams(["task", "list", "--json", ...words])).json<{ tasks: Task[] }>().tasks.map(({ id }) => id);
    expect(await idsOf("--owner", "dev")).toEqual(["1"]);
    expect(await idsOf("--status", "pending")).toEqual(["1", "2"]);
    expect(await idsOf("--status", "completed")).toEqual([]);
    expect((await teams(["task", "list", "--status", "done"])).code).toBe(2);
    expect((await teams(["task", "list", "--owner", "nobody"])).code).toBe(3);
  });

  it("an invalid task number is a usage error, and an unknown one is not found", async () => {
    const teams = await team();
    for (const word of ["x", "0", "../1", "1e3"]) {
      expect((await teams(["task", "show", word])).code).toBe(2);
    }
    expect((await teams(["task", "done", "7"])).code).toBe(3);
    expect((await teams(["task", "update", "7", "--json"])).error().hint).toContain("Usage:");
  });

  it("list shows a hostile subject without its control characters (S74)", async () => {
    const teams = await team();
    await taskOf(teams, ["add", "\x1b[31mred\nline #(touch x)"]);
    const list = (await teams(["task", "list"])).out;
    expect(list.trimEnd().split("\n")).toHaveLength(2);
    expect(list).toContain("red line #(touch x)");
    expect(list).not.toContain("\x1b");
  });
});

describe("teams status", () => {
  it("shows members, tasks and open approvals as text, as one line and as JSON (S49)", async () => {
    const teams = await team();
    await taskOf(teams, ["add", "first", "--owner", "dev"]);
    const status = (await teams(["status", "--json"])).json<{
      members: { name: string }[];
      tasks: object;
      approvals: unknown[];
      leadAlive: unknown;
    }>();
    expect(status).toMatchObject({
      team: "review",
      leadAlive: null,
      tasks: { pending: 1, inProgress: 0, completed: 0, blocked: 0, list: [{ id: "1" }] },
      approvals: [],
    });
    expect(status.members.map(({ name }) => name)).toEqual(["team-lead", "dev", "writer"]);
    expect(Object.keys(status.members[1] ?? {}).sort()).toEqual(
      [
        ...[
          "name",
          "agentId",
          "agentType",
          "model",
          "color",
          "backend",
          "state",
          "activity",
          "metadata",
          "paneId",
          "pid",
        ],
        ...["alive", "cwd", "worktree", "taskIds", "unread", "tokens", "costUsd", "startedAt"],
        // teams did not start dev: its state comes from its inbox.
        ...["lastActivityAt", "exit", "mail", "mode", "sandbox", "budget", "stateFrom"],
      ].sort(),
    );
    const text = (await teams(["status"])).out;
    expect(text).toContain("review - led by hand, 0 of 1 tasks done");
    expect(text).toMatch(/dev +unknown/);
    expect((await teams(["status", "--line"])).out).toBe("review 2 unknown · 0/1 tasks\n");
    await teams(["create", "site"]);
    // A status bar has one row, and cannot ask for a team.
    for (const terminal of [false, true]) {
      const both = await teams(["status", "--line"], { terminal });
      expect(both).toMatchObject({ err: "", out: "review 2 unknown · 0/1 tasks | site no teammates\n" });
    }
    expect((await teams(["status", "--line", "--team", "site"])).out).toBe("site no teammates\n");
    for (const other of ["--git", "--watch"]) {
      const refused = await teams(["status", "--line", other, "--json"]);
      expect(refused.code).toBe(2);
      expect(refused.error().message).toBe(`status accepts --line or ${other}, not both.`);
    }
  });

  it("notifies a person who leads, once, of a task that another program's member completed", async () => {
    const teams = await team();
    await teams(["task", "add", "Count files", "--owner", "dev"]);
    const file = join(teams.root, "tasks", "review", "1.json");
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), status: "completed" }));
    for (const _check of ["first", "second"]) await teams(["status"]);
    const { messages } = (await teams(["inbox", "--json"])).json<{ messages: { text: string }[] }>();
    expect(messages.map(({ text }) => JSON.parse(text))).toMatchObject([
      { type: "task_completed", from: "dev", taskId: "1", taskSubject: "Count files" },
    ]);
  });

  it("--watch redraws on a change, and exits with 130 when interrupted", async () => {
    const teams = await team();
    const stop = new AbortController();
    const frames: string[] = [];
    let changed: Promise<unknown> | undefined;
    const watching = teams(["status", "--watch"], {
      signal: stop.signal,
      onOut: (text) => {
        frames.push(text);
        if (text.includes("0 of 1 tasks done")) stop.abort();
        changed ??= teams(["task", "add", "new"]);
      },
    });
    expect((await watching).code).toBe(130);
    await changed;
    expect(frames[0]).toContain("no tasks");
  });
});

describe("a task file that cannot be read", () => {
  it("is named by every command, and stops none of them (S24)", async () => {
    const teams = await team();
    await taskOf(teams, ["add", "first", "--owner", "dev"]);
    for (const subject of ["second", "third"]) await taskOf(teams, ["add", subject, "--blocked-by", "1"]);
    await taskOf(teams, ["add", "fourth", "--blocked-by", "1", "--owner", "writer"]);
    await taskOf(teams, ["add", "fifth", "--blocked-by", "3"]);
    writeFileSync(join(teams.root, "tasks", "review", "3.json"), '{"id":');

    const done = await teams(["task", "done", "1", "--as", "dev"]);
    expect(done).toMatchObject({
      code: 0,
      out: "Completed task #1.\n",
      err: expect.stringContaining("#3"),
    });
    const inboxOf = async (name: string) => (await teams(["inbox", name])).out;
    expect(await inboxOf("writer")).toContain("#4");
    expect(await inboxOf("team-lead")).toContain("#1");

    for (const words of [
      ["task", "list"],
      ["task", "graph"],
      ["status", "--line"],
    ]) {
      expect(await teams(words), words.join(" ")).toMatchObject({
        code: 0,
        err: expect.stringContaining("#3"),
      });
      expect((await teams([...words, "--json"])).json()).toMatchObject({ broken: ["3"] });
    }
    expect((await teams(["status"])).out).toContain("Task #3 cannot be read");
    await teams(["create", "site"]);
    expect((await teams(["status", "--line"])).err).toContain("Task #3@review cannot be read");
    expect((await teams(["status", "--line", "--json"])).json()).toMatchObject({ broken: ["3@review"] });
    await teams(["delete", "site", "--force"]);
    expect((await teams(["status", "--json"])).json()).toMatchObject({
      tasks: { completed: 1, broken: ["3"] },
    });
    // A task that waits for #3 stays blocked: the state of #3 is unknown.
    expect(await taskOf(teams, ["claim", "--as", "dev"])).toMatchObject({ id: "2" });
    expect((await teams(["task", "claim", "--as", "dev", "--json"])).error()).toMatchObject({
      code: "TASK_NOT_FOUND",
    });

    for (const id of ["2", "4", "5"]) await teams(["task", "done", id]);
    const waited = await teams(["wait", "--tasks"]);
    expect(waited).toMatchObject({ code: 0, err: expect.stringContaining("#3 cannot be read") });
  });
});

describe("teams approve and approvals", () => {
  it("say that nothing waits, and refuse an unknown id and a teammate", async () => {
    const teams = await team();
    expect((await teams(["approvals"])).out).toBe("Nothing is waiting for you.\n");
    const unknown = await teams(["approve", "plan-1", "--json"]);
    expect(unknown.code).toBe(3);
    expect(unknown.error().code).toBe("REQUEST_NOT_FOUND");
    const other = await teams(["reject", "plan-1", "--json"], { env: { TEAMS_AGENT: "dev@review" } });
    expect(other.error().code).toBe("NOT_LEAD");
  });

  it("refuse a permission answer from a lead agent's shell, but take the user's (S61)", async () => {
    const teams = await team();
    const ref = teamRef({ root: teams.root, runtime: teams.directory }, "review");
    const id = "perm-1-abcdefg";
    openRequest(ref, { id, kind: "permission", from: "dev", summary: "Bash(ls)", payload: {}, at: 1 });
    const model = await teams(["approve", id, "--json"], { env: { TEAMS_AGENT: "team-lead@review" } });
    expect(model.error().code).toBe("PERMISSION_DENIED");
    expect((await teams(["approvals", "--json"])).json<{ approvals: unknown[] }>().approvals).toHaveLength(1);
    expect((await teams(["approve", id])).code).toBe(0);
  });
});
