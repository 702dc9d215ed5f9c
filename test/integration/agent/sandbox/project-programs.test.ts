import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Hooks } from "../../../../src/agent/hooks/hooks.ts";
import { SessionVariables } from "../../../../src/agent/hooks/session-variables.ts";
import { hooksSetting } from "../../../../src/agent/hooks/settings.ts";
import { connectServers } from "../../../../src/agent/mcp/servers.ts";
import { bashTool } from "../../../../src/agent/tools/bash.ts";
import { scriptFile } from "../../../support/processes/script-process.ts";
import { describeInSandbox, sandboxedAgent } from "../../../support/sandbox/sandboxed-agent.ts";

const server = scriptFile("mcp/server");

/** Copies the server's script into the project: /tmp is private in the sandbox. */
function inProject(project: string): string {
  const file = join(project, "server.mjs");
  copyFileSync(server(), file);
  return file;
}

describeInSandbox("programs of a project", () => {
  test("hooks run in the sandbox, and the user's own hooks outside", async () => {
    const { sandbox, project, home, env } = await sandboxedAgent({ env: { A_TOKEN: "abcdefgh" } });
    const command = (name: string) => `echo "$A_TOKEN" > ${name}; echo x > ${home}/by-${name}; exit 0`;
    const notices: string[] = [];
    const hooks = new Hooks({
      setting: hooksSetting.parse({
        Stop: [{ hooks: ["project", "user"].map((name) => ({ type: "command", command: command(name) })) }],
      }),
      sessionId: "s",
      cwd: project,
      env,
      sandbox,
      isOwn: (_, text) => text === command("user"),
      onNotice: (_, text) => notices.push(text),
    });
    await hooks.run("Stop", {}, new AbortController().signal);
    expect(notices).toEqual([]);
    expect(readFileSync(join(project, "project"), "utf8")).toBe("\n");
    expect(readFileSync(join(project, "user"), "utf8")).toBe("abcdefgh\n");
    expect(existsSync(join(home, "by-project"))).toBe(false);
    expect(existsSync(join(home, "by-user"))).toBe(true);
  });

  test("a hook sets variables for commands in the sandbox, which can read its file but not change it", async () => {
    const directory = (home: string): string => join(home, ".claude", "session-env", "s");
    const { sandbox, project, home, env, context } = await sandboxedAgent({
      visible: (at) => [directory(at)],
      prepare: (at) => mkdirSync(directory(at), { recursive: true }),
    });
    const command = (name: string) =>
      `export -p > "$CLAUDE_ENV_FILE"; echo export ${name}=${name} >> "$CLAUDE_ENV_FILE"; echo x > ${directory(home)}/by-${name}; exit 0`;
    const isOwn = (text: string): boolean => text === command("USER");
    const names = ["PROJECT", "USER"];
    const variables = new SessionVariables({
      directory: directory(home),
      env,
      hooks: () => names.map((name) => ({ command: command(name), isOwn: isOwn(command(name)) })),
    });
    const notices: string[] = [];
    const hooks = new Hooks({
      setting: hooksSetting.parse({
        SessionStart: [{ hooks: names.map((name) => ({ type: "command", command: command(name) })) }],
      }),
      sessionId: "s",
      cwd: project,
      env,
      sandbox,
      variables,
      isOwn: (_, text) => isOwn(text),
      onNotice: (_, text) => notices.push(text),
    });
    await hooks.run("SessionStart", {}, new AbortController().signal);
    expect(notices).toEqual([]);
    // A project's hook writes its file, and no other.
    expect(existsSync(join(directory(home), "by-PROJECT"))).toBe(false);
    const run = (line: string, input = {}) =>
      bashTool.execute(
        { command: line, ...input },
        { ...context, sessionVariables: (isOutside) => variables.assignments(isOutside) },
      );
    const show = 'echo "$PROJECT $USER"';
    expect((await run(show)).content).toBe("PROJECT USER");
    expect((await run(show, { dangerouslyDisableSandbox: true })).content).toBe(" USER");
    const read = await run(`cat ${directory(home)}/hook-*; echo export X=1 >> ${directory(home)}/hook-*.sh`);
    expect(read.content).toContain("export PROJECT='PROJECT'");
    expect(read.isError).toBe(true);
    expect((await run('echo "[$X]"')).content).toBe("[]");
  });

  test("a hook fails with a notice if the sandbox cannot start it", async () => {
    const { project, env } = await sandboxedAgent();
    const notices: string[] = [];
    const hooks = new Hooks({
      setting: hooksSetting.parse({ Stop: [{ hooks: [{ type: "command", command: "echo x > ran" }] }] }),
      sessionId: "s",
      cwd: project,
      env,
      sandbox: { wrap: () => Promise.reject(new Error("no room")) },
      onNotice: (_, text) => notices.push(text),
    });
    await hooks.run("Stop", {}, new AbortController().signal);
    expect(notices.join()).toContain("no room");
    expect(existsSync(join(project, "ran"))).toBe(false);
  });

  test.each([true, false])(
    "a stdio server runs in the sandbox unless it is excluded (%s)",
    async (isExcluded) => {
      const { sandbox, project, home, env } = await sandboxedAgent({
        prepare: (at) => {
          mkdirSync(join(at, "logs"));
          writeFileSync(join(at, "logs/log"), "");
        },
      });
      const log = join(home, "logs/log");
      const failures: string[] = [];
      const { tools, close } = await connectServers({
        servers: {
          local: { command: process.execPath, args: [inProject(project), log], env: { OWN_TOKEN: "given" } },
        },
        cwd: project,
        env,
        variables: env,
        sandbox,
        isOutside: () => isExcluded,
        onFailure: (_, reason) => failures.push(reason),
        onLeftOut: () => undefined,
        onSlow: () => undefined,
      });
      onTestFinished(close);
      // The server writes its log outside the working directory, so it cannot start in the sandbox.
      expect(tools.length > 0).toBe(isExcluded);
      expect(failures.join()).toMatch(isExcluded ? /^$/ : /EROFS|ENOENT|read-only/i);
    },
  );

  test("a stdio server answers from the sandbox", async () => {
    const { sandbox, project, env } = await sandboxedAgent();
    const { tools, close } = await connectServers({
      servers: {
        local: { command: process.execPath, args: [inProject(project), join(project, "log")], env: {} },
      },
      cwd: project,
      env,
      variables: env,
      sandbox,
      onFailure: (_, reason) => expect.fail(reason),
      onLeftOut: () => undefined,
      onSlow: () => undefined,
    });
    onTestFinished(close);
    expect(tools.length).toBeGreaterThan(0);
  });
});
