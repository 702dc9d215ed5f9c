import { symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cliIn } from "../../support/processes/in-process-cli.ts";

describe("teams doctor", () => {
  it("reports each check that cannot read its files, and still runs the others", async () => {
    const teams = cliIn();
    // A link to itself makes the root unreadable even for the superuser, whom permissions do not stop.
    symlinkSync(teams.root, teams.root);
    const ended = await teams(["doctor", "--json"]);
    expect(ended).toMatchObject({ code: 1, err: "" });
    const { checks } = ended.json<{ checks: { name: string; level: string; remedy?: string }[] }>();
    const levels = new Map(checks.map(({ name, level }) => [name, level]));
    expect(["node", "runtime directory"].map((name) => levels.get(name))).toEqual(["ok", "ok"]);
    for (const name of ["root directory", "leftovers", "task lists"]) {
      expect(checks).toContainEqual({
        name,
        level: "fail",
        text: expect.stringMatching(/^cannot be checked: ELOOP/),
        remedy: expect.stringContaining("TEAMS_HOME"),
      });
    }
  });

  it("prints each check with its remedy and exits with 1 if one fails", async () => {
    const teams = cliIn();
    const good = await teams(["doctor", "--json"]);
    const report = good.json<{ ok: boolean; checks: { name: string; level: string }[] }>();
    expect(report.checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["node", "tmux", "git", "root directory", "runtime directory", "leftovers"]),
    );
    const bad = await teams(["doctor"], { env: { PATH: "/nonexistent" } });
    expect(bad.code).toBe(1);
    expect(bad.out).toMatch(/fail +tmux +not found on the PATH\n +→ Install tmux/);
  });
});
