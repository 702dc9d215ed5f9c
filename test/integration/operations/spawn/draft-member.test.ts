import { expect, test } from "vitest";
import { checkCli } from "../../../../src/operations/spawn/check-cli.ts";
import { draftMember, type SpawnInput, spawnType } from "../../../../src/operations/spawn/draft-member.ts";
import { buildStart } from "../../../../src/operations/spawn/start-steps.ts";
import { recordedLimits, recordLeadLimits } from "../../../../src/operations/spawn/tool-limits.ts";
import { teamStatus } from "../../../../src/operations/status.ts";
import { readMetadata } from "../../../../src/schema/member-metadata.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { PermissionMode, SandboxMode } from "../../../../src/schema/permission-modes.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { addMembers } from "../../../../src/team/members/members.ts";
import { currentMode, setMode } from "../../../../src/team/members/permission-mode.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

test("starting a member › rings the bell that the lead's status names when the agent ends", async () => {
  const ref = await testTeam(["dev"]);
  const config = readTeam(ref);
  const [, dev] = config.members;
  if (dev === undefined) throw new Error("There is no dev.");
  const bells = () => buildStart(contextOf(ref), config, dev, undefined).request.bells;
  expect(bells()).toEqual([ref.paths.agent(LEAD_NAME).bell]);
  writeStatus(ref, LEAD_NAME, statusOf({ bell: "/run/elsewhere/bell" }));
  expect(bells()).toEqual(["/run/elsewhere/bell"]);
});

test("starting a member › hides the caller's GIT_DIR from an agent in a worktree", async () => {
  const ref = await testTeam(["dev"]);
  const config = readTeam(ref);
  const [, dev] = config.members;
  if (dev === undefined) throw new Error("There is no dev.");
  const ctx = contextOf(ref, undefined, { env: { GIT_DIR: "/else/.git", GIT_EDITOR: "ed" } });
  const envOf = (member: typeof dev) => buildStart(ctx, config, member, undefined).request.env;
  expect(envOf(dev)).toMatchObject({ GIT_DIR: "/else/.git", GIT_EDITOR: "ed" });
  expect(envOf({ ...dev, worktreePath: "/w" })).not.toHaveProperty("GIT_DIR");
  expect(envOf({ ...dev, worktreePath: "/w" })).toMatchObject({ GIT_EDITOR: "ed" });
});

test("a new teammate › has the full name of its model, given or inherited", async () => {
  const ref = await testTeam([], { leadModel: "fast" });
  const names = { modelNames: { fast: "my/model-2" } };
  for (const given of [{}, { model: "inherit" }, { model: "fast" }]) {
    const draft = draftMember(contextOf(ref), readTeam(ref), { name: "dev", ...given }, names);
    expect(draft.model).toBe("my/model-2");
  }
});

test("a new teammate › keeps its start options in addition to its own metadata", async () => {
  const ref = await testTeam();
  const input = { name: "dev", metadata: { ticket: "42" }, tools: ["Read"] };
  const [dev] = (await addMembers(ref, [draftMember(contextOf(ref), readTeam(ref), input)])).map(({ name }) =>
    readTeam(ref).members.find((member) => member.name === name),
  );
  expect(dev?.metadata).toMatchObject({ ticket: "42", _tools: ["Read"] });
  const status = await teamStatus(contextOf(ref));
  expect(status.members[1]?.metadata).toEqual({ ticket: "42" });
});

test.each<[string, readonly PermissionMode[], PermissionMode]>([
  ["the lead's", ["acceptEdits"], "acceptEdits"],
  ["default if the lead has none", [], "default"],
  ["the lead's mode before delegate", ["acceptEdits", "delegate", "delegate"], "acceptEdits"],
  ["default if the lead only ever had delegate", ["delegate"], "default"],
  ["the lead's current mode", ["acceptEdits", "delegate", "plan"], "plan"],
])("a new teammate's mode › is %s", async (_, given, expected) => {
  const ref = await testTeam();
  for (const mode of given) await setMode(ref, LEAD_NAME, mode);
  expect(draftMember(contextOf(ref), readTeam(ref), { name: "dev" }).mode).toBe(expected);
});

