import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkCast } from "../../support/casts/check-cast.ts";
import { testMemberContract } from "../../support/cli/member-contract.ts";
import { standInTeam } from "../../support/cli/stand-in.ts";
import { TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { countForks } from "../../support/processes/count-forks.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { describeInSandbox } from "../../support/sandbox/sandboxed-agent.ts";
import { eventually } from "../../support/timing/eventually.ts";

const file = scriptFile("cli/keys");

testMemberContract({ adapter: { channel: "keys" }, file, conversation: [] });

async function team(marks: readonly string[] = []) {
  const own = await standInTeam(file(), { channel: "keys" });
  const { teams, place, inbox } = own;
  for (const mark of marks) own.mark(mark);
  const spawn = (prompt: string, ...more: readonly string[]) =>
    teams("spawn", "ada", "--cli", "fake", "--prompt", prompt, "--teammate-mode", "tmux", ...more);
  const prompts = (): readonly string[] =>
    own.log().flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
  const prompted = (text: string): Promise<string> =>
    eventually(`the prompt ${text}`, () => prompts().find((prompt) => prompt.includes(text)));
  const leadGot = (text: string) =>
    eventually(`the message ${text} to the lead`, async () => (await inbox()).includes(text));
  const member = async (): Promise<Record<string, unknown>> =>
    (await teams("status", "--json"))
      .json<{ members: Record<string, unknown>[] }>()
      .members.find(({ name }) => name === "ada") ?? {};
  const pane = (): string =>
    place.tmux("list-panes", "-a", "-F", "#{pane_id} #{@teams_agent}").match(/(%\d+) \S/)?.[1] ?? "";
  const type = (...keys: readonly string[]): string => place.tmux("send-keys", "-t", pane(), ...keys);
  const screen = (): string => place.tmux("capture-pane", "-p", "-t", pane());
  return { ...own, spawn, prompts, prompted, leadGot, member, pane, type, screen };
}

describe("a program with the keys channel", () => {
  it("gets each message as one input; is unknown until a bell or notification", async () => {
    const { spawn, prompted, prompts, state, member, teams, leadGot, logged } = await team();
    const spawned = await spawn("say: hello\nsay: two lines");
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    const first = await prompted("say: two lines");
    await logged({ ready: true, agent: "ada@crew" });
    expect(first).toMatch(/You are ada, a teammate in the team "crew"[\s\S]*teams send[\s\S]*say: hello/);
    await state("ada", "unknown");
    expect(await member()).toMatchObject({ state: "unknown", alive: true });
    await teams("send", "ada", "notify: tests are green");
    await state("ada", "idle");
    expect(await member()).toMatchObject({ stateFrom: "signal", activity: "stand-in: tests are green" });
    await leadGot("stand-in: tests are green");
    expect(prompts()).toHaveLength(2);
    expect(prompts()[1]).not.toContain("You are ada");
  });

  it("reports a bell and a notification that is wrapped for tmux, each once", async () => {
    const { spawn, prompted, state, teams, inbox, leadGot } = await team();
    await spawn("bell");
    await state("ada", "idle");
    expect(await inbox()).toContain("rang its bell");
    await teams("send", "ada", "wrapped: it waits for you");
    await leadGot("it waits for you");
    await teams("send", "ada", "progress\nsay: nothing to report");
    await prompted("nothing to report");
    await state("ada", "unknown");
  });

  it("survives hostile output: half a control string, hostile titles, many bells, 10 MB", async () => {
    const { spawn, prompted, state, teams, inbox, repo } = await team();
    await spawn("half\ntitles\nburst\nstorm");
    await state("ada", "idle");
    const notices = (await inbox()).match(/idle_notification/g) ?? [];
    expect(notices).toHaveLength(1);
    await teams("send", "ada", "say: still here");
    await prompted("still here");
    expect(existsSync(join(repo, "hacked"))).toBe(false);
  });

  it("waits while its input contains a draft, notifies the person, and loses nothing", async () => {
    const { spawn, prompted, prompts, state, teams, type, member } = await team();
    await spawn("bell");
    await state("ada", "idle");
    type("-l", "half a thought");
    await teams("send", "ada", "say: from the lead");
    await state("ada", "needs-input");
    expect((await member()).activity).toContain('its input contains a draft, "half a thought"');
    expect(prompts()).toHaveLength(1);
    type("Enter");
    const typed = await prompted("from the lead");
    expect(typed).not.toContain("half a thought");
    expect(prompts()[1]).toBe("half a thought");
    await state("ada", "unknown");
  });

  it("gets no text while another program has taken the keyboard", async () => {
    const { spawn, prompted, state, teams, type, logged, env } = await team();
    await spawn("over");
    await prompted("over");
    await teams("send", "ada", "say: not for others");
    await state("ada", "needs-input");
    expect((await teams("type", "ada", "not either")).err).toContain("another program is in its foreground");
    type("-l", "by hand");
    type("Enter");
    await logged({ over: "ended" });
    await prompted("not for others");
    const stolen = readFileSync(join(env.HOME ?? "", "stand-in-fake", "stolen"), "utf8");
    expect(stolen).toBe("by hand");
  });

  it("gets its first message when it reads its input, however slow it starts", async () => {
    const { spawn, prompted } = await team(["slow"]);
    await spawn("say: not too early");
    await prompted("not too early");
  });

  it("gets each message as one line when it does not support bracketed paste", async () => {
    const { spawn, prompted, prompts } = await team(["plain"]);
    await spawn("one\ntwo");
    expect(await prompted("one two")).not.toContain("\n");
    expect(prompts()).toHaveLength(1);
  });

  it("gets each message that is too long for one line as a file of its own, when it reads whole lines", async () => {
    const { spawn, prompted, prompts, teams } = await team(["lines"]);
    await spawn("say: short");
    await prompted("say: short");
    await teams("send", "ada", "wombat ".repeat(2_000));
    await prompted("Read the file");
    await teams("send", "ada", "quokka ".repeat(2_000));
    const files = await eventually("both files", () => {
      const paths = prompts().flatMap((prompt) => /Read the file (\S+)/.exec(prompt)?.[1] ?? []);
      return paths.length === 2 && paths;
    });
    expect(files.map((path) => /wombat|quokka/.exec(readFileSync(path, "utf8"))?.[0])).toEqual([
      "wombat",
      "quokka",
    ]);
  });

  it("sends messages from its pane in its own name", async () => {
    const { spawn, leadGot, inbox } = await team();
    await spawn(`shell: ${process.execPath} ${TEAMS} send team-lead "done, says ada"`);
    await leadGot("done, says ada");
    expect(JSON.parse(await inbox())).toMatchObject({
      messages: expect.arrayContaining([expect.objectContaining({ from: "ada" })]),
    });
  });

  it("gets Escape on interrupt, but not while it is idle", async () => {
    const { spawn, prompted, teams, logged, state, log } = await team();
    await spawn("say: working");
    await prompted("working");
    await state("ada", "unknown");
    const pressed = await teams("interrupt", "ada");
    expect([pressed.code, pressed.out]).toEqual([
      0,
      expect.stringMatching(/was pressed in the pane of ada; teams cannot see whether its turn has ended/),
    ]);
    await logged({ escape: true });
    await teams("send", "ada", "bell");
    await state("ada", "idle");
    expect((await teams("interrupt", "ada")).out).toContain("is idle");
    expect(log().filter((line) => "escape" in line)).toHaveLength(1);
  });

  it("keeps a message that is interrupted before it was typed", async () => {
    const { spawn, state, teams, type, prompted, logged } = await team();
    await spawn("bell");
    await state("ada", "idle");
    type("-l", "draft");
    await teams("send", "ada", "say: kept");
    await state("ada", "needs-input");
    await teams("interrupt", "ada");
    await logged({ escape: true });
    type("Enter");
    await teams("send", "ada", "say: next");
    await prompted("kept");
    await prompted("next");
  });

  it("is introduced again after a crash and teams resume", async () => {
    const { spawn, prompted, state, teams, prompts } = await team();
    await spawn("say: hi");
    await prompted("hi");
    await teams("send", "ada", "exit: 3");
    await state("ada", "crashed");
    expect((await teams("resume")).code).toBe(0);
    await teams("send", "ada", "say: again");
    await prompted("say: again");
    expect(prompts().at(-1)).toContain("You are ada");
  });

  it("keeps the person's pipe on its pane, and its bells count again once that pipe has ended", async () => {
    const { spawn, prompted, state, teams, place, pane } = await team();
    await spawn("say: hi");
    await prompted("hi");
    const out = join(place.home, "piped");
    place.tmux("pipe-pane", "-t", pane());
    place.tmux("pipe-pane", "-t", pane(), `cat > ${out}`);
    await teams("send", "ada", "bell\nsay: into the pipe");
    await prompted("into the pipe");
    await eventually("the person's pipe", () => readFileSync(out, "utf8").includes("into the pipe"));
    expect(place.tmux("display-message", "-p", "-t", pane(), "#{pane_pipe}").trim()).toBe("1");
    await state("ada", "unknown");
    place.tmux("pipe-pane", "-t", pane());
    await teams("send", "ada", "bell");
    await state("ada", "idle");
  });

  it("is recorded while teams hears its bells", async () => {
    const { prompted, state, teams, place, leadGot, env, repo } = await team();
    const forks = countForks(place);
    const words = ["spawn", "ada", "--cli", "fake", "--prompt", "say: hello", "--teammate-mode", "tmux"];
    const run = teamsIn({ ...env, ...forks.env }, repo);
    const spawned = await run([...words, `--rec=${join(place.home, "casts")}`]);
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    await prompted("say: hello");
    // ada gets the first message once her screen is quiet, not after the maximum wait of 200 polls.
    const polls = forks.timers(/--agent-name ada/).filter((ms) => ms === 100);
    expect(polls.length).toBeGreaterThan(0);
    expect(polls.length).toBeLessThan(60);
    await teams("send", "ada", "notify: tests are green");
    await state("ada", "idle");
    await leadGot("stand-in: tests are green");
    const path = join(place.home, "casts", "ada.cast");
    await eventually("the message in the recording", () =>
      readFileSync(path, "utf8").includes("tests are green"),
    );
    expect(checkCast(path).markers).toContain("team-lead: notify: tests are green");
  });

  it("refuses options that a keyboard channel cannot fulfil, with the reason", async () => {
    const { spawn, teams } = await team();
    const refused = [
      ["--plan"],
      ["--permission-mode", "acceptEdits"],
      ["--allowed-tools", "Read"],
      ["--disallowed-tools", "Bash"],
      ["--max-tokens", "1000"],
      ["--model", "opus"],
      ["--agent-type", "reviewer"],
    ];
    for (const option of refused) {
      const { code, err } = await spawn("say: hi", ...option);
      expect([code, err], option.join(" ")).toEqual([
        2,
        expect.stringMatching(option[0] === "--agent-type" ? /restricts its members/ : (option[0] ?? "")),
      ]);
    }
    const inProcess = await teams("spawn", "ada", "--cli", "fake", "--teammate-mode", "process");
    expect(inProcess.err).toContain("needs a tmux pane");
    const lead = await teams("run", "--cli", "fake", "a goal");
    expect(lead.err).toContain("can only be a teammate");
  });

  it("refuses a shell, which would run each message", async () => {
    const { place, teams } = await team();
    const sh = { channel: "keys", command: "bash", args: ["--norc", "-i"] };
    writeFileSync(join(place.root, "settings.json"), JSON.stringify({ teams: { adapters: { sh } } }));
    const { code, err } = await teams("spawn", "ada", "--cli", "sh", "--teammate-mode", "tmux");
    expect([code, err]).toEqual([2, expect.stringContaining("sh is a shell")]);
  });

  it("refuses teams mode, because it has its own modes", async () => {
    const { spawn, prompted, teams } = await team();
    await spawn("say: hi");
    await prompted("hi");
    const { code, err } = await teams("mode", "ada", "acceptEdits");
    expect([code, err]).toEqual([1, expect.stringContaining("has its own modes")]);
  });

  it("refuses a budget, because teams cannot see what it spends", async () => {
    const { spawn, teams } = await team();
    await spawn("bell");
    for (const words of [
      ["ada", "--max-tokens", "9k"],
      ["ada", "--max-cost", "2"],
      ["--max-cost", "2"],
    ]) {
      const { code, err } = await teams("budget", ...words);
      expect([code, err]).toEqual([2, expect.stringContaining("does not see what it spends")]);
    }
    const whole = await teams("budget", "--max-tokens", "9k");
    expect([whole.code, whole.err]).toEqual([0, expect.stringContaining("Not counted")]);
  });

  it("is not spawned when its program ends at once: the error has its last lines", async () => {
    const { spawn, member } = await team(["broken"]);
    const { code, err } = await spawn("say: hi");
    expect([code, err]).toEqual([1, expect.stringContaining("ended with exit code 4")]);
    expect(err).toContain("no licence");
    expect(await member()).toEqual({});
  });

  it("is not spawned when its program starts a shell, or its interpreter is missing", async () => {
    const { place, teams, member } = await team();
    const gone = join(place.home, "gone");
    writeFileSync(gone, "#!/no/such/interpreter\n", { mode: 0o755 });
    const relay = join(place.home, "relay");
    writeFileSync(relay, "#!/bin/sh\nexec bash --norc --noprofile -i\n", { mode: 0o755 });
    const adapters = {
      gone: { channel: "keys", command: gone },
      relay: { channel: "keys", command: relay },
    };
    writeFileSync(join(place.root, "settings.json"), JSON.stringify({ teams: { adapters } }));
    for (const [cli, why] of [
      ["gone", "ENOENT"],
      ["relay", "relay starts a shell (bash)"],
    ] as const) {
      const { code, err } = await teams("spawn", "ada", "--cli", cli, "--teammate-mode", "tmux");
      expect([code, err]).toEqual([1, expect.stringContaining(why)]);
      expect(await member()).toEqual({});
    }
  });
});

describeInSandbox("a program with the keys channel that runs as a whole inside the sandbox", () => {
  it("gets its messages, and can write only its login and its directory", async () => {
    const { spawn, prompted, state, teams, repo, place, log, screen } = await team();
    const out = join(place.home, "outside");
    const key = join(place.home, ".ssh", "id_ed25519");
    mkdirSync(dirname(key));
    writeFileSync(key, "TOP SECRET");
    const spawned = await spawn(`shell: touch inside ${out}; cat ${key}`, "--sandbox", "required");
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    await prompted("shell: touch inside");
    await eventually("the end of its command", () => log().some((line) => "shell" in line));
    // The log is in the login directory: the program could write there.
    expect([existsSync(join(repo, "inside")), existsSync(out)]).toEqual([true, false]);
    expect(JSON.stringify(log())).not.toContain("SECRET");
    expect(screen()).not.toContain("SECRET");
    await teams("send", "ada", "notify: second message");
    await state("ada", "idle");
    await prompted("second message");
  });

  it("is refused if it starts a shell, which would run each message", async () => {
    const { place, teams, member } = await team();
    const relay = join(place.home, "relay");
    writeFileSync(relay, "#!/bin/sh\nexec bash --norc --noprofile -i\n", { mode: 0o755 });
    const adapters = { relay: { channel: "keys", command: relay, login: { paths: [relay] } } };
    writeFileSync(join(place.root, "settings.json"), JSON.stringify({ teams: { adapters } }));
    const words = ["--cli", "relay", "--teammate-mode", "tmux", "--sandbox", "required"];
    const { code, err } = await teams("spawn", "ada", ...words);
    expect([code, err]).toEqual([1, expect.stringContaining("relay starts a shell (bash)")]);
    expect(await member()).toEqual({});
  });
});
