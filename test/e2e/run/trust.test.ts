import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { shellWord } from "../../../src/text/shell-quote.ts";
import { TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

/** Creates a home whose directory settings allow a command, and a playbook that runs the command. */
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

const RUN = ["run", "--once", "--team", "crew", "--playbook", "touch.json", "--no-sidebar"];

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

  it("is not trusted by keys that were typed before the question", async () => {
    const t = withSettings();
    const { pane } = t.session();
    const words = [process.execPath, TEAMS, ...RUN].map(shellWord).join(" ");
    // The program starts after the keys were typed.
    const line = `until [ -e go ]; do sleep 0.05; done; ${words}; sleep 60`;
    t.tmux("respawn-pane", "-k", "-t", pane, "-c", t.home, "--", "sh", "-c", line);
    t.tmux("send-keys", "-t", pane, "y", "Enter", "y", "Enter", "y");
    writeFileSync(join(t.home, "go"), "");
    const screen = () => t.tmux("capture-pane", "-p", "-t", pane);
    await eventually("the question", () => screen().includes("[y/N]"));
    t.tmux("send-keys", "-t", pane, "Enter");
    await eventually("the refusal", () => screen().includes("Not trusted. To trust it"));
    expect(existsSync(join(t.home, "ran"))).toBe(false);
  });

  it("is shown in pages, and the question follows the last page", async () => {
    const t = withSettings();
    const allow = Array.from({ length: 60 }, (_, i) => `Bash(echo ${i})`);
    const settings = { permissions: { allow: ["Bash(touch:*)", ...allow] } };
    writeFileSync(join(t.home, ".claude", "settings.json"), JSON.stringify(settings));
    const person = personInside(t, RUN, { size: { width: 80, height: 24 } });
    await person.sees(/\d+ more lines: Enter shows the next ones, n refuses\./);
    expect(person.screen()).toContain("Bash(touch:*)");
    expect(person.screen()).not.toContain("[y/N]");
    person.type("y", "Enter");
    await person.sees("Bash(echo 30)");
    person.type("Enter");
    await person.sees(/Bash\(echo 59\)[\s\S]*\[y\/N\]/);
    person.type("n", "Enter");
    await person.sees(/Allow this command\? touch ran[\s\S]*y yes · n no/);
    person.type("n", "Enter");
    await person.code();
  });

  it("is not trusted on no: its rule allows nothing, and the pane names what was ignored", async () => {
    const t = withSettings();
    const person = personInside(t, RUN);
    await person.sees("[y/N]");
    person.type("n", "Enter");
    await person.sees(/Allow this command\? touch ran[\s\S]*y yes · n no/);
    expect(person.screen()).toMatch(/not trusted, so ignored: .*settings\.json: permissions\.allow/);
    person.type("n", "Enter");
    await person.sees("Done so far.");
    expect(existsSync(join(t.home, "ran"))).toBe(false);
    await person.code();
    const listed = await teamsIn(t.env, t.home)(["trust", "--list", "--json"]);
    expect(listed.json()).toMatchObject({ directories: [{ trusted: false }] });
  });
});