test.each<[string, Partial<SpawnInput>, Record<string, string>]>([
  ["--plan", { plan: true }, {}],
  ["mode plan", { permissionMode: "plan" }, {}],
  ["mode plan and plan_mode_required: false", { permissionMode: "plan", plan: false }, {}],
  ["a type with mode plan", { agentType: "planner" }, {}],
  ["CLAUDE_CODE_PLAN_MODE_REQUIRED=true", {}, { CLAUDE_CODE_PLAN_MODE_REQUIRED: "true" }],
])(
  "a new teammate that plans first by %s › has the inherited mode afterwards, and all places show it",
  async (_, input, env) => {
    const ref = await testTeam();
    await setMode(ref, LEAD_NAME, "acceptEdits");
    const ctx = contextOf(ref, undefined, { env: { HOME: "/h", ...env } });
    const planner = { ...spawnType("Plan"), name: "planner", permissionMode: "plan" } as const;
    const types = { types: [spawnType(undefined), planner], problems: [], ignored: [] };
    const draft = draftMember(ctx, readTeam(ref), { name: "dev", ...input }, { types });
    expect(draft).toMatchObject({ planModeRequired: true, mode: "acceptEdits" });
    const [dev] = await addMembers(ref, [draft]);
    if (dev === undefined) throw new Error("There is no dev.");
    expect(currentMode(dev)).toBe("plan");
    const { request } = buildStart(ctx, readTeam(ref), dev, undefined);
    expect(request.argv).toContain("--plan-mode-required");
    expect(request.argv.join(" ")).toContain("--permission-mode acceptEdits");
    expect(request.env).not.toHaveProperty("CLAUDE_CODE_PLAN_MODE_REQUIRED");
  },
);

test("a new teammate without a reason to plan › starts in its mode, even in delegate", async () => {
  const ref = await testTeam();
  const env = { CLAUDE_CODE_PLAN_MODE_REQUIRED: "false" };
  const ctx = contextOf(ref, undefined, { env });
  const draft = (mode: PermissionMode) =>
    draftMember(ctx, readTeam(ref), { name: "dev", permissionMode: mode });
  expect(draft("delegate")).toMatchObject({ planModeRequired: false, mode: "delegate" });
  expect(draft("acceptEdits")).toMatchObject({ planModeRequired: false, mode: "acceptEdits" });
});

test("drafting a member › writes no empty list of rules, and refuses an empty list of tools", async () => {
  const ref = await testTeam();
  const empty = { allowedTools: [], disallowedTools: [] };
  const draft = draftMember(contextOf(ref), readTeam(ref), { name: "dev", ...empty });
  expect(Object.keys(draft)).not.toEqual(expect.arrayContaining([expect.stringMatching(/allowedTools$/i)]));
  expect(() => draftMember(contextOf(ref), readTeam(ref), { name: "dev", tools: [] })).toThrow(
    "list of tools is empty",
  );
});

test.each([{ disallowedTools: ["Bash(touch:*"] }, { allowedTools: ["Read", "(x)"] }])(
  "drafting a member › refuses an invalid permission rule: %j",
  async (given) => {
    const ref = await testTeam();
    expect(() => draftMember(contextOf(ref), readTeam(ref), { name: "dev", ...given })).toThrow(
      "is not a rule",
    );
  },
);

test("drafting a member › refuses bypassPermissions if a setting forbids it, and does not inherit it", async () => {
  const ref = await testTeam();
  await setMode(ref, LEAD_NAME, "bypassPermissions");
  const draft = (mode: PermissionMode | undefined, forbidden?: string) =>
    draftMember(
      contextOf(ref),
      readTeam(ref),
      { name: "dev", ...(mode && { permissionMode: mode }) },
      { bypassForbidden: forbidden },
    ).mode;
  expect([draft(undefined), draft("bypassPermissions")]).toEqual(["bypassPermissions", "bypassPermissions"]);
  expect([draft(undefined, "a setting"), draft("acceptEdits", "a setting")]).toEqual([
    "default",
    "acceptEdits",
  ]);
  expect(() => draft("bypassPermissions", "a setting")).toThrow(
    /forbidden by a setting; dev was not started/,
  );
});

test.each<[string, Parameters<typeof sandboxOf>[0], string | undefined]>([
  ["no recorded mode if none is requested", {}, undefined],
  ["the requested mode", { requested: "auto" }, "auto"],
  ["a person's weaker mode", { setting: "auto", requested: "off" }, "off"],
  ["its type's stricter mode", { setting: "auto", type: "required" }, "required"],
  ["no recorded mode if that of its type is weaker", { setting: "auto", type: "off" }, undefined],
])("a new teammate › has %s as its sandbox", async (_, given, expected) => {
  expect(await sandboxOf(given)).toBe(expected);
});

