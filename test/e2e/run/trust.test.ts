import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

/** A home whose directory settings allow a command, and a playbook that runs it. */
function withSettings(): PrivateTmux {
  const t = privateTmux();
  mkdirSync(join(t.home, ".claude"), { recursive: true });
  const settings = { permissions: { allow: ["Bash(touch:*)"] } };
  writeFileSync(join(t.home, ".claude", "settings.json"), JSON.stringify(settings));
  const turns = [{ tools: [{ name: "Bash", input: { command: "touch ran" } }] }, { say: "Done so far." }];
  const agents = { "team-lead": [...turns, { on: { contains: "more" }, say: "I heard you." }] };
  writeFileSync(join(t.home, "touch.json"), JSON.stringify({ version: 1, agents }));
  return t;
}

const RUN = ["run", "--team", "crew", "--playbook", "touch.json", "--no-sidebar"];

describe("a directory with its own settings (S70)", () => {
  it("is confirmed before the run; yes applies the settings, and the lead gets the terminal", async () => {
    const t = withSettings();
    const person = personInside(t, RUN);
    await person.sees("[y/N]");
    expect(existsSync(join(t.home, "ran"))).toBe(false);
    person.type("y", "Enter");
    await person.sees("Done so far.");
    expect(person.screen()).toContain("Trusted. To undo it: teams trust --revoke");
    expect(await person.code()).toBe(0);
    expect(existsSync(join(t.home, "ran"))).toBe(true);
  });

  it("is not trusted on no: its rule allows nothing, and the pane names what was ignored", async () => {
    const t = withSettings();
    const person = personInside(t, RUN);
    await person.sees("[y/N]");
    person.type("n", "Enter");
    await person.sees("May it run? Bash(touch ran)");
    expect(person.screen()).toMatch(/not trusted, ignored: .*settings\.json: permissions\.allow/);
    person.type("n", "Enter");
    await person.sees("Done so far.");
    expect(existsSync(join(t.home, "ran"))).toBe(false);
    await person.code();
    const listed = await teamsIn(t.env, t.home)(["trust", "--list", "--json"]);
    expect(listed.json()).toMatchObject({ directories: [{ trusted: false }] });
  });
});
