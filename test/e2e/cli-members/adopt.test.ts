import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { standInTeam } from "../../support/cli/stand-in.ts";
import { TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { statusOf } from "../../support/team/status-records.ts";
import { eventually } from "../../support/timing/eventually.ts";

const file = scriptFile("cli/keys");
const NODE = process.execPath;
/** Whether script(1) of util-linux is installed: BSD's takes other options. */
const hasScript = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0;
const isRoot = process.getuid?.() === 0;
/** Returns a message of instructions for the stand-in, which it also reads from one line. */
const instructions = (...words: readonly string[]): string => `do · ${words.join(" · ")} · end`;

/** Creates a team and a person's pane: a shell with job control, in which the person starts the stand-in. */
async function team() {
  const own = await standInTeam(file(), { channel: "keys" });
  const { teams, place, env } = own;
  const home = join(place.home, "stand-in-fake");
  const shell = ["env", "PS1=person$ ", `STANDIN_HOME=${home}`, "bash", "--norc", "--noprofile", "-i"];
  place.tmux("new-session", "-d", "-s", "work", "-x", "100", "-y", "24", "--", ...shell);
  const pane = place.tmux("list-panes", "-t", "=work:", "-F", "#{pane_id}").trim();
  const screen = (): string => place.tmux("capture-pane", "-p", "-J", "-t", pane);
  const type = (text: string): void => {
    place.tmux("send-keys", "-t", pane, "-l", text);
    place.tmux("send-keys", "-t", pane, "Enter");
  };
  const press = (key: string): string => place.tmux("send-keys", "-t", pane, key);
  const shows = (text: string) => eventually(`the screen with ${text}`, () => screen().includes(text));
  /** Starts the stand-in in the person's pane, and returns its pid. */
  const start = async (command = `${NODE} ${file()}`): Promise<number> => {
    const before = own.log().length;
    await shows("person$");
    type(command);
    const ready = await eventually("the stand-in", () =>
      own
        .log()
        .slice(before)
        .find(({ ready: isReady, pid }) => isReady === true && pid !== undefined),
    );
    return ready.pid as number;
  };
  const prompts = (): readonly string[] =>
    own.log().flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
  const prompted = (text: string): Promise<string> =>
    eventually(`the prompt ${text}`, () => prompts().find((prompt) => prompt.includes(text)));
  const members = async (): Promise<readonly Record<string, unknown>[]> =>
    (await teams("status", "--json")).json<{ members: Record<string, unknown>[] }>().members;
  const member = async (name = "ada"): Promise<Record<string, unknown> | undefined> =>
    (await members()).find((one) => one.name === name);
  /** Adopts the stand-in as ada, and waits for its bridge. */
  const adopt = async (...more: readonly string[]) => {
    const adopted = await teams("adopt", pane, "--name", "ada", ...more);
    if (adopted.code === 0) await own.state("ada", "unknown");
    return adopted;
  };
  const inPane = {
    ...env,
    TMUX: place.tmux("display-message", "-p", "-t", pane, "#{socket_path},#{pid},0").trim(),
  };
  return {
    ...own,
    ...{
      home,
      pane,
      screen,
      type,
      press,
      shows,
      start,
      prompts,
      prompted,
      members,
      member,
      adopt,
      inPane,
    },
  };
}

describe("an adopted program", () => {
  it("gets its messages by its keyboard, and acts in its own name; its pane is not changed", async () => {
    const { start, adopt, place, pane, prompted, state, teams, member, inbox, repo } = await team();
    const facts = "#{window_id} #{pane_title} #{window_layout} #{@teams_agent} #{pane_pid}";
    const paneState = (): string => place.tmux("display-message", "-p", "-t", pane, facts);
    const pid = await start();
    const before = paneState();
    const adopted = await adopt();
    expect([adopted.code, adopted.err]).toEqual([0, ""]);
    expect(adopted.out).toContain(`in pane ${pane}, process ${pid}: its messages are typed into the pane`);
    await state("ada", "unknown");
    expect(await member()).toMatchObject({ alive: true, paneId: pane, backend: "process" });
    await teams("send", "ada", instructions(`shell: ${NODE} ${TEAMS} send team-lead "says ada"`, "bell"));
    expect(await prompted("says ada")).toMatch(/You are ada, a teammate[\s\S]*keeps running when you leave/);
    await state("ada", "idle");
    const messages = (JSON.parse(await inbox()) as { messages: { from: string; text: string }[] }).messages;
    expect(messages.find(({ text }) => text === "says ada")?.from).toBe("ada");
    expect((await teams("peek", "ada")).out).toContain("person$");
    expect(paneState()).toBe(before);
    expect(existsSync(join(repo, "hacked"))).toBe(false);
  });

  it.each(["work:named.0", "work:named", "=work:nam", "work:^.{top}"])(
    "is found by the target %s, as tmux finds it",
    async (target) => {
      const { place, pane, teams, members } = await team();
      const words = ["-d", "-t", "=work:", "-n", "named", "-P", "-F", "#{pane_id}", "--", "cat"];
      const named = place.tmux("new-window", ...words).trim();
      place.tmux("kill-window", "-t", pane);
      expect((await teams("adopt", target)).err).toBe("");
      expect((await members()).find(({ name }) => name === "cat")).toMatchObject({ paneId: named });
      expect((await teams("adopt", "work:other")).err).toContain("There is no pane");
    },
  );

  it("may be in a pane with the id of the lead's pane, on another tmux server", async () => {
    const { start, adopt, place, pane, member } = await team();
    const ref = teamRef(teamsHome(place.env), "crew");
    const here = Number(place.tmux("display-message", "-p", "-t", pane, "#{pid}"));
    const leadOn = (pid: number): void =>
      writeStatus(ref, LEAD_NAME, statusOf({ paneId: pane, server: { socket: "/s", pid, procStart: "1" } }));
    await start();
    leadOn(here);
    expect((await adopt()).err).toContain("is the lead's");
    leadOn(here + 1);
    expect((await adopt()).err).toBe("");
    expect(await member()).toMatchObject({ paneId: pane });
  });

  it("gets messages after a resize, and a text from teams type", async () => {
    const { start, adopt, place, prompted, teams, logged } = await team();
    await start();
    await adopt();
    place.tmux("resize-window", "-t", "=work:", "-x", "60", "-y", "12");
    await teams("send", "ada", "say: after the resize");
    await prompted("after the resize");
    expect((await teams("type", "ada", "by hand")).err).toBe("");
    await logged({ prompt: "by hand" });
    expect((await teams("hide", "ada")).err).toContain("runs in your own pane");
  });

  it.each([
    ["shutdown", ["shutdown", "ada", "--timeout", "180"]],
    ["kill", ["kill", "ada"]],
    ["kill --force", ["kill", "ada", "--force"]],
  ])("keeps running after %s: only its bridge ends, and the output says so", async (_, words) => {
    const { start, adopt, pane, place, prompts, prompted, teams, member } = await team();
    const pid = await start();
    await adopt();
    await teams("send", "ada", "say: hello");
    await prompted("hello");
    const bridge = (await member())?.pid as number;
    const ended = await teams(...words);
    expect([ended.code, ended.err]).toEqual([0, ""]);
    expect(ended.out).toContain(`stays in your pane ${pane}`);
    expect(await member()).toBeUndefined();
    expect([startTimeOf(bridge), typeof startTimeOf(pid)]).toEqual([undefined, "string"]);
    await eventually("the end of the pipe", () => {
      return place.tmux("display-message", "-p", "-t", pane, "#{pane_pipe}").trim() === "0";
    });
    expect(prompts()).toHaveLength(1);
  });

  it("gets no text while it is suspended, and neither does the shell in its pane", async () => {
    const { start, adopt, press, type, shows, prompted, state, teams, repo, logged } = await team();
    await start();
    await adopt();
    press("C-z");
    await logged({ suspended: true });
    await shows("Stopped");
    await teams("send", "ada", `touch ${repo}/hacked`);
    await state("ada", "needs-input");
    expect((await teams("status")).out).toContain("another program is in the foreground of its pane");
    for (const [words, what] of [
      [["type", "ada", `touch ${repo}/hacked`], "Nothing was typed into"],
      [["keys", "ada", "x", "Enter"], "No key was pressed in"],
    ] as const) {
      const refused = await teams(...words);
      expect([refused.code, refused.err]).toEqual([
        1,
        expect.stringContaining(`${what} the pane of ada: another program is in its foreground.`),
      ]);
    }
    type("fg");
    await prompted("touch");
    expect(existsSync(join(repo, "hacked"))).toBe(false);
  });

  it("is shown as exited when the person quits it, and nothing is typed into the shell", async () => {
    const { start, adopt, type, shows, state, teams, repo, screen } = await team();
    await start();
    await adopt();
    type("quit");
    await state("ada", "exited");
    await teams("send", "ada", `touch ${repo}/hacked`);
    await shows("person$");
    const { out } = await teams("status");
    expect(out).toMatch(/ada +exited .*its program or its pane has ended/);
    expect(out).toContain("The program of ada has ended, and teams cannot start it again.");
    expect(out).not.toMatch(/exit code|teams resume/);
    expect((await teams("resume")).err + (await teams("status")).out).toContain("ada");
    expect(screen()).not.toContain("touch");
    const killed = (await teams("kill", "ada")).out;
    expect(killed).toContain("Its program keys had already ended.");
    expect(killed).not.toContain("stays in your pane");
    expect(existsSync(join(repo, "hacked"))).toBe(false);
  });

  it("is shown as exited when its pane is closed", async () => {
    const { start, adopt, place, pane, state } = await team();
    place.tmux("new-window", "-d", "-t", "=work:", "sleep", "600");
    await start();
    await adopt();
    place.tmux("kill-pane", "-t", pane);
    await state("ada", "exited");
  });

  it("gets its messages again after teams resume when its bridge was killed", async () => {
    const { start, adopt, state, member, teams, prompted, place } = await team();
    const pid = await start();
    await adopt();
    process.kill((await member())?.pid as number, "SIGKILL");
    await state("ada", "crashed");
    await teams("send", "ada", "say: kept for later");
    expect((await teams("resume", "--teammate-mode", "tmux")).code).toBe(0);
    await prompted("kept for later");
    await teams("send", "ada", instructions("bell"));
    await state("ada", "idle");
    expect(await member()).toMatchObject({ backend: "process", alive: true });
    expect(typeof startTimeOf(pid)).toBe("string");
    expect(place.tmux("list-panes", "-a").trim().split("\n")).toHaveLength(1);
  });

  it("has no pipe in its pane after teams delete --force; a person's pipe stays", async () => {
    const { start, adopt, pane, place, teams, press, shows } = await team();
    await start();
    await adopt();
    const pipes = (): string => place.tmux("display-message", "-p", "-t", pane, "#{pane_pipe}").trim();
    await eventually("the bridge's pipe", () => pipes() === "1");
    expect((await teams("delete", "crew", "--force")).code).toBe(0);
    await eventually("the end of the pipe", () => pipes() === "0");
    await teams("create", "crew");
    await adopt();
    await eventually("the pipe of the next bridge", () => pipes() === "1");
    const out = join(place.home, "piped");
    place.tmux("pipe-pane", "-t", pane);
    place.tmux("pipe-pane", "-t", pane, `cat > ${out}`);
    expect((await teams("delete", "crew", "--force")).code).toBe(0);
    press("x");
    await shows("> x");
    await eventually("the person's pipe", () => existsSync(out) && readFileSync(out, "utf8").includes("x"));
    expect(pipes()).toBe("1");
  });

  it("gets its messages by codex queue if its thread is proven, otherwise by its keyboard, with the reason", async () => {
    const { start, teams, pane, place, home, type, shows, log, logged, env, repo } = await team();
    const bin = join(place.home, "bin");
    const sessions = join(place.home, "codex-home", "sessions", "2026");
    for (const directory of [bin, sessions]) mkdirSync(directory, { recursive: true });
    const program = join(bin, "codex.mjs");
    copyFileSync(file(), program);
    const logFile = join(home, "log");
    const queue = `#!/bin/sh\nprintf '{"queue":"%s %s","home":"%s"}\\n' "$2 $3" "$4" "$CODEX_HOME" >> ${logFile}\n`;
    writeFileSync(join(bin, "codex"), queue);
    chmodSync(join(bin, "codex"), 0o755);
    /** The id of a thread of Codex begins with its time. */
    const threadAt = (ms: number): string => {
      const time = ms.toString(16).padStart(12, "0");
      return `${time.slice(0, 8)}-${time.slice(8)}-7222-8333-444455556666`;
    };
    const [thread, older] = [Date.now() + 1_000, Date.now() - 60_000].map(threadAt) as [string, string];
    const rolloutOf = (id: string): string => join(sessions, `rollout-2026-11-23T10-00-00-${id}.jsonl`);
    const run = teamsIn({ ...env, PATH: `${bin}:${env.PATH}` }, repo);
    await start(`STANDIN_OPEN=${rolloutOf(thread)} ${NODE} ${program}`);
    const adopted = await run(["adopt", pane]);
    expect([adopted.err, adopted.out]).toEqual(["", expect.stringContaining("codex is codex in pane")]);
    expect(adopted.out).toContain("arrive by codex queue");
    await run(["send", "codex", "by the queue"]);
    await logged({ queue: `--thread ${thread} --message`, home: join(place.home, "codex-home") });
    expect(log().filter((line) => "prompt" in line)).toEqual([]);
    await run(["kill", "codex"]);
    type("quit");
    await shows("person$");
    // An older thread may belong to another program.
    await start(`STANDIN_OPEN=${rolloutOf(older)} ${NODE} ${program}`);
    const typed = await teams("adopt", pane);
    expect(typed.err).toContain("No thread is proven");
    expect(typed.out).toContain("its messages are typed into the pane");
  });

  it("needs no bridge if it is a claude of this team: it reads its inbox itself", async () => {
    const { start, teams, pane, env, members } = await team();
    const config = env.CLAUDE_CONFIG_DIR ?? env.TEAMS_HOME;
    const flags = "--agent-id mia@crew --agent-name mia --team-name crew";
    await start(`CLAUDE_CONFIG_DIR=${config} ${NODE} ${file()} ${flags}`);
    const adopted = await teams("adopt", pane);
    expect([adopted.err, adopted.out]).toEqual(["", expect.stringContaining("reads its inbox itself")]);
    expect((await members()).find(({ name }) => name === "mia")).toMatchObject({ alive: true, paneId: pane });
  });
});

describe("teams adopt refuses", () => {
  it("a claude whose command line names another team", async () => {
    const { start, teams, pane, env } = await team();
    const flags = "--agent-id mia@other --agent-name mia --team-name other";
    await start(`CLAUDE_CONFIG_DIR=${env.TEAMS_HOME} ${NODE} ${file()} ${flags}`);
    expect((await teams("adopt", pane)).err).toContain("is not proven to belong to team crew");
  });

  it.skipIf(!isRoot)("a program for a team of another user", async () => {
    const { start, adopt, place, members } = await team();
    await start();
    chownSync(place.paths("crew").dir, 12_345, 12_345);
    const { code, err } = await adopt();
    expect([code, err]).toEqual([1, expect.stringContaining("belong to another user")]);
    chownSync(place.paths("crew").dir, 0, 0);
    expect(await members()).toHaveLength(1);
  });

  it("a shell, a missing pane, a pane of teams, an adopted program, and the lead's name", async () => {
    const { teams, pane, start, adopt, place, members, shows } = await team();
    await shows("person$");
    const bare = await adopt();
    expect([bare.code, bare.err]).toEqual([2, expect.stringContaining("shows a shell")]);
    expect(bare.err).toContain("teams spawn <name> --cli <cli> --here");
    expect((await teams("adopt", "%99")).err).toContain("There is no pane");
    expect((await teams("adopt", "work:0.0; kill-server")).err).toContain("There is no pane");
    await teams("spawn", "bob", "--teammate-mode", "tmux", "--model", "scripted");
    const teamsPane =
      place.tmux("list-panes", "-a", "-F", "#{pane_id} #{@teams_agent}").match(/(%\d+) \S/)?.[1] ?? "";
    expect((await teams("adopt", teamsPane)).err).toContain("belongs to teams");
    await start();
    expect((await teams("adopt", pane, "--name", "team-lead")).code).not.toBe(0);
    expect((await adopt()).code).toBe(0);
    const twice = await teams("adopt", pane, "--name", "eve");
    expect([twice.code, twice.err]).toEqual([
      2,
      expect.stringContaining("is already member ada of team crew"),
    ]);
    await teams("create", "second");
    expect((await teams("adopt", pane, "--name", "eve", "--team", "second")).err).toContain("already");
    expect((await members()).map(({ name }) => name)).toEqual(["team-lead", "bob", "ada"]);
  });

  it("a claude that may show a startup dialog, according to its own state file", async () => {
    const { start, teams, pane, place } = await team();
    const claude = join(place.home, "claude.mjs");
    copyFileSync(file(), claude);
    writeFileSync(join(place.root, ".claude.json"), JSON.stringify({ hasCompletedOnboarding: true }));
    await start(`CLAUDE_CONFIG_DIR=${place.root} ${NODE} ${claude}`);
    const { code, err } = await teams("adopt", pane, "--name", "ada");
    const refused = expect.stringContaining("may show the directory trust dialog");
    expect([code, err]).toEqual([2, refused]);
  });

  it.each([
    ["under another name", "exec -a claude bash --norc --noprofile -i"],
    ["that is a renamed copy", "./claude --norc --noprofile -i"],
  ])("a shell %s", async (_, command) => {
    const { teams, pane, place, type, shows } = await team();
    copyFileSync(realpathSync("/bin/bash"), join(place.home, "claude"));
    await shows("person$");
    type(`cd ${place.home}; PS1='inner$ ' ${command.startsWith("exec") ? `; ${command}` : command}`);
    await eventually("the inner shell", () =>
      place.tmux("list-panes", "-a", "-F", "#{pane_current_command}").includes("claude"),
    );
    const { code, err } = await teams("adopt", pane, "--name", "ada");
    expect([code, err]).toEqual([2, expect.stringContaining("shows a shell")]);
  });

  it.skipIf(!hasScript)(
    "a program that passes its keys to a shell; a member that begins to do so gets no text",
    async () => {
      const { teams, pane, place, type, shows, adopt, state, repo } = await team();
      const relay = 'exec script -q -c "env PS1=inner\\$ bash --norc --noprofile -i" /dev/null';
      const program = join(place.home, "relay.sh");
      writeFileSync(program, `printf 'ready> '\nread -r line\n${relay}\n`);
      await shows("person$");
      type(`bash ${program}`);
      await shows("ready>");
      expect((await adopt()).code).toBe(0);
      type("go");
      await shows("inner$");
      await teams("send", "ada", `touch ${repo}/hacked`);
      await state("ada", "needs-input");
      expect((await teams("status")).out).toContain("its keys reach a shell");
      expect((await teams("kill", "ada")).code).toBe(0);
      const { code, err } = await teams("adopt", pane, "--name", "eve");
      expect([code, err]).toEqual([2, expect.stringContaining("passes its keys to a shell (bash, process")]);
      expect(existsSync(join(repo, "hacked"))).toBe(false);
    },
  );

  it("the model of a member, even without TEAMS_AGENT", async () => {
    const { start, pane, env, repo, type, shows, adopt, logged, log, members, teams, prompted } =
      await team();
    const asBob = teamsIn({ ...env, TEAMS_AGENT: "bob@crew" }, repo);
    expect((await asBob(["adopt", pane])).err).toContain("Only a person");
    expect((await asBob(["join", "crew"])).err).toMatch(/Only a person|does not run in a tmux pane/);
    await start();
    await adopt();
    const commands = [
      `adopt ${pane} --name eve`,
      "join crew --name eve",
      "spawn eve --cli fake",
      "mode ada bypassPermissions",
      "send bob hi --as team-lead",
      "kill --team crew --force",
      "type ada hi",
    ];
    const commandWithoutIdentity = (word: string): string =>
      `env -u TEAMS_AGENT -u TMUX_PANE ${NODE} ${TEAMS} ${word}`;
    await teams(
      "send",
      "ada",
      instructions(...commands.map((one) => `shell: ${commandWithoutIdentity(one)} --team crew`)),
    );
    await prompted("join crew");
    await eventually(
      "ada's commands",
      () => log().filter((line) => "shell" in line).length === commands.length,
    );
    const errors = log().flatMap((line) => ("shell" in line ? [String(line.err)] : []));
    for (const [i, error] of errors.entries()) {
      expect(error, commands[i]).toMatch(
        /Only a person|NOT_LEAD|NESTED_TEAM|PERMISSION_DENIED|INVALID_INPUT/,
      );
    }
    expect((await members()).map(({ name }) => name)).toEqual(["team-lead", "ada"]);
    await logged({ shell: 1 });
    await shows(">");
    type("");
  });
});

describe("teams join", () => {
  it("makes the program that ran it a member, and its later commands act as that member", async () => {
    const { start, type, logged, member, pane, teams, prompted, inbox, state } = await team();
    await start();
    type(`shell: ${NODE} ${TEAMS} join crew --name ada`);
    await logged({ shell: 0 });
    await state("ada", "unknown");
    expect(await member()).toMatchObject({ paneId: pane });
    await teams("send", "ada", instructions(`shell: ${NODE} ${TEAMS} send team-lead "I am in"`));
    await prompted("I am in");
    await eventually("ada's message", async () => /"from": ?"ada"/.test(await inbox()));
  });

  it("says what to do when it runs in a shell, outside tmux or for an unknown team", async () => {
    const { type, shows, teams, members, start, log } = await team();
    await shows("person$");
    type(`clear; ${NODE} ${TEAMS} join crew 2>&1 | tr -d '\\n'`);
    await shows("shows a shell");
    type(`clear; ${NODE} ${TEAMS} join crew`);
    await shows("teams spawn <name> --cli");
    expect((await teams("join", "crew")).err).toContain("does not run in a tmux pane");
    type("clear");
    await start();
    type(`shell: ${NODE} ${TEAMS} join nosuch`);
    await eventually("the error", () => log().some(({ err }) => String(err).includes("TEAM_NOT_FOUND")));
    expect(await members()).toHaveLength(1);
  });

  it("refuses if TMUX_PANE names a pane whose program did not run it", async () => {
    const { start, pane, place, inPane, repo, members, home } = await team();
    await start();
    const run = teamsIn({ ...inPane, TMUX_PANE: pane }, repo);
    const spoofed = await run(["join", "crew", "--name", "eve"]);
    expect([spoofed.code, spoofed.err]).toEqual([2, expect.stringContaining("did not start this command")]);
    const other = `env TMUX_PANE=${pane} ${NODE} ${TEAMS} join crew --name eve 2>${home}/err`;
    place.tmux("new-window", "-d", "-t", "=work:", "sh", "-c", `${other}; sleep 600`);
    await eventually(
      "the refusal",
      () => existsSync(`${home}/err`) && readFileSync(`${home}/err`, "utf8").includes("nothing was adopted"),
    );
    expect(await members()).toHaveLength(1);
  });
});
