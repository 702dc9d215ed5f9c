import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

it("a waiting teammate › rings the bell, which flags its window for a user in another window (S63)", async () => {
  const t = privateTmux();
  const pane = t.tmux("new-session", "-d", "-s", "work", "-n", "mine", "-P", "-F", "#{pane_id}", "cat");
  const socket = t.tmux("display-message", "-p", "#{socket_path},#{pid},0");
  const teams = teamsIn({ ...t.env, TMUX: socket, TMUX_PANE: pane }, t.home);
  const turns = [{ tools: [{ name: "Bash", input: { command: "touch ran" } }] }];
  writeFileSync(join(t.home, "ask.json"), JSON.stringify({ version: 1, agents: { dev: turns } }));
  await teams(["create", "crew"]);
  expect((await teams(["spawn", "dev", "--prompt", "begin", "--model", "scripted:ask.json"])).code).toBe(0);
  const bellFlags = () =>
    t.tmux("list-windows", "-t", "=work:", "-F", "#{window_name} #{window_bell_flag}").split("\n");
  await eventually("the bell", () => bellFlags().includes("crew 1"));
  expect(bellFlags()).toContain("mine 0");
  await teams(["kill", "dev", "--force"]);
});

/**
 * Creates a home whose notify setting appends to a file, and a playbook in which `dev` runs a command and asks
 * a question.
 */
function notifyingHome() {
  const t = privateTmux();
  const log = join(t.home, "said");
  const notify = `printf '%s\\n' "$1" >> '${log}'`;
  writeFileSync(join(t.root, "settings.json"), JSON.stringify({ teams: { notify } }));
  const question = { name: "AskUserQuestion", input: { question: "Which port?" } };
  const dev = [{ tools: [{ name: "Bash", input: { command: "touch ran" } }, question] }];
  const agent = { prompt: "begin", description: "a try", name: "dev" };
  const lead = [{ tools: [{ name: "Agent", input: agent }] }];
  writeFileSync(join(t.home, "ask.json"), JSON.stringify({ version: 1, agents: { dev, "team-lead": lead } }));
  const teams = teamsIn(t.env, t.home);
  const lines = () => (existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : []);
  const approve = async () => {
    const { approvals } = (await teams(["approvals", "--json"])).json<{ approvals: [{ id: string }] }>();
    await teams(["approve", approvals[0].id]);
  };
  return { teams, lines, approve };
}

describe("the notify command (S63)", () => {
  it("is run by a teammate of a user's team for permissions and questions", async () => {
    const { teams, lines, approve } = notifyingHome();
    await teams(["create", "crew"]);
    const words = ["--prompt", "begin", "--model", "scripted:ask.json", "--teammate-mode", "process"];
    expect((await teams(["spawn", "dev", ...words])).code).toBe(0);
    await eventually("the notification", () => lines().length === 1);
    expect(lines()[0]).toBe("Team crew: dev asks: Bash(touch ran)");
    await approve();
    await eventually("the question", () => lines().length === 2);
    expect(lines()[1]).toMatch(
      /^Team crew: dev asks: Which port\? \(type the answer here, or answer with teams approve question-/,
    );
    await teams(["kill", "crew", "--force", "--purge"]);
  });

  it("is run once by a lead for a request that it leaves open", async () => {
    const { teams, lines, approve } = notifyingHome();
    const words = ["--team", "crew", "--playbook", "ask.json", "--teammate-mode", "process", "--json"];
    const run = teams(["run", "go", ...words]);
    await eventually("the notification", () => lines().length === 1);
    await approve();
    expect(await run).toMatchObject({ code: 0 });
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toMatch(/^Team crew: dev asks: Bash\(touch ran\); answer with teams approve dev,/);
  });
});
