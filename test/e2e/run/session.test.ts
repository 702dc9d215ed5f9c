import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { rootTag } from "../../../src/protocol/paths.ts";
import { teamsHome } from "../../../src/team/ref.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { startTeams, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside, personOutside } from "../../support/tmux/terminal-user.ts";

const KEY = "key-0123456789abcdef";

/** Returns the arguments of a run whose lead writes its goal and its TERM into files. */
function run(t: PrivateTmux, ...more: readonly string[]): readonly string[] {
  const write = "printf %s {{input}} >goal.new; printenv TERM >term; mv goal.new goal";
  const lead = [{ tools: [{ name: "Bash", input: { command: write } }] }, { say: "Written down." }];
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents: { "team-lead": lead } }));
  const mode = ["--permission-mode", "bypassPermissions"];
  return ["run", "--team", "crew", "--playbook", "play.json", ...mode, ...more];
}

async function goalOf(t: PrivateTmux): Promise<string> {
  await eventually("the lead's file", () => existsSync(join(t.home, "goal")));
  return readFileSync(join(t.home, "goal"), "utf8");
}

/** Returns a PATH with the programs that a run needs, except tmux. */
function pathWithoutTmux(t: PrivateTmux): string {
  const bin = join(t.home, "bin");
  mkdirSync(bin);
  for (const name of ["sh", "bash", "mkfifo", "printenv", "mv"]) {
    symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(bin, name));
  }
  return bin;
}

describe("run --detach", () => {
  it("pursues a goal given on stdin", async () => {
    const t = privateTmux();
    const ended = await teamsIn(t.env, t.home)(run(t, "--detach", "-"), { stdin: "Count\nevery file.\n" });
    expect([ended.err, ended.code]).toEqual(["", 0]);
    expect(await goalOf(t)).toBe("Count\nevery file.");
  });

  it("keeps its result readable after its team and session have ended", async () => {
    const t = privateTmux();
    const waits = { name: "Bash", input: { command: "until [ -e go ]; do sleep 0.1; done" } };
    const turns = [{ tools: [waits] }, { say: `Four files. The key is ${KEY}.` }];
    writeFileSync(join(t.home, "says.json"), JSON.stringify({ version: 1, agents: { "team-lead": turns } }));
    const words = ["run", "--team", "crew", "--playbook", "says.json", "--detach", "--json", "go"];
    words.push("--permission-mode", "bypassPermissions");
    const env = { ...t.env, SOME_API_KEY: KEY };
    const { resultFile } = (await teamsIn(env, t.home)(words)).json<{ resultFile: string }>();
    // Until then the file names its writer: no reader waits for a killed process.
    const begun = JSON.parse(readFileSync(resultFile, "utf8")) as object;
    // The sidebar may exist by now.
    const [lead] = t.tmux("list-panes", "-s", "-t", "=teams-crew:", "-F", "#{pane_pid}").split("\n");
    expect(begun).toMatchObject({
      kind: "started",
      process: { pid: Number(lead), procStart: expect.any(String) },
    });
    writeFileSync(join(t.home, "go"), "");
    const report = await eventually("the result", () => {
      const read = JSON.parse(readFileSync(resultFile, "utf8")) as { kind: string };
      return read.kind === "ended" && read;
    });
    // The file is redacted (S75), and only the user can read it.
    expect(report).toMatchObject({ result: { team: "crew", result: "Four files. The key is [secret]." } });
    expect(statSync(resultFile).mode & 0o777).toBe(0o600);
    await leaves(t, nothing());
  });

  it("returns a client that watches it to the previous session at its end, and keeps the result readable", async () => {
    const t = privateTmux();
    const { pane } = t.session("mine");
    const client = await t.attach("=mine:");
    const waits = { name: "Bash", input: { command: "until [ -e go ]; do sleep 0.1; done" } };
    const turns = [{ tools: [waits] }, { say: "Four files." }];
    writeFileSync(join(t.home, "says.json"), JSON.stringify({ version: 1, agents: { "team-lead": turns } }));
    const teams = teamsIn(t.inside(pane), t.home);
    const mode = ["--permission-mode", "bypassPermissions"];
    const words = ["run", "--detach", "--team", "crew", "--playbook", "says.json", ...mode, "count"];
    expect((await teams(words)).code).toBe(0);
    t.tmux("switch-client", "-t", "=teams-crew:");
    await eventually("the lead on the client", () => client.screen().includes("Bash"));
    writeFileSync(join(t.home, "go"), "");
    const sessions = () => t.tmux("list-clients", "-F", "#{session_name}");
    await eventually("the previous session", () => sessions() === "mine");
    await leaves(t, nothing(["mine:cat"]));
    const listed = await teams(["ls", "--ended", "--json"]);
    const { teams: ended } = listed.json<{ teams: { result: string; sessionId: string }[] }>();
    expect(ended).toMatchObject([{ name: "crew", state: "deleted", result: "Four files." }]);
    const log = await teams(["logs", "--session", ended[0]?.sessionId ?? ""]);
    expect(log.out).toContain("Four files.");
  });

  it("names a working attach command when it is interrupted before the lead starts", async () => {
    const t = privateTmux();
    const { child, ended } = startTeams(run(t, "--detach", "go"), t.env, t.home);
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const lead = await eventually("the lead's process", () => {
      try {
        return Number(t.tmux("list-panes", "-s", "-t", "=teams-crew:", "-F", "#{pane_pid}").split("\n")[0]);
      } catch {
        return undefined;
      }
    });
    process.kill(lead, "SIGSTOP");
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    const [, words = ""] = /Attach to it: (tmux .*)/.exec(stderr) ?? [];
    const shown = words.replace("attach-session", "list-panes -F '#{pane_pid}'");
    // A fast lead may have opened its sidebar already.
    const panes = execFileSync("sh", ["-c", shown], { env: t.env, encoding: "utf8" }).split("\n");
    expect(panes[0]).toBe(`${lead}`);
  });

  it.each(["on", "off"])(
    "says that the lead ended before it was ready, with remain-on-exit %s",
    async (remainOnExit) => {
      const t = privateTmux();
      t.session();
      t.tmux("set-option", "-g", "remain-on-exit", remainOnExit);
      // In the session, Node.js ends before it runs the program.
      t.tmux("set-environment", "-g", "NODE_OPTIONS", `--require ${join(t.home, "missing.cjs")}`);
      const env = { ...t.env, NODE_OPTIONS: undefined };
      const ended = await teamsIn(env, t.home)(run(t, "--detach", "--json", "go"));
      expect(ended.code).toBe(1);
      expect(ended.error()).toMatchObject({
        code: "SPAWN_FAILED",
        message: "The lead in the session teams-crew ended before it was ready.",
      });
    },
  );

  it("starts a separate session from inside tmux, with TERM set by tmux", async () => {
    const t = privateTmux();
    const person = personInside(t, run(t, "--detach", "go"), { env: { TERM: "vt100" } });
    expect(await person.code()).toBe(0);
    expect(person.screen()).toContain("crew is running in the tmux session teams-crew");
    expect(await goalOf(t)).toBe("go");
    expect(readFileSync(join(t.home, "term"), "utf8")).toMatch(/^(screen|tmux)/);
    expect(t.tmux("list-panes", "-s", "-t", "=work:").split("\n")).toHaveLength(1);
  });

  it("starts from a pane that belongs to one of several teams", async () => {
    const t = privateTmux();
    for (const name of ["one", "two"]) await teamsIn(t.env, t.home)(["create", name]);
    const { pane } = t.session("mine");
    t.tmux("set-option", "-p", "-t", pane, "@teams_team", "one");
    t.tmux("set-option", "-p", "-t", pane, "@teams_root", rootTag(teamsHome(t.env).root));
    const unnamed = run(t, "--detach", "go").filter((word) => word !== "--team" && word !== "crew");
    const ended = await teamsIn(t.inside(pane), t.home)(unnamed);
    expect([ended.err, ended.code]).toEqual(["", 0]);
    expect(await goalOf(t)).toBe("go");
  });

  it("uses teammateMode of the settings by default", async () => {
    const t = privateTmux();
    writeFileSync(join(t.root, "settings.json"), JSON.stringify({ teammateMode: "iterm2" }));
    const teams = teamsIn({ ...t.env, TERM_PROGRAM: "", ITERM_SESSION_ID: "" }, t.home);
    const ended = await teams(run(t, "--detach", "--json", "go"));
    expect(ended.error()).toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("iTerm2"),
    });
    expect((await teams(run(t, "--detach", "--teammate-mode", "auto", "go"))).code).toBe(0);
    expect(await goalOf(t)).toBe("go");
  });

  it("leaves nothing in the temporary directory without tmux", async () => {
    const t = privateTmux();
    const temporary = join(t.home, "tmp");
    mkdirSync(temporary);
    const env = { ...t.env, PATH: pathWithoutTmux(t), TMPDIR: temporary };
    const ended = await teamsIn(env, t.home)(run(t, "--detach", "--json", "go"));
    expect([ended.code, ended.error().code]).toEqual([6, "TMUX_NOT_FOUND"]);
    expect(readdirSync(temporary)).toEqual([]);
  });
});

