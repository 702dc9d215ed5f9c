import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const MODEL = {
  version: 1,
  agents: {
    "*": [
      { on: { contains: "begin" }, tools: [{ name: "Bash", input: { command: "touch allowed" } }] },
      { say: "It is done.", repeat: true },
    ],
  },
};

it("the file of the status line › contains the line of `status --line` while a teammate runs", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  const teams = teamsIn(t.env, t.home);
  writeFileSync(join(t.home, "play.json"), JSON.stringify(MODEL));
  await teams(["create", "crew"]);
  const path = (await teams(["status", "--line", "--path"])).out.trim();
  expect((await teams(["status", "--line", "--path", "--json"])).json()).toEqual({ path });
  expect(existsSync(path)).toBe(false);
  const refused = await teams(["status", "--path", "--json"]);
  expect([refused.code, refused.error().code]).toEqual([2, "INVALID_INPUT"]);

  const spawn = (...words: string[]) =>
    teams(["spawn", ...words, "--model", "scripted:play.json"], { env: t.inside(pane) });
  await spawn("dev", "--prompt", "begin");
  const shows = (line: string) =>
    eventually(`the line ${line}`, () => existsSync(path) && readFileSync(path, "utf8") === `${line}\n`);
  await shows("crew 1 needs-input · 1 waiting");
  expect((await teams(["status", "--line"])).out).toBe(readFileSync(path, "utf8"));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  // A command that no agent runs changes a file.
  await teams(["task", "add", "a task"]);
  await shows("crew 1 needs-input · 0/1 tasks · 1 waiting");
  await teams(["approve", "dev"]);
  await shows("crew 1 idle · 0/1 tasks");

  // The launcher runs the same program without `teams` and node on the PATH.
  const launcher = join(dirname(path), "../../.bin/teams");
  const found = execFileSync(launcher, ["status", "--line"], {
    env: { ...t.env, PATH: "/usr/bin:/bin" },
    encoding: "utf8",
  });
  expect(found).toBe("crew 1 idle · 0/1 tasks\n");

  // The other teammate updates the file after dev was killed.
  await spawn("ada");
  await shows("crew 2 idle · 0/1 tasks");
  const { members } = (await teams(["status", "--json"])).json<{
    members: { name: string; pid: number }[];
  }>();
  signalProcess(members.find(({ name }) => name === "dev")?.pid ?? 0, "SIGKILL");
  await eventually("the crash", () => readFileSync(path, "utf8").includes("1 crashed"));
  await teams(["shutdown", "ada", "--timeout", "180"]);
  await eventually("the end of the file", () => !existsSync(path));
  await teams(["kill", "crew", "--force", "--purge"]);
});

it("the file of the status line › is removed after the only process was killed", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  const teams = teamsIn(t.env, t.home);
  writeFileSync(join(t.home, "play.json"), JSON.stringify(MODEL));
  await teams(["create", "crew"]);
  await teams(["spawn", "dev", "--model", "scripted:play.json"], { env: t.inside(pane) });
  const path = (await teams(["status", "--line", "--path"])).out.trim();
  await eventually("the file", () => existsSync(path));
  await t.killServer();
  await teams(["status"]);
  await eventually("the end of the file", () => !existsSync(path));
  await teams(["kill", "crew", "--force", "--purge"]);
});
