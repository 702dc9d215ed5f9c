import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

it.each([
  [{ columns: 40, rows: 10 }, 1],
  [{ columns: 60, rows: 10 }, 2],
])("minPane › three teammates get panes of at least %j (S8)", async (minPane, expected) => {
  const t = privateTmux();
  const size = ["-x", "100", "-y", "24"];
  const format = ["-P", "-F", "#{pane_id}"];
  const pane = t.tmux("new-session", "-d", "-s", "work", "-n", "mine", ...size, ...format, "cat");
  const socket = t.tmux("display-message", "-p", "#{socket_path},#{pid},0");
  writeFileSync(join(t.root, "settings.json"), JSON.stringify({ teams: { minPane } }));
  const teams = teamsIn({ ...t.env, TMUX: socket, TMUX_PANE: pane }, t.home);
  await teams(["create", "crew"]);
  for (const name of ["a", "b", "c"])
    expect((await teams(["spawn", name, "--model", "scripted"])).code).toBe(0);
  const windows = t.tmux("list-windows", "-t", "=work:", "-F", "#{window_name}").split("\n");
  expect(windows.filter((name) => name !== "mine")).toHaveLength(expected);
  await teams(["kill", "crew", "--force"]);
});