it("run › leads in the terminal itself without tmux", async () => {
  const t = privateTmux();
  const person = personOutside(t, run(t, "--once", "go"), { env: { PATH: pathWithoutTmux(t) } });
  expect(await person.code()).toBe(0);
  expect(person.screen()).toContain("Written down.");
});

it("AskUserQuestion › the lead waits for an answer from its terminal or a command", async () => {
  const t = privateTmux();
  const question = { name: "AskUserQuestion", input: { question: "Which colour?" } };
  const lead = [{ tools: [question] }, { say: "I wait." }, { say: "{{input}} it is." }];
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents: { "team-lead": lead } }));
  const ask = ["run", "--once", "--team", "crew", "--playbook", "play.json", "--no-sidebar", "go"];
  const typing = personInside(t, ask, { session: "one" });
  await typing.sees("I wait.");
  typing.type("blue", "Enter");
  expect(await typing.code()).toBe(0);
  expect(typing.screen()).toContain("blue it is.");
  const waiting = personInside(t, ask, { session: "two" });
  await waiting.sees("I wait.");
  const teams = teamsIn(t.env, t.home);
  const [{ id } = { id: "" }] = (await teams(["approvals", "--json"])).json<{ approvals: { id: string }[] }>()
    .approvals;
  expect((await teams(["approve", id, "--note", "green"])).code).toBe(0);
  expect(await waiting.code()).toBe(0);
  expect(waiting.screen()).toContain("green it is.");
});
