import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { liveSettings } from "../../../src/settings/live-settings.ts";
import { settingsSchema } from "../../../src/settings/settings-schema.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { recordTrust } from "../../support/files/trust-record.ts";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import type { RunningWorker, WorkerInput } from "../../support/worker/start-worker.ts";
import { workerOfTest } from "../../support/worker/test-worker.ts";

const bash = (command: string, more = {}): PlaybookTurn => ({
  tools: [{ name: "Bash", input: { command, ...more } }],
});

/** Settings with these hooks at the start of a session, each for all sources. */
const starting = (...commands: readonly string[]) => ({
  hooks: { SessionStart: [{ hooks: commands.map((command) => ({ type: "command", command })) }] },
});

/** Adds lines to the file of the hook. */
const sets = (...lines: readonly string[]): string =>
  lines.map((line) => `echo '${line.replaceAll("'", `'\\''`)}' >> "$CLAUDE_ENV_FILE"`).join("; ");

const send = (ref: TeamRef, text: string) => sendMessage(ref, { from: LEAD_NAME, to: "dev", text });
const untilIdle = (ref: TeamRef, dev: RunningWorker, turns: number) =>
  eventually("the idle state", () => dev.inputs.length >= turns && readStatus(ref, "dev")?.state === "idle");
const results = ({ messages }: RunningWorker): string[] =>
  messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool_result" ? [block.content] : [])),
  );
const notices = ({ shown }: RunningWorker): string[] =>
  shown.filter((line) => line.startsWith("hook SessionStart: "));

/** Runs commands of a teammate with these hooks. @returns their results, and the worker */
async function resultsOf(settings: object, commands: readonly string[], more: Partial<WorkerInput> = {}) {
  const ref = await testTeam(["dev"]);
  const dev = await workerOfTest(ref, {
    settings,
    turns: [...commands.map((command) => bash(command)), { say: "done", repeat: true }],
    ...more,
  });
  await send(ref, "begin");
  await untilIdle(ref, dev, 1);
  return { ref, dev, results: results(dev), files: filesOf(ref, "session-dev") };
}

function filesOf(ref: TeamRef, session: string): string[] {
  const directory = join(ref.home.root, "session-env", session);
  return readdirSync(directory).map((name) => join(directory, name));
}

describe("SessionStart hook", () => {
  test("sets variables for the agent's later commands, and they apply after the shell snapshot", async () => {
    const ref = await testTeam(["dev"]);
    const snapshot = join(ref.home.root, "snapshot-bash-1-t000000.sh");
    writeFileSync(snapshot, "export PATH='/of/snapshot:/usr/bin:/bin'\n");
    const dev = await workerOfTest(ref, {
      settings: starting(
        sets("export NODE_ENV=production", "export GREETING='hello world'", 'export PATH="$PATH:/of/hook"'),
      ),
      turns: [bash('echo "$NODE_ENV, $GREETING, $PATH"'), { say: "done", repeat: true }],
      snapshot: async () => snapshot,
    });
    await send(ref, "begin");
    await untilIdle(ref, dev, 1);
    expect(results(dev)).toEqual(["production, hello world, /of/snapshot:/usr/bin:/bin:/of/hook"]);
    const [file = "", ...more] = filesOf(ref, "session-dev");
    expect(more).toEqual([]);
    expect(readFileSync(file, "utf8")).toContain("export GREETING='hello world'\n");
    expect([statSync(file).mode & 0o777, statSync(join(file, "..")).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  test.each([
    ["bash and BASH_ENV", "bash", (home: string) => ({ BASH_ENV: join(home, "startup") })],
    [
      "bash with BASH_ENV and without a snapshot",
      undefined,
      (home: string) => ({ BASH_ENV: join(home, "startup") }),
    ],
    ["zsh and .zshenv", "zsh", (home: string) => ({ ZDOTDIR: home })],
    ["bash and a snapshot of fish", "fish", () => ({})],
    ["bash alone", undefined, () => ({})],
  ])("sets variables after the startup files of %s", async (_, kind, startup) => {
    const ref = await testTeam(["dev"]);
    const { root } = ref.home;
    for (const name of ["startup", ".zshenv"])
      writeFileSync(
        join(root, name),
        `export STAGE=startup\nset -u\n[ -n "\${ZSH_VERSION-}" ] && setopt rc_quotes\n`,
      );
    const snapshot = kind && join(root, `snapshot-${kind}-1-t000000.sh`);
    if (snapshot)
      writeFileSync(snapshot, "export PATH='/of/snapshot:/usr/bin:/bin'\nalias ll='echo alias'\n");
    const dev = await workerOfTest(ref, {
      settings: starting(
        sets(`export STAGE='it'"'"'s'"$NONE" MORE="$STAGE/x" PATH="$PATH:/of/hook" EDITOR=vim`),
      ),
      env: { PATH: process.env.PATH, ...startup(root) },
      turns: [
        bash(`printf "%s\\n" "$STAGE" "$MORE" "\${PATH##*:}" "\${EDITOR%% *}" "\${TEAMS_LINES-none}"`),
        { say: "done", repeat: true },
      ],
      snapshot: async () => snapshot,
    });
    await send(ref, "begin");
    await untilIdle(ref, dev, 1);
    // An editor would wait forever.
    expect(results(dev)).toEqual(["it's\nit's/x\n/of/hook\nfalse\nnone"]);
    expect(notices(dev)).toEqual([]);
  });

  test("sets variables for background commands and subagents too", async () => {
    const { results: read } = await resultsOf(starting(sets("export A=1")), [], {
      turns: [
        bash("echo $A > background", { run_in_background: true }),
        {
          tools: [
            { name: "Agent", input: { prompt: "x", description: "x", subagent_type: "general-purpose" } },
          ],
        },
        bash("until [ -s background ]; do sleep 0.01; done; cat background subagent"),
        { say: "done", repeat: true },
      ],
      subagents: { "general-purpose": [bash("echo sub$A > subagent"), { say: "done" }] },
    });
    expect(read[2]).toBe("1\nsub1");
  });

  test("has one file for each hook, and the later hook wins", async () => {
    const { results: read, files } = await resultsOf(
      starting(sets("export A=1", "export B=1"), sets("export A=2")),
      ["echo $A$B"],
    );
    expect([read, files.length]).toEqual([["21"], 2]);
  });

  test("does not run its file, and names the lines that are left out", async () => {
    const { results: read, dev } = await resultsOf(
      starting(sets("touch ran", "export A=$(touch ran)", "export B=1", "export IFS=x TEAMS_AGENT=eve@x")),
      ['[ -e ran ] && echo ran; echo "$A$B"; echo "$TEAMS_AGENT"'],
    );
    expect(read).toEqual([expect.stringMatching(/^1\ndev@/)]);
    expect(notices(dev)).toEqual([
      "hook SessionStart: only assignments count in CLAUDE_ENV_FILE; left out: touch ran (and 1 more)",
      "hook SessionStart: left out, since hooks must not set these variables for an agent's commands: IFS, TEAMS_AGENT",
    ]);
  });

  test("does not keep secrets in its file", async () => {
    const secret = "hunter2-hunter2";
    const {
      results: read,
      dev,
      files,
    } = await resultsOf(
      starting(
        `echo "export A=is-$MY_SECRET" >> "$CLAUDE_ENV_FILE"; ${sets("export NEW_TOKEN=sesame-sesame", "export B=1")}`,
      ),
      ['echo "$A [$NEW_TOKEN] $B"'],
      { env: { PATH: process.env.PATH, MY_SECRET: secret } },
    );
    expect(read).toEqual(["is-[secret] [] 1"]);
    const text = files.map((file) => readFileSync(file, "utf8")).join("");
    expect(text).not.toMatch(/hunter2|sesame/);
    expect(notices(dev)).toEqual([
      "hook SessionStart: left out, since teams must not save the values of secrets: NEW_TOKEN",
    ]);
  });

  test("gets its source: startup, compact, clear, and resume after a restart", async () => {
    const ref = await testTeam(["dev"]);
    const api = await startFakeMessagesApi([{ kind: "message", blocks: [{ type: "text", text: "Done." }] }]);
    onTestFinished(() => api.close());
    const input = join(ref.home.root, "input");
    const command = `cat >> ${input}; echo >> ${input}; ${sets("export A=1")}; echo "the build is $(wc -l < ${input})"`;
    const only = { matcher: "resume", hooks: [{ type: "command", command: "echo 'it goes on'" }] };
    const settings = { hooks: { SessionStart: [...starting(command).hooks.SessionStart, only] } };
    const asked = (): readonly Record<string, unknown>[] =>
      readFileSync(input, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    const systems = (): string[] =>
      api.requests.map(({ body }) => body.system.map(({ text }: { text: string }) => text).join());
    const first = await workerOfTest(ref, { api, settings });
    await send(ref, "begin");
    await untilIdle(ref, first, 1);
    expect(asked()).toEqual([
      expect.objectContaining({
        hook_event_name: "SessionStart",
        session_id: "session-dev",
        source: "startup",
        agent_type: "general-purpose",
      }),
    ]);
    expect(systems().at(-1)).toContain("# Context from SessionStart hooks\n\nthe build is 1");
    const acted = (act: "compact" | "clear") =>
      new Promise<void>((resolve) => {
        first.worker.betweenTurns({
          activity: act,
          act: async (agent, signal) => {
            if (act === "compact") await agent.compact?.("", signal);
            else await agent.clear?.(signal);
            resolve();
          },
        });
      });
    await acted("compact");
    await acted("clear");
    await first.stop();
    const second = await workerOfTest(ref, { api, settings });
    await send(ref, "go on");
    await untilIdle(ref, second, 1);
    expect(asked().map(({ source }) => source)).toEqual(["startup", "compact", "clear", "resume"]);
    expect(systems().at(-1)).toContain("the build is 4\nit goes on");
    // A line that the hook adds again is in its file once.
    const texts = filesOf(ref, "session-dev").map((file) => readFileSync(file, "utf8"));
    expect(texts.filter((text) => text !== "")).toEqual(["export A='1'\n"]);
  });

  test("keeps the text of a hook that later fails, prints nothing for another source, or is interrupted", async () => {
    const ref = await testTeam(["dev"]);
    const api = await startFakeMessagesApi([{ kind: "message", blocks: [{ type: "text", text: "Done." }] }]);
    onTestFinished(() => api.close());
    const onlyFirst = "[ ! -e stop ] || { touch waits; sleep 600; }; [ ! -e fail ] || exit 1";
    const hook = (matcher: string, command: string) => ({ matcher, hooks: [{ type: "command", command }] });
    const dev = await workerOfTest(ref, {
      api,
      settings: {
        hooks: {
          SessionStart: [
            hook("", `${onlyFirst}; echo the conventions`),
            hook("startup", "echo the start"),
            hook("clear", "true"),
            hook("", 'echo >> runs; echo "run $(wc -l < runs)"'),
          ],
        },
      },
    });
    const sectionAfter = async (turns: number): Promise<string> => {
      await send(ref, `turn ${turns}`);
      await eventually("the request", () => api.requests.length === turns);
      const { system } = api.requests[turns - 1]?.body ?? {};
      const text: string = system.map((block: { text: string }) => block.text).join();
      return text.split("# Context from SessionStart hooks\n\n")[1] ?? "";
    };
    const cleared = (stop?: AbortController) =>
      new Promise<void>((resolve) => {
        dev.worker.betweenTurns({
          activity: "clear",
          act: async (agent, signal) => {
            await agent.clear?.(stop?.signal ?? signal);
            resolve();
          },
        });
      });
    expect(await sectionAfter(1)).toBe("the conventions\nthe start\nrun 1");
    writeFileSync(join(dev.cwd, "fail"), "");
    await cleared();
    expect(await sectionAfter(2)).toBe("the conventions\nthe start\nrun 2");
    writeFileSync(join(dev.cwd, "stop"), "");
    const stop = new AbortController();
    const end = cleared(stop);
    await eventually("the hook", () => readdirSync(dev.cwd).includes("waits"));
    stop.abort();
    await end;
    expect(await sectionAfter(3)).toMatch(/^the conventions\nthe start\nrun [23]$/);
  });

  test.each([["sh"], ["bash"]])(
    "may add all variables of its own environment as %s prints them, without a notice",
    async (shell) => {
      const {
        results: read,
        dev,
        files,
      } = await resultsOf(
        starting(`cd / && cd - > /dev/null && ${shell} -c 'A=1; export A; export -p' > "$CLAUDE_ENV_FILE"`),
        ['echo "$A"'],
        {
          env: { PATH: process.env.PATH, MY_SECRET: "hunter2-hunter2", GIT_DIR: "/none", PWD: "/elsewhere" },
        },
      );
      expect([read, notices(dev)]).toEqual([["1"], []]);
      expect(files.map((file) => readFileSync(file, "utf8")).join()).not.toMatch(/hunter2|TEAMS_HOOK|PWD/);
    },
  );

  test("runs at the start of an agent that has no message yet, if the setup asks for it", async () => {
    const ref = await testTeam(["dev"]);
    const dev = await workerOfTest(ref, {
      settings: starting("touch started"),
      wrap: (options) => ({ ...options, preparesAgent: true }),
    });
    await eventually("the hook", () => readdirSync(dev.cwd).includes("started"));
    expect(readStatus(ref, "dev")?.state).toBe("idle");
  });

  test("can also give its context as JSON", async () => {
    const ref = await testTeam(["dev"]);
    const api = await startFakeMessagesApi([{ kind: "message", blocks: [{ type: "text", text: "Done." }] }]);
    onTestFinished(() => api.close());
    const answer = {
      hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: "mind the gap" },
    };
    const dev = await workerOfTest(ref, { api, settings: starting(`echo '${JSON.stringify(answer)}'`) });
    await send(ref, "begin");
    await untilIdle(ref, dev, 1);
    expect(JSON.stringify(api.requests[0]?.body.system)).toContain("mind the gap");
  });

  test("of a project runs, and sets variables, only if the user trusts it", async () => {
    const ref = await testTeam(["dev"]);
    const { root } = ref.home;
    const project = join(root, "..", "project");
    mkdirSync(join(project, ".claude"), { recursive: true });
    const text = JSON.stringify(starting(`touch ran; ${sets("export A=1")}`));
    writeFileSync(join(project, ".claude", "settings.json"), text);
    const resultIn = async (session: string) => {
      const dev = await workerOfTest(ref, {
        sessionId: session,
        cwd: project,
        liveSettings: liveSettings(root, project, () => undefined),
        turns: [bash('echo "[$A]"'), { say: "done", repeat: true }],
      });
      await send(ref, "begin");
      await untilIdle(ref, dev, 1);
      await dev.stop();
      return results(dev);
    };
    expect(await resultIn("session-1")).toEqual(["[]"]);
    expect(readdirSync(project)).toEqual([".claude"]);
    recordTrust(root, project);
    expect(await resultIn("session-2")).toEqual(["[1]"]);
  });

  test("does not use the variables of a project's hook that is no longer trusted", async () => {
    const ref = await testTeam(["dev"]);
    const hook = starting(sets("export A=1"));
    const parsed = (given: object) => ({
      ...settingsSchema.parse(given),
      ignored: [],
      ignoredReason: "",
    });
    let current = parsed(hook);
    const dev = await workerOfTest(ref, {
      liveSettings: () => current,
      turns: [bash('echo "[$A]"'), { say: "done" }, bash('echo "[$A]"'), { say: "done", repeat: true }],
    });
    await send(ref, "begin");
    await untilIdle(ref, dev, 1);
    current = parsed({});
    await send(ref, "again");
    await untilIdle(ref, dev, 2);
    expect(results(dev)).toEqual(["[1]", "[]"]);
  });

  test("does not use variables of another session or of a hook that is gone", async () => {
    const ref = await testTeam(["dev"]);
    const directory = join(ref.home.root, "session-env", "session-dev");
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "hook-000000000000.sh"), "export A=1\n");
    const dev = await workerOfTest(ref, {
      settings: starting("true"),
      turns: [bash('echo "[$A]"'), { say: "done", repeat: true }],
    });
    await send(ref, "begin");
    await untilIdle(ref, dev, 1);
    expect(results(dev)).toEqual(["[]"]);
  });
});
