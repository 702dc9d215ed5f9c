import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { teamsIn } from "../../support/built.ts";
import { eventually } from "../../support/eventually.ts";
import { privateTmux } from "../../support/tmux-server.ts";

it("a teammate that waits for a person rings: its window is marked for whoever looks at another (S63)", async () => {
  const t = privateTmux();
  const pane = t.tmux("new-session", "-d", "-s", "work", "-n", "mine", "-P", "-F", "#{pane_id}", "cat");
  const socket = t.tmux("display-message", "-p", "#{socket_path},#{pid},0");
  const teams = teamsIn({ ...t.env, TMUX: socket, TMUX_PANE: pane }, t.home);
  const turns = [{ tools: [{ name: "Bash", input: { command: "touch ran" } }] }];
  writeFileSync(join(t.home, "ask.json"), JSON.stringify({ version: 1, agents: { dev: turns } }));
  await teams(["create", "crew"]);
  expect((await teams(["spawn", "dev", "--prompt", "begin", "--model", "scripted:ask.json"])).code).toBe(0);
  const marks = () =>
    t.tmux("list-windows", "-t", "=work:", "-F", "#{window_name} #{window_bell_flag}").split("\n");
  await eventually("the bell", () => marks().includes("crew 1"), 20_000);
  expect(marks()).toContain("mine 0");
  await teams(["kill", "dev", "--force"]);
});
