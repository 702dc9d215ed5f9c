import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isControlledInside } from "../../../../src/agent/sandbox/environment.ts";
import type { CommandSandbox } from "../../../../src/agent/tool.ts";
import { builtinTools } from "../../../../src/agent/tools/builtin-tools.ts";
import { BUILTIN_TOOL_NAMES } from "../../../../src/agent/tools/tool-names.ts";
import { requireProjectPlaybook } from "../../../../src/operations/spawn/model-requests.ts";
import { modelsOf } from "../../../../src/runtime/agent/models.ts";
import { settingsSchema } from "../../../../src/settings/settings-schema.ts";
import type { TeamToolContext } from "../../../../src/team-tools/context.ts";
import { teamTools } from "../../../../src/team-tools/team-tools.ts";
import { TEAM_TOOL_NAMES } from "../../../../src/team-tools/tool-names.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

const ENV = {
  ANTHROPIC_API_KEY: "key-of-the-model",
  DEPLOY_TOKEN: "sesame",
  SSH_AUTH_SOCK: "/run/agent",
  HTTPS_PROXY: "http://ada:sesame@proxy",
  STAGE: "test",
};

it.each([
  ["ANTHROPIC_API_KEY", [], "none", undefined],
  ["ANTHROPIC_API_KEY", ["ANTHROPIC_API_KEY"], "none", "key-of-the-model"],
  ["DEPLOY_TOKEN", [], "none", "sesame"],
  ["DEPLOY_TOKEN", [], "closed", undefined],
  ["DEPLOY_TOKEN", ["DEPLOY_TOKEN"], "closed", "sesame"],
  ["SSH_AUTH_SOCK", [], "closed", undefined],
  ["HTTPS_PROXY", [], "closed", undefined],
  ["HTTPS_PROXY", [], "with the network", "http://ada:sesame@proxy"],
  ["STAGE", [], "closed", "test"],
] as const)(
  "playbook › reads a variable only if commands may read it: %s with passSecrets %j, sandbox %s",
  async (name, passSecrets, mode, expected) => {
    const ref = await testTeam(["dev"]);
    const file = join(temporaryDirectory(), "play.json");
    const turns = [{ say: `it is {{env.${name}}}` }];
    writeFileSync(file, JSON.stringify({ version: 1, agents: { dev: turns } }));
    const ctx = contextOf(ref, "dev", { env: { ...ENV, TEAMS_PLAYBOOK_SPEED: "99" } });
    const settings = { ...settingsSchema.parse({ teams: { passSecrets } }), ignored: [], ignoredReason: "" };
    const controls = (variable: string): boolean => isControlledInside(variable, mode === "with the network");
    const sandbox = mode === "none" ? undefined : ({ controls } as CommandSandbox);
    const limited = { worker: undefined as never, note: () => undefined, sandbox };
    const model = await modelsOf(`scripted:${file}`, ctx, () => settings, limited)("dev", undefined);
    const said = async (): Promise<string> => {
      let text = "";
      const request = {
        system: "",
        tools: [],
        messages: [{ role: "user", content: [{ type: "text", text: "go" }] }],
      };
      for await (const event of model.stream(request as never, new AbortController().signal))
        if (event.type === "text") text += event.text;
      return text;
    };
    if (expected !== undefined) expect(await said()).toBe(`it is ${expected}`);
    else await expect(said()).rejects.toThrow(`env.${name}}} has no value`);
  },
);

it("playbook › must be in the project if a model names it, links included, unless it is the model's own", () => {
  const [cwd, elsewhere] = [temporaryDirectory(), temporaryDirectory()];
  mkdirSync(join(cwd, "plays"));
  symlinkSync(elsewhere, join(cwd, "link"));
  for (const model of [undefined, "opus", "scripted", "scripted:plays/a.json", `scripted:${cwd}/a.json`])
    expect(() => requireProjectPlaybook(model, undefined, cwd)).not.toThrow();
  expect(() => requireProjectPlaybook("scripted:/a.json", "scripted:/a.json", cwd)).not.toThrow();
  for (const model of [`scripted:${elsewhere}/a.json`, "scripted:../a.json", "scripted:link/a.json"])
    expect(() => requireProjectPlaybook(model, undefined, cwd)).toThrow(
      expect.objectContaining({ code: "PERMISSION_DENIED" }),
    );
});

it("tool names in playbook checks equal the names of the real tools", () => {
  expect([...BUILTIN_TOOL_NAMES]).toEqual(builtinTools().map(({ name }) => name));
  const called = (["lead", "teammate"] as const).flatMap((role) =>
    // Creating a tool reads only the role from its context.
    teamTools({ role } as TeamToolContext).map(({ name }) => name),
  );
  expect(new Set(TEAM_TOOL_NAMES)).toEqual(new Set(called));
});
