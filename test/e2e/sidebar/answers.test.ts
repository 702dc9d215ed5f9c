import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { type PersonOptions, personInside } from "../../support/tmux/terminal-user.ts";

const NO_SLOW_CHECK = fileURLToPath(new URL("../../fixtures/preload/no-slow-check.cjs", import.meta.url));

interface Member {
  readonly name: string;
  readonly pid: number | null;
}

const bash = (command: string) => ({ name: "Bash", input: { command } });

/** Creates a team led by hand whose teammate asks for two commands in turn, and opens the sidebar. */
async function asking(options: PersonOptions = {}) {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  const turns = [
    { tools: [bash("touch first")] },
    { tools: [bash("touch second")] },
    { say: "That was all." },
  ];
  writeFileSync(join(t.home, "ask.json"), JSON.stringify({ version: 1, agents: { dev: turns } }));
  await teams(["create", "crew"]);
  const words = [
    "spawn",
    "dev",
    "--prompt",
    "begin",
    "--model",
    "scripted:ask.json",
    "--teammate-mode",
    "process",
  ];
  expect((await teams(words)).code).toBe(0);
  const person = personInside(t, ["sidebar", "crew"], { size: { width: 60, height: 30 }, ...options });
  /** Begins to approve the request, or a restart. A key pressed just after a request appears does not answer it. */
  const approve = async (): Promise<void> => {
    person.type("n", "a");
    await eventually("the answer's line", () => {
      if (/(?:approve|restart) dev:/.test(person.screen())) return true;
      if (person.screen().includes("just appeared")) person.type("a");
      return false;
    });
  };
  return { t, teams, person, approve, made: (name: string) => existsSync(join(t.home, name)) };
}

describe("a request in the sidebar (S61)", () => {
  it("can be answered with a note that reaches the agent", async () => {
    const { teams, person, approve, made } = await asking();
    await person.sees(/asks for permission\s+▌?\s*Bash\(touch first\)/);
    // The cursor is on the lead, which has no request.
    person.type("a");
    await person.sees("team-lead has no request");
    await approve();
    person.type("-l", "but gently");
    person.type("Enter");
    // The row shows the command a moment before the request can be answered.
    await person.sees(/asks for permission\s+▌?\s*Bash\(touch second\)/);
    expect(made("first")).toBe(true);
    person.type("r", "Enter");
    const inbox = await teams(["inbox", "dev", "--all", "--json"]);
    expect(inbox.out).toContain("but gently");
    await eventually("the last answer", async () => {
      const { approvals } = (await teams(["approvals", "--json"])).json<{ approvals: object[] }>();
      return approvals.length === 0;
    });
    expect(made("second")).toBe(false);
    await teams(["kill", "crew", "--force", "--team", "crew"]);
  });

  it("appears without a slow check", async () => {
    const { t, teams, person } = await asking({ env: { NODE_OPTIONS: `--require ${NO_SLOW_CHECK}` } });
    await person.sees(/asks for permission\s+▌?\s*Bash\(touch first\)/);
    const { requests } = t.paths("crew");
    const [first = ""] = readdirSync(requests);
    const answered = teams(["approve", first.replace(/\.json$/, "")]);
    await eventually("the next request", () =>
      readdirSync(requests).some((name) => name.endsWith(".json") && name !== first),
    );
    await person.sees(/asks for permission\s+▌?\s*Bash\(touch second\)/);
    await answered;
    await teams(["kill", "crew", "--force", "--team", "crew"]);
  });

  it("for a crash restarts the teammate when approved, and removes it when rejected (S33)", async () => {
    const { teams, person, approve } = await asking();
    const crash = async () => {
      const pid = await eventually("dev's process", async () => {
        const { members } = (await teams(["status", "--json"])).json<{ members: Member[] }>();
        return members.find(({ name }) => name === "dev")?.pid;
      });
      process.kill(pid, "SIGKILL");
      // The agent's permission request is listed a moment longer, and would get the answer.
      await eventually("the crash as the only request", () => {
        const shown = person.screen();
        return /dev crashed\s+▌?\s*SIGKILL/.test(shown) && !shown.includes("asks for permission");
      });
    };
    await person.sees(/asks for permission\s+▌?\s*Bash\(touch first\)/);
    await crash();
    await approve();
    person.type("Enter");
    await person.sees("dev is restarted");
    // The row of the first crash must not be taken for the second.
    await eventually("the row's end", () => !person.screen().includes("▲ dev crashed"));
    await crash();
    person.type("r", "Enter");
    await person.sees("dev is removed from the team");
  });

  it("takes only the first answer", async () => {
    const { teams, person, made } = await asking();
    await person.sees(/asks for permission\s+▌?\s*Bash\(touch first\)/);
    const [first] = (await teams(["approvals", "--json"])).json<{ approvals: { id: string }[] }>().approvals;
    person.type("n", "r");
    await person.sees("reject dev:");
    expect((await teams(["approve", first?.id ?? ""])).code).toBe(0);
    await eventually("the first command", () => made("first"));
    person.type("Enter");
    await person.sees("dev's request was already answered or closed");
    await teams(["kill", "crew", "--force", "--team", "crew"]);
  });
});
