import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const SCRIPT = fileURLToPath(new URL("../../../scripts/screenshot.mjs", import.meta.url));

test("screenshot script › draws a window with panes, borders and titles, and leaves the window unchanged", () => {
  const box = privateTmux();
  const out = join(box.home, "docs", "team.svg");
  const say = (text: string): string[] => ["--", "/bin/sh", "-c", `printf '${text}'; exec cat`];
  box.tmux(
    "new-session",
    "-d",
    "-s",
    "team",
    "-x",
    "60",
    "-y",
    "12",
    ...say("left \\033[1;38;5;33minventory"),
  );
  box.tmux("split-window", "-h", "-t", "=team:", ...say("right 檢查"));
  box.tmux("set-option", "-w", "-t", "=team:", "pane-border-status", "top");
  box.tmux("set-option", "-w", "-t", "=team:", "pane-border-format", "title #{pane_index}");
  const layout = (): string =>
    box.tmux("display-message", "-p", "-t", "=team:", "#{window_layout} #{session_attached}");
  const before = layout();

  const socket = box.tmux("display-message", "-p", "-t", "=team:", "#{socket_path}");
  const words = [SCRIPT, "--socket", socket, "--target", "=team:", "--out", out, "--title", "a team"];
  const { status, stderr } = spawnSync(process.execPath, words, { env: box.env, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);

  const svg = readFileSync(out, "utf8");
  for (const text of ["title 0", "title 1", ">left", ">right", ">檢<", "a team</text>"]) {
    expect(svg).toContain(text);
  }
  expect(svg).toContain('fill="#0087ff" font-weight="bold">inventory</text>');
  // The border between the two panes: one line in each row below the titles.
  expect(svg.match(/<path d="M[^"]*l0 -9M[^"]*l0 9"/g)?.length).toBeGreaterThanOrEqual(10);
  expect(layout()).toBe(before);

  const light = spawnSync(process.execPath, [...words, "--theme", "light"], {
    env: box.env,
    encoding: "utf8",
  });
  expect([light.status, light.stderr]).toEqual([0, ""]);
  expect(readFileSync(out, "utf8")).toMatch(/<rect [^>]*rx="9" fill="#ffffff"/);
});

test.each([
  ["--socket is missing", []],
  [
    "--theme must be one of: dark, light",
    ["--socket", "s", "--target", "=s:", "--out", "s.svg", "--theme", "blue"],
  ],
])("screenshot script › prints “%s”, and its usage", (problem, words) => {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...words], { encoding: "utf8" });
  expect([status, stderr]).toEqual([2, expect.stringMatching(`^${problem}\nusage: `)]);
});

test("screenshot script › explains the target format when the target is not a window", () => {
  const box = privateTmux();
  box.session("team");
  const socket = box.tmux("display-message", "-p", "-t", "=team:", "#{socket_path}");
  const words = [SCRIPT, "--socket", socket, "--target", "=team", "--out", join(box.home, "team.svg")];
  const { status, stderr } = spawnSync(process.execPath, words, { env: box.env, encoding: "utf8" });
  expect([status, stderr.trimEnd().split("\n")]).toEqual([2, [expect.stringContaining("'=session:'")]]);
});
