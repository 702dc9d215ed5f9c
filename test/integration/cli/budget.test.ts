import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { addMembers } from "../../../src/team/members/members.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";
import { statusOf } from "../../support/team/status-records.ts";

/** Creates a team with one member for each of these models. */
async function team(...models: readonly string[]): Promise<Cli> {
  const teams = cliIn();
  await teams(["create", "review"]);
  const home = { root: teams.root, runtime: join(teams.directory, "runtime", "teams") };
  const ref = teamRef(home, "review");
  await addMembers(
    ref,
    models.map((model, i) => ({ name: `m${i}`, cwd: teams.directory, model })),
  );
  const tokens = { input: 700, output: 100, cacheRead: 150, cacheWrite: 50 };
  models.forEach((_, i) => void writeStatus(ref, `m${i}`, statusOf({ tokens, costUsd: 0.25 })));
  return teams;
}

describe("teams budget", () => {
  it("shows and sets the budget of a member or a team, and keeps limits that are not named", async () => {
    const teams = await team("claude-opus-5", "claude-haiku-4-5");
    expect((await teams(["budget", "m0"])).out).toBe("m0 has no budget.\n");
    expect((await teams(["budget", "m0", "--max-tokens", "4k"])).out).toBe("m0: 1,000 of 4,000 tokens.\n");
    expect((await teams(["budget", "m0", "--max-cost", "1.5"])).out).toBe(
      "m0: 1,000 of 4,000 tokens, $0.25 of $1.50.\n",
    );
    expect((await teams(["budget", "review", "--max-tokens", "5000", "--json"])).json()).toEqual({
      team: "review",
      name: null,
      limits: { maxTokens: 5000 },
      spent: { tokens: 2000, costUsd: 0.5 },
    });
    const { out } = await teams(["status"]);
    expect(out).toContain("budget 2,000 of 5,000 tokens");
    expect(out).toMatch(/m0 .*1\.0k of 4\.0k/);
    expect((await teams(["status", "--json"])).json()).toMatchObject({
      budget: { maxTokens: 5000, spent: { tokens: 2000 } },
      members: [{ budget: null }, { budget: { maxTokens: 4000, maxCostUsd: 1.5 } }, { budget: null }],
    });
  });

  it("only the lead can set it, but every member can see it", async () => {
    const teams = await team("claude-opus-5");
    const env = { TEAMS_AGENT: "m0@review" };
    const refused = await teams(["budget", "m0", "--max-tokens", "9", "--json"], { env });
    expect([refused.code, refused.error().code]).toEqual([1, "NOT_LEAD"]);
    expect((await teams(["budget", "m0"], { env })).out).toBe("m0 has no budget.\n");
  });

  it("an agent cannot raise it, not even a lead agent", async () => {
    const teams = await team("claude-opus-5");
    await teams(["budget", "review", "--max-tokens", "5"]);
    const env = { TEAMS_AGENT: "team-lead@review" };
    const refused = await teams(["budget", "review", "--max-tokens", "9", "--json"], { env });
    expect([refused.code, refused.error().code]).toEqual([1, "PERMISSION_DENIED"]);
    expect((await teams(["budget", "review"], { env })).out).toContain("of 5 tokens");
  });

  it.each([
    ["500k", 500_000],
    ["500K", 500_000],
    ["1.5M", 1_500_000],
    ["2m", 2_000_000],
    ["500000", 500_000],
  ])("takes --max-tokens %s", async (value, maxTokens) => {
    const teams = await team("claude-opus-5");
    const set = await teams(["budget", "m0", "--max-tokens", value, "--json"]);
    expect(set.json()).toMatchObject({ limits: { maxTokens } });
  });

  it.each([
    ["--max-tokens", "0"],
    ["--max-tokens", "0k"],
    ["--max-tokens", "k"],
    ["--max-tokens", "500kb"],
    ["--max-tokens", "-5k"],
    ["--max-tokens", "1.0001k"],
    ["--max-tokens", "1.5"],
    ["--max-tokens", "many"],
    ["--max-cost", "0"],
    ["--max-cost", "-1"],
  ])("rejects %s %s", async (option, value) => {
    const teams = await team("claude-opus-5");
    expect((await teams(["budget", "m0", `${option}=${value}`])).code).toBe(2);
    expect((await teams(["budget", "m0"])).out).toBe("m0 has no budget.\n");
  });
});

describe("teams budget --max-cost", () => {
  const refused = async (teams: Cli, words: readonly string[]) => {
    const { code, error } = await teams([...words, "--json"]);
    expect([code, error().code]).toEqual([2, "INVALID_MODEL"]);
    return error().message;
  };

  it("is refused for a model without a known price, in every command, and changes nothing", async () => {
    const teams = await team("mystery-1");
    for (const words of [
      ["budget", "m0", "--max-cost", "1"],
      ["budget", "review", "--max-cost", "1"],
      ["spawn", "dev", "--model", "mystery-2", "--max-cost", "1"],
      ["spawn", "dev", "--model", "scripted", "--max-cost", "1"],
      ["run", "goal", "--model", "mystery-3", "--max-cost", "1"],
    ])
      expect(await refused(teams, words)).toContain("The price of");
    expect((await teams(["status", "--json"])).json<{ members: unknown[] }>().members).toHaveLength(2);
    expect((await teams(["ls", "--json"])).json<{ teams: unknown[] }>().teams).toHaveLength(1);
  });

  it("on a team keeps out members whose model has no known price", async () => {
    const teams = await team("claude-opus-5");
    await teams(["budget", "review", "--max-cost", "1"]);
    await refused(teams, ["spawn", "dev", "--model", "mystery-2"]);
  });

  it("uses prices from the user's settings", async () => {
    const teams = await team("mystery-1");
    mkdirSync(teams.root, { recursive: true });
    const settings = { teams: { prices: { "mystery-1": { input: 1, output: 2 } } } };
    writeFileSync(join(teams.root, "settings.json"), JSON.stringify(settings));
    expect((await teams(["budget", "m0", "--max-cost", "2"])).out).toBe("m0: $0.25 of $2.00.\n");
  });
});