test.each<[string, Parameters<typeof sandboxOf>[0]]>([
  ["a weaker sandbox than the settings require", { setting: "required", requested: "auto" }],
  ["a weaker sandbox from a lead's model", { setting: "auto", requested: "off", maxMode: "default" }],
])("a new teammate › cannot have %s", async (_, given) => {
  await expect(sandboxOf(given)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
});

test.each<[string, Parameters<typeof draftMember>[3], Partial<SpawnInput>]>([
  ["the settings", { sandbox: "required" }, {}],
  ["its type", {}, { agentType: "boxed" }],
  ["its spawn", {}, { sandbox: "required" }],
])("a CLI › is checked with the sandbox mode of %s", async (_, options, more) => {
  const ref = await testTeam();
  const boxed = { ...spawnType(undefined), name: "boxed", sandbox: "required" as const };
  const types = { types: [spawnType(undefined), boxed], problems: [], ignored: [] };
  const checkCli = (cli: string, { sandbox }: SpawnInput): never => {
    throw new Error(`${cli}: ${sandbox}`);
  };
  const given = { name: "dev", cli: "codex", ...more };
  const draft = () =>
    draftMember(contextOf(ref), readTeam(ref), given, {
      ...options,
      types,
      checkCli,
      mayStartCli: () => true,
    });
  expect(draft).toThrow("codex: required");
});

test("a type's CLI › has the type's model, gives way to the requested one, and needs a permission for a model", async () => {
  const ref = await testTeam();
  const outside = { ...spawnType(undefined), name: "outside", cli: "codex", model: "gpt-5", effort: "low" };
  const types = { types: [spawnType(undefined), outside], problems: [], ignored: [] };
  const draft = (input: Partial<SpawnInput>, mayStartCli?: (cli: string) => boolean) => {
    const given = { name: "dev", agentType: "outside", ...input };
    const { model, metadata } = draftMember(contextOf(ref), readTeam(ref), given, { types, mayStartCli });
    return { model, cli: readMetadata({ metadata }, "cli"), effort: readMetadata({ metadata }, "effort") };
  };
  expect(draft({})).toEqual({ model: "gpt-5", cli: "codex", effort: "low" });
  expect(draft({ model: "o9", effort: "high" })).toEqual({ model: "o9", cli: "codex", effort: "high" });
  expect(draft({ cli: "goose" })).toEqual({ model: "goose", cli: "goose", effort: undefined });
  expect(() => draft({ agentType: "general-purpose", effort: "high" })).toThrow(
    "teams' own agents have no effort setting",
  );
  expect(() => draft({ maxMode: "bypassPermissions" })).toThrow("No rule lets a model start codex");
  // The permission was given for another CLI: the type has changed since.
  expect(() => draft({ maxMode: "default" }, (cli) => cli === "goose")).toThrow("No rule lets a model");
  expect(draft({ maxMode: "default" }, (cli) => cli === "codex")).toMatchObject({ cli: "codex" });
});

test("the limits of a lead › apply to a teammate that its model starts, but not to a person's", async () => {
  const ref = await testTeam();
  await recordLeadLimits(ref, { disallowedTools: ["WebFetch"], tools: ["Read", "Bash"] });
  const draft = (input: Partial<SpawnInput>) =>
    recordedLimits(draftMember(contextOf(ref), readTeam(ref), { name: "dev", ...input }));
  expect(draft({ maxMode: "default", disallowedTools: ["Write"], tools: ["Bash"] })).toEqual({
    disallowedTools: ["WebFetch", "Write"],
    tools: ["Bash"],
  });
  expect(draft({ disallowedTools: ["Write"] })).toEqual({ disallowedTools: ["Write"] });
});

test("the limits of a lead › refuse a CLI that cannot obey them, and name the lead", async () => {
  const ref = await testTeam();
  await recordLeadLimits(ref, { tools: ["Read", "Bash"] });
  const adapters = { it: { channel: "acp", command: "/bin/sh" } } as const;
  const draft = (input: Partial<SpawnInput>) =>
    draftMember(
      contextOf(ref),
      readTeam(ref),
      { name: "dev", cli: "it", ...input },
      { checkCli: (cli, one) => checkCli(cli, one, adapters, {}), mayStartCli: () => true },
    );
  expect(readMetadata(draft({}), "cli")).toBe("it");
  const refused = expect.objectContaining({
    message: "it cannot be started with --tools: it has its own tools; nothing was started.",
    hint: "The limits of the lead apply to its teammates: --tools Read,Bash. Leave the CLI out.",
  });
  expect(() => draft({ maxMode: "default" })).toThrow(refused);
});

/** Returns the sandbox mode in the metadata of a new teammate. */
async function sandboxOf(given: {
  readonly setting?: SandboxMode;
  readonly requested?: SandboxMode;
  readonly type?: SandboxMode;
  readonly maxMode?: PermissionMode;
}): Promise<SandboxMode | undefined> {
  const ref = await testTeam();
  const { setting, requested, type, maxMode } = given;
  const typed = { ...spawnType(undefined), name: "typed", ...(type === undefined ? {} : { sandbox: type }) };
  const draft = draftMember(
    contextOf(ref),
    readTeam(ref),
    {
      name: "dev",
      agentType: "typed",
      ...(requested === undefined ? {} : { sandbox: requested }),
      ...(maxMode === undefined ? {} : { maxMode }),
    },
    { types: { types: [typed], problems: [], ignored: [] }, sandbox: setting },
  );
  return readMetadata(draft, "sandbox");
}
