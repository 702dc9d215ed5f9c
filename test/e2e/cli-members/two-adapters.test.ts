import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const acp = { file: scriptFile("cli/acp"), place: "process" } as const;
const hooks = { file: scriptFile("cli/hooks"), place: "tmux" } as const;

it.each([
  { cli: "codex", form: "--acp", program: "codex-acp", ...acp, args: ["-c", 'approvals_reviewer="user"'] },
  { cli: "gemini", form: "--native", program: "gemini", ...hooks, args: ["--approval-mode", "default"] },
])(
  "teams spawn --cli $cli $form › starts $program from the PATH with its built-in adapter",
  async ({ cli, form, program, file, place, args }) => {
    const t = privateTmux();
    const at = (name: string): string => join(t.home, name);
    for (const name of ["bin", "repo", "log-of"]) mkdirSync(at(name));
    const version = '[ "$1" = --version ] && exec echo 1.0.0';
    const start = `export STANDIN_HOME=${at("log-of")}\nexec ${process.execPath} ${file()} "$@"`;
    writeFileSync(join(at("bin"), program), `#!/bin/sh\n${version}\n${start}\n`, { mode: 0o755 });
    const env = { ...t.env, PATH: `${at("bin")}:${t.env.PATH}`, TEAMS_TEAM: "crew" };
    const teams = teamsIn(env, at("repo"));
    expect((await teams(["create", "crew"])).code).toBe(0);
    const words = ["--cli", cli, form, "--prompt", "say: hello from it", "--teammate-mode", place];
    const { code, err } = await teams(["spawn", "ada", ...words]);
    expect([code, err]).toEqual([0, ""]);
    await eventually("ada's answer", async () =>
      (await teams(["inbox", "team-lead", "--all", "--json"])).out.includes("hello from it"),
    );
    const lines = readFileSync(join(at("log-of"), "log"), "utf8")
      .trim()
      .split("\n");
    const logged = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    expect(logged.find((line) => "args" in line)?.args).toEqual(expect.arrayContaining(args));
  },
);
