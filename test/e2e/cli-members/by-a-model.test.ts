import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { standInTeam } from "../../support/cli/stand-in.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";

const file = scriptFile("cli/acp");
const ADAPTER = { channel: "acp", resume: "load", modes: { default: "ask" } } as const;
const TYPE = `---
name: outsider
description: Works in a CLI
cli: fake
tools: Read
---
You are an outsider by trade.
`;

/** Creates a team with the stand-in, an agent type for it, and a playbook whose lead starts ada with `agent`. */
async function team(agent: object, settings: object = {}, adapter: object = {}) {
  const own = await standInTeam(file(), { ...ADAPTER, ...adapter }, { ...settings, teammateMode: "process" });
  mkdirSync(join(own.place.root, "agents"));
  writeFileSync(join(own.place.root, "agents/outsider.md"), TYPE);
  const uses = [{ name: "Agent", input: { name: "ada", description: "speaks", ...agent } }];
  const lead = [{ tools: uses }, { say: "That was all.", repeat: true }];
  writeFileSync(join(own.repo, "book.json"), JSON.stringify({ version: 1, agents: { "team-lead": lead } }));
  const run = (...words: readonly string[]) =>
    own.teams("run", "--team", "boat", "--playbook", "book.json", "--json", ...words);
  const prompts = (): readonly string[] =>
    own.log().flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
  return { ...own, run, prompts };
}

it("Agent with a cli › asks before it starts the CLI, and starts it once a person allows it", async () => {
  const { run, teams, log, prompts } = await team({ prompt: "say: hello from outside", cli: "fake" });
  const ended = run();
  const approval = await eventually("the request", async () => {
    const listed = await teams("approvals", "--team", "boat", "--json");
    if (listed.code !== 0) return undefined;
    return listed.json<{ approvals: { id: string; summary: string }[] }>().approvals[0];
  });
  expect(approval.summary).toBe("Agent(ada (fake): speaks)");
  expect((await teams("approvals", approval.id, "--team", "boat")).out).toContain("Agent(cli:fake)");
  expect(log()).toEqual([]);
  const approved = await teams("approve", approval.id, "--team", "boat");
  expect(approved.code, approved.err).toBe(0);
  expect(await ended).toMatchObject({ code: 0 });
  expect(prompts()[0]).toContain("say: hello from outside");
});

it("Agent with a type that names a cli › starts the CLI if a rule allows it, with only the type's text and tools", async () => {
  const { run, prompts, repo, logged } = await team(
    { prompt: "run: touch never\nsay: was refused", subagent_type: "outsider" },
    { permissions: { allow: ["Agent(cli:fake)"] } },
  );
  expect(await run()).toMatchObject({ code: 0 });
  expect(prompts()[0]).toMatch(/^You are an outsider by trade\.[\s\S]*run: touch never/);
  await logged({ outcome: { outcome: "selected", optionId: "no" } });
  expect(existsSync(join(repo, "never"))).toBe(false);
});

it("Agent with a cli in an unsupported version › fails, and starts nothing", async () => {
  const unsupported = { versions: ">=2", why: "It speaks another interface." };
  const allow = ["Agent(cli:fake)"];
  const own = await team({ prompt: "say: hi", cli: "fake" }, { permissions: { allow } }, { unsupported });
  own.mark("version", "fake 2.0.1");
  expect(await own.run("--keep")).toMatchObject({ code: 0 });
  const { root } = own.place;
  const files = readdirSync(root, { recursive: true, encoding: "utf8" });
  const conversations = files.filter((one) => one.endsWith(".jsonl"));
  const texts = conversations.map((one) => readFileSync(join(root, one), "utf8"));
  // The lead's conversation contains the result of the call.
  expect(texts.join("")).toContain("fake 2.0.1 was not started: It speaks another interface.");
  const { members } = (await own.teams("status", "--team", "boat", "--json")).json<{
    members: { name: string }[];
  }>();
  expect(members.map(({ name }) => name)).toEqual(["team-lead"]);
  expect(own.log()).toEqual([]);
});

it("teams spawn --cli in a model's shell › needs a rule, even if its type names the CLI", async () => {
  const { env, repo, state, log, place } = await team({});
  const inShell = teamsIn({ ...env, TEAMS_AGENT: "team-lead@crew" }, repo);
  const spawn = (...words: readonly string[]) =>
    inShell(["spawn", "ada", "--prompt", "say: hi", "--json", ...words]);
  for (const words of [
    ["--cli", "fake"],
    ["--agent-type", "outsider"],
  ]) {
    expect((await spawn(...words)).error()).toMatchObject({
      code: "PERMISSION_DENIED",
      message: "No rule lets a model start fake; ada was not started.",
      hint: expect.stringContaining("Agent(cli:fake)"),
    });
  }
  expect(log()).toEqual([]);
  const settings = join(place.root, "settings.json");
  const { teams, ...others } = JSON.parse(readFileSync(settings, "utf8")) as Record<string, unknown>;
  const permissions = { allow: ["Agent(cli:*)"] };
  writeFileSync(settings, JSON.stringify({ ...others, teams, permissions }));
  expect(await spawn("--agent-type", "outsider")).toMatchObject({ code: 0 });
  await state("ada", "idle");
});
